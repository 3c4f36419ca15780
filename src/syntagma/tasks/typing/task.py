"""Predict the types of a mention: Open Entity, FIGER."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple, Self

import torch
from torch import Tensor

from syntagma.checks import require_number
from syntagma.errors import InputError
from syntagma.models.mention_model import TypingHead, TypingModel
from syntagma.outputs import write_json
from syntagma.reprs import brief
from syntagma.tasks import BREAKDOWNS
from syntagma.tasks.collect import warn_of_skipped
from syntagma.tasks.comparison.clusters import text_of
from syntagma.tasks.comparison.comparisons import ComparedMetric
from syntagma.tasks.comparison.metric_sums import LOOSE_MACRO_F1, MICRO_F1
from syntagma.tasks.comparison.properties import length_of
from syntagma.tasks.experiment import Experiment
from syntagma.tasks.label_task import UnknownLabels
from syntagma.tasks.mentions.classifier import MarkedText, MentionClassifier
from syntagma.tasks.mentions.data import Mention
from syntagma.tasks.mentions.packed import PackedFeatures, PackedItems
from syntagma.tasks.new_model import new_model, training_options
from syntagma.tasks.prediction_files import read_json_by_id
from syntagma.tasks.predictor import OneOrMany, PredictorTask
from syntagma.tasks.task import ErrorExample, Features
from syntagma.tasks.typing.data import TypingExample, read_typing
from syntagma.tasks.typing.metrics import (
    Threshold,
    TypingCounts,
    best_threshold,
    score_by_type,
    typing_f1,
)
from syntagma.tasks.typing.sample import SAMPLE


class Types(NamedTuple):
    """The types of a mention.

    Args:
        labels: the predicted types, most probable first; there may be none.
        probabilities: probability of each type, in the order of the model's labels.
        truncated: whether the text was truncated.
    """

    labels: tuple[str, ...]
    probabilities: tuple[float, ...]
    truncated: bool

    def __repr__(self) -> str:
        return brief(self, ", ".join(self.labels) or "no type")


class EntityTyper(OneOrMany, MentionClassifier[TypingModel]):
    """Predicts the types of the entity that a mention refers to.

    Threads may share it, see :class:`syntagma.tasks.predictor.TextPredictor`.
    """

    model_class = TypingModel
    task = "typing"
    inputs = ("text", "mention")

    def types(self, text: str, mention: Mention, *, threshold: float | None = None) -> Types:
        """Predict the types of one mention.

        Args:
            text: any text.
            mention: character offsets of the mention, (start, end).
            threshold: minimum probability of a predicted type; by default the fitted threshold.

        Raises:
            InputError: the mention has no characters, or is outside the text.
        """
        return next(self.stream([(text, mention)], threshold=threshold))

    def stream(
        self, mentions: Iterable[tuple[str, Mention]], *, threshold: float | None = None
    ) -> Iterator[Types]:
        """Lazily predict the types of (text, mention) pairs in batches, in constant memory.

        Args:
            mentions: texts, each with the character offsets of a mention.
            threshold: minimum probability of a predicted type; by default the fitted threshold.

        Raises:
            InputError: an item is not such a pair, or the threshold is not a number.
        """
        if threshold is not None:
            require_number(threshold, "threshold")
        names, head = self.labels, self.model.head
        lowest = head.threshold if threshold is None else threshold
        for scores, truncated in self.score_stream(self.all_checked(mentions)):
            probabilities = scores.sigmoid()
            ranked = probabilities.argsort(descending=True, stable=True).tolist()
            values = probabilities.tolist()
            given = [
                code
                for rank, code in enumerate(ranked)
                if values[code] >= lowest or (head.at_least_one and rank == 0)
            ]
            yield Types(tuple(names[code] for code in given), tuple(values), truncated)

    def gold_tensor(self, labels: Sequence[tuple[int, ...]]) -> Tensor:
        """Convert gold types to a 0/1 matrix, ``[n_examples, n_labels]``.

        Args:
            labels: codes of the types of each mention.
        """
        gold = torch.zeros(len(labels), len(self.labels))
        for row, codes in enumerate(labels):
            gold[row, list(codes)] = 1.0
        return gold


F1 = ComparedMetric(
    ("precision", "recall", "f1", "macro_f1", "strict_accuracy"),
    "f1",
    "f1",
    "randomisation",
    MICRO_F1,
)


def _primary(head: TypingHead) -> str:
    """Return the metric by which models with these settings are chosen."""
    return "best_f1" if head.fit_threshold else TypingTask.primary


class TypingTask(PredictorTask[TypingExample, Types, EntityTyper]):
    """Predicts any number of types per mention, out of those in the training data."""

    name = "typing"
    model_class = TypingModel
    predictor_class = EntityTyper
    primary = "f1"
    breakdowns = BREAKDOWNS["typing"]
    comparisons = (
        F1,
        F1._replace(metric="macro_f1", sums=LOOSE_MACRO_F1),
        F1._replace(metric="strict_accuracy", score="strict_accuracy", test="t", sums=None),
    )
    groupings = {"text_length": length_of("text")}  # noqa: RUF012
    threshold = "threshold"
    clusters = {"sentence": text_of("text")}  # noqa: RUF012
    sample = SAMPLE

    def __init__(self, predictor: EntityTyper) -> None:
        super().__init__(predictor)
        self.unknown = UnknownLabels(predictor.labels)
        self.primary = _primary(predictor.model.head)

    @classmethod
    def primaries(cls, experiment: Experiment) -> tuple[str, ...]:
        """The F1 at the best threshold where one is fitted."""
        return (_primary(experiment.head),)

    @classmethod
    def new(cls, experiment: Experiment, examples: Sequence[TypingExample]) -> Self:
        """Create a typer with the experiment's guides and the examples' types.

        Raises:
            InputError: no example has a type.
        """
        names = sorted({label for example in examples for label in example.labels or ()})
        if not names:
            raise InputError("data.train: no mention has a label to train on")
        model = new_model(TypingModel, experiment, labels={"labels": names})
        return cls(EntityTyper(model, **training_options(model, experiment)))

    @classmethod
    def read(cls, path: str | Path, *, skip_bad: bool = False) -> list[TypingExample]:
        """Read the mentions of a file, see :mod:`syntagma.tasks.typing.data`."""
        examples, wrong = read_typing(path, skip_bad=skip_bad)
        warn_of_skipped(path, wrong, "mentions")
        return examples

    @classmethod
    def is_labelled(cls, example: TypingExample) -> bool:
        """Return whether the mention's types are known, even if it has none."""
        return example.labels is not None

    @classmethod
    def texts(cls, examples: Sequence[TypingExample]) -> Iterator[str]:
        """Yield each distinct sentence."""
        yield from dict.fromkeys(example.text for example in examples)

    @classmethod
    def describe(cls, example: TypingExample) -> ErrorExample:
        """Show the mention, with the sentence as its passage."""
        gold = (", ".join(sorted(example.labels or ())),)
        start, end = example.mention
        places = ((start, end),)
        return ErrorExample(example.text[start:end], gold, example.text, places, nothing="no type")

    def features(self, examples: Sequence[TypingExample]) -> Features:
        """Encode the training examples.

        Raises:
            InputError: an example is unlabelled.
        """
        codes = {label: code for code, label in enumerate(self.predictor.labels)}
        for example in examples:
            if example.labels is None:
                raise InputError(f"mention {example.id}: has no labels to train on")
        items = self.predictor.labelled_items(
            (MarkedText(e.text, (e.mention,)) for e in examples),
            (tuple(codes[label] for label in e.labels or ()) for e in examples),
        )
        return PackedFeatures(PackedItems(items, rows=self.predictor.rows), padded=True)

    def predict(self, examples: Sequence[TypingExample]) -> list[Types]:
        """Predict types at the model's threshold."""
        return list(self.predictor.stream((e.text, e.mention) for e in examples))

    def score(
        self, examples: Sequence[TypingExample], predictions: Sequence[Types]
    ) -> dict[str, float]:
        """Return the metrics of :mod:`syntagma.tasks.typing.metrics`, in per cent.

        ``best_f1`` is the F1 at the best threshold, on which checkpoints are selected if the
        threshold is fitted; ``truncated`` is the share of truncated texts.  Gold types that the
        model does not know count as missed, with a warning.
        """
        gold_sets, found = self._gold_and_found(examples, predictions)
        gold = [label for labels in gold_sets for label in labels]
        self.unknown.check(gold)
        counts = TypingCounts.of_all(gold_sets, (types.labels for types in found))
        truncated = sum(types.truncated for types in found)
        values = counts.to_dict() | {"truncated": 100 * truncated / max(len(found), 1)}
        return values | {"best_f1": self._best(gold_sets, found).f1 if gold else values["f1"]}

    def breakdown(
        self, by: str, examples: Sequence[TypingExample], predictions: Sequence[Types]
    ) -> dict[str, dict[str, float]]:
        """Return precision, recall and F1 of each type, and the number of mentions with it."""
        gold_sets, found = self._gold_and_found(examples, predictions)
        counts = score_by_type(gold_sets, [types.labels for types in found])
        return {
            label: each.to_dict() | {"total": float(each.gold)} for label, each in counts.items()
        }

    def score_examples(
        self, examples: Sequence[TypingExample], predictions: Sequence[Types]
    ) -> dict[str, dict[str, float]]:
        """Return F1 and strict accuracy of each labelled mention, and its summands in metrics."""
        rows: dict[str, dict[str, float]] = {}
        for example, types in self.labelled(examples, predictions):
            gold = example.labels or ()
            counts = TypingCounts.of(gold, types.labels)
            rows[example.id] = {
                "f1": typing_f1(gold, types.labels),
                "strict_accuracy": float(counts.exact),
                **counts.labels.sums(),
                "mentions": 1.0,
                "precisions": counts.precisions,
                "recalls": counts.recalls,
            }
        return rows

    def fit_after_training(
        self, examples: Sequence[TypingExample], predictions: Sequence[Types]
    ) -> dict[str, float]:
        """Fit the threshold to loose micro F1, if ``head.fit_threshold`` is set."""
        gold_sets, found = self._gold_and_found(examples, predictions)
        if not self.model.head.fit_threshold or not any(gold_sets):
            return {}
        threshold = self._best(gold_sets, found).threshold
        self.model.set_head(threshold=threshold)
        return {"threshold": threshold}

    def _gold_and_found(
        self, examples: Sequence[TypingExample], predictions: Sequence[Types]
    ) -> tuple[list[tuple[str, ...]], list[Types]]:
        """Return gold types and predictions of the labelled examples."""
        pairs = self.labelled(examples, predictions)
        return [example.labels or () for example, _ in pairs], [types for _, types in pairs]

    def _best(self, gold_sets: Sequence[Sequence[str]], found: Sequence[Types]) -> Threshold:
        codes = {label: code for code, label in enumerate(self.predictor.labels)}
        return best_threshold(
            [types.probabilities for types in found],
            [[codes[label] for label in labels if label in codes] for labels in gold_sets],
            n_gold=sum(map(len, gold_sets)),
            at_least_one=self.model.head.at_least_one,
        )

    @classmethod
    def score_file(cls, examples: Sequence[TypingExample], path: Path) -> dict[str, float]:
        """Return the metrics of a JSON file of types by id.

        The types are a list, or an object with the list as ``labels``, as
        :meth:`write_predictions` writes it.

        Raises:
            InputError: the file cannot be read, or does not have exactly these mentions.
        """
        gold, found = [], []
        values = read_json_by_id(path, [example.id for example in examples])
        for example, value in zip(examples, values, strict=True):
            labels = value.get("labels") if isinstance(value, dict) else value
            if not isinstance(labels, list) or not all(isinstance(one, str) for one in labels):
                raise InputError(
                    f"{path}: expected a list of types for {example.id!r}, got {value!r:.40}"
                )
            if example.labels is not None:
                gold.append(example.labels)
                found.append(tuple(dict.fromkeys(labels)))
        return TypingCounts.of_all(gold, found).to_dict()

    def write_predictions(
        self, examples: Sequence[TypingExample], predictions: Sequence[Types], path: Path
    ) -> None:
        """Write an object with the types and all probabilities of each mention."""
        names = self.predictor.labels
        rows: dict[str, Any] = {
            example.id: {
                "labels": list(types.labels),
                "probabilities": {
                    name: round(value, 6)
                    for name, value in zip(names, types.probabilities, strict=True)
                },
            }
            for example, types in zip(examples, predictions, strict=True)
        }
        write_json(path, rows)
