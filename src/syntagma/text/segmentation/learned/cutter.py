"""A trained classifier that cuts runs of characters into tokens."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from syntagma.text.segmentation.learned.classifier import Classifier, Floats, Weights
from syntagma.text.segmentation.learned.features import Runs, place_features

BATCH = 4096
"""Runs that are cut together."""


class Cutter:
    """Cuts runs into tokens.

    Each place between two characters gets a score from its features, to which the decision of the
    rules for English is added: they know links, numbers and emoticons, of which a treebank has few.
    Beside a character that training never saw, the rules decide alone; links, addresses and long
    words stay whole.

    Args:
        weights: those of a :class:`Classifier` with one class; ``words``, hashes of known words,
            ascending; ``characters``, hashes of the characters seen in training; ``rule``, the
            weight of the rules, ``[1]``.
    """

    def __init__(self, weights: Weights) -> None:
        self._classifier = Classifier(weights)
        self.words = weights["words"].astype(np.uint64)
        self._characters = weights["characters"].astype(np.uint64)
        self._rule = weights["rule"].astype(np.float32)

    def ends(self, runs: Sequence[str]) -> list[list[int]]:
        """Return the end of each token of each run; the last is the end of the run."""
        found: list[list[int]] = []
        for first in range(0, len(runs), BATCH):
            found += self._ends(Runs.of(runs[first : first + BATCH]))
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
        rule = 2 * runs.cuts[places] - 1
        scores = self._classifier.scores(place_features(runs, self.words))[:, 0]
        known = np.isin(runs.codes, self._characters)
        seen = known[places - 1] & known[places]
        decided: Floats = np.where(seen, scores + self._rule * rule, rule).astype(np.float32)
        decided[runs.whole[places]] = -1
        return decided
