"""Attach punctuation projectively, as Universal Dependencies demands.

Which word a comma belongs to is often a matter of rules more than of meaning, and heads are scored
one by one, so that a good parser still draws some arcs of punctuation across others.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from syntagma.text.sentence import Parse


def attach_punctuation(
    arcs: NDArray[np.floating], heads: NDArray[np.int64], is_punctuation: NDArray[np.bool_]
) -> NDArray[np.int64]:
    """Give punctuation that is not attached projectively the best head where it is.

    Its own arc may cover only dependents, direct or not, of its head; and where another arc covers
    it, it must depend on the head of that arc, or on a word that this arc covers too.

    Punctuation with dependents of its own, and the root, stay as they are; so does punctuation that
    has no such head.  A tree stays a tree, because only its leaves move.

    Args:
        arcs: score of each candidate head of each word, position 0 is the root, minus infinity for
            heads outside the sentence, ``[batch, n_words, 1 + n_words]``.
        heads: a tree of each sentence, 1-based, 0 for the root and for padding,
            ``[batch, n_words]``.
        is_punctuation: whether a word is punctuation, false for padding, ``[batch, n_words]``.

    Returns:
        Heads, ``[batch, n_words]``.
    """
    heads = heads.copy()
    # A mark may stand in the way of another one, and out of it when it has moved.
    while _move(arcs, heads, is_punctuation):
        pass
    return heads


def _move(
    arcs: NDArray[np.floating], heads: NDArray[np.int64], is_punctuation: NDArray[np.bool_]
) -> bool:
    """Move punctuation that is not attached projectively, in place; return whether any moved.

    What is projective stays so, whatever moves, so this comes to an end.
    """
    moved = False
    for row, place in zip(*_crossing(heads, is_punctuation), strict=True):
        word = int(place) + 1
        allowed = _projective(heads[row], word)
        if allowed[heads[row, place]] or (heads[row] == word).any():
            continue
        allowed[1:] &= np.isfinite(arcs[row, place, 1:]) & ~is_punctuation[row]
        candidates = 1 + np.flatnonzero(allowed[1:])
        if len(candidates):
            heads[row, place] = candidates[arcs[row, place, candidates].argmax()]
            moved = True
    return moved


def count_unprojective(parse: Parse) -> int:
    """Count the punctuation of a tree that is not attached projectively."""
    heads = np.array([parse.heads], np.int64)
    is_punctuation = np.array([[tag == "PUNCT" for tag in parse.upos]])
    leaves = is_punctuation & ~np.isin(np.arange(1, len(parse) + 1), heads)
    _, places = _crossing(heads, leaves)
    return sum(not _projective(heads[0], place + 1)[heads[0, place]] for place in places.tolist())


def _crossing(
    heads: NDArray[np.int64], is_punctuation: NDArray[np.bool_]
) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Find punctuation whose arc crosses another: no other is attached otherwise than projectively.

    Arcs of padding lead from 0 to beyond the last word, so they cross none.

    Returns:
        Sentence and place of each, from 0, ``[n]``.
    """
    words = np.arange(1, heads.shape[1] + 1)
    starts, ends = np.minimum(heads, words), np.maximum(heads, words)
    rows, places = np.nonzero(is_punctuation & (heads > 0))
    start, end = starts[rows, places, None], ends[rows, places, None]
    starts, ends = starts[rows], ends[rows]
    crosses = ((start < starts) & (starts < end) & (end < ends)) | (
        (starts < start) & (start < ends) & (ends < end)
    )
    chosen = crosses.any(1)
    return rows[chosen], places[chosen]


def _projective(heads: NDArray[np.int64], word: int) -> NDArray[np.bool_]:
    """Whether a leaf would be attached projectively, for each head of it.

    Args:
        heads: a tree, 1-based, 0 for the root and for padding, ``[n_words]``.
        word: number of the leaf, from 1.

    Returns:
        ``[1 + n_words]``.
    """
    places = np.arange(len(heads) + 1)
    below = _dominance(heads)
    # Of head h, all words between it and the leaf.
    between = (np.minimum(places, word)[:, None] < places) & (
        places < np.maximum(places, word)[:, None]
    )
    found = np.all(below | ~between, axis=1)
    for dependent in range(1, len(heads) + 1):
        head = heads[dependent - 1]
        start, end = min(head, dependent), max(head, dependent)
        if start < word < end:
            found &= below[head] | ((start < places) & (places < end))
    return found


def _dominance(heads: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Whether the second word is the first or depends on it, directly or not, the root included."""
    below = np.eye(len(heads) + 1, dtype=bool)
    above = np.append(0, heads)
    current = np.arange(len(heads) + 1)
    while current.any():
        current = above[current]
        below[current, np.arange(len(heads) + 1)] = True
    return below
