"""What every task offers: read, encode, forward, decode, score, each callable alone.

A task is one subclass of :class:`Task` in a folder of its own. It says everything that the rest of
the package must know about it: which model, which metrics and how runs are compared by them, how an
example is described in a report, and what a small data set of it looks like.
"""

from __future__ import annotations

import time
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar, Generic, NamedTuple, Self, TypeVar

from torch import Tensor

from syntagma.batches import padded_length
from syntagma.encoders.model import SyntagmaModel
from syntagma.encoders.precision import Precision
from syntagma.encoders.reference import ModelName, find_model
from syntagma.errors import InputError
from syntagma.parse.sources.load import AnyParser
from syntagma.progress import predicting
from syntagma.tasks.comparison.clusters import ClusterOf
from syntagma.tasks.comparison.comparisons import ComparedMetric
from syntagma.tasks.comparison.properties import ExampleProperty
from syntagma.tasks.examples import distinct, fingerprint, names_of
from syntagma.tasks.experiment import Experiment
from syntagma.tasks.sample import Sample
from syntagma.tasks.stream import BatchStream

Example = TypeVar("Example")
Prediction = TypeVar("Prediction")


@dataclass(frozen=True, slots=True)
class Features:
    """Encoded examples: what a data loader reads.

    Args:
        items: a sequence of items of any kind; ``len(item)`` is its length in pieces.
        padded: whether batches are padded to round lengths
            (:func:`syntagma.batches.padded_length`).
    """

    items: Sequence[Any]
    padded: bool = False

    def __len__(self) -> int:
        return len(self.items)

    def __getitem__(self, index: int) -> Any:
        return self.items[index]

    @property
    def lengths(self) -> list[int]:
        """Pieces of each item, padding included."""
        return self.padded_lengths(map(len, self.items))

    def padded_lengths(self, lengths: Iterable[int]) -> list[int]:
        """Round lengths up as batches are padded, if they are."""
        return list(map(padded_length, lengths) if self.padded else lengths)


class ErrorExample(NamedTuple):
    """An example as a report shows it: what was asked, and what is right.

    Args:
        asked: the question, or what takes its place.
        gold: what is right; several answers may be.
        passage: the text that it is about; empty where ``asked`` is everything.
        places: characters of the passage where the gold answer is, or what is asked about.
        options: of a question with options.
        nothing: how an empty answer is shown.
        asked_name: what ``asked`` is, such as ``question``; empty where it is not a text that can
            be parsed.
        passage_name: what the passage is, such as ``premise``.
    """

    asked: str
    gold: tuple[str, ...]
    passage: str = ""
    places: tuple[tuple[int, int], ...] = ()
    options: tuple[str, ...] = ()
    nothing: str = "no answer"
    asked_name: str = ""
    passage_name: str = "passage"


class Task(ABC, Generic[Example, Prediction]):
    """A model with the code around it that makes it useful.

    Attributes:
        name: as written in experiments and model folders.
        model_class: of its model, whose ``head_class`` are the settings under ``head:``.
        primary: the metric by which models are chosen; greater is better. That of a model may
            depend on its settings, see :meth:`primaries`.
        predictions_file: name of the file of predictions in a run folder.
        breakdowns: by what :meth:`breakdown` can split the score.
        comparisons: the metrics by which runs are compared, that of the paper first; none where
            runs of the task are not compared.
        groupings: properties by which its examples can be grouped, by their names.
        clusters: which examples are not independent of each other, by kinds of clusters, the one
            that comparisons resample by default first.
        curves: metrics that a report plots over the training steps, instead of the primary one: the
            title of each panel, with its metric and the metric of the chance level (or empty).
        streams: whether an example is a whole corpus, which is read as a stream.
        threshold: the setting of the head with the fitted threshold of predictions; empty for tasks
            without one.
        sample: a small data set; ``None`` where one cannot be made without other tools.
        signature: how the primary metric is computed, where tools differ in that.
        model: the model.
        tokenizer: its encoder's fast tokenizer.
    """

    name: ClassVar[str]
    model_class: ClassVar[type[SyntagmaModel]]
    primary: str
    predictions_file: ClassVar[str] = "predictions.json"
    breakdowns: ClassVar[tuple[str, ...]] = ()
    comparisons: ClassVar[tuple[ComparedMetric, ...]] = ()
    groupings: ClassVar[Mapping[str, ExampleProperty]] = {}
    clusters: ClassVar[Mapping[str, ClusterOf]] = {}
    curves: ClassVar[Mapping[str, tuple[str, str]]] = {}
    streams: ClassVar[bool] = False
    threshold: ClassVar[str] = ""
    sample: ClassVar[Sample | None] = None
    signature: str = ""
    model: SyntagmaModel
    tokenizer: Any

    @classmethod
    @abstractmethod
    def new(cls, experiment: Experiment, examples: Sequence[Example]) -> Self:
        """A new model on a pretrained encoder; its labels are those of the training examples."""

    @classmethod
    @abstractmethod
    def from_pretrained(
        cls,
        name: ModelName,
        *,
        device: str = "cpu",
        parser: AnyParser = "",
        precision: Precision | None = None,
    ) -> Self:
        """A saved model.

        Args:
            name: of the model.
            device: where to compute.
            parser: where parses come from, if not from the source used in training.
            precision: of the computation; the usual one for such models if not given.

        Raises:
            InputError: there is no such model or parser, or the model reads no parses.
        """

    @classmethod
    def primaries(cls, experiment: Experiment) -> tuple[str, ...]:
        """What :attr:`primary` of its model may be: the first of these metrics that scores have."""
        return (cls.primary,)

    @classmethod
    @abstractmethod
    def read(cls, path: str | Path, *, skip_bad: bool = False) -> list[Example]:
        """Examples from a file in one of the task's official formats."""

    @classmethod
    def read_parts(
        cls, paths: Sequence[str], *, skip_bad: bool = False
    ) -> dict[str, list[Example]]:
        """Examples of several files, by names of these; the ids of all of them are distinct.

        Args:
            paths: in formats of the task.
            skip_bad: skip bad examples and count them.

        Raises:
            InputError: a file is named twice, or cannot be read.
        """
        named = zip(names_of(paths), paths, strict=True)
        return distinct({name: cls.read(path, skip_bad=skip_bad) for name, path in named})

    @classmethod
    def fingerprint(cls, examples: Sequence[Example]) -> str:
        """A hash of all that examples say, labels included, by which changed data are noticed."""
        return fingerprint(examples)

    @classmethod
    @abstractmethod
    def texts(cls, examples: Sequence[Example]) -> Iterator[str]:
        """The texts of examples that are to be parsed, each once."""

    @classmethod
    def document_of(cls, example: Example) -> str:
        """The id of the document that an example comes from; empty if it is unknown."""
        return ""

    @classmethod
    def row_id(cls, example: Example, number: int) -> str:
        """The id in :meth:`score_examples` of an example, by its place among all scored ones."""
        return str(getattr(example, "id", number))

    @classmethod
    def is_labelled(cls, example: Example) -> bool:
        """Whether an example has a gold label."""
        return True

    @classmethod
    def labelled(
        cls, examples: Sequence[Example], predictions: Sequence[Prediction]
    ) -> list[tuple[Example, Prediction]]:
        """(example, prediction) pairs that have a gold label, of lists in the same order."""
        pairs = zip(examples, predictions, strict=True)
        return [(example, answer) for example, answer in pairs if cls.is_labelled(example)]

    @classmethod
    def require_labels(
        cls, examples: Sequence[Example], where: str, *, training: bool = False
    ) -> None:
        """Check that there is something to score against, or to learn from.

        Args:
            examples: to be scored.
            where: they come from, for the message.
            training: whether they are training examples.

        Raises:
            InputError: none of them has a gold label.
        """
        if not any(map(cls.is_labelled, examples)):
            why = "learn from" if training else "score; `syntagma predict` writes predictions"
            raise InputError(
                f"{where}: none of the {len(examples)} examples has a gold label, so there is "
                f"nothing to {why}"
            )

    @classmethod
    def describe(cls, example: Example) -> ErrorExample | None:
        """The example as a report shows it; ``None`` for tasks whose examples are not shown."""
        return None

    @abstractmethod
    def features(self, examples: Sequence[Example]) -> Features:
        """Training examples as tensors of unequal length."""

    def stream(self, examples: Sequence[Example], *, budget: int, seed: int) -> BatchStream | None:
        """Training examples as a stream of batches, where they are too many to hold.

        Args:
            examples: to train on.
            budget: the most pieces in a batch, padding included.
            seed: of the order.

        Returns:
            ``None`` for a task whose :meth:`features` fit into memory.
        """
        return None

    @abstractmethod
    def collate(self, items: Sequence[Any]) -> dict[str, Tensor]:
        """A padded batch of features, as the model's ``forward`` names them."""

    @abstractmethod
    def predict(self, examples: Sequence[Example]) -> list[Prediction]:
        """The model's answers, in the order of the examples."""

    @abstractmethod
    def score(
        self, examples: Sequence[Example], predictions: Sequence[Prediction]
    ) -> dict[str, float]:
        """The task's official metrics under the names of the command line's contract."""

    @abstractmethod
    def score_examples(
        self, examples: Sequence[Example], predictions: Sequence[Prediction]
    ) -> dict[str, dict[str, float]]:
        """The score of each example by its id, for significance tests."""

    def breakdown(
        self, by: str, examples: Sequence[Example], predictions: Sequence[Prediction]
    ) -> dict[str, dict[str, float]]:
        """The score of each group of examples, or of parts of examples.

        Args:
            by: one of :attr:`breakdowns`.
            examples: labelled or not.
            predictions: for them, in the same order.
        """
        raise NotImplementedError(by)

    def evaluate(self, examples: Sequence[Example], *, by: Sequence[str] = ()) -> dict[str, float]:
        """Predict and score.

        Args:
            examples: what to score on.
            by: also score groups, each a name from :attr:`breakdowns`; the metrics of a group are
                called ``relation.nsubj.las``.

        Raises:
            InputError: the task has no such breakdown, or nothing to score against.
        """
        for name in by:
            if name not in self.breakdowns:
                raise InputError(
                    f"--by {name}: the task {self.name} can be split by "
                    f"{' or '.join(self.breakdowns) or 'nothing'}"
                )
        self.require_labels(examples, "data")
        begin = time.perf_counter()
        with predicting(len(examples)):
            predictions = self.predict(examples)
        seconds = time.perf_counter() - begin
        values = self.score(examples, predictions) | self.speed(examples, seconds)
        values |= self.user_scores(examples, predictions)
        for name in by:
            for group, scores in self.breakdown(name, examples, predictions).items():
                values |= {f"{name}.{group}.{key}": value for key, value in scores.items()}
        return values

    def speed(self, examples: Sequence[Example], seconds: float) -> dict[str, float]:
        """How fast predictions were made, under the names of the command line's contract."""
        return {}

    def user_scores(
        self, examples: Sequence[Example], predictions: Sequence[Prediction]
    ) -> dict[str, float]:
        """What users get beyond the official metrics, under the names of the contract.

        Args:
            examples: labelled or not.
            predictions: for them, in the same order.
        """
        return {}

    def costs(self) -> dict[str, float]:
        """What took time besides training, for the records of a run."""
        return {}

    @abstractmethod
    def write_predictions(
        self, examples: Sequence[Example], predictions: Sequence[Prediction], path: Path
    ) -> None:
        """Write predictions in the task's official format."""

    def write_abstaining(
        self, examples: Sequence[Example], predictions: Sequence[Prediction], path: Path
    ) -> None:
        """Write predictions that are empty where the model abstains; an error for most tasks."""
        raise InputError(f"--abstain: models of the task {self.name} do not abstain; omit it")

    def write_to_run(
        self, examples: Sequence[Example], predictions: Sequence[Prediction], path: Path
    ) -> None:
        """Write predictions as a run folder keeps them; by default in the official format."""
        self.write_predictions(examples, predictions, path)

    def sources(self) -> dict[str, dict[str, str]]:
        """Name, version and digest of the encoder, and of the parser if the model reads parses."""
        base = self.model.config.base
        found = {"encoder": find_model(base).identity()} if base else {}
        return found if (parser := self.parser_used()) is None else found | {"parser": parser}

    def parser_used(self, name: AnyParser = "") -> dict[str, str] | None:
        """Name, version and digest of the parser whose trees the model reads, if it reads any.

        Args:
            name: by which it was asked for, if not that of the model's settings; or an object that
                was given.
        """
        return None

    def finish_training(self) -> None:
        """Train what learns from the trained encoder."""

    def fit_after_training(
        self, examples: Sequence[Example], predictions: Sequence[Prediction]
    ) -> dict[str, float]:
        """Fit on dev data what is fitted there (thresholds), and keep it in the head's settings."""
        return {}

    def save(self, folder: Path, *, bits: int | None = None, rank: int = 0) -> None:
        """Write model and tokenizer into an existing folder.

        Args:
            folder: the folder.
            bits: store the encoder as differences of this many bits to its base; 32 rounds
                nothing.
            rank: store the differences of matrices as products of this rank; 0 as they are.
        """
        self.model.save_pretrained(folder, bits=bits, rank=rank)
        if bits is None:
            self.tokenizer.save_pretrained(folder)
