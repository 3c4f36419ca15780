"""Structural probing: how much of a parse tree a linear map recovers from frozen states.

Hewitt and Manning (2019), *A Structural Probe for Finding Syntax in Word Representations*.
"""

from __future__ import annotations

import json
import logging
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Self

import numpy as np
import torch
from torch import Tensor

from syntagma.batches import token_budget_batches
from syntagma.encoders.precision import autocast
from syntagma.models.structural_model import StructuralModel
from syntagma.outputs import write_text
from syntagma.parse.sources.source import Mode
from syntagma.syntax.sequences import Part
from syntagma.tasks.comparison.comparisons import ComparedMetric
from syntagma.tasks.comparison.metric_sums import FOUND_ARCS
from syntagma.tasks.experiment import Experiment
from syntagma.tasks.new_model import new_model, require_frozen, training_options
from syntagma.tasks.parsing.sample import write_treebank
from syntagma.tasks.parsing.treebanks import TreeExample, read_treebank
from syntagma.tasks.predictor import PredictorTask, TextPredictor
from syntagma.tasks.probing.tree_recovery import (
    FloatArray,
    ProbedSentence,
    gold_arcs,
    gold_depths,
    gold_distances,
    neighbours,
    require_scipy,
    scored_words,
    smallest_tree,
    spearman,
)
from syntagma.tasks.sample import Sample
from syntagma.tasks.task import Features
from syntagma.text.alignment import align, pool
from syntagma.text.sentence import Sentence

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True, eq=False)
class StatesItem:
    """The states of a sentence's words, and what the probe should predict from them.

    Args:
        states: ``[n_words, width]``, in half precision.
        targets: tree distances, ``[n_words, n_words]``, or depths, ``[n_words]``.
    """

    states: Tensor
    targets: FloatArray

    def __len__(self) -> int:
        return len(self.states)


class StructuralProbe(TextPredictor[StructuralModel]):
    """Computes word states, and predicts distances or depths from them."""

    model_class = StructuralModel
    task = "structural"

    @classmethod
    def mode(cls, model: StructuralModel) -> Mode:
        """Return ``words``: the words are those of the treebank."""
        return "words"

    @torch.inference_mode()
    def word_states(self, sentences: Sequence[Sequence[str]]) -> list[Tensor | None]:
        """Average the states of each word's pieces.

        Args:
            sentences: the words of each sentence.

        Returns:
            ``[n_words, width]`` for each sentence; ``None`` for one longer than
            ``head.max_length``.

        Raises:
            InputError: the encoder has no layer ``head.layer``, or cannot read sequences of
                ``head.max_length``.
        """
        self.texts.check_length(self.model.head.max_length)
        self.model.eval()
        special = self.texts.builder.n_special(1)
        before = len(self.texts.builder.prefix(1))
        texts = [" ".join(forms) for forms in sentences]
        encoded = self.texts.encode(texts)
        fitting = [
            index
            for index, text in enumerate(texts)
            if len(encoded[text]) + special <= self.model.head.max_length
        ]
        found: list[Tensor | None] = [None] * len(texts)
        lengths = [len(encoded[texts[index]]) + special for index in fitting]
        for batch in token_budget_batches(lengths, self.batch_tokens):
            indices = [fitting[index] for index in batch.tolist()]
            parts = [(Part(text := encoded[texts[index]], 0, len(text)),) for index in indices]
            tensors = self.on_device(self.texts.builder.collate(parts))
            with autocast(self.model.device, self.precision):
                states = self.model.piece_states(**tensors).float().cpu()
            for row, index in enumerate(indices):
                text, words = encoded[texts[index]], Sentence.from_words(sentences[index])
                owner = torch.from_numpy(align(words.starts, words.ends, text.starts, text.ends))
                own_states = states[row : row + 1, before : before + len(text)]
                pooled = pool(own_states, owner.unsqueeze(0), len(words), how="mean")
                found[index] = pooled[0].half()
        return found

    @torch.inference_mode()
    def measure(self, states: Sequence[Tensor | None]) -> list[ProbedSentence]:
        """Predict squared distances or lengths.

        Args:
            states: ``[n_words, width]`` for each sentence, or ``None``, as :meth:`word_states`
                computes them.

        Returns:
            For each sentence squared distances, ``[n_words, n_words]``, or squared lengths,
            ``[n_words]``, by ``head.kind``; empty for one without states.
        """
        self.model.eval()
        found = []
        for words in states:
            if words is None:
                found.append(ProbedSentence(np.zeros(0, np.float32)))
                continue
            batch = words.float().unsqueeze(0).to(self.model.device)
            inside = torch.ones(batch.shape[:2], dtype=torch.bool, device=batch.device)
            found.append(ProbedSentence(self.model(batch, inside).values[0].float().cpu().numpy()))
        return found


class StructuralTask(PredictorTask[TreeExample, ProbedSentence, StructuralProbe]):
    """Trains a linear map of frozen states to predict distances or depths in gold trees."""

    name = "structural"
    model_class = StructuralModel
    predictor_class = StructuralProbe
    primary = "accuracy"
    comparisons = (
        ComparedMetric(
            ("accuracy", "spearman"), "accuracy", "accuracy", "randomisation", FOUND_ARCS
        ),
    )
    sample = Sample(
        write_treebank,
        head={"max_length": 96, "rank": 8},
        training={"encoder": "frozen"},
        presets=("none", "sg-net", "seprem"),
    )
    predictions_file = "predictions.jsonl"

    def __init__(self, predictor: StructuralProbe) -> None:
        super().__init__(predictor)
        self._known: dict[tuple[str, ...], Tensor | None] = {}

    @classmethod
    def new(cls, experiment: Experiment, examples: Sequence[TreeExample]) -> Self:
        """Create a linear map on a frozen encoder with its guides.

        Raises:
            InputError: the encoder is not frozen.
        """
        require_frozen(experiment)
        if experiment.data.dev:
            require_scipy()  # Fail now if scipy is missing, not after the first epoch.
        model = new_model(StructuralModel, experiment)
        return cls(StructuralProbe(model, **training_options(model, experiment, mode="words")))

    @classmethod
    def read(cls, path: str | Path, *, skip_bad: bool = False) -> list[TreeExample]:
        """Read a treebank, see :func:`syntagma.tasks.parsing.treebanks.read_treebank`."""
        return read_treebank(path, skip_bad=skip_bad)

    @classmethod
    def row_id(cls, example: TreeExample, number: int) -> str:
        """Number and id, because sentence ids in treebanks are not always unique."""
        return f"{number}:{example.key}"

    @classmethod
    def texts(cls, examples: Sequence[TreeExample]) -> Iterator[str]:
        """Yield each sentence, with spaces between the words."""
        yield from (" ".join(example.gold.sentence.forms) for example in examples)

    def _states(self, examples: Sequence[TreeExample]) -> list[Tensor | None]:
        """Return the states of each example; they are cached, since the encoder is frozen."""
        forms = [example.gold.sentence.forms for example in examples]
        new = [words for words in dict.fromkeys(forms) if words not in self._known]
        self._known |= dict(zip(new, self.predictor.word_states(new), strict=True))
        return [self._known[words] for words in forms]

    def features(self, examples: Sequence[TreeExample]) -> Features:
        """Encode training sentences; those longer than ``head.max_length`` are skipped."""
        target = gold_distances if self.model.head.kind == "distance" else gold_depths
        items = [
            StatesItem(states, target(example))
            for states, example in zip(self._states(examples), examples, strict=True)
            if states is not None
        ]
        if len(items) < len(examples):
            log.warning(
                "training: skipped %d of %d sentences longer than head.max_length (%d pieces)",
                len(examples) - len(items),
                len(examples),
                self.model.head.max_length,
            )
        return Features(items)

    def collate(self, items: Sequence[StatesItem]) -> dict[str, Tensor]:
        """Build a padded batch of states and targets."""
        longest = max(map(len, items))
        words = torch.zeros(len(items), longest, items[0].states.shape[1])
        inside = torch.zeros(len(items), longest, dtype=torch.bool)
        targets = torch.zeros(len(items), *[longest] * items[0].targets.ndim)
        for row, item in enumerate(items):
            n = len(item)
            words[row, :n] = item.states.float()
            inside[row, :n] = True
            target = targets[row, :n, :n] if item.targets.ndim == 2 else targets[row, :n]
            target.copy_(torch.from_numpy(item.targets))
        return {"words": words, "inside": inside, "targets": targets}

    def predict(self, examples: Sequence[TreeExample]) -> list[ProbedSentence]:
        """Predict distances or depths in each sentence."""
        return self.predictor.measure(self._states(examples))

    def score(
        self, examples: Sequence[TreeExample], predictions: Sequence[ProbedSentence]
    ) -> dict[str, float]:
        """Return how much of the trees is recovered, in per cent.

        For distances: ``uuas``, the share of gold arcs (ignoring punctuation) in the minimum
        spanning tree over the distances; ``chain_uuas``, the same of the baseline that connects
        adjacent words; and ``spearman``, the rank correlation of each word's distances.  For
        depths: ``root_accuracy``, the share of sentences whose word of least depth is the root, and
        ``spearman``.  ``accuracy`` is ``uuas`` or ``root_accuracy``.  Sentences that are too long
        count as wrong; ``too_long`` is their share.

        Raises:
            MissingExtraError: scipy is not installed.
        """
        counts = self._counts(examples, predictions)
        right, total = sum(row[0] for row in counts), max(sum(row[1] for row in counts), 1)
        accuracy = 100 * right / total
        too_long = sum(found.is_unread for found in predictions)
        values = {
            "accuracy": accuracy,
            "total": float(len(examples)),
            "too_long": 100 * too_long / max(len(examples), 1),
        }
        if self.model.head.kind == "distance":
            chain = sum(len(neighbours(example) & gold_arcs(example)) for example in examples)
            values |= {"uuas": accuracy, "chain_uuas": 100 * chain / total}
            values["spearman"] = spearman(examples, predictions, gold_distances)
        else:
            values["root_accuracy"] = accuracy
            values["spearman"] = spearman(examples, predictions, gold_depths)
        return values

    def _counts(
        self, examples: Sequence[TreeExample], predictions: Sequence[ProbedSentence]
    ) -> list[tuple[int, int]]:
        """Count right and gold arcs (or roots) of each sentence."""
        rows = []
        for example, found in zip(examples, predictions, strict=True):
            words = scored_words(example)
            if self.model.head.kind == "distance":
                gold = gold_arcs(example)
                arcs = set() if found.is_unread else smallest_tree(found.values, words)
                rows.append((len(gold & arcs), len(gold)))
            elif found.is_unread:
                rows.append((0, 1))
            else:
                least = min(words, key=lambda word: found.values[word], default=-1)
                rows.append((int(least == example.gold.heads.index(0)), 1))
        return rows

    def score_examples(
        self, examples: Sequence[TreeExample], predictions: Sequence[ProbedSentence]
    ) -> dict[str, dict[str, float]]:
        """Return the numbers of right and of gold arcs (or roots) of each sentence."""
        return {
            self.row_id(example, number): {"accuracy": float(right), "arcs": float(total)}
            for number, (example, (right, total)) in enumerate(
                zip(examples, self._counts(examples, predictions), strict=True)
            )
        }

    def write_predictions(
        self, examples: Sequence[TreeExample], predictions: Sequence[ProbedSentence], path: Path
    ) -> None:
        """Write one JSON line per sentence: its key and the predicted values."""
        lines = (
            json.dumps({"key": example.key, "values": np.round(found.values, 3).tolist()})
            for example, found in zip(examples, predictions, strict=True)
        )
        write_text(path, "".join(f"{line}\n" for line in lines))
