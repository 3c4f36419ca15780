"""Phrase trees as spans: one label a span, and one head a span.

A chart gives each span one label, so phrases over the same words are collapsed into a chain,
written ``S+VP`` (outermost first).  A phrase tree and a dependency tree are two views of one
structure where each phrase meets the rest of the sentence in one word, its head (Zhou & Zhao 2019,
section 3.1); :func:`agree` says whether they are.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np

from syntagma.parse.trees import depths
from syntagma.text.sentence import Constituent

__all__ = ["LabelledSpan", "agree", "collapse", "crossing_arcs", "expand", "phrase_heads"]

JOIN = "+"


class LabelledSpan(NamedTuple):
    """Words ``start`` to ``end`` − 1 and the chain of phrases that covers just them."""

    start: int
    end: int
    label: str


def collapse(constituents: Iterable[Constituent]) -> list[LabelledSpan]:
    """Phrases in pre-order as spans with one label each.

    >>> collapse([Constituent("S", 0, 2), Constituent("VP", 0, 2), Constituent("NP", 1, 2)])
    [LabelledSpan(start=0, end=2, label='S+VP'), LabelledSpan(start=1, end=2, label='NP')]
    """
    spans: list[LabelledSpan] = []
    for label, start, end in constituents:
        if spans and spans[-1][:2] == (start, end):
            spans[-1] = LabelledSpan(start, end, f"{spans[-1].label}{JOIN}{label}")
        else:
            spans.append(LabelledSpan(start, end, label))
    return spans


def expand(spans: Iterable[LabelledSpan]) -> tuple[Constituent, ...]:
    """Spans of a tree, in any order, as phrases in pre-order: undoes :func:`collapse`."""
    return tuple(
        Constituent(label, span.start, span.end)
        for span in sorted(spans, key=lambda span: (span.start, -span.end))
        for label in span.label.split(JOIN)
    )


def phrase_heads(constituents: Sequence[Constituent], heads: Sequence[int]) -> list[int]:
    """The head word of each phrase: the one whose own head lies outside.

    Args:
        constituents: of a sentence.
        heads: its dependency tree, 1-based, 0 for the root, ``[n_words]``.

    Returns:
        A word's position, from 0, for each phrase; of several candidates the one nearest to the
        root of the sentence, and of those the first.
    """
    outer = np.asarray(heads, np.int64) - 1
    depth = depths(outer + 1)
    found = []
    for _, start, end in constituents:
        inside = outer[start:end]
        candidates = start + np.flatnonzero((inside < start) | (inside >= end))
        found.append(int(candidates[depth[candidates].argmin()]))
    return found


def crossing_arcs(heads: Sequence[int]) -> int:
    """How many words hang on an arc that crosses another, the arc of the root among them.

    >>> crossing_arcs((2, 0, 2)), crossing_arcs((3, 4, 0, 3))
    (0, 3)
    """
    head = np.asarray(heads, np.int64)
    word = np.arange(1, len(head) + 1)
    left, right = np.minimum(head, word), np.maximum(head, word)
    crosses = (
        (left[:, None] < left) & (left < right[:, None]) & (right[:, None] < right)
    )  # [n_words, n_words]
    return int((crosses | crosses.T).any(1).sum())


def agree(constituents: Sequence[Constituent], heads: Sequence[int]) -> bool:
    """Whether a phrase tree and a dependency tree are two views of one projective structure.

    Arcs do not cross, and every arc that leaves a phrase, in either direction, leaves it from the
    phrase's one head.
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
        if len(leaving) != 1 or (entered != leaving[0]).any():
            return False
    return True
