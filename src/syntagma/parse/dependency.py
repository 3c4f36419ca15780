"""Decode arc scores into dependency trees with exactly one root.

Greedy decoding where the best head of each word gives a tree, otherwise the maximum spanning tree.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from syntagma.parse.trees import are_trees

IntArray = NDArray[np.int64]
FloatArray = NDArray[np.floating]


def decode_heads(arcs: FloatArray, n_words: IntArray) -> IntArray:
    """Find the highest-scoring tree of each sentence.

    Args:
        arcs: score of each candidate head of each word, position 0 is the root, minus infinity for
            heads outside the sentence, ``[batch, longest, 1 + longest]``.
        n_words: number of words of each sentence, ``[batch]``.

    Returns:
        Heads, 1-based, 0 for the root and for padding, ``[batch, longest]``.
    """
    # Greedy first: it gives a tree for most sentences, and then it is the best one.
    heads = arcs.argmax(-1)
    inside = np.arange(arcs.shape[1]) < n_words[:, None]
    heads[~inside] = 0
    bounds = np.append(0, np.cumsum(n_words))
    for index in np.flatnonzero(~are_trees(heads[inside], bounds)):
        length = int(n_words[index])
        heads[index, :length] = maximum_spanning_tree(arcs[index, :length, : length + 1])
    return heads


def maximum_spanning_tree(scores: FloatArray) -> IntArray:
    """Find the highest-scoring tree with exactly one root in ``O(n²)`` time.

    This is the Chu-Liu/Edmonds algorithm in the form of Gabow et al. (1986): grow a path of best
    heads and contract each cycle that it closes.  If the best tree has several roots, all root arcs
    are penalised by more than any tree can gain from a second root, and the search is repeated
    (Stanojević & Cohen 2021).

    Args:
        scores: score of each candidate head of each word, position 0 is the root, minus infinity
            for a forbidden arc, ``[n_words, 1 + n_words]``.

    Returns:
        Heads, 1-based, 0 for the root, ``[n_words]``.
    """
    n_words = len(scores)
    if n_words == 0:
        return np.zeros(0, np.int64)
    # In float64, because the penalties below are large compared with the scores.
    exact = np.asarray(scores, np.float64)
    heads = _Contraction(_weights(exact, penalise_roots=False)).heads()
    if (heads == 0).sum() == 1:
        return heads
    return _Contraction(_weights(exact, penalise_roots=True)).heads()


def _weights(scores: NDArray[np.float64], *, penalise_roots: bool) -> NDArray[np.float64]:
    """Build the square weight matrix ``[dependent, head]``, the root included."""
    n_words = len(scores)
    finite = scores[np.isfinite(scores)]
    low, high = (finite.min(), finite.max()) if finite.size else (0.0, 0.0)
    step = high - low + 1.0
    weights = np.full((n_words + 1, n_words + 1), -np.inf)
    # Forbidden arcs get a finite weight, so that there always is a tree.  Such an arc costs more
    # than all allowed arcs together can gain, and a second root costs more than any number of them.
    forbidden = step * (n_words + 1)
    weights[1:] = np.where(np.isfinite(scores), scores, low - forbidden)
    if penalise_roots:
        weights[1:, 0] -= 2 * forbidden * (n_words + 1)
    np.fill_diagonal(weights, -np.inf)
    return weights


class _Contraction:
    """State of the search: a weight matrix whose rows and columns stand for (contracted) nodes.

    Words are nodes 0 to n; each contracted cycle becomes a new node, which takes over the row and
    column of its first member.  ``parent`` records which node was contracted into which, and
    ``entry`` the arc (dependent, head) that enters each node.
    """

    def __init__(self, weights: NDArray[np.float64]) -> None:
        size = len(weights)
        self.weights = weights
        # The arc of the original graph that each cell of the contracted matrix stands for.
        self.dependent = np.repeat(np.arange(size)[:, None], size, 1)
        self.head = np.repeat(np.arange(size)[None, :], size, 0)
        self.node_of_row = list(range(size))
        self.row_of_word = np.arange(size)
        self.parent = [-1] * size
        self.entry: list[tuple[int, int]] = [(0, 0)] * size

    def heads(self) -> IntArray:
        """Run the search and return the head of each word."""
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
                    # The path has closed a cycle: contract it and continue from the new node.
                    cycle = path[path.index(row) :]
                    path = path[: -len(cycle)]
                    on_path[cycle] = False
                    row = self._contract(cycle)
            settled[path] = True
        return self._expand(size)

    def _contract(self, cycle: list[int]) -> int:
        """Merge the rows and columns of a cycle into those of its first member, and return it."""
        rows = np.array(cycle)
        kept = cycle[0]
        # An arc that enters the cycle at some node replaces the cycle's own arc to that node, so it
        # is weighted by the difference.
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
        """Undo the contractions, latest first: each entering arc breaks its cycle at one node."""
        for node in range(len(self.parent) - 1, size - 1, -1):
            dependent, _ = self.entry[node]
            member = dependent
            while self.parent[member] != node:
                member = self.parent[member]
            self.entry[member] = self.entry[node]
        return np.array([self.entry[word][1] for word in range(1, size)])
