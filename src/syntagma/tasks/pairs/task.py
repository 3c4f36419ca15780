"""Classify text pairs, as in natural language inference: SNLI, MNLI, SICK."""

from __future__ import annotations

import logging
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, NamedTuple, Self

import torch
from torch import Tensor

from syntagma.checks import checked_rows, require_text
from syntagma.errors import InputError
from syntagma.models.pair_model import PairModel
from syntagma.outputs import write_text
from syntagma.progress import chunks
from syntagma.reprs import brief
from syntagma.syntax.sequences import Part, fit_two
from syntagma.tasks import BREAKDOWNS
from syntagma.tasks.collect import warn_of_skipped
from syntagma.tasks.comparison.clusters import text_of
from syntagma.tasks.comparison.comparisons import ACCURACY
from syntagma.tasks.comparison.properties import LABEL, length_of
from syntagma.tasks.experiment import Experiment
from syntagma.tasks.label_counts import accuracy_of
from syntagma.tasks.label_task import LabelTask
from syntagma.tasks.layout import Layout, TextPair, lay_out_parts
from syntagma.tasks.new_model import new_model, training_options
from syntagma.tasks.pairs.data import PairExample, read_pairs
from syntagma.tasks.pairs.sample import SAMPLE
from syntagma.tasks.prediction_files import read_labels_by_id
from syntagma.tasks.predictor import LabelPredictor, OneOrMany
from syntagma.tasks.task import ErrorExample, Features

log = logging.getLogger(__name__)

CHUNK = 1024
"""Number of pairs that are encoded and batched together."""


class Relation(NamedTuple):
    """The relation between two texts.

    Args:
        label: the most probable label.
        probabilities: probability of each label, in the order of ``PairClassifier.labels``.
    """

    label: str
    probabilities: tuple[float, ...]

    def __repr__(self) -> str:
        return brief(self, repr(self.label), f"probability {max(self.probabilities):.2f}")


@dataclass(frozen=True, slots=True, eq=False)
class PairItem:
    """Two texts as one sequence.

    Args:
        parts: the two texts.
        length: number of pieces, special ones included.
        label: code of the gold label; negative if unlabelled.
    """

    parts: tuple[Part, Part]
    length: int
    label: int = -1

    def __len__(self) -> int:
        return self.length


class PairClassifier(OneOrMany, LabelPredictor[PairModel]):
    """Classifies the relation between two texts.

    Threads may share it, see :class:`syntagma.tasks.predictor.TextPredictor`.
    """

    model_class = PairModel
    task = "pairs"
    inputs = ("first", "second")

    def classify(self, first: str, second: str) -> Relation:
        """Classify one pair.

        Args:
            first: the first text; in inference, the premise.
            second: the second text; in inference, the hypothesis.

        Raises:
            InputError: a text is empty.
        """
        return next(self.stream([(first, second)]))

    def stream(self, pairs: Iterable[tuple[str, str]]) -> Iterator[Relation]:
        """Lazily classify pairs in batches, in constant memory.

        Raises:
            InputError: an item is not a pair of texts, or a text is empty.
        """
        names = self.labels
        source = checked_rows(pairs, "first text", "second text", called="pair")
        for chunk in chunks(source, CHUNK):
            for row in self.label_scores(self.items(chunk)):
                yield Relation(names[int(row.argmax())], tuple(row.softmax(-1).tolist()))
            self.texts.forget()

    def items(self, pairs: Sequence[tuple[str, str]]) -> list[PairItem]:
        """Encode pairs as sequences; each distinct text is parsed and tokenised once."""
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

    def lay_out(self, texts: TextPair) -> Layout:
        """Lay out the sequence of two texts, see :meth:`TextPredictor.lay_out`."""
        parts = self.items([(texts.first, texts.second)])[0].parts
        contents = [[("premise", texts.first)], [("hypothesis", texts.second)]]
        found = lay_out_parts(self.texts.builder, parts, contents)
        return found._replace(batch=self.on_device(found.batch))

    def collate(self, items: Sequence[PairItem]) -> dict[str, Tensor]:
        """Build a padded batch, with gold labels if all items have them."""
        batch = self.texts.builder.collate([item.parts for item in items])
        if all(item.label >= 0 for item in items):
            batch["labels"] = torch.tensor([item.label for item in items])
        return batch


class PairTask(LabelTask[PairExample, Relation, PairClassifier]):
    """Predicts one label per pair, out of those in the training data."""

    name = "pairs"
    model_class = PairModel
    predictor_class = PairClassifier
    primary = "accuracy"
    breakdowns = BREAKDOWNS["pairs"]
    comparisons = (ACCURACY,)
    groupings = {  # noqa: RUF012
        "premise_length": length_of("first"),
        "hypothesis_length": length_of("second"),
        **LABEL,
    }
    clusters = {"sentence": text_of("first")}  # noqa: RUF012
    sample = SAMPLE
    predictions_file = "predictions.tsv"

    @classmethod
    def new(cls, experiment: Experiment, examples: Sequence[PairExample]) -> Self:
        """Create a classifier with the experiment's guides and the examples' labels.

        Raises:
            InputError: no example has a label.
        """
        labels = {"labels": sorted({e.label for e in examples if e.label is not None})}
        if not labels["labels"]:
            raise InputError(f"none of the {len(examples)} pairs has a label to train on")
        model = new_model(PairModel, experiment, labels=labels)
        # A task of a plug-in may have a classifier of its own.
        classifier: Any = cls.predictor_class(model, **training_options(model, experiment))
        return cls(classifier)

    @classmethod
    def read(cls, path: str | Path, *, skip_bad: bool = False) -> list[PairExample]:
        """Read the pairs of a file, see :mod:`syntagma.tasks.pairs.data`."""
        found = read_pairs(path, skip_bad=skip_bad)
        if unlabelled := sum(example.label is None for example in found.examples):
            log.warning(
                "%s: %d pairs have no gold label; they are neither scored nor trained on",
                path,
                unlabelled,
            )
        warn_of_skipped(path, found.skipped, "pairs")
        return found.examples

    @classmethod
    def texts(cls, examples: Sequence[PairExample]) -> Iterator[str]:
        """Yield each distinct sentence."""
        yield from dict.fromkeys(
            text for example in examples for text in (example.first, example.second)
        )

    @classmethod
    def describe(cls, example: PairExample) -> ErrorExample:
        """Show the hypothesis, with the premise as its passage."""
        return ErrorExample(
            example.second,
            (str(example.label),),
            example.first,
            asked_name="hypothesis",
            passage_name="premise",
        )

    def features(self, examples: Sequence[PairExample]) -> Features:
        """Encode the labelled pairs for training."""
        codes = {label: code for code, label in enumerate(self.predictor.labels)}
        labelled = [(e, codes[e.label]) for e in examples if e.label is not None]
        items = self.predictor.items([(e.first, e.second) for e, _ in labelled])
        return Features(
            [replace(item, label=code) for item, (_, code) in zip(items, labelled, strict=True)],
            padded=True,
        )

    def predict(self, examples: Sequence[PairExample]) -> list[Relation]:
        """Predict the most probable label of each pair."""
        return list(self.predictor.stream((e.first, e.second) for e in examples))

    @classmethod
    def score_file(cls, examples: Sequence[PairExample], path: Path) -> dict[str, float]:
        """Return the accuracy of a file with the columns ``pairID`` and ``gold_label``.

        Raises:
            InputError: the file cannot be read, or does not have exactly these pairs.
        """
        ids = [example.id for example in examples]
        found = read_labels_by_id(path, ids, header="pairID\tgold_label")
        return accuracy_of(
            [
                example.label == label.lower()
                for example, label in zip(examples, found, strict=True)
                if example.label is not None
            ]
        )

    def write_predictions(
        self, examples: Sequence[PairExample], predictions: Sequence[Relation], path: Path
    ) -> None:
        """Write a table with the id and the predicted label of each pair."""
        rows: Iterable[Any] = zip(examples, predictions, strict=True)
        lines = ["pairID\tgold_label", *(f"{e.id}\t{found.label}" for e, found in rows)]
        write_text(path, "\n".join(lines) + "\n")
