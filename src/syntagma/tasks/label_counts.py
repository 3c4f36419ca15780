"""Right, predicted and gold labels as sums, with the ratios that are made of them."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["LabelCounts", "f1_of"]


def f1_of(precision: float, recall: float) -> float:
    """Their harmonic mean; 0 where both are 0."""
    return 2 * precision * recall / (precision + recall) if precision + recall else 0.0


@dataclass(frozen=True, slots=True)
class LabelCounts:
    """Counts of labels; add two to count their union.

    Args:
        right: labels that are both predicted and gold.
        predicted: all predicted ones.
        gold: all gold ones.
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
        """In per cent; 0 where nothing is predicted."""
        return 100 * self.right / self.predicted if self.predicted else 0.0

    @property
    def recall(self) -> float:
        """In per cent; 0 where there is nothing to find."""
        return 100 * self.right / self.gold if self.gold else 0.0

    @property
    def f1(self) -> float:
        """In per cent."""
        return f1_of(self.precision, self.recall)

    def sums(self) -> dict[str, float]:
        """The counts by their names, what an example adds to micro scores."""
        return {
            "right": float(self.right),
            "predicted": float(self.predicted),
            "gold": float(self.gold),
        }

    def as_dict(self) -> dict[str, float]:
        """The ratios by their names."""
        return {"precision": self.precision, "recall": self.recall, "f1": self.f1}
