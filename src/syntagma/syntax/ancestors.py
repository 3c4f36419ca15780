"""Encode trees as Euler-tour intervals, which answer ancestor queries by comparing integers.

A depth-first walk assigns each word the interval ``[enter, exit)`` of its subtree, so that ``j`` is
an ancestor of ``i``, or ``i`` itself, iff ``enter[j] ≤ enter[i] < exit[j]``; the number of arcs
between them is ``depth[i] − depth[j]``.  This holds for non-projective trees too.  SG-Net's mask M
(Zhang et al. 2020, eq. 1) is this comparison.  It is computed on the device for a whole batch, so
that no n×n array is ever built or copied on the host.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from torch import Tensor

from syntagma.parse.columns import ParsedText

IntArray = NDArray[np.int32]


class Tour(NamedTuple):
    """The Euler tour of one or more trees.

    Args:
        enter: position of each word in the depth-first walk, unique, ``[n_words]``.
        exit: position after the last word of its subtree, ``[n_words]``.
        depth: number of arcs between each word and its root, ``[n_words]``.
    """

    enter: IntArray
    exit: IntArray
    depth: IntArray


def _sum_to_root(values: IntArray, parents: IntArray) -> IntArray:
    """Sum a value over each word and all its ancestors.

    Pointer doubling needs only log₂(depth) vectorised steps, also for long chains.
    """
    # Roots have the parent −1, which indexes this extra last element: it adds nothing.
    total = np.append(values, 0)
    above = np.append(parents, -1)
    while (above >= 0).any():
        # `total` covers a path of 2^k words; continue with the path that starts above it.
        total = total + total[above]
        above = above[above]
    return total[:-1]


def _argsort(values: IntArray) -> NDArray[np.intp]:
    """Return a stable sorting order; NumPy radix-sorts 16-bit integers in linear time."""
    short = len(values) <= np.iinfo(np.int16).max
    return np.argsort(values.astype(np.int16) if short else values, kind="stable")


def head_indices(heads: IntArray, sentences: IntArray) -> IntArray:
    """Return the index of each word's head in the whole text, −1 for roots."""
    if not len(heads):
        return heads
    # Index of the first word of each sentence.
    bounds = np.searchsorted(sentences, np.arange(int(sentences[-1]) + 1))
    return np.where(heads > 0, heads + bounds[sentences] - 1, -1).astype(np.int32)


def tour(heads: IntArray, sentences: IntArray) -> Tour:
    """Compute the Euler tour of the trees of a text; intervals of later sentences come later.

    Args:
        heads: 1-based index of each word's head within the sentence, 0 for the root, ``[n_words]``.
        sentences: number of each word's sentence, ascending, ``[n_words]``.

    >>> tour(np.array([2, 0, 5, 5, 2]), np.zeros(5, int)).enter.tolist()
    [1, 0, 3, 4, 2]
    """
    n_words = len(heads)
    parents = head_indices(np.asarray(heads, np.int32), np.asarray(sentences, np.int32))
    depth = _sum_to_root((parents >= 0).astype(np.int32), parents)
    # Subtree sizes, bottom up: all words of one depth are added to their parents at once.
    sizes = np.ones(n_words, np.int32)
    by_depth = _argsort(depth)
    bounds = np.searchsorted(depth[by_depth], np.arange(1, depth.max(initial=0) + 2))
    for level in range(len(bounds) - 1, 0, -1):
        words = by_depth[bounds[level - 1] : bounds[level]]
        np.add.at(sizes, parents[words], sizes[words])
    # Between a parent and its child, the walk visits the subtrees of the child's left siblings.
    siblings = _argsort(parents)
    before = np.cumsum(sizes[siblings]) - sizes[siblings]
    is_first = np.diff(parents[siblings], prepend=-2) != 0
    left_siblings = np.empty(n_words, np.int32)
    left_siblings[siblings] = before - np.maximum.accumulate(np.where(is_first, before, 0))
    enter = _sum_to_root(left_siblings + (parents >= 0), parents).astype(np.int32)
    return Tour(enter, enter + sizes, depth.astype(np.int32))


def projections(heads: IntArray, sentences: IntArray) -> tuple[IntArray, IntArray]:
    """Return the leftmost and the rightmost word of each word's subtree.

    Args:
        heads: 1-based index of each word's head within the sentence, 0 for the root, ``[n_words]``.
        sentences: number of each word's sentence, ascending, ``[n_words]``.

    Returns:
        Indices of the leftmost and of the rightmost words, each ``[n_words]``.
    """
    parents = head_indices(np.asarray(heads, np.int32), np.asarray(sentences, np.int32))
    left = np.arange(len(heads), dtype=np.int32)
    right = left.copy()
    depth = tour(heads, sentences).depth
    for level in range(int(depth.max(initial=0)), 0, -1):
        words = np.flatnonzero(depth == level)
        np.minimum.at(left, parents[words], left[words])
        np.maximum.at(right, parents[words], right[words])
    return left, right


def tour_of(parsed: ParsedText) -> Tour:
    """Compute the Euler tour of a parsed text."""
    return tour(parsed.heads, parsed.sentences)


def ancestor_mask(enter: Tensor, exit: Tensor, point: Tensor | None = None) -> Tensor:
    """Compute the SDOI mask of a batch (SG-Net eq. 1).

    Args:
        enter: start of each interval, ``[batch, n]``.
        exit: end of each interval, ``[batch, n]``.
        point: position looked up in the intervals, ``[batch, n]``; defaults to ``enter``.

    Returns:
        Boolean mask, ``[batch, n, n]``: true if ``j`` (column) is ``i`` (row) itself or one of its
        ancestors, so that ``i`` may attend to ``j``.
    """
    point = (enter if point is None else point).unsqueeze(2)
    return (enter.unsqueeze(1) <= point) & (point < exit.unsqueeze(1))
