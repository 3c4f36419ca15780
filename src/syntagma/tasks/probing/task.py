"""The task of probing: what can be told from frozen sentence vectors (SG-Net, Tables 7 and 8)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import NamedTuple, Self

import torch
from torch import Tensor

from syntagma.batches import token_budget_batches
from syntagma.encoders.precision import autocast
from syntagma.files import write_text
from syntagma.models.probe_model import ProbeHead, ProbeModel
from syntagma.syntax.windows import Part
from syntagma.tasks.experiment import Experiment
from syntagma.tasks.probing.data import ProbeExample, read_probe
from syntagma.tasks.task import Features, Task
from syntagma.tasks.texts import TextPredictor, new_model, require_frozen, training_options

__all__ = ["Probe", "ProbingTask", "Property"]

CHUNK = 2048
"""Sentences that are read together."""


class Property(NamedTuple):
    """What a probe finds.

    Args:
        label: the most probable.
        probabilities: of every label, in the order of the model's labels.
    """

    label: str
    probabilities: tuple[float, ...]


@dataclass(frozen=True, slots=True, eq=False)
class VectorItem:
    """A sentence vector and its label.

    Args:
        vector: ``[width]``.
        label: code of the gold label.
    """

    vector: Tensor
    label: int

    def __len__(self) -> int:
        return 1


class Probe(TextPredictor[ProbeModel]):
    """Reads properties off sentence vectors."""

    model_class = ProbeModel
    task = "probing"

    @property
    def labels(self) -> list[str]:
        """Names of the labels."""
        return list(self.model.config.labels["labels"])

    def stream(self, texts: Iterable[str]) -> Iterator[Property]:
        """Probe sentences as they come, in constant memory."""
        source, names = iter(texts), self.labels
        while chunk := list(islice(source, CHUNK)):
            with torch.inference_mode():
                scores = self.model(self.vectors(chunk).to(self.model.device)).labels.cpu()
            for row in scores:
                yield Property(names[int(row.argmax())], tuple(row.softmax(-1).tolist()))

    @torch.inference_mode()
    def vectors(self, texts: Sequence[str]) -> Tensor:
        """The vectors of sentences, ``[n_texts, width]``, on the processor."""
        self.texts.check_length(self.model.head.max_length)
        self.model.eval()
        found = torch.zeros(len(texts), self.model.config.encoder.hidden_size)
        special = self.texts.builder.n_special(1)
        room = self.model.head.max_length - special
        for begin in range(0, len(texts), CHUNK):
            some = texts[begin : begin + CHUNK]
            encoded = self.texts.encode(some)
            lengths = [min(len(encoded[text]), room) + special for text in some]
            for batch in token_budget_batches(lengths, self.batch_pieces):
                parts = [
                    (Part(encoded[some[index]], 0, lengths[index] - special),) for index in batch
                ]
                tensors = self.on_device(self.texts.builder.collate(parts))
                with autocast(self.model.device, self.precision):
                    found[begin + batch] = self.model.sentence_vectors(**tensors).cpu()
            self.texts.forget()
        return found


class ProbingTask(Task[ProbeExample, Property]):
    """A classifier of frozen sentence vectors.

    Args:
        probe: the probe to train or use.
    """

    name = "probing"
    primary = "accuracy"
    breakdowns = ("label",)
    predictions_file = "predictions.tsv"

    def __init__(self, probe: Probe) -> None:
        self.probe = probe
        self.tokenizer = probe.tokenizer
        self._known: dict[str, Tensor] = {}

    @property
    def model(self) -> ProbeModel:  # type: ignore[override]
        """Encoder and classifier."""
        return self.probe.model

    @classmethod
    def new(cls, experiment: Experiment, examples: Sequence[ProbeExample]) -> Self:
        """A fresh classifier on a frozen encoder with its guides.

        Raises:
            InputError: the encoder is to learn.
        """
        require_frozen(experiment)
        labels = {"labels": sorted({example.label for example in examples})}
        model = new_model(ProbeModel, experiment, task=cls.name, head=ProbeHead, labels=labels)
        return cls(Probe(model, **training_options(model, experiment)))

    @classmethod
    def from_folder(cls, folder: str | Path, *, device: str = "cpu", parser: str = "") -> Self:
        """A saved probe."""
        return cls(Probe.from_pretrained(folder, device=device, parser=parser))

    @classmethod
    def read(cls, path: str | Path, *, skip_bad: bool = False) -> list[ProbeExample]:
        """Examples in SentEval's format, see :mod:`syntagma.tasks.probing.data`."""
        return read_probe(path, skip_bad=skip_bad)

    @classmethod
    def texts(cls, examples: Sequence[ProbeExample]) -> Iterator[str]:
        """Each sentence once."""
        yield from dict.fromkeys(example.text for example in examples)

    def _vectors(self, examples: Sequence[ProbeExample]) -> Tensor:
        """Vectors of the examples, each computed once: the encoder never changes."""
        new = list(dict.fromkeys(e.text for e in examples if e.text not in self._known))
        self._known |= dict(zip(new, self.probe.vectors(new), strict=True))
        return torch.stack([self._known[example.text] for example in examples])

    def features(self, examples: Sequence[ProbeExample]) -> Features:
        """Sentence vectors with their labels."""
        codes = {label: code for code, label in enumerate(self.probe.labels)}
        vectors = self._vectors(examples)
        return Features(
            [
                VectorItem(vector, codes[example.label])
                for vector, example in zip(vectors, examples, strict=True)
            ]
        )

    def collate(self, items: Sequence[VectorItem]) -> dict[str, Tensor]:
        """A batch of vectors with gold labels."""
        return {
            "vectors": torch.stack([item.vector for item in items]),
            "labels": torch.tensor([item.label for item in items]),
        }

    @torch.inference_mode()
    def predict(self, examples: Sequence[ProbeExample]) -> list[Property]:
        """The most probable labels."""
        self.model.eval()
        names = self.probe.labels
        vectors = self._vectors(examples).to(self.model.device)
        return [
            Property(names[int(row.argmax())], tuple(row.softmax(-1).tolist()))
            for row in self.model(vectors).labels.cpu()
        ]

    def score(
        self, examples: Sequence[ProbeExample], predictions: Sequence[Property]
    ) -> dict[str, float]:
        """Accuracy, and that of always giving the most frequent label, in per cent."""
        right = sum(e.label == p.label for e, p in zip(examples, predictions, strict=True))
        counts: dict[str, int] = {}
        for example in examples:
            counts[example.label] = counts.get(example.label, 0) + 1
        total = max(len(examples), 1)
        return {
            "accuracy": 100 * right / total,
            "majority": 100 * max(counts.values(), default=0) / total,
            "total": float(len(examples)),
        }

    def breakdown(
        self, by: str, examples: Sequence[ProbeExample], predictions: Sequence[Property]
    ) -> dict[str, dict[str, float]]:
        """By ``label``: the accuracy of each gold label."""
        groups: dict[str, list[int]] = {}
        for number, example in enumerate(examples):
            groups.setdefault(example.label, []).append(number)
        return {
            label: {
                "accuracy": 100
                * sum(predictions[number].label == label for number in numbers)
                / len(numbers),
                "total": float(len(numbers)),
            }
            for label, numbers in sorted(groups.items())
        }

    def score_examples(
        self, examples: Sequence[ProbeExample], predictions: Sequence[Property]
    ) -> dict[str, dict[str, float]]:
        """Whether each sentence is labelled right."""
        return {
            example.id: {"accuracy": float(example.label == found.label)}
            for example, found in zip(examples, predictions, strict=True)
        }

    def write_predictions(
        self, examples: Sequence[ProbeExample], predictions: Sequence[Property], path: Path
    ) -> None:
        """Write a line an example: number of the line, label."""
        rows = zip(examples, predictions, strict=True)
        write_text(path, "".join(f"{example.id}\t{found.label}\n" for example, found in rows))
