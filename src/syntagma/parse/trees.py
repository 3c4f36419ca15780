"""Check and walk dependency trees given as head indices.

Every function follows all arcs at once by pointer doubling: after k rounds each word points to the
word 2^k arcs above it, so that a path of n arcs takes log2(n) rounds and no Python loop over words.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

IntArray = NDArray[np.integer[Any]]
BoolArray = NDArray[np.bool_]


def lead_to_roots(heads: IntArray, bounds: IntArray) -> BoolArray:
    """Whether all heads of each sentence lie inside it and lead to a root, perhaps one of several.

    Args:
        heads: all sentences in a row, 1-based within each, 0 for a root, ``[n_words]``.
        bounds: first word of each sentence, then the number of words, ``[n_sentences + 1]``.

    Returns:
        ``[n_sentences]``; true for a sentence without words.
    """
    n_words = np.diff(bounds)
    sentence = np.repeat(np.arange(len(n_words)), n_words)
    inside = (heads >= 0) & (heads <= n_words[sentence])
    # One extra node stands for all roots.  Heads outside their sentence point to it as well, so
    # that the walk below never leaves the array; `inside` rejects them.
    root = len(heads)
    above = np.where(inside & (heads > 0), bounds[:-1][sentence] + heads - 1, root)
    ends = _path_ends(np.append(above, root), longest=int(n_words.max(initial=0)))
    good = inside & (ends[:-1] == root)
    return np.bincount(sentence, weights=~good, minlength=len(n_words)) == 0


def are_trees(heads: IntArray, bounds: IntArray) -> BoolArray:
    """Whether the heads of each sentence form a tree: one root that every word leads to.

    Args:
        heads: as for :func:`lead_to_roots`, ``[n_words]``.
        bounds: as for :func:`lead_to_roots`, ``[n_sentences + 1]``.

    Returns:
        ``[n_sentences]``; true for a sentence without words.

    >>> are_trees(np.array([2, 0, 0, 0, 2, 1]), np.array([0, 2, 4, 6])).tolist()
    [True, False, False]
    """
    n_words = np.diff(bounds)
    sentence = np.repeat(np.arange(len(n_words)), n_words)
    n_roots = np.bincount(sentence, weights=heads == 0, minlength=len(n_words))
    trees: BoolArray = lead_to_roots(heads, bounds) & ((n_roots == 1) | (n_words == 0))
    return trees


def depths(heads: IntArray) -> IntArray:
    """Number of arcs between each word of a tree and its root.

    Args:
        heads: 1-based, 0 for the root, ``[n_words]``.

    Returns:
        ``[n_words]``, 0 at the root.

    >>> depths(np.array([2, 0, 2, 3])).tolist()
    [1, 0, 1, 2]
    """
    above = np.append(0, heads)
    arcs = (np.arange(len(above)) > 0).astype(np.int64)
    for _ in range(len(above).bit_length()):
        arcs = arcs + arcs[above]
        above = above[above]
    # The arc from the root word to the artificial root does not count.
    return arcs[1:] - 1


def descendants(heads: IntArray, word: int) -> BoolArray:
    """Which words of a tree lie below a word, the word itself included.

    Args:
        heads: 1-based, 0 for the root, ``[n_words]``.
        word: position of the word, from 0.

    Returns:
        ``[n_words]``.

    >>> descendants(np.array([2, 0, 2, 3]), 2).tolist()
    [False, False, True, True]
    """
    above = np.append(0, heads)
    # Paths stop at the word: everything that ends there is below it.
    above[word + 1] = word + 1
    below: BoolArray = _path_ends(above, longest=len(heads))[1:] == word + 1
    return below


def _path_ends(above: IntArray, *, longest: int) -> IntArray:
    """The node where each node's path ends; for a node that leads into a cycle, one on the cycle.

    Args:
        above: the next node of each node; itself where a path ends, ``[n_nodes]``.
        longest: most arcs on a path without a cycle.
    """
    for _ in range(longest.bit_length()):
        above = above[above]
    return above
