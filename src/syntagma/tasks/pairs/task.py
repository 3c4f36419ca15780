"""The task of inference over pairs of sentences: SNLI, MNLI, SICK."""

from __future__ import annotations

import logging
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple, Self

import torch
from torch import Tensor

from syntagma.checks import checked_rows, require_text
from syntagma.errors import InputError
from syntagma.models.pair_model import PairHead, PairModel
from syntagma.outputs import write_text
from syntagma.syntax.sequences import Part, fit_two
from syntagma.tasks.collect import warn_of_skipped
from syntagma.tasks.experiment import Experiment
from syntagma.tasks.labels import warn_of_unknown
from syntagma.tasks.pairs.data import PairExample, read_pairs
from syntagma.tasks.predictor import LabelPredictor, new_model, training_options
from syntagma.tasks.predictor_task import PredictorTask
from syntagma.tasks.task import Features

__all__ = ["PairClassifier", "PairTask", "Relation"]

log = logging.getLogger(__name__)

CHUNK = 1024
"""Pairs that are read together."""


class Relation(NamedTuple):
    """How two texts relate.

    Args:
        label: the most probable.
        probabilities: of every label, in the order of the model's labels.
    """

    label: str
    probabilities: tuple[float, ...]


@dataclass(frozen=True, slots=True, eq=False)
class PairItem:
    """Two texts as one sequence.

    Args:
        parts: of the sequence.
        length: pieces, special ones included.
        label: code of the gold label, negative where it is not told.
    """

    parts: tuple[Part, Part]
    length: int
    label: int = -1

    def __len__(self) -> int:
        return self.length


class PairClassifier(LabelPredictor[PairModel]):
    """Tells how two texts relate."""

    model_class = PairModel
    task = "pairs"

    @property
    def labels(self) -> list[str]:
        """Names of the labels."""
        return list(self.model.config.labels["labels"])

    def classify(self, first: str, second: str) -> Relation:
        """How two texts relate.

        Args:
            first: the premise, in inference.
            second: the hypothesis.

        Raises:
            InputError: one of them is empty.
        """
        return next(self.stream([(first, second)]))

    def stream(self, pairs: Iterable[tuple[str, str]]) -> Iterator[Relation]:
        """Classify pairs as they come, many at a time, in constant memory.

        Raises:
            InputError: one is no pair of texts, or a text is empty.
        """
        source = checked_rows(pairs, "first text", "second text", called="pair")
        names = self.labels
        while chunk := list(islice(source, CHUNK)):
            for row in self.label_scores(self.items(chunk)):
                yield Relation(names[int(row.argmax())], tuple(row.softmax(-1).tolist()))
            self.texts.forget()

    def items(self, pairs: Sequence[tuple[str, str]]) -> list[PairItem]:
        """Pairs as sequences; each text is parsed and cut into pieces once."""
        self.texts.check_length(self.model.head.max_length)
        for first, second in pairs:
            require_text(first, "first text")
            require_text(second, "second text")
        texts = self.texts.encode([text for pair in pairs for text in pair])
        special = self.texts.builder.n_special(2)
        room = self.model.head.max_length - special
        items = []
        for first, second in pairs:
            lengths = fit_two(len(texts[first]), len(texts[second]), room)
            parts = Part(texts[first], 0, lengths[0]), Part(texts[second], 0, lengths[1])
            items.append(PairItem(parts, sum(lengths) + special))
        return items

    def collate(self, items: Sequence[PairItem]) -> dict[str, Tensor]:
        """A padded batch."""
        batch = self.texts.builder.collate([item.parts for item in items])
        if all(item.label >= 0 for item in items):
            batch["labels"] = torch.tensor([item.label for item in items])
        return batch


class PairTask(PredictorTask[PairExample, Relation, PairClassifier]):
    """One label a pair; which there are follows from the training data."""

    name = "pairs"
    predictor_class = PairClassifier
    settings = PairHead
    primary = "accuracy"
    breakdowns = ("label", "confusion")
    predictions_file = "predictions.tsv"

    def __init__(self, predictor: PairClassifier) -> None:
        super().__init__(predictor)
        self._unknown: set[str] = set()

    @classmethod
    def new(cls, experiment: Experiment, examples: Sequence[PairExample]) -> Self:
        """A fresh classifier with the experiment's guides and the examples' labels."""
        labels = {"labels": sorted({e.label for e in examples if e.label is not None})}
        if not labels["labels"]:
            raise InputError(f"none of the {len(examples)} pairs has a label to learn from")
        model = new_model(PairModel, experiment, task=cls.name, head=PairHead, labels=labels)
        return cls(PairClassifier(model, **training_options(model, experiment)))

    @classmethod
    def read(cls, path: str | Path, *, skip_bad: bool = False) -> list[PairExample]:
        """Pairs of a file, see :mod:`syntagma.tasks.pairs.data`."""
        found = read_pairs(path, skip_bad=skip_bad)
        if found.unlabelled:
            log.warning("%s: %d pairs have no gold label; they are not scored or learnt from",
                        path, found.unlabelled)  # fmt: skip
        warn_of_skipped(path, found.wrong, "pairs")
        return found.examples

    @classmethod
    def has_gold(cls, example: PairExample) -> bool:
        """Whether its label is told."""
        return example.label is not None

    @classmethod
    def texts(cls, examples: Sequence[PairExample]) -> Iterator[str]:
        """Each sentence once."""
        yield from dict.fromkeys(
            text for example in examples for text in (example.first, example.second)
        )

    def features(self, examples: Sequence[PairExample]) -> Features:
        """Training items; pairs without a gold label have none."""
        codes = {label: code for code, label in enumerate(self.predictor.labels)}
        told = [(e, codes[e.label]) for e in examples if e.label is not None]
        items = self.predictor.items([(e.first, e.second) for e, _ in told])
        return Features(
            [replace(item, label=code) for item, (_, code) in zip(items, told, strict=True)],
            padded=True,
        )

    def collate(self, items: Sequence[PairItem]) -> dict[str, Tensor]:
        """A padded batch with gold labels."""
        return self.predictor.collate(items)

    def predict(self, examples: Sequence[PairExample]) -> list[Relation]:
        """The most probable labels."""
        self.model.eval()
        return list(self.predictor.stream((e.first, e.second) for e in examples))

    def score(
        self, examples: Sequence[PairExample], predictions: Sequence[Relation]
    ) -> dict[str, float]:
        """Accuracy of the pairs with a gold label, in per cent.

        A label that the model does not know is never right.
        """
        told = _told(examples, predictions)
        gold = [label for label, _ in told]
        if {*gold} - {*self.predictor.labels} - self._unknown:
            self._unknown |= warn_of_unknown(gold, self.predictor.labels)
        right = sum(label == found for label, found in told)
        return {"accuracy": 100 * right / max(len(told), 1), "total": float(len(told))}

    def breakdown(
        self, by: str, examples: Sequence[PairExample], predictions: Sequence[Relation]
    ) -> dict[str, dict[str, float]]:
        """By ``label``: accuracy of each gold label; by ``confusion``: what each was taken for."""
        rows: dict[str, dict[str, float]] = {}
        for label, found in _told(examples, predictions):
            row = rows.setdefault(label, {})
            row[found] = row.get(found, 0.0) + 1
        if by == "confusion":
            return {label: dict(sorted(row.items())) for label, row in sorted(rows.items())}
        return {
            label: {
                "accuracy": 100 * row.get(label, 0.0) / sum(row.values()),
                "total": sum(row.values()),
            }
            for label, row in sorted(rows.items())
        }

    def score_examples(
        self, examples: Sequence[PairExample], predictions: Sequence[Relation]
    ) -> dict[str, dict[str, float]]:
        """Whether each pair is labelled right."""
        return {
            example.id: {"accuracy": float(example.label == found.label)}
            for example, found in self.told(examples, predictions)
        }

    def write_predictions(
        self, examples: Sequence[PairExample], predictions: Sequence[Relation], path: Path
    ) -> None:
        """Write a table of ids and labels, of all pairs, labelled or not."""
        rows: Iterable[Any] = zip(examples, predictions, strict=True)
        lines = ["pairID\tgold_label", *(f"{e.id}\t{found.label}" for e, found in rows)]
        write_text(path, "\n".join(lines) + "\n")


def _told(
    examples: Sequence[PairExample], predictions: Sequence[Relation]
) -> list[tuple[str, str]]:
    """Gold and predicted label of the pairs whose label is told."""
    return [
        (example.label, found.label)
        for example, found in zip(examples, predictions, strict=True)
        if example.label is not None
    ]
