"""Continued pre-training on an annotated corpus (SEPREM section 4.4)."""

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

from syntagma.encoders.load import load_tokenizer
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
from syntagma.parse.sources.load import AnyParser
from syntagma.syntax.sequences import Part
from syntagma.tasks.examples import fingerprint
from syntagma.tasks.experiment import Experiment
from syntagma.tasks.new_model import new_model
from syntagma.tasks.predictor import TextEncoder
from syntagma.tasks.pretraining.corpus_stream import CorpusStream, TrainingCorpus, read_corpus
from syntagma.tasks.pretraining.sample import SAMPLE
from syntagma.tasks.task import Features, Task

SEED = 0
"""Seed of the masking in evaluation, so that all models predict the same pieces."""


@dataclass(frozen=True, slots=True)
class ObjectiveSums:
    """Scores of one pre-training objective as sums, which add up over batches.

    Args:
        n: number of predictions.
        loss: summed cross-entropy.
        right: number of right predictions.
        by_class: number of targets of each class, ``[n_classes]``; empty for heads.
        guessed: expected number of right predictions when guessing uniformly, for heads.
        hidden: number of predictions of arcs that were hidden from the layers.
        hidden_right: number of right predictions among these.
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
        """Sum over the predictions of a batch."""
        scores, targets, hidden = found.scores, found.targets, found.hidden
        right = scores.argmax(-1) == targets
        sums = cls(
            n=len(targets),
            # Over all predictions, so that models trained on only the hidden arcs are comparable.
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
        """Loss, accuracy, and the accuracy of a baseline: the most frequent class, or a guess."""
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
    """Continues pre-training; the saved model is an encoder for other experiments.

    Args:
        model: encoder, guides and prediction heads.
        tokenizer: the encoder's fast tokenizer.
        precision: precision of evaluation.
        batch_tokens: maximum number of pieces in an evaluation batch, padding included.
    """

    name = "pretraining"
    model_class = PretrainingModel
    primary = "log_likelihood"
    curves = {  # noqa: RUF012
        "hidden pieces, accuracy": ("mlm_accuracy", "mlm_chance"),
        "distances, accuracy": ("distances_accuracy", "distances_chance"),
        "heads, accuracy": ("heads_accuracy", "heads_chance"),
        "hidden heads, accuracy": ("heads_hidden_accuracy", "heads_chance"),
        "hidden pieces, loss": ("mlm_loss", ""),
        "distances, loss": ("distances_loss", ""),
        "heads, loss": ("heads_loss", ""),
    }
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
        # Without a cache of parses, since these come with the corpus.
        self.text_encoder = TextEncoder(model, tokenizer, None)
        self.builder = self.text_encoder.builder

    @classmethod
    def new(cls, experiment: Experiment, examples: Sequence[TrainingCorpus]) -> Self:
        """Create a model with the experiment's encoder and guides, and heads where it has none.

        Raises:
            InputError: a guide reveals what is to be predicted, the encoder cannot read sequences
                of ``head.max_length`` or has no mask token, or the corpora have different parses.
        """
        if experiment.head.mask_token_id >= 0:
            raise InputError("head.mask_token_id: is set from the encoder; omit it")
        parsers = sorted({str(e.corpus.manifest.settings["parser"]) for e in examples})
        if len(parsers) > 1:
            raise InputError(
                f"data.train: the corpora have parses of {' and '.join(parsers)}; annotate all "
                f"with the same parser"
            )
        for name in parsers:
            if experiment.parser not in (Experiment.parser, name):
                raise InputError(
                    f"parser {experiment.parser!r}: the corpus has parses of {name}; omit parser, "
                    f"or annotate the corpus with it"
                )
            # Models that are fine-tuned from this one should use the same parser by default.
            experiment = experiment.changed(parser=name)
        tokenizer = load_tokenizer(experiment.encoder_ref)
        if tokenizer.mask_token_id is None and experiment.head.mlm:
            raise InputError(
                f"encoder {experiment.encoder!r}: has no mask token, which pre-training needs; use "
                f"a masked language model"
            )
        head = replace(experiment.head, mask_token_id=tokenizer.mask_token_id or 0)
        model = new_model(PretrainingModel, experiment.changed(head=head))
        _check_guides(model)
        _record_tag_set(model)
        task = cls(model, tokenizer, precision=experiment.training.precision)
        task.text_encoder.check_length(model.head.max_length)
        if model.head.heads and not len(task.builder.prefix(1)):
            raise InputError(
                f"head.heads: the head of a root is the special piece at the start of a sequence, "
                f"and encoder {experiment.encoder!r} has none; set head.heads to 0"
            )
        return task

    @classmethod
    def from_pretrained(
        cls,
        name: ModelName,
        *,
        device: str = "cpu",
        parser: AnyParser = "",
        precision: Precision | None = None,
    ) -> Self:
        """Load a saved model.

        Raises:
            InputError: ``parser`` is given; the parses come with the corpus.
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
        """Open the corpus in a folder that ``syntagma annotate`` wrote."""
        return [read_corpus(path, skip_bad=skip_bad)]

    @classmethod
    def fingerprint(cls, examples: Sequence[TrainingCorpus]) -> str:
        """A hash of the checksums of all shards, which the manifests state."""
        return fingerprint(
            shard.checksum for example in examples for shard in example.corpus.manifest.shards
        )

    @classmethod
    def row_id(cls, example: TrainingCorpus, number: int) -> str:
        """The folder of the corpus."""
        return str(example.corpus.folder)

    @classmethod
    def texts(cls, examples: Sequence[TrainingCorpus]) -> Iterator[str]:
        """Yield nothing, since a corpus is already parsed."""
        return iter(())

    def features(self, examples: Sequence[TrainingCorpus]) -> Features:
        """Raise an error: corpora do not fit into memory, see :meth:`stream`."""
        raise NotImplementedError("corpora are streamed")

    def stream(self, examples: Sequence[TrainingCorpus], *, budget: int, seed: int) -> CorpusStream:
        """Return a stream of batches of packed sequences."""
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
        """Build a padded batch; the model masks what is to be predicted."""
        return self.builder.collate(items)

    def predict(self, examples: Sequence[TrainingCorpus]) -> list[Sums]:
        """Score the predictions on each corpus, with the same masking each time.

        Raises:
            InputError: none of the shards of a corpus can be used.
        """
        return [self._sums(example) for example in examples]

    @torch.inference_mode()
    def _sums(self, example: TrainingCorpus) -> Sums:
        device = self.model.device
        sums: Sums = {}
        with torch.random.fork_rng([device] if device.type == "cuda" else []):
            batches = self.stream([example], budget=self.batch_tokens, seed=SEED).one_pass()
            for number, batch in enumerate(batches):
                # The model draws pieces before arcs, so with this seed all models mask the same
                # pieces, whichever objectives they have.
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
        """Return loss, accuracy and baseline of each objective.

        ``loss`` is the weighted sum of losses, and ``log_likelihood`` its negative, since greater
        must be better for model selection.
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
        """Return the accuracy of each objective on each corpus."""
        pairs = enumerate(zip(examples, predictions, strict=True))
        return {
            self.row_id(example, number): {
                name: part.scores["accuracy"] for name, part in sums.items()
            }
            for number, (example, sums) in pairs
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


def _record_tag_set(model: PretrainingModel) -> None:
    """Record that guides which leave the tag set to training have learned that of Penn."""
    for name, settings in model.config.guides.items():
        if getattr(settings, "tags", "") == "auto":
            model.config.guides[name] = replace(settings, tags="penn")


def _check_guides(model: PretrainingModel) -> None:
    """Check that no guide reveals what is to be predicted or needs a second text."""
    for name in model.config.guides:
        guide = GUIDES[name]
        if getattr(model.config.guides[name], "tags", "") == "upos":
            raise InputError(
                f"guides.{name}.tags: pre-training reads Penn tags only; omit the setting"
            )
        if guide.reveals_tree and (model.head.distances or model.head.heads):
            raise InputError(
                f"guides.{name}: reveals the trees whose distances and heads are to be predicted; "
                f"set head.distances and head.heads to 0, or remove the guide"
            )
        if guide.needs_two_texts:
            raise InputError(
                f"guides.{name}: needs two texts, and pre-training reads one; remove the guide"
            )
