"""Metrics of entity typing: strict accuracy, loose macro and loose micro (Ling and Weld 2012).

They follow the scripts of ERNIE and K-Adapter, including how these treat empty sets:

strict accuracy
    the share of mentions whose predicted set equals the gold set; two empty sets are equal.
loose macro
    precision is the mean over *all* mentions of the share of predicted types that are right; recall
    is that of the share of gold types that are predicted.  An empty set gives a share of 0, and the
    mention still counts in the mean.
loose micro
    precision and recall over the types of all mentions together; a mention without gold types only
    lowers precision, if types are predicted for it.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field

import numpy as np

from syntagma.tasks.label_counts import LabelCounts, f1_of


@dataclass(frozen=True, slots=True)
class TypingCounts:
    """Sums over mentions; adding two gives the sums over both sets of mentions.

    Args:
        total: number of mentions.
        exact: number of mentions whose set of types is right.
        precisions: sum over mentions of the share of predicted types that are right.
        recalls: sum over mentions of the share of gold types that are predicted.
        labels: counts over the types of all mentions.
    """

    total: int = 0
    exact: int = 0
    precisions: float = 0.0
    recalls: float = 0.0
    labels: LabelCounts = field(default_factory=LabelCounts)

    @classmethod
    def of(cls, gold: Collection[str], predicted: Collection[str]) -> TypingCounts:
        """Count one mention."""
        right = len(set(gold) & set(predicted))
        return cls(
            1,
            int(set(gold) == set(predicted)),
            right / len(predicted) if predicted else 0.0,
            right / len(gold) if gold else 0.0,
            LabelCounts(right, len(predicted), len(gold)),
        )

    @classmethod
    def of_all(
        cls, gold: Iterable[Collection[str]], predicted: Iterable[Collection[str]]
    ) -> TypingCounts:
        """Count several mentions."""
        return sum(map(cls.of, gold, predicted), cls())

    def __add__(self, other: TypingCounts) -> TypingCounts:
        return TypingCounts(
            self.total + other.total,
            self.exact + other.exact,
            self.precisions + other.precisions,
            self.recalls + other.recalls,
            self.labels + other.labels,
        )

    def to_dict(self) -> dict[str, float]:
        """The metrics, in per cent; ``precision``, ``recall`` and ``f1`` are loose micro scores."""
        total = max(self.total, 1)
        macro_precision, macro_recall = 100 * self.precisions / total, 100 * self.recalls / total
        return self.labels.to_dict() | {
            "macro_precision": macro_precision,
            "macro_recall": macro_recall,
            "macro_f1": f1_of(macro_precision, macro_recall),
            "strict_accuracy": 100 * self.exact / total,
            "total": float(self.total),
        }


@dataclass(frozen=True, slots=True)
class Threshold:
    """A threshold, and the loose micro F1, in per cent, of predicting the types that reach it."""

    threshold: float
    f1: float


def typing_f1(gold: Collection[str], predicted: Collection[str]) -> float:
    """Return the F1 of one mention's types, from 0 to 1; 1 for two empty sets."""
    if not gold and not predicted:
        return 1.0
    return 2 * len(set(gold) & set(predicted)) / (len(gold) + len(predicted))


def score_by_type(
    gold: Sequence[Collection[str]], predicted: Sequence[Collection[str]]
) -> dict[str, LabelCounts]:
    """Count each type separately, sorted by name."""
    counts: dict[str, LabelCounts] = {}
    for golden, found in zip(gold, predicted, strict=True):
        for label in {*golden, *found}:
            one = LabelCounts(
                int(label in golden and label in found), int(label in found), int(label in golden)
            )
            counts[label] = counts.get(label, LabelCounts()) + one
    return dict(sorted(counts.items()))


def best_threshold(
    probabilities: Sequence[Sequence[float]],
    gold: Sequence[Collection[int]],
    *,
    n_gold: int,
    at_least_one: bool = False,
) -> Threshold:
    """Find the threshold with the best loose micro F1, in one sweep over all probabilities.

    It is halfway between the lowest probability that is accepted and the highest that is rejected,
    so that rounding errors change no decision.  Of equally good thresholds it is the highest.

    Args:
        probabilities: probability of each type for each mention, ``[n_mentions, n_labels]``.
        gold: codes of the gold types of each mention.
        n_gold: number of gold types, including those that the model does not know.
        at_least_one: whether the most probable type is predicted even below the threshold.
    """
    values = np.asarray(probabilities, np.float64)
    right = np.zeros(values.shape, bool)
    for row, codes in enumerate(gold):
        right[row, list(codes)] = True
    n_given, n_right = 0, 0
    free = np.ones(values.shape, bool)
    if at_least_one:
        free[np.arange(len(values)), values.argmax(1)] = False
        n_given, n_right = int((~free).sum()), int(right[~free].sum())
    order = np.argsort(-values[free], kind="stable")
    falling = np.append(values[free][order], 0.0)
    found = np.concatenate([[0], np.cumsum(right[free][order])])
    given = np.arange(len(falling))
    f1 = 2 * (found + n_right) / np.maximum(given + n_given + n_gold, 1)
    # No threshold separates equal probabilities, so only the last of them is a candidate.
    ahead = np.append(1.0, falling)[:-1]
    best = int(np.argmax(np.where(falling < ahead, f1, -1.0)))
    return Threshold(float(ahead[best] + falling[best]) / 2, 100 * float(f1[best]))
