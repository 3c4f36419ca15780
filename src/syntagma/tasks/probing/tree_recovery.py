"""How much of a gold tree a structural probe recovers."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from syntagma.errors import MissingExtraError
from syntagma.parse.columns import ParsedText
from syntagma.parse.penn_tags import PENN_TAGS
from syntagma.parse.scores import is_punctuation
from syntagma.syntax.ancestors import tour_of
from syntagma.tasks.parsing.treebanks import TreeExample

FloatArray = NDArray[np.float32]
Arcs = set[tuple[int, int]]
BRACKETS = ("-LRB-", "-RRB-", "-LSB-", "-RSB-", "-LCB-", "-RCB-")
LENGTHS = (5, 50)
"""Length of the sentences over which ``spearman`` is averaged, as in the paper."""


class ProbedSentence(NamedTuple):
    """The output of a probe for a sentence.

    Args:
        values: squared distances, ``[n_words, n_words]``, or squared lengths, ``[n_words]``; empty
            for a sentence that is too long.
    """

    values: FloatArray

    @property
    def is_unread(self) -> bool:
        """Whether the sentence is too long for the probe."""
        return not self.values.size


def gold_distances(example: TreeExample) -> FloatArray:
    """Return the number of arcs between any two words of a tree, ``[n_words, n_words]``."""
    tour = tour_of(ParsedText.from_parses([example.gold]))
    # above[word, ancestor]; a word is its own ancestor.
    above = (tour.enter <= tour.enter[:, None]) & (tour.enter[:, None] < tour.exit)
    # The common ancestors of two words are those of the lowest one, which is `shared - 1` deep.
    shared = above.astype(int) @ above.T.astype(int)
    return (tour.depth[:, None] + tour.depth - 2 * (shared - 1)).astype(np.float32)


def gold_depths(example: TreeExample) -> FloatArray:
    """Return the number of arcs between each word and the root, ``[n_words]``."""
    return tour_of(ParsedText.from_parses([example.gold])).depth.astype(np.float32)


def scored_words(example: TreeExample) -> list[int]:
    """Return the positions of the words that are not punctuation.

    As in the paper, brackets are punctuation, and symbols with a Penn tag of words (*%*, *&*) are
    not.
    """
    gold = example.gold
    return [
        position
        for position, (form, tag) in enumerate(zip(gold.sentence.forms, gold.xpos, strict=True))
        if tag in PENN_TAGS or not (form in BRACKETS or is_punctuation(form))
    ]


def gold_arcs(example: TreeExample) -> Arcs:
    """Return the arcs of a tree between words that are not punctuation, each as (first, last)."""
    words = set(scored_words(example))
    arcs = ((word, head - 1) for word, head in enumerate(example.gold.heads) if head)
    return {(min(arc), max(arc)) for arc in arcs if words.issuperset(arc)}


def neighbours(example: TreeExample) -> Arcs:
    """Return the arcs that connect adjacent words, punctuation left out."""
    words = scored_words(example)
    return set(zip(words, words[1:], strict=False))


def require_scipy() -> Any:
    """Return SciPy.

    Raises:
        MissingExtraError: it is not installed.
    """
    try:
        import scipy.sparse.csgraph
        import scipy.stats
    except ImportError as error:
        raise MissingExtraError("scoring structural probes", "stats") from error
    return scipy


def smallest_tree(distances: FloatArray, words: list[int]) -> Arcs:
    """Return the arcs of the minimum spanning tree over some words."""
    minimum_spanning_tree = require_scipy().sparse.csgraph.minimum_spanning_tree
    if len(words) < 2:
        return set()
    # In scipy's sparse graphs a weight of 0 means that there is no arc.
    weights = distances[np.ix_(words, words)] + 1e-6
    rows, columns = minimum_spanning_tree(np.triu(weights, 1)).nonzero()
    return {(words[row], words[column]) for row, column in zip(rows, columns, strict=True)}


def spearman(
    examples: Sequence[TreeExample],
    predictions: Sequence[ProbedSentence],
    target: Callable[[TreeExample], FloatArray],
) -> float:
    """Compute Spearman's rank correlation, in per cent.

    It is averaged over the rows of a sentence, then over sentences of each length, then over
    lengths, as in the paper, so that frequent lengths do not dominate.
    """
    rankdata = require_scipy().stats.rankdata
    by_length: dict[int, list[float]] = defaultdict(list)
    low, high = LENGTHS
    for example, found in zip(examples, predictions, strict=True):
        if low <= len(example.gold) <= high and not found.is_unread:
            gold = np.atleast_2d(rankdata(target(example), axis=-1))
            seen = np.atleast_2d(rankdata(found.values, axis=-1))
            gold, seen = (ranks - ranks.mean(1, keepdims=True) for ranks in (gold, seen))
            norms = np.sqrt((gold**2).sum(1) * (seen**2).sum(1))
            rows = (gold * seen).sum(1) / np.where(norms > 0, norms, 1)
            by_length[len(example.gold)].append(float(rows.mean()))
    means = [float(np.mean(values)) for values in by_length.values()]
    return 100 * float(np.mean(means)) if means else 0.0
