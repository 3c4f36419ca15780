"""Base of tasks that predict one label per example: accuracy, confusion, unknown labels."""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from typing import Any, Protocol, TypeVar

from syntagma.settings import nearest
from syntagma.tasks.label_counts import accuracy_of
from syntagma.tasks.predictor import Predictor, PredictorTask
from syntagma.tasks.task import Example

log = logging.getLogger(__name__)

Rows = dict[str, dict[str, float]]


class Labelled(Protocol):
    """A prediction of one label."""

    @property
    def label(self) -> str:
        """The most probable label."""
        ...


OneLabel = TypeVar("OneLabel", bound=Labelled)


class UnknownLabels:
    """Warns of gold labels that a model does not know and thus can never predict.

    Args:
        known: the labels of the model.
    """

    def __init__(self, known: Collection[str]) -> None:
        self.known = known
        self._warned: set[str] = set()

    def check(self, gold: Iterable[str]) -> None:
        """Log how many gold labels are unknown, if there are any that no warning named before.

        Args:
            gold: every label of every example.
        """
        unknown = [label for label in gold if label not in self.known]
        if {*unknown} - self._warned:
            self._warned |= {*unknown}
            log.warning(
                "%d gold labels are unknown to the model and count as missed, such as %r; %s",
                len(unknown),
                unknown[0],
                nearest(unknown[0], list(self.known)),
            )


class LabelTask(PredictorTask[Example, OneLabel, Predictor]):
    """A task with one label per example.

    Subclasses whose examples have no attribute ``label`` override :meth:`gold_label`.
    """

    def __init__(self, predictor: Predictor) -> None:
        super().__init__(predictor)
        self.unknown = UnknownLabels(predictor.labels)  # type: ignore[attr-defined]

    @classmethod
    def gold_label(cls, example: Example) -> str | None:
        """Return the gold label of an example; ``None`` if it is not labelled."""
        label: str | None = example.label  # type: ignore[attr-defined]
        return label

    @classmethod
    def is_labelled(cls, example: Example) -> bool:
        """Whether an example has a gold label."""
        return cls.gold_label(example) is not None

    def gold_and_found(
        self, examples: Sequence[Example], predictions: Sequence[OneLabel]
    ) -> list[tuple[str, str]]:
        """Return the gold and the predicted label of each labelled example."""
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
        """Return the accuracy over the labelled examples, in per cent."""
        pairs = self.gold_and_found(examples, predictions)
        return accuracy_of([gold == found for gold, found in pairs])

    def breakdown(
        self, by: str, examples: Sequence[Example], predictions: Sequence[OneLabel]
    ) -> Rows:
        """Return the accuracy of each label; by ``confusion``, the counts of its predictions."""
        pairs = self.gold_and_found(examples, predictions)
        return confusion(pairs) if by == "confusion" else accuracy_by_label(pairs)

    def score_examples(self, examples: Sequence[Example], predictions: Sequence[OneLabel]) -> Rows:
        """Return 1 or 0 for each labelled example, by whether its prediction is right."""
        rows: Rows = {}
        for example, prediction in self.labelled(examples, predictions):
            key: Any = example
            rows[key.id] = {"accuracy": float(self.gold_label(example) == prediction.label)}
        return rows


def confusion(pairs: Iterable[tuple[str, str]]) -> Rows:
    """Count how often each gold label was predicted as each label.

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
    """Return accuracy, in per cent, and number of examples for each gold label."""
    return {
        gold: {"accuracy": 100 * row.get(gold, 0.0) / sum(row.values()), "total": sum(row.values())}
        for gold, row in confusion(pairs).items()
    }
