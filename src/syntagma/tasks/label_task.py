"""What tasks share whose models choose labels: unknown labels, accuracy, confusion."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from typing import Any, Protocol, TypeVar

from syntagma.tasks.labels import warn_of_unknown
from syntagma.tasks.predictor import Predictor, PredictorTask
from syntagma.tasks.task import Example

Rows = dict[str, dict[str, float]]


class Labelled(Protocol):
    """A prediction of one label."""

    @property
    def label(self) -> str:
        """The most probable label."""
        ...


OneLabel = TypeVar("OneLabel", bound=Labelled)


class UnknownLabels:
    """Gold labels that a model does not know, which can never be predicted.

    Args:
        known: the labels of the model.
    """

    def __init__(self, known: Collection[str]) -> None:
        self.known = known
        self._warned: set[str] = set()

    def check(self, gold: Iterable[str]) -> None:
        """Warn of unknown labels, once for each."""
        gold = list(gold)
        if {*gold} - {*self.known} - self._warned:
            self._warned |= warn_of_unknown(gold, self.known)


class LabelTask(PredictorTask[Example, OneLabel, Predictor]):
    """A task with one label an example.

    Subclasses say what the gold label of an example is.
    """

    def __init__(self, predictor: Predictor) -> None:
        super().__init__(predictor)
        self.unknown = UnknownLabels(predictor.labels)  # type: ignore[attr-defined]

    @classmethod
    def gold_label(cls, example: Example) -> str | None:
        """The gold label of an example; ``None`` if it is not labelled."""
        label: str | None = example.label  # type: ignore[attr-defined]
        return label

    @classmethod
    def is_labelled(cls, example: Example) -> bool:
        """Whether an example has a gold label."""
        return cls.gold_label(example) is not None

    def gold_and_found(
        self, examples: Sequence[Example], predictions: Sequence[OneLabel]
    ) -> list[tuple[str, str]]:
        """Gold and predicted label of the labelled examples."""
        pairs = [
            (gold, prediction.label)
            for example, prediction in zip(examples, predictions, strict=True)
            if (gold := self.gold_label(example)) is not None
        ]
        self.unknown.check(gold for gold, _ in pairs)
        return pairs

    def score(
        self, examples: Sequence[Example], predictions: Sequence[OneLabel]
    ) -> dict[str, float]:
        """Accuracy over the labelled examples, in per cent."""
        pairs = self.gold_and_found(examples, predictions)
        right = sum(gold == found for gold, found in pairs)
        return {"accuracy": 100 * right / max(len(pairs), 1), "total": float(len(pairs))}

    def breakdown(
        self, by: str, examples: Sequence[Example], predictions: Sequence[OneLabel]
    ) -> Rows:
        """By ``label``: accuracy for each gold label; by ``confusion``: predictions for each."""
        pairs = self.gold_and_found(examples, predictions)
        return confusion(pairs) if by == "confusion" else accuracy_by_label(pairs)

    def score_examples(self, examples: Sequence[Example], predictions: Sequence[OneLabel]) -> Rows:
        """Whether each labelled example is right."""
        rows: Rows = {}
        for example, prediction in self.labelled(examples, predictions):
            key: Any = example
            rows[key.id] = {"accuracy": float(self.gold_label(example) == prediction.label)}
        return rows


def confusion(pairs: Iterable[tuple[str, str]]) -> Rows:
    """How often each gold label was predicted as each label.

    >>> confusion([("yes", "no"), ("yes", "yes"), ("yes", "no")])
    {'yes': {'no': 2.0, 'yes': 1.0}}
    """
    counts: dict[str, Counter[str]] = {}
    for gold, found in pairs:
        counts.setdefault(gold, Counter())[found] += 1
    return {
        gold: {found: float(row[found]) for found in sorted(row)}
        for gold, row in sorted(counts.items())
    }


def accuracy_by_label(pairs: Iterable[tuple[str, str]]) -> Rows:
    """Accuracy and number of examples for each gold label, in per cent."""
    return {
        gold: {"accuracy": 100 * row.get(gold, 0.0) / sum(row.values()), "total": sum(row.values())}
        for gold, row in confusion(pairs).items()
    }
