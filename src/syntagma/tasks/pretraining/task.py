"""The task of going on with pre-training, on an annotated corpus (SEPREM section 4.4)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import reduce
from operator import add
from pathlib import Path
from typing import Any, Self

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from syntagma.encoders.load import load_tokenizer, max_pieces
from syntagma.encoders.precision import Precision, autocast
from syntagma.encoders.reference import ModelName, find_model
from syntagma.errors import InputError
from syntagma.models.guides import GUIDES
from syntagma.models.pretraining_model import (
    OBJECTIVES,
    ObjectiveScores,
    PretrainingModel,
    PretrainingScores,
)
from syntagma.outputs import write_json
from syntagma.syntax.sequences import Part, SequenceBuilder
from syntagma.tasks.experiment import Experiment
from syntagma.tasks.new_model import new_model
from syntagma.tasks.pretraining.corpus_stream import CorpusStream, TrainingCorpus, read_corpus
from syntagma.tasks.pretraining.sample import SAMPLE
from syntagma.tasks.task import Features, Task

SEED = 0
"""Of what is hidden at evaluation, so that every model is asked the same."""


@dataclass(frozen=True, slots=True)
class ObjectiveSums:
    """How well an objective was met; sums add up over batches.

    Args:
        n: predictions.
        loss: summed cross-entropy.
        right: right predictions.
        by_class: how often each class was right, ``[n_classes]``; empty for heads.
        guessed: right predictions to be expected from guessing among the candidates, for heads.
        hidden: predictions of arcs that the layers could not see.
        hidden_right: right ones of them.
    """

    n: int = 0
    loss: float = 0.0
    right: int = 0
    by_class: NDArray[np.int64] = field(default_factory=lambda: np.zeros(0, np.int64))
    guessed: float = 0.0
    hidden: int = 0
    hidden_right: int = 0

    def __add__(self, other: ObjectiveSums) -> ObjectiveSums:
        size = max(len(self.by_class), len(other.by_class))
        counts = [np.pad(part.by_class, (0, size - len(part.by_class))) for part in (self, other)]
        return ObjectiveSums(
            self.n + other.n,
            self.loss + other.loss,
            self.right + other.right,
            counts[0] + counts[1],
            self.guessed + other.guessed,
            self.hidden + other.hidden,
            self.hidden_right + other.hidden_right,
        )

    @classmethod
    def of(cls, found: ObjectiveScores) -> ObjectiveSums:
        """The sums of a batch."""
        scores, targets, hidden = found.scores, found.targets, found.hidden
        right = scores.argmax(-1) == targets
        sums = cls(
            n=len(targets),
            # Of all that was asked, so that models with other losses compare.
            loss=float(found._replace(only_hidden=False).loss) * len(targets),
            right=int(right.sum()),
        )
        if hidden is not None:
            sums = replace(sums, hidden=int(hidden.sum()), hidden_right=int(right[hidden].sum()))
        candidates = scores.isfinite()
        if not candidates.all():
            return replace(sums, guessed=float((1 / candidates.sum(-1)).sum()))
        return replace(sums, by_class=np.bincount(targets.cpu().numpy()))

    @property
    def scores(self) -> dict[str, float]:
        """Loss, accuracy and what chance gives: the most frequent class, or a guess."""
        n = max(self.n, 1)
        chance = self.guessed if not len(self.by_class) else float(self.by_class.max())
        values = {
            "loss": self.loss / n,
            "accuracy": 100 * self.right / n,
            "chance": 100 * chance / n,
        }
        if self.hidden:
            values["hidden_accuracy"] = 100 * self.hidden_right / self.hidden
        return values


Sums = dict[str, ObjectiveSums]


class PretrainingTask(Task[TrainingCorpus, Sums]):
    """Continued pre-training; what it leaves is an encoder for other experiments.

    Args:
        model: encoder, guides and objectives.
        tokenizer: the encoder's.
        precision: of evaluation.
        batch_tokens: the most pieces in a batch of evaluation.
    """

    name = "pretraining"
    model_class = PretrainingModel
    primary = "log_likelihood"
    sample = SAMPLE
    streams = True

    def __init__(
        self,
        model: PretrainingModel,
        tokenizer: Any,
        *,
        precision: Precision = "auto",
        batch_tokens: int = 8192,
    ) -> None:
        self.model: PretrainingModel = model.eval()
        self.tokenizer = tokenizer
        self.precision = precision
        self.batch_tokens = batch_tokens
        self.longest = max_pieces(model.config.encoder)
        self.builder = SequenceBuilder(
            tokenizer, columns=model.syntax_columns, longest=self.longest
        )

    @classmethod
    def new(cls, experiment: Experiment, examples: Sequence[TrainingCorpus]) -> Self:
        """The experiment's encoder and guides, with new heads where it has none.

        Raises:
            InputError: a guide reveals what is to be predicted, or the encoder cannot read
                sequences so long or has no mask token.
        """
        if experiment.head.mask_token_id >= 0:
            raise InputError("head.mask_token_id: is that of the encoder; leave it out")
        parsers = sorted({str(e.corpus.manifest.settings["parser"]) for e in examples})
        if len(parsers) > 1:
            raise InputError(
                f"data.train: corpora hold the parses of {' and '.join(parsers)}; annotate all "
                f"with one"
            )
        for own in parsers:
            if experiment.parser not in (Experiment.parser, own):
                raise InputError(
                    f"parser {experiment.parser!r}: the corpus holds the parses of {own}; leave it "
                    f"out here, or annotate the corpus with it"
                )
            # What is fine-tuned from the model is to read the same.
            experiment = replace(experiment, parser=own)
        tokenizer = load_tokenizer(experiment.encoder_ref)
        if tokenizer.mask_token_id is None and experiment.head.mlm:
            raise InputError(
                f"encoder {experiment.encoder!r}: has no mask piece; pre-training hides pieces "
                f"behind one, take a masked language model"
            )
        head = replace(experiment.head, mask_token_id=tokenizer.mask_token_id or 0)
        model = new_model(PretrainingModel, replace(experiment, head=head))
        _check(model)
        task = cls(model, tokenizer, precision=experiment.training.precision)
        if model.head.heads and not len(task.builder.prefix(1)):
            raise InputError(
                f"head.heads: roots point to the special piece that begins a sequence, and encoder "
                f"{experiment.encoder!r} has none; set head.heads to 0"
            )
        return task

    @classmethod
    def from_pretrained(
        cls,
        name: ModelName,
        *,
        device: str = "cpu",
        parser: str = "",
        precision: Precision | None = None,
    ) -> Self:
        """A saved model.

        Raises:
            InputError: a parser is named: the parses come with the corpus.
        """
        ref = find_model(name)
        if parser:
            raise InputError(
                f"{ref.name}: reads the parses of its corpus; annotate the corpus with {parser!r}"
            )
        model: Any = PretrainingModel.load_saved(ref, task=cls.name).to(device)
        tokenizer = load_tokenizer(ref, model.config.encoder)
        return cls(model, tokenizer, precision=precision or "auto")

    @classmethod
    def read(cls, path: str | Path, *, skip_bad: bool = False) -> list[TrainingCorpus]:
        """The corpus in a folder that ``syntagma annotate`` wrote."""
        return [read_corpus(path, skip_bad=skip_bad)]

    @classmethod
    def texts(cls, examples: Sequence[TrainingCorpus]) -> Iterator[str]:
        """Nothing: a corpus is parsed already."""
        return iter(())

    def features(self, examples: Sequence[TrainingCorpus]) -> Features:
        """Not for corpora, see :meth:`stream`."""
        raise NotImplementedError("corpora are streamed")

    def stream(self, examples: Sequence[TrainingCorpus], *, budget: int, seed: int) -> CorpusStream:
        """Batches of packed sequences."""
        special = self.builder.n_special(1)
        return CorpusStream(
            examples,
            self.tokenizer,
            max_pieces=self.model.head.max_length - special,
            n_special=special,
            budget=budget,
            packing=self.model.head.sequences,
            seed=seed,
        )

    def collate(self, items: Sequence[tuple[Part]]) -> dict[str, Tensor]:
        """A padded batch; the model hides what is to be predicted."""
        return self.builder.collate(items)

    def predict(self, examples: Sequence[TrainingCorpus]) -> list[Sums]:
        """How well each corpus is predicted; always the same is hidden.

        Raises:
            InputError: none of the shards of a corpus can be used.
        """
        self.model.eval()
        return [self._sums(example) for example in examples]

    @torch.inference_mode()
    def _sums(self, example: TrainingCorpus) -> Sums:
        device = self.model.device
        sums: Sums = {}
        with torch.random.fork_rng([device] if device.type == "cuda" else []):
            batches = self.stream([example], budget=self.batch_tokens, seed=SEED).one_pass()
            for number, batch in enumerate(batches):
                # Pieces are drawn first: so all models are asked the same, whatever else they hide.
                torch.manual_seed(SEED + number)
                tensors = {name: part.to(device) for name, part in self.collate(batch).items()}
                with autocast(device, self.precision):
                    found: PretrainingScores = self.model(**tensors)
                for name, scores in found.objectives.items():
                    sums[name] = sums.get(name, ObjectiveSums()) + ObjectiveSums.of(scores)
        if not sums:
            raise InputError(f"{example.corpus.folder}: none of its shards can be used")
        return sums

    def score(
        self, examples: Sequence[TrainingCorpus], predictions: Sequence[Sums]
    ) -> dict[str, float]:
        """Loss, accuracy and chance of each objective.

        ``loss`` is their weighted sum, ``log_likelihood`` the same with the sign turned.
        """
        values: dict[str, float] = {}
        loss = 0.0
        for name in OBJECTIVES:
            parts = [sums[name] for sums in predictions if name in sums]
            if parts:
                scores = reduce(add, parts).scores
                loss += getattr(self.model.head, name) * scores["loss"]
                values |= {f"{name}_{key}": value for key, value in scores.items()}
        return {**values, "loss": loss, "log_likelihood": -loss}

    def score_examples(
        self, examples: Sequence[TrainingCorpus], predictions: Sequence[Sums]
    ) -> dict[str, dict[str, float]]:
        """The accuracies on each corpus."""
        return {
            str(example.corpus.folder): {
                name: part.scores["accuracy"] for name, part in sums.items()
            }
            for example, sums in zip(examples, predictions, strict=True)
        }

    def write_predictions(
        self, examples: Sequence[TrainingCorpus], predictions: Sequence[Sums], path: Path
    ) -> None:
        """Write the metrics of each corpus."""
        values = {
            str(example.corpus.folder): self.score([example], [sums])
            for example, sums in zip(examples, predictions, strict=True)
        }
        write_json(path, values)


def _check(model: PretrainingModel) -> None:
    head, guides = model.head, model.config.guides
    longest = max_pieces(model.config.encoder)
    if head.max_length > longest:
        raise InputError(
            f"head.max_length {head.max_length} is longer than the encoder reads ({longest})"
        )
    for name in guides:
        guide = GUIDES[name]
        if guide.reveals_tree and (head.distances or head.heads):
            raise InputError(
                f"guides.{name}: reveals the trees whose distances and heads are to be predicted; "
                f"set head.distances and head.heads to 0, or leave the guide out"
            )
        if guide.needs_two_texts:
            raise InputError(
                f"guides.{name}: needs two texts, and pre-training reads one; leave it out"
            )
