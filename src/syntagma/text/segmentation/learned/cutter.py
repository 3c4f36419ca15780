"""A trained classifier that cuts runs of characters into tokens."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from syntagma.text.segmentation.learned.classifier import Classifier, Floats, Weights
from syntagma.text.segmentation.learned.features import Runs, place_features
from syntagma.text.segmentation.learned.pieces import Pieces

BATCH = 4096
"""Runs that are cut together."""


class Cutter:
    """Cuts runs into tokens.

    Each place between two characters gets a score from its features, to which the decision of the
    rules for English is added: they know links, numbers and emoticons, of which a treebank has few.
    Beside a character that training never saw, the rules decide alone, unless pieces show where a
    word may end; links, addresses and long words stay whole.

    Args:
        weights: those of a :class:`Classifier` with one class; ``words``, hashes of known words,
            ascending; ``characters``, hashes of the characters seen in training; ``rule``, the
            weight of the rules, ``[1]``.
        pieces: of the parser's encoder, if they were looked at in training.
    """

    def __init__(self, weights: Weights, pieces: Pieces | None = None) -> None:
        self._pieces = pieces
        self._classifier = Classifier(weights)
        self.words = weights["words"].astype(np.uint64)
        self._characters = weights["characters"].astype(np.uint64)
        self._rule = weights["rule"].astype(np.float32)

    def ends(self, runs: Sequence[str]) -> list[list[int]]:
        """Return the end of each token of each run; the last is the end of the run."""
        found: list[list[int]] = []
        for first in range(0, len(runs), BATCH):
            found += self._ends(Runs.of(runs[first : first + BATCH], self._pieces))
        return found

    def _ends(self, runs: Runs) -> list[list[int]]:
        cuts = np.flatnonzero(self.scores(runs) > 0)
        inner: list[list[int]] = [[] for _ in range(len(runs.lengths))]
        run = runs.run_of_place[cuts]
        offsets = runs.places[cuts] - runs.begins[run]
        for number, offset in zip(run.tolist(), offsets.tolist(), strict=True):
            inner[number].append(offset)
        return [[*cut, length] for cut, length in zip(inner, runs.lengths.tolist(), strict=True)]

    def scores(self, runs: Runs) -> Floats:
        """Score each place, ``[n_places]``; positive where a token likely ends."""
        places = runs.places
        rule = runs.rule
        scores = self._classifier.scores(place_features(runs, self.words))[:, 0]
        known = np.isin(runs.codes, self._characters)
        seen = known[places - 1] & known[places]
        if self._pieces is not None:
            # A small treebank has few of the characters of such a script; its pieces are known.
            seen |= runs.is_uncased
        decided: Floats = np.where(seen, scores + self._rule * rule, rule).astype(np.float32)
        decided[runs.whole[places]] = -1
        return decided
