"""Classify the relation between two mentions: TACRED, SemEval-2010 Task 8, KBP37."""

from __future__ import annotations

import logging
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple, Self

import torch
from torch import Tensor

from syntagma.errors import InputError
from syntagma.models.mention_model import RelationModel
from syntagma.outputs import write_text
from syntagma.reprs import brief
from syntagma.settings import nearest
from syntagma.tasks import BREAKDOWNS
from syntagma.tasks.collect import warn_of_skipped
from syntagma.tasks.comparison.clusters import text_of
from syntagma.tasks.comparison.comparisons import ComparedMetric
from syntagma.tasks.comparison.metric_sums import MICRO_F1
from syntagma.tasks.comparison.properties import length_of, name_of
from syntagma.tasks.experiment import Experiment
from syntagma.tasks.label_counts import accuracy_of
from syntagma.tasks.label_task import LabelTask, confusion
from syntagma.tasks.mentions.classifier import MarkedText, MentionClassifier
from syntagma.tasks.mentions.data import Mention
from syntagma.tasks.mentions.packed import PackedFeatures, PackedItems
from syntagma.tasks.new_model import new_model, training_options
from syntagma.tasks.prediction_files import read_labels_by_id, read_one_per_line
from syntagma.tasks.predictor import OneOrMany
from syntagma.tasks.relations.data import RelationExample, read_relations
from syntagma.tasks.relations.metrics import (
    count_classes,
    count_relations,
    find_negative,
    is_directed,
    macro_f1,
    score_by_relation,
)
from syntagma.tasks.relations.sample import SAMPLE
from syntagma.tasks.task import ErrorExample, Features

log = logging.getLogger(__name__)


class MentionRelation(NamedTuple):
    """The relation between two mentions.

    Args:
        label: the most probable relation.
        probabilities: probability of each relation, in the order of the model's labels.
        truncated: whether the text was truncated.
    """

    label: str
    probabilities: tuple[float, ...]
    truncated: bool

    def __repr__(self) -> str:
        return brief(self, repr(self.label), f"probability {max(self.probabilities):.2f}")


class RelationClassifier(OneOrMany, MentionClassifier[RelationModel]):
    """Classifies the relation between two mentions in a text.

    Threads may share it, see :class:`syntagma.tasks.predictor.TextPredictor`.
    """

    model_class = RelationModel
    task = "relations"
    inputs = ("text", "subject", "object")

    @property
    def negative(self) -> str:
        """The negative class ("no relation"); empty if the model has none."""
        return self.model.head.negative or find_negative(self.labels)

    def relation(self, text: str, subject: Mention, object: Mention) -> MentionRelation:
        """Classify one pair of mentions.

        Args:
            text: any text.
            subject: character offsets of the subject, (start, end).
            object: character offsets of the object.

        Raises:
            InputError: a mention has no characters, or is outside the text.
        """
        return next(self.stream([(text, subject, object)]))

    def stream(self, pairs: Iterable[tuple[str, Mention, Mention]]) -> Iterator[MentionRelation]:
        """Lazily classify (text, subject, object) triples in batches, in constant memory.

        Args:
            pairs: texts with two mentions each, as for :meth:`relation`.

        Raises:
            InputError: as for :meth:`relation`.
        """
        yield from self.classify(self.all_checked(pairs))

    def classify(self, texts: Iterable[MarkedText]) -> Iterator[MentionRelation]:
        """Lazily classify pairs of mentions without checking them: KBP37 has empty mentions."""
        names = self.labels
        for scores, truncated in self.score_stream(texts):
            probabilities = tuple(scores.softmax(-1).tolist())
            yield MentionRelation(names[int(scores.argmax())], probabilities, truncated)

    def gold_tensor(self, labels: Sequence[tuple[int, ...]]) -> Tensor:
        """Convert gold labels to codes, ``[n_examples]``.

        Args:
            labels: the one code of each example.
        """
        return torch.tensor([code for (code,) in labels])


F1 = ComparedMetric(
    ("precision", "recall", "f1", "macro_f1", "accuracy"),
    "f1",
    "accuracy",
    "randomisation",
    MICRO_F1,
)


class RelationTask(LabelTask[RelationExample, MentionRelation, RelationClassifier]):
    """Predicts one relation per pair of mentions, out of those in the training data."""

    name = "relations"
    model_class = RelationModel
    predictor_class = RelationClassifier
    primary = "f1"
    breakdowns = BREAKDOWNS["relations"]
    comparisons = (
        F1,
        F1._replace(metric="macro_f1", sums=None, by_class=True),
        F1._replace(metric="accuracy", test="t", sums=None),
    )
    groupings = {  # noqa: RUF012
        "text_length": length_of("text"),
        "relation": name_of("relation"),
    }
    clusters = {"sentence": text_of("text")}  # noqa: RUF012
    sample = SAMPLE
    predictions_file = "predictions.txt"

    @classmethod
    def new(cls, experiment: Experiment, examples: Sequence[RelationExample]) -> Self:
        """Create a classifier with the experiment's guides and the examples' relations.

        Raises:
            InputError: no example is labelled, or ``head.negative`` is not one of the relations.
        """
        names = sorted({example.relation for example in examples} - {""})
        if not names:
            raise InputError("data.train: no example has a relation to train on")
        model = new_model(RelationModel, experiment, labels={"labels": names})
        negative = model.head.negative
        if negative and negative not in names:
            raise InputError(f"head.negative: no relation {negative!r}; {nearest(negative, names)}")
        return cls(RelationClassifier(model, **training_options(model, experiment)))

    @classmethod
    def read(cls, path: str | Path, *, skip_bad: bool = False) -> list[RelationExample]:
        """Read the examples of a file, see :mod:`syntagma.tasks.relations.data`."""
        found = read_relations(path, skip_bad=skip_bad)
        warn_of_skipped(path, found.skipped, "examples")
        if blank := sum(example.has_empty_mention for example in found.examples):
            log.warning(
                "%s: %d examples have an empty mention; its markers are adjacent",
                path,
                blank,
            )
        return found.examples

    @classmethod
    def gold_label(cls, example: RelationExample) -> str | None:
        """Return the relation; ``None`` if it is empty."""
        return example.relation or None

    @classmethod
    def texts(cls, examples: Sequence[RelationExample]) -> Iterator[str]:
        """Yield each distinct sentence."""
        yield from dict.fromkeys(example.text for example in examples)

    @classmethod
    def describe(cls, example: RelationExample) -> ErrorExample:
        """Show subject and object, with the sentence as their passage."""
        places = (example.subject, example.object)
        subject, object_ = (example.text[start:end] for start, end in places)
        asked = f"{subject} → {object_}"
        return ErrorExample(asked, (example.relation,), example.text, places)

    def features(self, examples: Sequence[RelationExample]) -> Features:
        """Encode the training examples.

        Raises:
            InputError: an example is unlabelled.
        """
        codes = {label: code for code, label in enumerate(self.predictor.labels)}
        for example in examples:
            if not example.relation:
                raise InputError(f"example {example.id}: has no relation to train on")
        items = self.predictor.labelled_items(
            map(_marked, examples), ((codes[example.relation],) for example in examples)
        )
        return PackedFeatures(PackedItems(items, rows=self.predictor.rows), padded=True)

    def predict(self, examples: Sequence[RelationExample]) -> list[MentionRelation]:
        """Predict the most probable relation of each pair."""
        return list(self.predictor.classify(map(_marked, examples)))

    def score(
        self, examples: Sequence[RelationExample], predictions: Sequence[MentionRelation]
    ) -> dict[str, float]:
        """Return the metrics of :mod:`syntagma.tasks.relations.metrics`, in per cent.

        Accuracy includes the negative class.  ``macro_f1`` exists only for directed labels;
        ``truncated`` is the share of truncated texts.  Gold relations that the model does not know
        count as missed, with a warning.
        """
        pairs = self.gold_and_found(examples, predictions)
        gold, found = [label for label, _ in pairs], [label for _, label in pairs]
        negative = self.predictor.negative
        values = count_relations(gold, found, negative).to_dict()
        if is_directed(self.predictor.labels, negative):
            values["macro_f1"] = macro_f1(gold, found, negative)
        values |= super().score(examples, predictions)
        truncated = sum(found.truncated for _, found in self.labelled(examples, predictions))
        return values | {"truncated": 100 * truncated / max(len(pairs), 1)}

    def breakdown(
        self,
        by: str,
        examples: Sequence[RelationExample],
        predictions: Sequence[MentionRelation],
    ) -> dict[str, dict[str, float]]:
        """Return the scores of each relation; by ``confusion``, the counts of its predictions."""
        pairs = self.gold_and_found(examples, predictions)
        if by == "confusion":
            return confusion(pairs)
        counts = score_by_relation([gold for gold, _ in pairs], [found for _, found in pairs])
        return {
            label: each.to_dict() | {"total": float(each.gold)} for label, each in counts.items()
        }

    def score_examples(
        self, examples: Sequence[RelationExample], predictions: Sequence[MentionRelation]
    ) -> dict[str, dict[str, float]]:
        """Return the accuracy of each labelled example, and its summands in micro and macro F1.

        The summands in macro F1, which exist only for directed labels, are counts of classes, such
        as ``gold:Cause-Effect``.
        """
        negative = self.predictor.negative
        has_macro = is_directed(self.predictor.labels, negative)
        rows: dict[str, dict[str, float]] = {}
        for example, prediction in self.labelled(examples, predictions):
            gold, found = [example.relation], [prediction.label]
            row = {
                "accuracy": float(gold == found),
                **count_relations(gold, found, negative).sums(),
            }
            for name, each in count_classes(gold, found, negative).items() if has_macro else ():
                row |= {f"{count}:{name}": value for count, value in each.sums().items() if value}
            rows[example.id] = row
        return rows

    @classmethod
    def score_file(cls, examples: Sequence[RelationExample], path: Path) -> dict[str, float]:
        """Return the metrics of a file of labels, with ids for data in SemEval's format.

        Raises:
            InputError: the file cannot be read, or does not have exactly these examples.
        """
        if any(example.tagged for example in examples):
            labels = read_labels_by_id(path, [example.id for example in examples])
        else:
            labels = [line.strip() for line in read_one_per_line(path, len(examples))]
        pairs = [
            (example.relation, label)
            for example, label in zip(examples, labels, strict=True)
            if example.relation
        ]
        gold, found = [label for label, _ in pairs], [label for _, label in pairs]
        negative = find_negative({*gold, *found})
        values = count_relations(gold, found, negative).to_dict()
        if is_directed({*gold, *found}, negative):
            values["macro_f1"] = macro_f1(gold, found, negative)
        return values | accuracy_of([one == other for one, other in pairs])

    def write_predictions(
        self,
        examples: Sequence[RelationExample],
        predictions: Sequence[MentionRelation],
        path: Path,
    ) -> None:
        """Write one line per example: id and relation for SemEval, only the relation for TACRED."""
        with_ids = any(example.tagged for example in examples)
        lines = [
            f"{example.id}\t{prediction.label}" if with_ids else prediction.label
            for example, prediction in zip(examples, predictions, strict=True)
        ]
        write_text(path, "".join(f"{line}\n" for line in lines))


def _marked(example: RelationExample) -> MarkedText:
    return MarkedText(example.text, (example.subject, example.object))
