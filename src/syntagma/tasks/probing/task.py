"""Probing: classify frozen sentence vectors (SG-Net, Tables 7 and 8)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple, Self

import torch
from torch import Tensor

from syntagma.batches import token_budget_batches
from syntagma.checks import require_several, require_string
from syntagma.encoders.precision import autocast
from syntagma.errors import InputError
from syntagma.models.probe_model import ProbeModel
from syntagma.outputs import write_text
from syntagma.parse.sources.source import Mode
from syntagma.progress import chunks, steps
from syntagma.syntax.sequences import Part
from syntagma.tasks import BREAKDOWNS
from syntagma.tasks.comparison.comparisons import ACCURACY
from syntagma.tasks.comparison.properties import LABEL, length_of
from syntagma.tasks.experiment import Experiment
from syntagma.tasks.label_counts import accuracy_of
from syntagma.tasks.label_task import LabelTask
from syntagma.tasks.new_model import new_model, require_frozen, training_options
from syntagma.tasks.prediction_files import read_labels_by_id
from syntagma.tasks.predictor import OneOrMany, TextPredictor
from syntagma.tasks.probing.data import SPLITS, ProbeExample, read_probe
from syntagma.tasks.probing.sample import SAMPLE
from syntagma.tasks.task import ErrorExample, Features

CHUNK = 2048
"""Number of sentences that are encoded and batched together."""


class Property(NamedTuple):
    """A predicted property of a sentence.

    Args:
        label: the most probable label.
        probabilities: probability of each label, in the order of the model's labels.
        truncated: whether the sentence was truncated.
        candidates: the label from each candidate classifier, until one is chosen.
    """

    label: str
    probabilities: tuple[float, ...]
    truncated: bool = False
    candidates: tuple[str, ...] = ()


class SentenceVector(NamedTuple):
    """The vector of a sentence.

    Args:
        values: ``[width]``.
        truncated: whether the sentence was truncated.
    """

    values: Tensor
    truncated: bool


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


class Probe(OneOrMany, TextPredictor[ProbeModel]):
    """Computes sentence vectors, and predicts properties from them."""

    model_class = ProbeModel
    task = "probing"
    inputs = ("text",)

    @classmethod
    def mode(cls, model: ProbeModel) -> Mode:
        """Return ``words``: SentEval's sentences are tokenised."""
        return "words"

    @property
    def labels(self) -> list[str]:
        """The names of the labels."""
        return list(self.model.config.labels["labels"])

    def stream(self, texts: Iterable[str]) -> Iterator[Property]:
        """Lazily probe sentences in batches, in constant memory.

        Args:
            texts: sentences, tokenised, with spaces between the words.

        Raises:
            InputError: as for :meth:`vectors`.
        """
        require_several(texts, "texts")
        for chunk in chunks(texts, CHUNK):
            yield from self.classify(self.vectors(chunk))

    @torch.inference_mode()
    def classify(self, vectors: Sequence[SentenceVector]) -> list[Property]:
        """Predict the property of each sentence from its vector.

        Args:
            vectors: of sentences, ``[width]`` each, as :meth:`vectors` computes them.

        Returns:
            A property for each vector, in order, with ``[n_labels]`` probabilities.
        """
        self.model.eval()
        names = self.labels
        found = []
        for begin in range(0, len(vectors), CHUNK):
            some = vectors[begin : begin + CHUNK]
            stacked = torch.stack([vector.values for vector in some]).to(self.model.device)
            scores = self.model(stacked).logits.cpu()
            several = scores.shape[1] > 1
            for vector, rows in zip(some, scores, strict=True):
                best = [names[code] for code in rows.argmax(-1).tolist()]
                shares = tuple(rows[0].softmax(-1).tolist())
                others = tuple(best) if several else ()
                found.append(Property(best[0], shares, vector.truncated, others))
        return found

    @torch.inference_mode()
    def vectors(self, texts: Sequence[str]) -> list[SentenceVector]:
        """Compute the vectors of sentences, and move them to the CPU.

        Args:
            texts: sentences, tokenised, with spaces between the words.

        Returns:
            A vector for each sentence, in order, ``[width]`` each.

        Raises:
            InputError: ``texts`` is a single string, an item is not a string, or the encoder cannot
                read sequences of ``head.max_length``.
        """
        require_several(texts, "texts")
        for text in texts:
            require_string(text, "text")
        self.texts.check_length(self.model.head.max_length)
        self.model.eval()
        found: list[SentenceVector] = []
        special = self.texts.builder.n_special(1)
        room = self.model.head.max_length - special
        for begin in range(0, len(texts), CHUNK):
            some = texts[begin : begin + CHUNK]
            encoded = self.texts.encode(some)
            lengths = [min(len(encoded[text]), room) + special for text in some]
            values = torch.zeros(len(some), self.model.config.encoder.hidden_size)
            for batch in steps(token_budget_batches(lengths, self.batch_tokens)):
                parts = [
                    (Part(encoded[some[index]], 0, lengths[index] - special),) for index in batch
                ]
                tensors = self.on_device(self.texts.builder.collate(parts))
                with autocast(self.model.device, self.precision):
                    values[batch] = self.model.sentence_vectors(**tensors).cpu()
            found += [
                SentenceVector(row, len(encoded[text]) > room)
                for row, text in zip(values, some, strict=True)
            ]
            self.texts.forget()
        return found


class ProbingTask(LabelTask[ProbeExample, Property, Probe]):
    """Trains classifiers of frozen sentence vectors, and keeps the best one."""

    name = "probing"
    model_class = ProbeModel
    predictor_class = Probe
    primary = "accuracy"
    breakdowns = BREAKDOWNS["probing"]
    comparisons = (ACCURACY,)
    groupings = {"text_length": length_of("text"), **LABEL}  # noqa: RUF012
    sample = SAMPLE
    predictions_file = "predictions.tsv"

    def __init__(self, predictor: Probe) -> None:
        super().__init__(predictor)
        self._known: dict[str, SentenceVector] = {}

    @classmethod
    def new(cls, experiment: Experiment, examples: Sequence[ProbeExample]) -> Self:
        """Create classifiers on a frozen encoder with its guides.

        Raises:
            InputError: the encoder is not frozen, there is only one label, or there are no dev
                files on which to choose among several classifiers.
        """
        require_frozen(experiment)
        if experiment.head.chosen is not None:
            raise InputError("head.chosen: is set by training; omit it")
        labels = {"labels": sorted({example.label for example in examples})}
        if len(labels["labels"]) < 2:
            raise InputError(
                f"data.train: all examples have the label {labels['labels'][0]!r}; a probe needs "
                f"two or more labels"
            )
        model = new_model(ProbeModel, experiment, labels=labels)
        if len(model.head.candidates) > 1 and not experiment.data.dev:
            raise InputError(
                f"data.dev: is needed to choose among {len(model.head.candidates)} classifiers; "
                f"name dev files, or give one value each of head.hidden, head.dropout and head.l2"
            )
        return cls(Probe(model, **training_options(model, experiment, mode=Probe.mode(model))))

    @classmethod
    def read(cls, path: str | Path, *, skip_bad: bool = False) -> list[ProbeExample]:
        """Read examples in SentEval's format, see :mod:`syntagma.tasks.probing.data`.

        Raises:
            InputError: :func:`syntagma.tasks.probing.data.read_probe` raises it; or the file has
                several splits, and none is selected.
        """
        examples = read_probe(path, skip_bad=skip_bad)
        if len(splits := {example.split for example in examples}) > 1:
            names = " or ".join(f"{path}#{split}" for split in SPLITS if split in splits)
            found = ", ".join(sorted(splits))
            raise InputError(f"{path}: has the splits {found}; select one: {names}")
        return examples

    @classmethod
    def texts(cls, examples: Sequence[ProbeExample]) -> Iterator[str]:
        """Yield each distinct sentence."""
        yield from dict.fromkeys(example.text for example in examples)

    @classmethod
    def describe(cls, example: ProbeExample) -> ErrorExample:
        """Show the sentence."""
        return ErrorExample(example.text, (example.label,))

    def _vectors(self, examples: Sequence[ProbeExample]) -> list[SentenceVector]:
        """Return the vector of each example; they are cached, since the encoder is frozen."""
        new = list(dict.fromkeys(e.text for e in examples if e.text not in self._known))
        self._known |= dict(zip(new, self.predictor.vectors(new), strict=True))
        return [self._known[example.text] for example in examples]

    def features(self, examples: Sequence[ProbeExample]) -> Features:
        """Return sentence vectors with labels, and fit the model's standardisation to them."""
        codes = {label: code for code, label in enumerate(self.predictor.labels)}
        vectors = self._vectors(examples)
        self.model.standardise_by(torch.stack([vector.values for vector in vectors]))
        return Features(
            [
                VectorItem(vector.values, codes[example.label])
                for vector, example in zip(vectors, examples, strict=True)
            ]
        )

    def collate(self, items: Sequence[VectorItem]) -> dict[str, Tensor]:
        """Build a batch of vectors with gold labels."""
        return {
            "vectors": torch.stack([item.vector for item in items]),
            "labels": torch.tensor([item.label for item in items]),
        }

    def predict(self, examples: Sequence[ProbeExample]) -> list[Property]:
        """Predict the most probable label of each sentence."""
        return self.predictor.classify(self._vectors(examples))

    def score(
        self, examples: Sequence[ProbeExample], predictions: Sequence[Property]
    ) -> dict[str, float]:
        """Return the accuracy, and that of the majority baseline, in per cent.

        Until a classifier is chosen, the accuracy is that of the best one.  ``truncated`` is the
        share of truncated sentences.
        """
        counts = Counter(example.label for example in examples)
        self.unknown.check(counts)
        total = max(len(examples), 1)
        return {
            "accuracy": 100 * max(_right(examples, predictions)) / total,
            "majority": 100 * max(counts.values(), default=0) / total,
            "total": float(len(examples)),
            "truncated": 100 * sum(found.truncated for found in predictions) / total,
        }

    def fit_after_training(
        self, examples: Sequence[ProbeExample], predictions: Sequence[Property]
    ) -> dict[str, float]:
        """Choose the classifier with the most right predictions."""
        right = _right(examples, predictions)
        if len(right) < 2:
            return {}
        chosen = right.index(max(right))
        self.model.set_head(chosen=chosen)
        hidden, dropout, l2 = self.model.head.candidates[chosen]
        return {"hidden": hidden, "dropout": dropout, "l2": l2}

    @classmethod
    def score_file(cls, examples: Sequence[ProbeExample], path: Path) -> dict[str, float]:
        """Return the accuracy of lines of an id, a tab and a label.

        Raises:
            InputError: the file cannot be read, or does not have exactly these sentences.
        """
        found = read_labels_by_id(path, [example.id for example in examples])
        return accuracy_of(
            [example.label == label for example, label in zip(examples, found, strict=True)]
        )

    def write_predictions(
        self, examples: Sequence[ProbeExample], predictions: Sequence[Property], path: Path
    ) -> None:
        """Write one line per example: its line number and the predicted label."""
        rows = zip(examples, predictions, strict=True)
        write_text(path, "".join(f"{example.id}\t{found.label}\n" for example, found in rows))


def _right(examples: Sequence[ProbeExample], predictions: Sequence[Property]) -> list[int]:
    """Count the right predictions of each candidate classifier, or of the chosen one."""
    rows = [
        [label == example.label for label in found.candidates or (found.label,)]
        for example, found in zip(examples, predictions, strict=True)
    ]
    return [sum(column) for column in zip(*rows, strict=True)] or [0]
