"""Who does what in a question and in the sentence that answers it, by their dependency trees."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal, NamedTuple

from role_distractors.verbs import LIGHT, SYMMETRIC, Forms, bases, forms_of
from syntagma.tasks.spans.squad import SpanExample
from syntagma.text.sentence import Parse

Role = Literal["agent", "patient"]
OTHER: dict[Role, Role] = {"agent": "patient", "patient": "agent"}
RELATIONS: dict[str, Role] = {
    "nsubj": "agent", "obl:agent": "agent", "obj": "patient", "nsubj:pass": "patient",
}  # fmt: skip
LEFT_OUT = frozenset({"acl:relcl", "acl", "appos", "parataxis", "advcl", "punct", "dep"})
"""Dependents without which a noun phrase is still whole."""
NOT_REFERRING = frozenset({"PRON", "DET", "NUM", "ADV", "VERB", "X", "SYM"})
DEMONSTRATIVES = frozenset({"this", "these", "that", "those", "such", "another", "other"})
PARTIAL = frozenset("kind type part sort form number percentage amount one many much".split())
"""Words for which an answer need not be a whole noun phrase: *what kind of cell*."""
LONGEST = 8
"""Most words of a noun phrase that goes into a distractor."""


class Phrase(NamedTuple):
    """A noun phrase.

    Args:
        text: its words as written, without relative clauses and the like.
        head: its head word.
        is_name: whether the head is a proper noun.
        is_plural: whether it takes *were*.
    """

    text: str
    head: str
    is_name: bool
    is_plural: bool


class Item(NamedTuple):
    """A question about one role of an event, whose other role it names.

    Args:
        example: the question with its passage.
        asked: the role that is asked for.
        named: the phrase in the other role, as the question has it.
        answer: the phrase that answers, as the sentence has it.
        asks: what is asked for, in lower case: *who*, *team*.
        forms: the verb.
    """

    example: SpanExample
    asked: Role
    named: Phrase
    answer: Phrase
    asks: str
    forms: Forms


def children(parse: Parse, word: int) -> list[int]:
    """Return the dependents of a word, numbered from 0."""
    return [at for at, head in enumerate(parse.heads) if head == word + 1]


def subtree(parse: Parse, word: int, skip: frozenset[str] = frozenset()) -> list[int]:
    """Return a word and all below it, without dependents of the relations in ``skip``."""
    found = [word]
    for child in children(parse, word):
        if parse.relations[child] not in skip:
            found += subtree(parse, child, skip)
    return sorted(found)


def phrase_at(parse: Parse, word: int, text: str) -> Phrase | None:
    """Return the noun phrase of a word; ``None`` if it is not one, too long or interrupted."""
    if parse.upos[word] in NOT_REFERRING:
        return None
    # A case marker, as in "by the baker", is no part of the phrase, that of an owner is.
    cases = {at for at in children(parse, word) if parse.relations[at] == "case"}
    inside = [at for at in subtree(parse, word, LEFT_OUT) if at not in cases]
    if len(inside) > LONGEST or inside[-1] - inside[0] + 1 != len(inside):
        return None
    if any(parse.xpos[at].startswith(("W", "V", "``", "-", "PRP")) for at in inside):
        return None
    if parse.sentence.forms[inside[0]].lower() in DEMONSTRATIVES:
        return None
    sentence = parse.sentence
    joined = any(parse.relations[at] == "conj" for at in children(parse, word))
    words = text[sentence.starts[inside[0]] : sentence.ends[inside[-1]]]
    if inside[0] == 0 and parse.upos[0] != "PROPN":
        # A small letter inside a sentence; an adjective may be written with a capital (Danish).
        if parse.upos[0] == "ADJ":
            return None
        words = words if words[:2].isupper() else words[0].lower() + words[1:]
    if "," in words or "(" in words or '"' in words or "\n" in words:
        return None
    return Phrase(
        words,
        sentence.forms[word],
        parse.upos[word] == "PROPN",
        joined or parse.xpos[word] in ("NNS", "NNPS"),
    )


def arguments(parse: Parse, verb: int) -> dict[Role, int]:
    """Return the words in the roles of a verb; none if a role is filled twice."""
    found: dict[Role, int] = {}
    for child in children(parse, verb):
        role = RELATIONS.get(parse.relations[child])
        if role is None and parse.relations[child].startswith("obl"):
            marks = [parse.sentence.forms[at].lower() for at in children(parse, child)]
            is_passive = any(parse.relations[at] == "aux:pass" for at in children(parse, verb))
            role = "agent" if is_passive and "by" in marks else None
        if role is not None:
            if role in found:
                return {}
            found[role] = child
    return found


def is_plain(parse: Parse, verb: int) -> bool:
    """Whether a verb says that something happened: no negation, no clause or object beside it."""
    words = children(parse, verb)
    relations = {parse.relations[at] for at in words}
    forms = {parse.sentence.forms[at].lower() for at in words}
    if {"xcomp", "ccomp", "iobj", "cop", "compound:prt"} & relations:
        return False
    unreal = {"not", "n't", "never", "would", "could", "should", "may", "might", "must", "will"}
    return parse.upos[verb] == "VERB" and not forms & unreal


class Asked(NamedTuple):
    """What a question asks: the role, the phrase in the other one, and the verb's form."""

    role: Role
    named: Phrase
    asks: str
    verb: str


def asked(question: str, parse: Parse) -> Asked | None:
    """Find the role that a question asks for; ``None`` if it asks for something else."""
    words = [at for at, tag in enumerate(parse.xpos) if tag in ("WP", "WDT")]
    if len(words) != 1:
        return None
    word = words[0]
    if parse.relations[word] == "det" and parse.heads[word]:
        word = parse.heads[word] - 1
    verb = parse.heads[word] - 1
    if verb < 0 or not is_plain(parse, verb):
        return None
    found = arguments(parse, verb)
    role = next((role for role, at in found.items() if at == word), None)
    if role is None or OTHER[role] not in found:
        return None
    named = phrase_at(parse, found[OTHER[role]], question)
    form = parse.sentence.forms[verb].lower()
    if named is None or bases(form) & (SYMMETRIC | LIGHT):
        return None
    asks = parse.sentence.forms[word].lower()
    return None if asks in PARTIAL else Asked(role, named, asks, form)


def find_item(example: SpanExample, wanted: Asked, parses: list[Parse]) -> Item | None:
    """Find the sentence that says the answer in the role that is asked for."""
    for text, start in zip(example.answers, example.answer_starts, strict=True):
        end = start + len(text)
        for parse in parses:
            for verb, role_word in _same_events(parse, wanted):
                at = parse.sentence.starts[role_word]
                answer = phrase_at(parse, role_word, example.passage)
                if answer is None or not start <= at < end:
                    continue
                # Either may have an article or a title that the other has not.
                if (
                    text.lower() not in answer.text.lower()
                    and answer.text.lower() not in text.lower()
                ):
                    continue
                forms = forms_of(parse.sentence.forms[verb].lower(), wanted.verb)
                if forms is not None:
                    return Item(example, wanted.role, wanted.named, answer, wanted.asks, forms)
    return None


def _same_events(parse: Parse, wanted: Asked) -> Iterator[tuple[int, int]]:
    """Yield the verbs that the question's may be, with the word in the role asked for."""
    known = bases(wanted.verb)
    for verb, form in enumerate(parse.sentence.forms):
        if not bases(form.lower()) & known or not is_plain(parse, verb):
            continue
        found = arguments(parse, verb)
        if len(found) == 2:
            yield verb, found[wanted.role]
