"""Trees as intervals: an Euler tour says who is whose ancestor, and how far above.

A depth-first walk gives each word the interval ``[enter, exit)`` of the words at and below it, so
that ``j`` is an ancestor of ``i``, or ``i`` itself, iff ``enter[j] ≤ enter[i] < exit[j]``, and the
number of arcs between them is ``depth[i] − depth[j]``.  This holds for non-projective trees too.
SG-Net's mask M (Zhang et al. 2020, eq. 1) is this comparison; it is made on the device for a whole
batch, and no n×n array is ever built on the host.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from torch import Tensor

from syntagma.parse.columns import ParsedText

__all__ = ["Tour", "ancestor_mask", "projections", "tour"]

IntArray = NDArray[np.int32]


class Tour(NamedTuple):
    """Intervals over the words of one or more trees, each ``[n_words]``.

    Args:
        enter: place of each word in the depth-first walk; unique.
        exit: place after the last word below it.
        depth: arcs between the word and its root.
    """

    enter: IntArray
    exit: IntArray
    depth: IntArray


def _sum_to_root(values: IntArray, parents: IntArray) -> IntArray:
    """Sum of a value over each word and its ancestors, by doubling steps."""
    # One more place, which the parents of roots (−1) point to, and which adds nothing.
    total = np.append(values, 0)
    above = np.append(parents, -1)
    while (above >= 0).any():
        total = total + total[above]
        above = above[above]
    return total[:-1]


def _argsort(values: IntArray) -> NDArray[np.intp]:
    """A stable order; short integers are sorted by their digits, in linear time."""
    short = len(values) <= np.iinfo(np.int16).max
    return np.argsort(values.astype(np.int16) if short else values, kind="stable")


def _parents(heads: IntArray, sentences: IntArray) -> IntArray:
    """Index of each word's head in the whole text; −1 for roots."""
    if not len(heads):
        return heads
    bounds = np.searchsorted(sentences, np.arange(int(sentences[-1]) + 1))
    return np.where(heads > 0, heads + bounds[sentences] - 1, -1).astype(np.int32)


def tour(heads: IntArray, sentences: IntArray) -> Tour:
    """Walk the trees of a text; the sentences' intervals follow one another.

    Args:
        heads: 1-based index of the head within the sentence, 0 for its root, ``[n_words]``.
        sentences: number of the sentence of each word, rising, ``[n_words]``.

    >>> tour(np.array([2, 0, 5, 5, 2]), np.zeros(5, int)).enter.tolist()
    [1, 0, 3, 4, 2]
    """
    n_words = len(heads)
    parents = _parents(np.asarray(heads, np.int32), np.asarray(sentences, np.int32))
    depth = _sum_to_root((parents >= 0).astype(np.int32), parents)
    sizes = np.ones(n_words, np.int32)
    by_depth = _argsort(depth)
    bounds = np.searchsorted(depth[by_depth], np.arange(1, depth.max(initial=0) + 2))
    for level in range(len(bounds) - 1, 0, -1):
        words = by_depth[bounds[level - 1] : bounds[level]]
        np.add.at(sizes, parents[words], sizes[words])
    # How many words stand between a word and its parent in the walk: its elder siblings' subtrees.
    siblings = _argsort(parents)
    before = np.cumsum(sizes[siblings]) - sizes[siblings]
    eldest = np.diff(parents[siblings], prepend=-2) != 0
    elder = np.empty(n_words, np.int32)
    elder[siblings] = before - np.maximum.accumulate(np.where(eldest, before, 0))
    enter = _sum_to_root(elder + (parents >= 0), parents).astype(np.int32)
    return Tour(enter, enter + sizes, depth.astype(np.int32))


def projections(heads: IntArray, sentences: IntArray) -> tuple[IntArray, IntArray]:
    """Leftmost and rightmost word at or below each word, each ``[n_words]``."""
    parents = _parents(np.asarray(heads, np.int32), np.asarray(sentences, np.int32))
    left = np.arange(len(heads), dtype=np.int32)
    right = left.copy()
    depth = tour(heads, sentences).depth
    for level in range(int(depth.max(initial=0)), 0, -1):
        words = np.flatnonzero(depth == level)
        np.minimum.at(left, parents[words], left[words])
        np.maximum.at(right, parents[words], right[words])
    return left, right


def tour_of(parsed: ParsedText) -> Tour:
    """The tour of a parsed text."""
    return tour(parsed.heads, parsed.sentences)


def ancestor_mask(enter: Tensor, exit: Tensor, point: Tensor | None = None) -> Tensor:
    """The SDOI mask of a batch: who may attend to whom (SG-Net eq. 1).

    Args:
        enter: ``[batch, n]``.
        exit: ``[batch, n]``.
        point: what is looked up in the intervals, ``[batch, n]``; ``enter`` if not given.

    Returns:
        Boolean, ``[batch, n, n]``: row ``i`` may attend to column ``j``, which is ``i`` itself or
        an ancestor of ``i``.
    """
    where = (enter if point is None else point).unsqueeze(2)
    return (enter.unsqueeze(1) <= where) & (where < exit.unsqueeze(1))
