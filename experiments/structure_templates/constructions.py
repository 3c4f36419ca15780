"""Constructions: premises that say who did what, and conclusions that do or do not follow.

A method of :class:`Constructions` draws words and returns a :class:`Template`: a premise and a
conclusion as functions of two people.  The conclusion follows from the premise, and does not follow
once the two people are exchanged in one of the two sentences.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import NamedTuple

from made_trees import Node

from structure_templates import clauses as c
from structure_templates import words

Sentence = Callable[[str, str], Node]


class Template(NamedTuple):
    """What a construction makes of two people.

    Args:
        premise: returns the tree of the premise.
        conclusion: returns the tree of the conclusion for the same people in the same order.
    """

    premise: Sentence
    conclusion: Sentence


class Constructions:
    """Draws templates; each public method is a construction.

    Args:
        source: of everything random.
        people: the nouns to draw third people from; those in use are not drawn again.
    """

    def __init__(self, source: random.Random, people: tuple[str, ...]) -> None:
        self.random = source
        self.people = people

    def act(self) -> str:
        """Return what one person did to another."""
        return self.random.choice(words.ACTS)

    def move(self) -> str:
        """Return what one person did alone, as a base."""
        return self.random.choice(words.MOVES)

    def moved(self) -> str:
        """Return what one person did alone, in the past tense."""
        return words.past(self.move())

    def one_of(self, *sentences: Sentence) -> Sentence:
        """Choose between conclusions."""
        return self.random.choice(sentences)

    def done(self, verb: str, *, both: bool = True) -> Sentence:
        """Return "a praised b", or with ``both`` perhaps "b was praised by a"."""

        def plain(a: str, b: str) -> Node:
            return c.act(verb, c.person(a), c.person(b))

        def turned(a: str, b: str) -> Node:
            return c.passive(verb, c.person(b), a)

        return self.one_of(plain, turned) if both else plain

    # One clause

    def active(self) -> Template:
        """The a praised the b. – The b was praised by the a."""
        verb = self.act()
        return Template(
            lambda a, b: c.act(verb, c.person(a), c.person(b)),
            lambda a, b: c.passive(verb, c.person(b), a),
        )

    def passive(self) -> Template:
        """The b was praised by the a. – The a praised the b."""
        conclusion, premise = self.active()
        return Template(premise, conclusion)

    def attribute(self) -> Template:
        """The tall a praised the b. – The a was tall."""
        verb, quality = self.act(), self.random.choice(words.QUALITIES)

        def tall(noun: str) -> Node:
            # The adjective comes between the noun and its article.
            bare = Node(noun, "NOUN", "NN").on_left("amod", c.adjective(quality))
            return bare.on_left("det", Node("the", "DET", "DT"))

        return Template(
            self.one_of(
                lambda a, b: c.act(verb, tall(a), c.person(b)),
                lambda a, b: c.act(verb, c.person(b), tall(a)),
            ),
            lambda a, b: c.be(c.adjective(quality), c.person(a)),
        )

    def possessive(self) -> Template:
        """The b's a praised the c. – The a praised the c."""
        verb, third = self.act(), self.random.choice(self.people)

        def owned(a: str, b: str) -> Node:
            owner = c.person(b).on_right("case", Node("'s", "PART", "POS"))
            return Node(a, "NOUN", "NN").on_left("nmod:poss", owner)

        return Template(
            lambda a, b: c.act(verb, owned(a, b), c.person(third)),
            lambda a, b: c.act(verb, c.person(a), c.person(third)),
        )

    def _modified(self, preposition: str) -> Template:
        verb, third = self.act(), self.random.choice(self.people)

        def modified(a: str, b: str) -> Node:
            return c.person(a).on_right("nmod", c.with_case(preposition, b))

        return Template(
            lambda a, b: c.act(verb, modified(a, b), c.person(third)),
            lambda a, b: c.act(verb, c.person(a), c.person(third)),
        )

    def place_phrase(self) -> Template:
        """The a near the b praised the c. – The a praised the c."""
        return self._modified(self.random.choice(words.SIDES))

    def of_phrase(self) -> Template:
        """The a of the b praised the c. – The a praised the c."""
        return self._modified("of")

    # Three arguments

    def _given(self, premise: Callable[..., Node], *conclusions: Callable[..., Node]) -> Template:
        verb, thing = self.random.choice(words.GIVINGS), self.random.choice(words.THINGS)
        chosen = self.random.choice(conclusions)
        return Template(
            lambda a, b: premise(verb, a, thing, b), lambda a, b: chosen(verb, a, thing, b)
        )

    def dative(self) -> Template:
        """The a handed the book to the b. – The book was handed to the b by the a."""
        return self._given(c.give, c.thing_given)

    def dative_passive(self) -> Template:
        """The book was handed to the b by the a. – The a handed the book to the b."""
        return self._given(c.thing_given, c.give)

    def dative_shift(self) -> Template:
        """The a handed the b the book. – The a handed the book to the b."""
        return self._given(c.give_shifted, c.give, c.thing_given)

    def dative_shift_passive(self) -> Template:
        """The b was handed the book by the a. – The a handed the book to the b."""
        return self._given(c.taker_given, c.give, c.thing_given)

    # Several verbs

    def coordinated_verbs(self) -> Template:
        """The a praised the b and waited. – The a waited."""
        verb, moved = self.act(), self.moved()
        return Template(
            lambda a, b: c.joined(
                c.act(verb, c.person(a), c.person(b)), "and", Node(moved, "VERB", "VBD")
            ),
            lambda a, b: c.act(moved, c.person(a)),
        )

    def coordinated_clauses(self) -> Template:
        """The b praised the c and the a waited. – The a waited."""
        verb, moved, third = self.act(), self.moved(), self.random.choice(self.people)
        return Template(
            lambda a, b: c.joined(
                c.act(verb, c.person(b), c.person(third)), "and", c.act(moved, c.person(a))
            ),
            lambda a, b: c.act(moved, c.person(a)),
        )

    def gapping(self) -> Template:
        """The c praised the d and the a the b. – The a praised the b."""
        verb = self.act()
        third, fourth = self.random.sample(self.people, 2)
        # The first remnant takes the place of the missing verb.
        return Template(
            lambda a, b: c.joined(
                c.act(verb, c.person(third), c.person(fourth)),
                "and",
                c.person(a).on_right("orphan", c.person(b)),
            ),
            self.done(verb),
        )

    def object_control(self) -> Template:
        """The b persuaded the a to wait. – The a waited."""
        verb, move = self.random.choice(words.MAKINGS), self.move()
        return Template(
            lambda a, b: c.act(verb, c.person(b), c.person(a)).on_right("xcomp", c.to_do(move)),
            lambda a, b: c.act(words.past(move), c.person(a)),
        )

    def adjunct_control(self) -> Template:
        """The a praised the b before waiting. – The a waited."""
        verb, move, when = self.act(), self.move(), self.random.choice(["before", "after"])
        return Template(
            lambda a, b: c.act(verb, c.person(a), c.person(b)).on_right(
                "advcl", c.doing(words.gerund(move), when)
            ),
            lambda a, b: c.act(words.past(move), c.person(a)),
        )

    def complement(self) -> Template:
        """The b knew that the a waited. – The a waited."""
        verb, moved = self.random.choice(words.KNOWINGS), self.moved()
        return Template(
            lambda a, b: c.act(verb, c.person(b)).on_right(
                "ccomp",
                c.act(moved, c.person(a)).on_left("mark", Node("that", "SCONJ", "IN")),
            ),
            lambda a, b: c.act(moved, c.person(a)),
        )

    def time_clause(self) -> Template:
        """The b waited after the a praised the c. – The a praised the c."""
        verb, moved, third = self.act(), self.moved(), self.random.choice(self.people)
        when = self.random.choice(["before", "after"])
        return Template(
            lambda a, b: c.act(moved, c.person(b)).on_right(
                "advcl",
                c.act(verb, c.person(a), c.person(third)).on_left(
                    "mark", Node(when, "SCONJ", "IN")
                ),
            ),
            self.one_of(
                lambda a, b: c.act(verb, c.person(a), c.person(third)),
                lambda a, b: c.act(moved, c.person(b)),
            ),
        )

    # Relative clauses

    def _relative(self, clause: Callable[[str, str], Node], facts: Sentence) -> Template:
        """A relative clause on the subject or on the object of a clause."""
        verb, moved, third = self.act(), self.moved(), self.random.choice(self.people)
        return self.random.choice(
            [
                Template(
                    lambda a, b: c.act(moved, c.relative(c.person(a), clause(a, b))),
                    self.one_of(facts, lambda a, b: c.act(moved, c.person(a))),
                ),
                Template(
                    lambda a, b: c.act(
                        verb, c.person(third), c.relative(c.person(a), clause(a, b))
                    ),
                    self.one_of(facts, lambda a, b: c.act(verb, c.person(third), c.person(a))),
                ),
            ]
        )

    def subject_relative(self) -> Template:
        """The a that praised the b waited. – The a praised the b."""
        verb = self.act()
        return self._relative(lambda a, b: c.who_praised(verb, c.person(b)), self.done(verb))

    def passive_relative(self) -> Template:
        """The a that was praised by the b waited. – The b praised the a."""
        verb = self.act()
        facts = self.done(verb)
        return self._relative(lambda a, b: c.by_whom_praised(verb, b), lambda a, b: facts(b, a))

    def object_relative(self) -> Template:
        """The a that the b praised waited. – The b praised the a."""
        verb = self.act()
        facts = self.done(verb)
        return self._relative(
            lambda a, b: c.whom_praised(verb, c.person(b)), lambda a, b: facts(b, a)
        )

    def reduced_relative(self) -> Template:
        """The a praised by the b waited. – The b praised the a."""
        verb, moved = self.act(), self.moved()
        facts = self.done(verb)

        def premise(a: str, b: str) -> Node:
            clause = Node(verb, "VERB", "VBN").on_right("obl:agent", c.with_case("by", b))
            return c.act(moved, c.person(a).on_right("acl", clause))

        return Template(
            premise,
            self.one_of(lambda a, b: facts(b, a), lambda a, b: c.act(moved, c.person(a))),
        )

    def nested_relative(self) -> Template:
        """The a that praised the b that thanked the c waited. – The b thanked the c."""
        outer, inner, moved = self.act(), self.act(), self.moved()
        third = self.random.choice(self.people)

        def premise(a: str, b: str) -> Node:
            inside = c.relative(c.person(b), c.who_praised(inner, c.person(third)))
            return c.act(moved, c.relative(c.person(a), c.who_praised(outer, inside)))

        return Template(
            premise,
            self.one_of(
                self.done(outer),
                lambda a, b: c.act(inner, c.person(b), c.person(third)),
                lambda a, b: c.act(moved, c.person(a)),
            ),
        )

    def subject_cleft(self) -> Template:
        """It was the a that praised the b. – The a praised the b."""
        verb = self.act()
        return Template(
            lambda a, b: c.cleft(c.person(a), c.who_praised(verb, c.person(b))), self.done(verb)
        )

    def object_cleft(self) -> Template:
        """It was the b that the a praised. – The a praised the b."""
        verb = self.act()
        return Template(
            lambda a, b: c.cleft(c.person(b), c.whom_praised(verb, c.person(a))), self.done(verb)
        )


CONSTRUCTIONS = tuple(
    name
    for name, value in vars(Constructions).items()
    if getattr(value, "__annotations__", {}).get("return") == "Template"
    and not name.startswith("_")
)
"""Names of all constructions."""
KEPT_OUT = (
    "object_relative", "reduced_relative", "nested_relative", "object_cleft", "of_phrase",
    "adjunct_control", "dative_shift", "dative_shift_passive", "gapping",
)  # fmt: skip
"""The constructions that are kept out of training by default."""
