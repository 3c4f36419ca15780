"""Accuracy, and precision, recall and F1 as ratios of sums over labels."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass


def f1_of(precision: float, recall: float) -> float:
    """Return the harmonic mean of precision and recall; 0 if both are 0."""
    return 2 * precision * recall / (precision + recall) if precision + recall else 0.0


def accuracy_of(right: Sequence[bool]) -> dict[str, float]:
    """Return accuracy, in per cent, and the number of examples.

    Args:
        right: whether each prediction is right.
    """
    return {"accuracy": 100 * sum(right) / max(len(right), 1), "total": float(len(right))}


@dataclass(frozen=True, slots=True)
class LabelCounts:
    """Counts of labels; adding two gives the counts over both sets of examples.

    Args:
        right: labels that are both predicted and gold.
        predicted: all predicted labels.
        gold: all gold labels.
    """

    right: int = 0
    predicted: int = 0
    gold: int = 0

    def __add__(self, other: LabelCounts) -> LabelCounts:
        return LabelCounts(
            self.right + other.right, self.predicted + other.predicted, self.gold + other.gold
        )

    @property
    def precision(self) -> float:
        """In per cent; 0 if nothing is predicted."""
        return 100 * self.right / self.predicted if self.predicted else 0.0

    @property
    def recall(self) -> float:
        """In per cent; 0 if there are no gold labels."""
        return 100 * self.right / self.gold if self.gold else 0.0

    @property
    def f1(self) -> float:
        """In per cent."""
        return f1_of(self.precision, self.recall)

    def sums(self) -> dict[str, float]:
        """The counts by name, from which micro scores are computed."""
        return {
            "right": float(self.right),
            "predicted": float(self.predicted),
            "gold": float(self.gold),
        }

    def to_dict(self) -> dict[str, float]:
        """The ratios by name."""
        return {"precision": self.precision, "recall": self.recall, "f1": self.f1}
