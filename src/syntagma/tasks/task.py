"""What every task offers: read, encode, forward, decode, score, each callable alone."""

from __future__ import annotations

import hashlib
import logging
import time
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, ClassVar, Generic, Self, TypeVar

from torch import Tensor

from syntagma.batches import padded_length
from syntagma.encoders.model import SyntagmaModel
from syntagma.encoders.precision import Precision
from syntagma.errors import InputError
from syntagma.files import split_pair
from syntagma.tasks.experiment import Experiment
from syntagma.tasks.stream import BatchStream

__all__ = ["Features", "Task", "fingerprint"]

log = logging.getLogger(__name__)

Example = TypeVar("Example")
Prediction = TypeVar("Prediction")


@dataclass(frozen=True, slots=True)
class Features:
    """Encoded examples: what a data loader reads.

    Args:
        items: of any kind; the length of one is what it costs in a batch, in pieces.
        padded: whether batches are padded to round lengths
            (:func:`syntagma.batches.padded_length`).
    """

    items: list[Any]
    padded: bool = False

    def __len__(self) -> int:
        return len(self.items)

    def __getitem__(self, index: int) -> Any:
        return self.items[index]

    @property
    def lengths(self) -> list[int]:
        """Pieces of each item, padding included."""
        lengths = map(len, self.items)
        return list(map(padded_length, lengths) if self.padded else lengths)


def names_of(paths: Sequence[str]) -> list[str]:
    """A name for each data file: without folder and ending, or its path where that is another's.

    Raises:
        InputError: a file is named twice.

    >>> names_of(["data/en.txt+data/de.txt", "RACE.tar.gz#dev", "RACE.tar.gz#test"])
    ['en', 'RACE', 'RACE.tar.gz#test']
    """
    names: list[str] = []
    for path in paths:
        # Of files that belong together, A+B, the first gives the name.
        short = Path(split_pair(path)[0]).name.split(".")[0]
        names.append(path if short in names else short)
    if len(set(paths)) < len(paths) or len(set(names)) < len(names):
        raise InputError(f"a file is named twice: {', '.join(paths)}")
    return names


def distinct(parts: Mapping[str, Sequence[Any]]) -> dict[str, list[Any]]:
    """Examples of several files; where two have the same id, all get their file's name before it.

    Args:
        parts: the examples of each file, by its name.
    """
    ids = [{getattr(example, "id", None) for example in part} - {None} for part in parts.values()]
    if len(set().union(*ids)) == sum(map(len, ids)):
        return {name: list(part) for name, part in parts.items()}
    log.warning("files have the same ids: each gets the name of its file before it")
    return {
        name: [replace(example, id=f"{name}/{example.id}") for example in part]
        for name, part in parts.items()
    }


def fingerprint(examples: Iterable[Any]) -> str:
    """A hash of all that examples say, so that runs can be known to be scored on the same."""
    digest = hashlib.blake2b(digest_size=16)
    for example in examples:
        digest.update(repr(example).encode("utf-8", "surrogatepass"))
    return digest.hexdigest()


class Task(ABC, Generic[Example, Prediction]):
    """A model with the code around it that makes it useful: one subclass a task.

    Attributes:
        name: as written in experiments and model folders.
        settings: the dataclass of ``head:`` in its experiments.
        primary: the metric by which models are chosen; greater is better.
        predictions_file: what predictions are called in a run folder.
        breakdowns: by what :meth:`breakdown` can split the score.
        streams: whether its examples are whole corpora, of which none is left out.
        signature: how the primary metric is computed, where tools differ in that.
        model: the model.
        tokenizer: its encoder's fast tokenizer.
    """

    name: ClassVar[str]
    settings: ClassVar[type]
    primary: str
    predictions_file: ClassVar[str] = "predictions.json"
    breakdowns: ClassVar[tuple[str, ...]] = ()
    streams: ClassVar[bool] = False
    signature: str = ""
    model: SyntagmaModel
    tokenizer: Any

    @classmethod
    @abstractmethod
    def new(cls, experiment: Experiment, examples: Sequence[Example]) -> Self:
        """A fresh model on a pretrained encoder; labels come from the training examples."""

    @classmethod
    @abstractmethod
    def from_folder(
        cls,
        folder: str | Path,
        *,
        device: str = "cpu",
        parser: str = "",
        precision: Precision | None = None,
    ) -> Self:
        """A saved model.

        Args:
            folder: where it is.
            device: where to compute.
            parser: where parses come from, if not from where they came in training.
            precision: of the computation; that in which such models are used if not given.

        Raises:
            InputError: there is no such model or parser, or the model reads no parses.
        """

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
            skip_bad: leave out bad examples and count them.

        Raises:
            InputError: a file is named twice, or cannot be read.
        """
        named = zip(names_of(paths), paths, strict=True)
        return distinct({name: cls.read(path, skip_bad=skip_bad) for name, path in named})

    @classmethod
    @abstractmethod
    def texts(cls, examples: Sequence[Example]) -> Iterator[str]:
        """The running texts of examples, each once: what there is to parse."""

    @classmethod
    def has_gold(cls, example: Example) -> bool:
        """Whether it is told what is right for an example."""
        return True

    @classmethod
    def told(
        cls, examples: Sequence[Example], predictions: Sequence[Prediction]
    ) -> list[tuple[Example, Prediction]]:
        """What can be scored: examples for which it is told what is right, and what was predicted.

        Args:
            examples: what was asked.
            predictions: what was answered, in the same order.
        """
        pairs = zip(examples, predictions, strict=True)
        return [(example, answer) for example, answer in pairs if cls.has_gold(example)]

    @classmethod
    def require_gold(cls, examples: Sequence[Example], where: str, *, learnt: bool = False) -> None:
        """Check that there is something to score against, or to learn from.

        Args:
            examples: to be scored.
            where: they come from, for the message.
            learnt: they are to be learnt from.

        Raises:
            InputError: it is told for none of them what is right.
        """
        if not any(map(cls.has_gold, examples)):
            instead = "`syntagma predict` writes what a model says to them"
            raise InputError(
                f"{where}: for none of the {len(examples)} examples it is told what is right, so "
                f"there is nothing to {'learn from' if learnt else f'score; {instead}'}"
            )

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
            examples: what was asked.
            predictions: what was answered.
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
        self.require_gold(examples, "data")
        begin = time.perf_counter()
        predictions = self.predict(examples)
        seconds = time.perf_counter() - begin
        values = self.score(examples, predictions) | self.speed(examples, seconds)
        for name in by:
            for group, scores in self.breakdown(name, examples, predictions).items():
                values |= {f"{name}.{group}.{key}": value for key, value in scores.items()}
        return values

    def speed(self, examples: Sequence[Example], seconds: float) -> dict[str, float]:
        """How fast predictions were made, under the names of the command line's contract."""
        return {}

    def costs(self) -> dict[str, float]:
        """What else than training took time, for the records of a run."""
        return {}

    @abstractmethod
    def write_predictions(
        self, examples: Sequence[Example], predictions: Sequence[Prediction], path: Path
    ) -> None:
        """Write predictions in the task's official format."""

    def fit_after_training(
        self, examples: Sequence[Example], predictions: Sequence[Prediction]
    ) -> dict[str, float]:
        """Choose what is fitted on dev data (thresholds) and keep it in the model's settings."""
        return {}

    def save(self, folder: Path, *, bits: int | None = None) -> None:
        """Write model and tokenizer into an existing folder.

        Args:
            folder: where to.
            bits: store the encoder as differences of this many bits to its base; 32 rounds
                nothing.
        """
        self.model.save_folder(folder, bits=bits)
        if bits is None:
            self.tokenizer.save_pretrained(folder)
