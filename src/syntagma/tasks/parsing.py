"""The task of parsing: treebanks in, a joint parser out."""

from __future__ import annotations

import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Self

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from syntagma.encoders.load import load_tokenizer
from syntagma.errors import InputError
from syntagma.files import write_text
from syntagma.parse.encode import EncodedSentence
from syntagma.parse.parser import JointParser
from syntagma.parse.scorer import ParserHead, ParserModel
from syntagma.parse.scores import AttachmentScore
from syntagma.settings import build, to_dict
from syntagma.tasks.experiment import Experiment
from syntagma.tasks.task import Features, Task
from syntagma.text.conllu import TreebankSentence, format_conllu, read_conllu
from syntagma.text.pieces import ABSENT
from syntagma.text.sentence import Parse

__all__ = ["ParsingTask", "TreeExample"]

UNKNOWN = "_"
COLUMNS = ("relations", "upos", "xpos")


@dataclass(frozen=True, slots=True)
class TreeExample:
    """A treebank sentence with its gold parse."""

    source: TreebankSentence
    gold: Parse


@dataclass(frozen=True, slots=True)
class _Item:
    encoded: EncodedSentence
    gold: dict[str, NDArray[np.int64]]


@dataclass(frozen=True, slots=True)
class _Trees(Features):
    items: list[_Item]

    def __len__(self) -> int:
        return len(self.items)

    def __getitem__(self, index: int) -> _Item:
        return self.items[index]

    @property
    def lengths(self) -> Sequence[int]:
        return [len(item.encoded) + 2 for item in self.items]


class ParsingTask(Task[TreeExample, Parse]):
    """Dependency parsing and tagging, trained jointly.

    Args:
        parser: the parser to train or use.
    """

    name = "parsing"
    primary = "las"
    predictions_file = "predictions.conllu"

    def __init__(self, parser: JointParser) -> None:
        self.parser = parser
        self.tokenizer = parser.encoder.tokenizer

    @property
    def model(self) -> ParserModel:  # type: ignore[override]
        """The scorer."""
        return self.parser.model

    @classmethod
    def new(cls, experiment: Experiment, examples: Sequence[TreeExample]) -> Self:
        """A fresh parser whose labels are those of the examples."""
        tokenizer = load_tokenizer(experiment.encoder)
        head = build(ParserHead, experiment.head, where="head")
        settings = to_dict(head) | {"mask_piece": tokenizer.mask_token_id or 0}
        model = ParserModel.from_encoder(
            experiment.encoder,
            task=cls.name,
            head=settings,
            labels={
                name: _labels(getattr(example.gold, name) for example in examples)
                for name in COLUMNS
            },
            hidden_dropout=experiment.hidden_dropout,
            attention_dropout=experiment.attention_dropout,
        )
        return cls(JointParser(model, tokenizer, precision=experiment.training.precision))

    @classmethod
    def from_folder(cls, folder: str | Path, *, device: str = "cpu") -> Self:
        """A saved parser."""
        return cls(JointParser.from_folder(folder, device=device))

    @classmethod
    def read(cls, path: str | Path, *, skip_bad: bool = False) -> list[TreeExample]:
        """Sentences of a CoNLL-U or CoNLL-X file.

        Raises:
            InputError: a sentence is no tree and ``skip_bad`` is false.
        """
        examples = []
        for sentence in read_conllu(path):
            try:
                examples.append(TreeExample(sentence, sentence.parse()))
            except InputError:
                if not skip_bad:
                    raise
        if not examples:
            raise InputError(f"{path}: no sentence with a tree")
        return examples

    def features(self, examples: Sequence[TreeExample]) -> _Trees:
        """Training items; sentences longer than the encoder reads are left out."""
        codes = {
            name: {label: code for code, label in enumerate(self.model.config.labels[name])}
            for name in COLUMNS
        }
        encoded = self.parser.encoder.encode([example.gold.sentence for example in examples])
        items = []
        for example, pieces in zip(examples, encoded, strict=True):
            if not 0 < len(pieces) <= self.parser.max_content:
                continue
            gold = {"heads": np.array(example.gold.heads, np.int64)}
            for name in COLUMNS:
                known = codes[name]
                values = getattr(example.gold, name)
                gold[name] = np.array([known.get(value, ABSENT) for value in values], np.int64)
            items.append(_Item(pieces, gold))
        return _Trees(items)

    def collate(self, items: Sequence[_Item]) -> dict[str, Tensor]:
        """A padded batch with gold labels."""
        batch = self.parser.encoder.collate([item.encoded for item in items])
        for name in ("heads", *COLUMNS):
            padded = np.full(batch["shapes"].shape, ABSENT, np.int64)
            for row, item in enumerate(items):
                padded[row, : len(item.gold[name])] = item.gold[name]
            batch[name] = torch.from_numpy(padded)
        return batch

    def predict(self, examples: Sequence[TreeExample]) -> list[Parse]:
        """Parses of the gold words."""
        self.model.eval()
        return self.parser.parse(example.gold.sentence for example in examples)

    def score(
        self, examples: Sequence[TreeExample], predictions: Sequence[Parse]
    ) -> dict[str, float]:
        """Attachment scores and tag accuracy over all words, in per cent."""
        total, no_punctuation = AttachmentScore(), AttachmentScore()
        for example, parse in zip(examples, predictions, strict=True):
            total += AttachmentScore.of(example.gold, parse)
            no_punctuation += AttachmentScore.of(example.gold, parse, punctuation=False)
        return {
            "uas": total.uas,
            "las": total.las,
            "upos": total.upos,
            "xpos": total.xpos,
            "uas_without_punctuation": no_punctuation.uas,
            "las_without_punctuation": no_punctuation.las,
            "las_with_subtypes": total.las_subtypes,
            "exact_trees": total.exact,
            "sentences": float(total.sentences),
            "words": float(total.words),
        }

    def score_examples(
        self, examples: Sequence[TreeExample], predictions: Sequence[Parse]
    ) -> dict[str, dict[str, float]]:
        """Words, right heads and right arcs of each sentence."""
        rows: dict[str, dict[str, float]] = {}
        for number, (example, parse) in enumerate(zip(examples, predictions, strict=True)):
            score = AttachmentScore.of(example.gold, parse)
            key = example.source.comment("sent_id") or str(number)
            rows[key] = {"words": score.words, "uas": score.heads_right, "las": score.arcs_right}
        return rows

    def evaluate(self, examples: Sequence[TreeExample]) -> dict[str, float]:
        """Parse and score, with the speed of parsing."""
        begin = time.perf_counter()
        predictions = self.predict(examples)
        seconds = time.perf_counter() - begin
        return self.score(examples, predictions) | {"sentences_per_second": len(examples) / seconds}

    def write_predictions(
        self, examples: Sequence[TreeExample], predictions: Sequence[Parse], path: Path
    ) -> None:
        """Write CoNLL-U: the treebank's rows with the predicted columns."""
        rows = (
            format_conllu(example.source.with_parse(parse))
            for example, parse in zip(examples, predictions, strict=True)
        )
        write_text(path, "".join(rows))


def _labels(columns: Iterable[Sequence[str]]) -> list[str]:
    """All labels in order of the alphabet; treebanks without a column give the unknown label."""
    labels = {label for column in columns for label in column}
    return sorted(labels - {UNKNOWN}) or [UNKNOWN]
