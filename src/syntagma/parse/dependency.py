"""Decode arc scores into trees: argmax where it is a tree, else the maximum spanning tree.

Pure functions of scores.  A tree always has exactly one root.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from syntagma.parse.trees import are_trees

__all__ = ["decode_heads", "maximum_spanning_tree"]

IntArray = NDArray[np.int64]
FloatArray = NDArray[np.floating]


def decode_heads(arcs: FloatArray, n_words: IntArray) -> IntArray:
    """The best tree of each sentence of a batch.

    Args:
        arcs: score of each head for each word, ``[batch, longest, 1 + longest]``, position 0 is
            the root, minus infinity where there is no such head.
        n_words: ``[batch]``.

    Returns:
        Heads, ``[batch, longest]``, 0 beyond a sentence's words.
    """
    heads = arcs.argmax(-1)
    inside = np.arange(arcs.shape[1]) < n_words[:, None]
    heads[~inside] = 0
    bounds = np.append(0, np.cumsum(n_words))
    for index in np.flatnonzero(~are_trees(heads[inside], bounds)):
        length = int(n_words[index])
        heads[index, :length] = maximum_spanning_tree(arcs[index, :length, : length + 1])
    return heads


def maximum_spanning_tree(scores: FloatArray) -> IntArray:
    """The highest-scoring tree with exactly one root, in ``O(n²)`` vector steps.

    Chu-Liu/Edmonds by growing a path of best heads and contracting the cycles that it closes
    (Gabow et al. 1986).  Where the best tree has several roots, root arcs are lowered by more than
    any tree can gain by a second one (Stanojević & Cohen 2021), so that one remains.

    Args:
        scores: score of each head for each word, ``[n_words, 1 + n_words]``, position 0 is the
            root; minus infinity forbids an arc.

    Returns:
        Heads, ``[n_words]``.
    """
    n_words = len(scores)
    if n_words == 0:
        return np.zeros(0, np.int64)
    exact = np.asarray(scores, np.float64)
    heads = _Contraction(_weights(exact, second_root_costs=False)).heads()
    if (heads == 0).sum() == 1:
        return heads
    return _Contraction(_weights(exact, second_root_costs=True)).heads()


def _weights(scores: NDArray[np.float64], *, second_root_costs: bool) -> NDArray[np.float64]:
    """Square matrix ``[dependent, head]``, on request such that one root arc beats any two."""
    n_words = len(scores)
    finite = scores[np.isfinite(scores)]
    low, high = (finite.min(), finite.max()) if finite.size else (0.0, 0.0)
    step = high - low + 1.0
    weights = np.full((n_words + 1, n_words + 1), -np.inf)
    # Where nothing else makes a tree with one root, a forbidden arc is taken: it costs more than
    # any choice of others can gain, and a second root costs more than any number of them.
    forbidden = step * (n_words + 1)
    weights[1:] = np.where(np.isfinite(scores), scores, low - forbidden)
    if second_root_costs:
        weights[1:, 0] -= 2 * forbidden * (n_words + 1)
    np.fill_diagonal(weights, -np.inf)
    return weights


class _Contraction:
    """The state of the search: a shrinking matrix in whose rows and columns super-nodes live."""

    def __init__(self, weights: NDArray[np.float64]) -> None:
        size = len(weights)
        self.weights = weights
        # Which arc of the sentence each cell stands for.
        self.dependent = np.repeat(np.arange(size)[:, None], size, 1)
        self.head = np.repeat(np.arange(size)[None, :], size, 0)
        self.node_of_row = list(range(size))
        self.row_of_word = np.arange(size)
        self.parent = [-1] * size
        self.entry: list[tuple[int, int]] = [(0, 0)] * size

    def heads(self) -> IntArray:
        """Grow, contract, expand."""
        size = len(self.weights)
        settled = np.zeros(size, bool)
        settled[0] = True
        for start in range(1, size):
            row = int(self.row_of_word[start])
            path: list[int] = []
            on_path = np.zeros(size, bool)
            while not settled[row]:
                path.append(row)
                on_path[row] = True
                column = int(self.weights[row].argmax())
                node = self.node_of_row[row]
                self.entry[node] = (
                    int(self.dependent[row, column]),
                    int(self.head[row, column]),
                )
                row = column
                if on_path[row]:
                    cycle = path[path.index(row) :]
                    path = path[: -len(cycle)]
                    on_path[cycle] = False
                    row = self._contract(cycle)
            settled[path] = True
        return self._expand(size)

    def _contract(self, cycle: list[int]) -> int:
        rows = np.array(cycle)
        kept = cycle[0]
        # Entering the cycle at a word replaces the arc that the cycle gives it.
        best = self.weights[rows].max(1)
        entering = self.weights[rows] - best[:, None]
        into = rows[entering.argmax(0)]
        leaving = rows[self.weights[:, rows].argmax(1)]
        everything = np.arange(len(self.weights))
        new_row = entering.max(0)
        new_row_arcs = self.dependent[into, everything], self.head[into, everything]
        self.dependent[:, kept] = self.dependent[everything, leaving]
        self.head[:, kept] = self.head[everything, leaving]
        self.weights[:, kept] = self.weights[everything, leaving]
        self.dependent[kept], self.head[kept] = new_row_arcs
        self.weights[kept] = new_row
        self.weights[:, rows[1:]] = -np.inf
        self.weights[kept, rows] = -np.inf
        absorbed = np.zeros(len(self.weights), bool)
        absorbed[rows] = True
        self.row_of_word[absorbed[self.row_of_word]] = kept
        node = len(self.parent)
        self.parent.append(-1)
        self.entry.append((0, 0))
        for row in cycle:
            self.parent[self.node_of_row[row]] = node
        self.node_of_row[kept] = node
        return kept

    def _expand(self, size: int) -> IntArray:
        for node in range(len(self.parent) - 1, size - 1, -1):
            dependent, _ = self.entry[node]
            part = dependent
            while self.parent[part] != node:
                part = self.parent[part]
            self.entry[part] = self.entry[node]
        return np.array([self.entry[word][1] for word in range(1, size)])
