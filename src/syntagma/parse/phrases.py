"""Phrase trees as labelled spans, and how they relate to dependency trees.

A chart assigns one label to each span.  Phrases over the same words (unary chains) are therefore
collapsed into one label such as ``S+VP``, outermost first.

A phrase tree and a dependency tree describe the same structure if each phrase is linked to the rest
of the sentence through a single word, its head (Zhou & Zhao 2019, section 3.1); see :func:`agree`.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np

from syntagma.text.sentence import Constituent

JOIN = "+"


class LabelledSpan(NamedTuple):
    """A span and the chain of phrases that cover exactly its words.

    Args:
        start: position of the first word, from 0.
        end: position after the last word.
        label: labels of the phrases joined by ``+``, outermost first.
    """

    start: int
    end: int
    label: str


def collapse_chains(constituents: Iterable[Constituent]) -> list[LabelledSpan]:
    """Collapse phrases over the same words into one labelled span.

    Args:
        constituents: the phrases in pre-order.

    >>> collapse_chains([Constituent("S", 0, 2), Constituent("VP", 0, 2), Constituent("NP", 1, 2)])
    [LabelledSpan(start=0, end=2, label='S+VP'), LabelledSpan(start=1, end=2, label='NP')]
    """
    spans: list[LabelledSpan] = []
    for label, start, end in constituents:
        if spans and spans[-1][:2] == (start, end):
            spans[-1] = LabelledSpan(start, end, f"{spans[-1].label}{JOIN}{label}")
        else:
            spans.append(LabelledSpan(start, end, label))
    return spans


def expand_chains(spans: Iterable[LabelledSpan]) -> tuple[Constituent, ...]:
    """Expand labelled spans into phrases in pre-order; the inverse of :func:`collapse_chains`.

    Args:
        spans: the spans of one tree in any order.
    """
    # Pre-order: by start, and of spans with the same start the longer one first.
    return tuple(
        Constituent(label, span.start, span.end)
        for span in sorted(spans, key=lambda span: (span.start, -span.end))
        for label in span.label.split(JOIN)
    )


def crossing_arcs(heads: Sequence[int]) -> int:
    """Count the words whose arc crosses another arc; the arc from the root counts as well.

    Args:
        heads: 1-based, 0 for the root, ``[n_words]``.

    >>> crossing_arcs((2, 0, 2)), crossing_arcs((3, 4, 0, 3))
    (0, 3)
    """
    head = np.asarray(heads, np.int64)
    word = np.arange(1, len(head) + 1)
    left, right = np.minimum(head, word), np.maximum(head, word)
    # Arcs cross if one starts strictly inside the other and ends strictly outside.
    crosses = (
        (left[:, None] < left) & (left < right[:, None]) & (right[:, None] < right)
    )  # [n_words, n_words]
    return int((crosses | crosses.T).any(1).sum())


def agree(constituents: Sequence[Constituent], heads: Sequence[int]) -> bool:
    """Whether a phrase tree and a dependency tree describe the same projective structure.

    They do if no arcs cross, and if all arcs between a phrase and the rest of the sentence, in
    either direction, end at the same word of the phrase.

    Args:
        constituents: phrases of a sentence.
        heads: dependency tree of the sentence, 1-based, 0 for the root, ``[n_words]``.
    """
    if crossing_arcs(heads):
        return False
    head = np.asarray(heads, np.int64) - 1
    word = np.arange(len(head))
    for _, start, end in constituents:
        head_inside = (start <= head) & (head < end)
        word_inside = (start <= word) & (word < end)
        leaving = word[word_inside & ~head_inside]
        entered = head[~word_inside & head_inside]
        # One word has its head outside, and only this word may have dependents outside.
        if len(leaving) != 1 or (entered != leaving[0]).any():
            return False
    return True
