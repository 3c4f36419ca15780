"""Sentences that look as if they answered a question, and do not.

They are about the event of the question with another participant, the *decoy*.  In the passage,
Anna praised Ben, and the question is who praised Ben:

=================  =================================  ============================================
exchanged          Ben praised Carl.                  the roles are exchanged
exchanged_passive  Carl was praised by Ben.           the same, in the passive
exchanged_cleft    It was Carl that Ben praised.      the same, in a relative clause
under_noun         Carl praised a critic of Ben.      the name depends on another noun
other_names        Carl praised Dora.                 control: the roles stay, both names are others
other_sentence     It rained for three days.          control: of the same article and length
=================  =================================  ============================================

None says who praised Ben, so that the answer of the passage stays the only one.  A reader that goes
by words alone finds Carl in all but the last.
"""

from __future__ import annotations

import random
from collections.abc import Iterable, Mapping, Sequence

from role_distractors.roles import OTHER, Item, Phrase, Role
from role_distractors.verbs import Forms, bases
from syntagma.tasks.spans.metrics import normalise

KINDS = (
    "exchanged", "exchanged_passive", "exchanged_cleft", "under_noun", "other_names",
    "other_sentence",
)  # fmt: skip
CONTROL = "other_names"
"""The kind that others are compared with."""
DRAWS = 50
"""How many decoys are tried for a question."""


def written(start: str) -> str:
    """Return a sentence with a capital and a full stop."""
    return f"{start[0].upper()}{start[1:].rstrip('.')}."


def active(forms: Forms, roles: Mapping[Role, Phrase]) -> str:
    """Return *Anna praised Ben.*"""
    return written(f"{roles['agent'].text} {forms.past} {roles['patient'].text}")


def passive(forms: Forms, roles: Mapping[Role, Phrase]) -> str:
    """Return *Ben was praised by Anna.*"""
    be = "were" if roles["patient"].is_plural else "was"
    return written(f"{roles['patient'].text} {be} {forms.participle} by {roles['agent'].text}")


def cleft(forms: Forms, roles: Mapping[Role, Phrase]) -> str:
    """Return *It was Ben that Anna praised.*"""
    return written(f"It was {roles['patient'].text} that {roles['agent'].text} {forms.past}")


def under_noun(phrase: Phrase) -> Phrase:
    """Return a phrase whose head is another noun, one that goes with people and things."""
    return Phrase(f"a critic of {phrase.text}", "critic", is_name=False, is_plural=False)


def roles_of(asked: Role, one: Phrase, other: Phrase) -> dict[Role, Phrase]:
    """Put one phrase into the role that is asked for, and another one into the other role."""
    return {asked: one, OTHER[asked]: other}


def distractors(item: Item, decoy: Phrase, stranger: Phrase) -> dict[str, str]:
    """Make all kinds but ``other_sentence``.

    Args:
        item: the question.
        decoy: who might be taken for the answer.
        stranger: who takes the place of the phrase that the question names, in ``other_names``.
    """
    exchanged = roles_of(item.asked, item.named, decoy)
    return {
        "exchanged": active(item.forms, exchanged),
        "exchanged_passive": passive(item.forms, exchanged),
        "exchanged_cleft": cleft(item.forms, exchanged),
        "under_noun": active(item.forms, roles_of(item.asked, decoy, under_noun(item.named))),
        "other_names": active(item.forms, roles_of(item.asked, decoy, stranger)),
    }


def content(text: str) -> set[str]:
    """Return the words of a text by which two phrases may be about the same, in lower case."""
    small = {"of", "and", "in", "for", "to", "on", "by", "with", "his", "her", "its", "their"}
    return {*normalise(text).split()} - small


def choose(
    item: Item, others: Sequence[Item], source: random.Random
) -> tuple[Phrase, Phrase] | None:
    """Choose a decoy and a stranger among the participants of other articles' events.

    The decoy answers a question of another article that asks for the same (*who*, *team*) if there
    is one, and is a name if the answer is one.  Neither shares a word with passage or question.
    """
    known = content(f"{item.example.passage} {item.example.question}")
    foreign = [other for other in others if other.example.title != item.example.title]
    same = [other for other in foreign if other.asks == item.asks]
    pools = [
        [each.answer for each in same if each.answer.is_name == item.answer.is_name],
        [each.answer for each in foreign if each.answer.is_name == item.answer.is_name],
    ]
    decoy = _first_new(pools, known, source)
    if decoy is None:
        return None
    named = [each.named for each in foreign if each.named.is_name == item.named.is_name]
    stranger = _first_new([named], known | content(decoy.text), source)
    return None if stranger is None else (decoy, stranger)


def _first_new(
    pools: Iterable[Sequence[Phrase]], known: set[str], source: random.Random
) -> Phrase | None:
    for pool in pools:
        for phrase in source.sample(pool, min(DRAWS, len(pool))):
            if not content(phrase.text) & known:
                return phrase
    return None


def other_sentence(
    item: Item, sentences: Sequence[str], length: int, source: random.Random
) -> str | None:
    """Choose a sentence of the article of about a length in words, without an answer in it.

    Args:
        item: the question.
        sentences: the sentences of the article's other passages.
        length: the wanted number of words.
        source: decides between sentences of the same length.
    """
    verbs = bases(item.forms.past) | bases(item.forms.participle)

    def is_harmless(sentence: str) -> bool:
        words = {word.strip(".,;:") for word in sentence.lower().split()}
        about_it = item.named.head.lower() in words and any(bases(w) & verbs for w in words)
        return not about_it and not holds_answer(item, sentence)

    fitting = [each for each in sentences if is_harmless(each)]
    source.shuffle(fitting)
    return min(fitting, key=lambda each: abs(len(each.split()) - length), default=None)


def holds_answer(item: Item, text: str) -> bool:
    """Whether a gold answer occurs in a text, up to case, articles and punctuation."""
    inside = f" {normalise(text)} "
    return any(f" {normalise(answer)} " in inside for answer in item.example.answers)
