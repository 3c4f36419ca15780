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

from syntagma.errors import InputError
from syntagma.files import write_text
from syntagma.models.pair_model import PairHead, PairModel
from syntagma.syntax.windows import Part
from syntagma.tasks.experiment import Experiment
from syntagma.tasks.pairs.data import PairExample, read_pairs
from syntagma.tasks.task import Features, Task
from syntagma.tasks.texts import LabelPredictor, new_model, training_options

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

        Raises:
            InputError: one of them is empty.
        """
        return next(self.stream([(first, second)]))

    def stream(self, pairs: Iterable[tuple[str, str]]) -> Iterator[Relation]:
        """Classify pairs as they come, many at a time, in constant memory."""
        source = iter(pairs)
        names = self.labels
        while chunk := list(islice(source, CHUNK)):
            for row in self.label_scores(self.items(chunk)):
                yield Relation(names[int(row.argmax())], tuple(row.softmax(-1).tolist()))
            self.texts.forget()

    def items(self, pairs: Sequence[tuple[str, str]]) -> list[PairItem]:
        """Pairs as sequences; each text is parsed and cut into pieces once."""
        self.texts.check_length(self.model.head.max_length)
        for first, second in pairs:
            if not first.strip() or not second.strip():
                empty = "second" if first.strip() else "first"
                raise InputError(f"the {empty} text is empty; expected text")
        texts = self.texts.encode([text for pair in pairs for text in pair])
        special = self.texts.builder.n_special(2)
        room = self.model.head.max_length - special
        items = []
        for first, second in pairs:
            lengths = _fit(len(texts[first]), len(texts[second]), room)
            parts = Part(texts[first], 0, lengths[0]), Part(texts[second], 0, lengths[1])
            items.append(PairItem(parts, sum(lengths) + special))
        return items

    def collate(self, items: Sequence[PairItem]) -> dict[str, Tensor]:
        """A padded batch."""
        batch = self.texts.builder.collate([item.parts for item in items])
        if all(item.label >= 0 for item in items):
            batch["labels"] = torch.tensor([item.label for item in items])
        return batch


def _fit(first: int, second: int, room: int) -> tuple[int, int]:
    """Lengths of two texts that fit together, pieces taken from the longer one first.

    >>> _fit(10, 3, 8), _fit(10, 9, 8), _fit(2, 3, 8)
    ((5, 3), (4, 4), (2, 3))
    """
    if first + second <= room:
        return first, second
    shorter = min(first, second, room // 2)
    longer = min(max(first, second), room - shorter)
    return (longer, shorter) if first >= second else (shorter, longer)


class PairTask(Task[PairExample, Relation]):
    """One label a pair; which there are follows from the training data.

    Args:
        classifier: the classifier to train or use.
    """

    name = "pairs"
    primary = "accuracy"
    breakdowns = ("label", "confusion")
    predictions_file = "predictions.tsv"

    def __init__(self, classifier: PairClassifier) -> None:
        self.classifier = classifier
        self.tokenizer = classifier.tokenizer

    @property
    def model(self) -> PairModel:  # type: ignore[override]
        """The scorer."""
        return self.classifier.model

    @classmethod
    def new(cls, experiment: Experiment, examples: Sequence[PairExample]) -> Self:
        """A fresh classifier with the experiment's guides and the examples' labels."""
        labels = {"labels": sorted({example.label for example in examples})}
        model = new_model(PairModel, experiment, task=cls.name, head=PairHead, labels=labels)
        return cls(PairClassifier(model, **training_options(model, experiment)))

    @classmethod
    def from_folder(cls, folder: str | Path, *, device: str = "cpu", parser: str = "") -> Self:
        """A saved classifier."""
        return cls(PairClassifier.from_pretrained(folder, device=device, parser=parser))

    @classmethod
    def read(cls, path: str | Path, *, skip_bad: bool = False) -> list[PairExample]:
        """Pairs of a file, see :mod:`syntagma.tasks.pairs.data`."""
        found = read_pairs(path, skip_bad=skip_bad)
        if found.unlabelled:
            log.warning("%s: left out %d pairs without a gold label", path, found.unlabelled)
        if found.wrong:
            log.warning("%s: left out %d pairs; %s", path, len(found.wrong), found.wrong[0])
        return found.examples

    @classmethod
    def texts(cls, examples: Sequence[PairExample]) -> Iterator[str]:
        """Each sentence once."""
        yield from dict.fromkeys(
            text for example in examples for text in (example.first, example.second)
        )

    def features(self, examples: Sequence[PairExample]) -> Features:
        """Training items."""
        codes = {label: code for code, label in enumerate(self.classifier.labels)}
        items = self.classifier.items([(e.first, e.second) for e in examples])
        return Features(
            [
                replace(item, label=codes[example.label])
                for item, example in zip(items, examples, strict=True)
            ],
            padded=True,
        )

    def collate(self, items: Sequence[PairItem]) -> dict[str, Tensor]:
        """A padded batch with gold labels."""
        return self.classifier.collate(items)

    def predict(self, examples: Sequence[PairExample]) -> list[Relation]:
        """The most probable labels."""
        self.model.eval()
        return list(self.classifier.stream((e.first, e.second) for e in examples))

    def score(
        self, examples: Sequence[PairExample], predictions: Sequence[Relation]
    ) -> dict[str, float]:
        """Accuracy, in per cent; a gold label that the model does not know is never right."""
        right = sum(
            example.label == found.label
            for example, found in zip(examples, predictions, strict=True)
        )
        total = len(examples)
        return {"accuracy": 100 * right / max(total, 1), "total": float(total)}

    def breakdown(
        self, by: str, examples: Sequence[PairExample], predictions: Sequence[Relation]
    ) -> dict[str, dict[str, float]]:
        """By ``label``: accuracy of each gold label; by ``confusion``: what each was taken for."""
        rows: dict[str, dict[str, float]] = {}
        for example, found in zip(examples, predictions, strict=True):
            row = rows.setdefault(example.label, {})
            row[found.label] = row.get(found.label, 0.0) + 1
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
            for example, found in zip(examples, predictions, strict=True)
        }

    def write_predictions(
        self, examples: Sequence[PairExample], predictions: Sequence[Relation], path: Path
    ) -> None:
        """Write a table of ids and labels, as the GLUE server wants it."""
        rows: Iterable[Any] = zip(examples, predictions, strict=True)
        lines = ["pairID\tgold_label", *(f"{e.id}\t{found.label}" for e, found in rows)]
        write_text(path, "\n".join(lines) + "\n")
