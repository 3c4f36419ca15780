"""Phrases and clauses with their trees, in the conventions of UD English-EWT.

Every function returns the root of a new tree.  Dependents are added from the head outwards, so that
those on the left come in the opposite order of the words.
"""

from __future__ import annotations

from made_trees import Node


def person(noun: str) -> Node:
    """*the baker*"""
    return Node(noun, "NOUN", "NN").on_left("det", Node("the", "DET", "DT"))


def with_case(preposition: str, noun: str) -> Node:
    """*near the baker*"""
    return person(noun).on_left("case", Node(preposition, "ADP", "IN"))


def act(verb: str, subject: Node, other: Node | None = None) -> Node:
    """*the baker praised the nurse*, *the baker waited*"""
    root = Node(verb, "VERB", "VBD").on_left("nsubj", subject)
    return root if other is None else root.on_right("obj", other)


def passive(verb: str, subject: Node, agent: str) -> Node:
    """*the nurse was praised by the baker*"""
    root = Node(verb, "VERB", "VBN").on_left("aux:pass", Node("was", "AUX", "VBD"))
    return root.on_left("nsubj:pass", subject).on_right("obl:agent", with_case("by", agent))


def that() -> Node:
    """The relative pronoun."""
    return Node("that", "PRON", "WDT")


def relative(noun: Node, clause: Node) -> Node:
    """*the baker that praised the nurse*, from a clause whose subject or object is :func:`that`."""
    return noun.on_right("acl:relcl", clause)


def who_praised(verb: str, other: Node) -> Node:
    """*that praised the nurse*"""
    return act(verb, that(), other)


def whom_praised(verb: str, subject: Node) -> Node:
    """*that the nurse praised*"""
    return act(verb, subject).on_left("obj", that())


def by_whom_praised(verb: str, agent: str) -> Node:
    """*that was praised by the nurse*"""
    return passive(verb, that(), agent)


def cleft(noun: Node, clause: Node) -> Node:
    """*it was the baker that praised the nurse*"""
    copula = noun.on_left("cop", Node("was", "AUX", "VBD"))
    return copula.on_left("expl", Node("it", "PRON", "PRP")).on_right("acl:relcl", clause)


def to_do(base: str) -> Node:
    """*to wait*"""
    return Node(base, "VERB", "VB").on_left("mark", Node("to", "PART", "TO"))


def doing(word: str, preposition: str) -> Node:
    """*before waiting*"""
    return Node(word, "VERB", "VBG").on_left("mark", Node(preposition, "SCONJ", "IN"))


def be(quality: Node, subject: Node) -> Node:
    """*the baker was tall*, *the baker was near the nurse*"""
    return quality.on_left("cop", Node("was", "AUX", "VBD")).on_left("nsubj", subject)


def adjective(word: str) -> Node:
    """*tall*"""
    return Node(word, "ADJ", "JJ")


def joined(first: Node, word: str, second: Node) -> Node:
    """*the baker waited and the nurse smiled*"""
    return first.on_right("conj", second.on_left("cc", Node(word, "CCONJ", "CC")))


def give(verb: str, giver: str, thing: str, taker: str) -> Node:
    """*the baker handed the book to the nurse*"""
    return act(verb, person(giver), person(thing)).on_right("obl", with_case("to", taker))


def give_shifted(verb: str, giver: str, thing: str, taker: str) -> Node:
    """*the baker handed the nurse the book*"""
    root = Node(verb, "VERB", "VBD").on_left("nsubj", person(giver))
    return root.on_right("iobj", person(taker)).on_right("obj", person(thing))


def thing_given(verb: str, giver: str, thing: str, taker: str) -> Node:
    """*the book was handed to the nurse by the baker*"""
    root = Node(verb, "VERB", "VBN").on_left("aux:pass", Node("was", "AUX", "VBD"))
    root = root.on_left("nsubj:pass", person(thing)).on_right("obl", with_case("to", taker))
    return root.on_right("obl:agent", with_case("by", giver))


def taker_given(verb: str, giver: str, thing: str, taker: str) -> Node:
    """*the nurse was handed the book by the baker*"""
    root = Node(verb, "VERB", "VBN").on_left("aux:pass", Node("was", "AUX", "VBD"))
    root = root.on_left("nsubj:pass", person(taker)).on_right("obj", person(thing))
    return root.on_right("obl:agent", with_case("by", giver))
