"""Sentences beyond the limit of :mod:`syntagma.text.limits`: parsed in parts, and joined again."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from itertools import pairwise

from syntagma.text.morphology import join_morphologies
from syntagma.text.sentence import Constituent, Parse, Sentence

log = logging.getLogger(__name__)


def cut_sentence(sentence: Sentence, starts: Sequence[int]) -> list[Sentence]:
    """Cut a sentence into parts.

    Args:
        sentence: the words.
        starts: index of the first word of each part, ascending from 0.
    """
    return [
        Sentence(sentence.forms[a:b], sentence.starts[a:b], sentence.ends[a:b])
        for a, b in pairwise([*starts, len(sentence)])
    ]


def join_sentence(
    sentence: Sentence, starts: tuple[int, ...], parts: Sequence[Parse], max_words: int
) -> Parse:
    """Join the trees of the parts of a sentence.

    The roots of later parts depend on the root of the first one, as ``parataxis``.

    Args:
        sentence: the words of all parts.
        starts: as for :func:`cut_sentence`.
        parts: the parse of each part.
        max_words: the limit that the sentence exceeds, for the message.
    """
    log.warning(
        "a sentence of %d words is longer than max_words=%d: parsed in %d parts",
        len(sentence),
        max_words,
        len(parts),
    )
    first_root = parts[0].heads.index(0) + 1
    heads: list[int] = []
    relations: list[str] = []
    probabilities: list[float] = []
    phrases: list[Constituent] = []
    for start, part in zip(starts, parts, strict=True):
        for head, relation in zip(part.heads, part.relations, strict=True):
            if head == 0 and start > 0:
                heads.append(first_root)
                relations.append("parataxis")
            else:
                heads.append(head + start if head else 0)
                relations.append(relation)
        probabilities += part.probabilities or ()
        phrases += (
            Constituent(label, begin + start, end + start)
            for label, begin, end in part.constituents or ()
        )
    return Parse(
        sentence,
        tuple(heads),
        tuple(relations),
        tuple(tag for part in parts for tag in part.upos),
        tuple(tag for part in parts for tag in part.xpos),
        None if parts[0].probabilities is None else tuple(probabilities),
        None if parts[0].constituents is None else tuple(phrases),
        parts=starts,
        morphology=join_morphologies([part.morphology for part in parts]),
    )
