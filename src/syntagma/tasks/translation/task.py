"""Machine translation (SG-Net, journal version, sections 3.4.3 and 5.2)."""

from __future__ import annotations

import logging
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple, Self

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from syntagma.batches import token_budget_batches
from syntagma.checks import require_several, require_string, require_text
from syntagma.encoders.default import SCRATCH
from syntagma.encoders.load import load_tokenizer
from syntagma.encoders.precision import autocast
from syntagma.errors import InputError
from syntagma.models.translation_model import (
    IGNORED,
    TranslationModel,
)
from syntagma.outputs import write_text
from syntagma.parse.sources.source import Mode
from syntagma.progress import chunks, steps
from syntagma.syntax.sequences import Part
from syntagma.tasks import BREAKDOWNS
from syntagma.tasks.comparison.comparisons import ComparedMetric
from syntagma.tasks.comparison.metric_sums import BLEU
from syntagma.tasks.comparison.properties import length_of
from syntagma.tasks.experiment import Experiment
from syntagma.tasks.new_model import new_model, training_parses
from syntagma.tasks.prediction_files import read_one_per_line
from syntagma.tasks.predictor import OneOrMany, PredictorTask, TextPredictor
from syntagma.tasks.task import ErrorExample, Features
from syntagma.tasks.translation.languages import set_languages
from syntagma.tasks.translation.parallel_text import ParallelExample, read_parallel
from syntagma.tasks.translation.sample import SAMPLE
from syntagma.tasks.translation.scores import bleu, sentence_bleu, signature
from syntagma.tasks.translation.scratch import from_scratch
from syntagma.text.special_tokens import target_pieces

log = logging.getLogger(__name__)

CHUNK = 2048
"""Number of texts that are encoded and batched together."""


class Translation(NamedTuple):
    """A translated text.

    Args:
        text: the best hypothesis.
        score: its log-probability, divided by a power of its length.
    """

    text: str
    score: float


@dataclass(frozen=True, slots=True, eq=False)
class SourceItem:
    """An encoded source, with its target in training.

    Args:
        part: the pieces of the source.
        n_special: number of special pieces around it.
        target: pieces of the target, including the final end piece, ``[n_target]``; empty if it is
            unknown.
    """

    part: Part
    n_special: int
    target: NDArray[np.int64]

    def __len__(self) -> int:
        return max(len(self.part) + self.n_special, len(self.target))


class Translator(OneOrMany, TextPredictor[TranslationModel]):
    """Translates texts, which may be sentences or longer.

    Threads may share a translator, see :class:`syntagma.tasks.predictor.TextPredictor`.
    """

    model_class = TranslationModel
    task = "translation"
    inputs = ("text",)

    def __init__(self, model: TranslationModel, tokenizer: Any, **options: Any) -> None:
        set_languages(model, tokenizer)
        super().__init__(model, tokenizer, **options)
        ends = {tokenizer.pad_token_id, tokenizer.bos_token_id, tokenizer.eos_token_id}
        # Special pieces are dropped from the output, except that of unknown words: it counts as a
        # wrong word.
        silent = {*tokenizer.all_special_ids} - ({tokenizer.unk_token_id} - ends)
        self._silent = torch.tensor(sorted(silent), dtype=torch.long)

    @classmethod
    def mode(cls, model: TranslationModel) -> Mode:
        """Return ``words`` if the model was trained on tokenised text, else ``raw``."""
        return "words" if model.head.tokenized else "raw"

    def translate(self, text: str) -> Translation:
        """Translate one text of the source language.

        Raises:
            InputError: the text is empty.
        """
        require_text(text, "text")
        return next(self.stream([text]))

    def stream(self, texts: Iterable[str]) -> Iterator[Translation]:
        """Lazily translate texts in batches, in constant memory.

        The translation of an empty text is empty.

        Raises:
            InputError: ``texts`` is a single string, or an item is not a string.
        """
        require_several(texts, "texts")
        for chunk in chunks(texts, CHUNK):
            for text in chunk:
                require_string(text, "text")
            found = iter(self._search(self.items([text for text in chunk if text.strip()])))
            yield from (next(found) if text.strip() else Translation("", 0.0) for text in chunk)
            self.texts.forget()

    def items(
        self, sources: Sequence[str], targets: Sequence[str] | None = None
    ) -> list[SourceItem]:
        """Encode texts; without targets, sources that are too long are truncated.

        Args:
            sources: texts to translate.
            targets: their translations, to train on; with them nothing is truncated.

        Returns:
            An item for each source, in order.

        Raises:
            InputError: the encoder cannot read sequences of ``head.max_length``.
        """
        self.texts.check_length(self.model.head.max_length)
        encoded = self.texts.encode(sources)
        special = self.texts.builder.n_special(1)
        room = self.model.head.max_length - special
        goals = [np.zeros(0, np.int64)] * len(sources)
        if targets is not None:
            goals = [np.array(ids, np.int64) for ids in target_pieces(self.tokenizer, targets)]
        n_long = sum(len(encoded[text]) > room for text in sources)
        if n_long and targets is None:
            log.warning(
                "%d of %d sources are longer than %d pieces and are truncated",
                n_long,
                len(sources),
                room,
            )
        return [
            SourceItem(
                Part(encoded[text], 0, min(len(encoded[text]), room if targets is None else 10**9)),
                special,
                goal,
            )
            for text, goal in zip(sources, goals, strict=True)
        ]

    def collate(self, items: Sequence[SourceItem]) -> dict[str, Tensor]:
        """Build a padded batch, with targets if all items have them.

        Args:
            items: encoded sources.

        Returns:
            The tensors of :meth:`SequenceBuilder.collate`, ``[batch, n_pieces]``; and ``labels``,
            ``[batch, n_target]``, padded with :data:`IGNORED`.
        """
        batch = self.texts.builder.collate([(item.part,) for item in items])
        if all(len(item.target) for item in items):
            labels = torch.full((len(items), max(len(item.target) for item in items)), IGNORED)
            for row, item in enumerate(items):
                labels[row, : len(item.target)] = torch.from_numpy(item.target)
            batch["labels"] = labels
        return batch

    @torch.inference_mode()
    def _search(self, items: Sequence[SourceItem]) -> list[Translation]:
        found: dict[int, Translation] = {}
        # Beam search keeps `num_beams` hypotheses of each source in a batch.
        budget = max(self.batch_tokens // self.model.head.num_beams, 1)
        for batch in steps(token_budget_batches([len(item) for item in items], budget)):
            tensors = self.on_device(self.collate([items[index] for index in batch]))
            tensors.pop("labels", None)
            tensors.pop("token_type_ids", None)
            with autocast(self.model.device, self.precision):
                pieces, scores = self.model.search(**tensors)
            texts = [
                self.tokenizer.decode(
                    row[~torch.isin(row, self._silent)], clean_up_tokenization_spaces=False
                )
                for row in pieces.cpu()
            ]
            for index, text, score in zip(batch.tolist(), texts, scores.tolist(), strict=True):
                found[index] = Translation(text.strip(), score)
        return [found[index] for index in range(len(items))]


class TranslationTask(PredictorTask[ParallelExample, Translation, Translator]):
    """Translates with a sequence-to-sequence model, and scores by BLEU."""

    name = "translation"
    model_class = TranslationModel
    predictor_class = Translator
    primary = "bleu"
    sample = SAMPLE
    comparisons = (ComparedMetric(("bleu",), "bleu", "bleu", "sign", BLEU),)
    groupings = {"source_length": length_of("source")}  # noqa: RUF012
    predictions_file = "predictions.txt"
    breakdowns = BREAKDOWNS["translation"]

    @classmethod
    def new(cls, experiment: Experiment, examples: Sequence[ParallelExample]) -> Self:
        """Create a model from scratch, with a vocabulary from the examples, or a pretrained one.

        Raises:
            InputError: a setting is impossible, or there is no such model.
        """
        if experiment.data.dev:
            signature()  # Fail now if sacrebleu is missing, not after the first epoch.
        if experiment.encoder == SCRATCH:
            texts = (text for example in examples for text in (example.source, example.target))
            model, tokenizer = from_scratch(experiment, texts)
        else:
            tokenizer = load_tokenizer(experiment.encoder_ref)
            model = new_model(TranslationModel, experiment)
        return cls(
            Translator(
                model,
                tokenizer,
                cache=training_parses(model, experiment, mode=Translator.mode(model)),
                precision=experiment.training.precision,
            )
        )

    @classmethod
    def read(cls, path: str | Path, *, skip_bad: bool = False) -> list[ParallelExample]:
        """Read parallel text, see :mod:`syntagma.tasks.translation.parallel_text`."""
        return read_parallel(path, skip_bad=skip_bad)

    @classmethod
    def is_labelled(cls, example: ParallelExample) -> bool:
        """Return whether there is a reference."""
        return bool(example.target)

    @classmethod
    def texts(cls, examples: Sequence[ParallelExample]) -> Iterator[str]:
        """Yield each distinct source; targets are not parsed."""
        yield from dict.fromkeys(example.source for example in examples)

    @classmethod
    def describe(cls, example: ParallelExample) -> ErrorExample:
        """Show the source, which may not be English, and its reference."""
        return ErrorExample(example.source, (example.target,))

    def features(self, examples: Sequence[ParallelExample]) -> Features:
        """Encode the training pairs; those that are too long are skipped and counted.

        Raises:
            InputError: an example has no reference, or no pair is short enough.
        """
        for example in examples:
            if not example.target:
                raise InputError("data.train: has no references; name both files, SOURCE+TARGET")
        items = self.predictor.items(
            [example.source for example in examples], [example.target for example in examples]
        )
        longest = self.model.head.max_length
        kept = [item for item in items if len(item) <= longest]
        if not kept:
            raise InputError(f"data.train: all pairs are longer than head.max_length ({longest})")
        if len(kept) < len(items):
            log.warning(
                "training: skipped %d of %d pairs longer than head.max_length (%d pieces)",
                len(items) - len(kept),
                len(items),
                longest,
            )
        return Features(kept, padded=True)

    def predict(self, examples: Sequence[ParallelExample]) -> list[Translation]:
        """Translate the sources by beam search."""
        return list(self.predictor.stream(example.source for example in examples))

    def score(
        self, examples: Sequence[ParallelExample], predictions: Sequence[Translation]
    ) -> dict[str, float]:
        """Return BLEU, in per cent.

        ``bleu_13a`` applies mteval's tokenisation, ``bleu_words`` only splits at spaces (as
        multi-bleu does, for tokenised text); ``bleu`` is the one that suits the data, see
        :attr:`signature`.

        Raises:
            InputError: an example has no reference.
        """
        hypotheses, references = _texts(examples, predictions)
        kinds = {"bleu_13a": False, "bleu_words": True}
        values = {
            name: bleu(hypotheses, references, tokenized=tokenized)
            for name, tokenized in kinds.items()
        }
        suited = "bleu_words" if self.model.head.tokenized else "bleu_13a"
        return {"bleu": values[suited], **values, "total": float(len(examples))}

    def breakdown(
        self, by: str, examples: Sequence[ParallelExample], predictions: Sequence[Translation]
    ) -> dict[str, dict[str, float]]:
        """Return BLEU by ``length`` of the source, in bins of five words (Fig. 5)."""
        groups: dict[int, list[int]] = {}
        for number, example in enumerate(examples):
            groups.setdefault((len(example.source.split()) - 1) // 5, []).append(number)
        return {
            f"{5 * group + 1}-{5 * group + 5}": self.score(
                [examples[number] for number in numbers],
                [predictions[number] for number in numbers],
            )
            for group, numbers in sorted(groups.items())
        }

    def score_examples(
        self, examples: Sequence[ParallelExample], predictions: Sequence[Translation]
    ) -> dict[str, dict[str, float]]:
        """Return each sentence's BLEU, for the sign test, and its counts, for the bootstrap."""
        hypotheses, references = _texts(examples, predictions)
        scores = sentence_bleu(hypotheses, references, tokenized=self.model.head.tokenized)
        return {example.id: score for example, score in zip(examples, scores, strict=True)}

    def speed(self, examples: Sequence[ParallelExample], seconds: float) -> dict[str, float]:
        """Return the number of sentences per second."""
        return {"sentences_per_second": len(examples) / seconds}

    @classmethod
    def score_file(cls, examples: Sequence[ParallelExample], path: Path) -> dict[str, float]:
        """Return BLEU of a file with one translation a line, with mteval's tokenisation.

        ``bleu_words`` only splits at spaces, for tokenised text.

        Raises:
            InputError: the file cannot be read or has other numbers of lines, or an example has no
                reference.
        """
        found = read_one_per_line(path, len(examples))
        references = [example.target for example in examples]
        if not all(references):
            raise InputError("an example has no reference; name both files, SOURCE+TARGET")
        values = {
            "bleu": bleu(found, references),
            "bleu_words": bleu(found, references, tokenized=True),
        }
        return values | {"total": float(len(examples))}

    def write_predictions(
        self, examples: Sequence[ParallelExample], predictions: Sequence[Translation], path: Path
    ) -> None:
        """Write one translation per line; line breaks inside of one become spaces."""
        lines = (re.sub(r"\s*[\r\n]+\s*", " ", found.text) for found in predictions)
        write_text(path, "".join(f"{line}\n" for line in lines))

    @property
    def signature(self) -> str:  # type: ignore[override]
        """The signature of sacrebleu, which records how BLEU is computed."""
        return signature(tokenized=self.model.head.tokenized)


def _texts(
    examples: Sequence[ParallelExample], predictions: Sequence[Translation]
) -> tuple[list[str], list[str]]:
    references = [example.target for example in examples]
    if not all(references):
        raise InputError("an example has no reference; name both files, SOURCE+TARGET")
    return [found.text for found in predictions], references
