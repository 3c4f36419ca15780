"""Train and score a joint parser on treebanks."""

from __future__ import annotations

import logging
import time
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Self

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from syntagma.encoders.precision import Precision
from syntagma.encoders.reference import ModelName, find_model
from syntagma.errors import InputError
from syntagma.outputs import write_text
from syntagma.parse.bracket_scores import BracketScore
from syntagma.parse.encode import EncodedSentence
from syntagma.parse.languages import RESCORED
from syntagma.parse.parser import JointParser
from syntagma.parse.phrases import collapse_chains
from syntagma.parse.scorer import ParserModel
from syntagma.parse.scores import (
    AttachmentScore,
    by_length,
    by_relation,
    double_arguments,
    group_order,
)
from syntagma.parse.sources.load import AnyParser
from syntagma.tasks import BREAKDOWNS
from syntagma.tasks.comparison.clusters import text_of
from syntagma.tasks.comparison.comparisons import ComparedMetric
from syntagma.tasks.comparison.metric_sums import ARCS, BRACKETS, HEADS
from syntagma.tasks.experiment import SAVED, Experiment
from syntagma.tasks.parsing.conll_measures import predicted_rows, raw_file_scores, raw_scores
from syntagma.tasks.parsing.labels import WordCodes, untagged_languages
from syntagma.tasks.parsing.new_parser import continue_parser, full_decoding, head_of, new_parser
from syntagma.tasks.parsing.sample import SAMPLE
from syntagma.tasks.parsing.segmentation.by_language import (
    by_language,
    warn_of_other_languages,
)
from syntagma.tasks.parsing.segmentation.end_training import texts_of, train_sentence_ends
from syntagma.tasks.parsing.tree_scores import bracket_score, score_trees
from syntagma.tasks.parsing.treebanks import (
    TreeExample,
    genre_of,
    is_bracket_file,
    read_predicted,
    read_treebank,
)
from syntagma.tasks.task import Features, Task
from syntagma.text.alignment import ABSENT
from syntagma.text.brackets import format_brackets
from syntagma.text.conllu import TreebankSentence, format_conllu, read_conllu
from syntagma.text.documents import RawDocument
from syntagma.text.sentence import Parse

log = logging.getLogger(__name__)

PRIMARY = {"both": "las_f1_mean", "dependencies": "las", "constituents": "bracket_f1"}
"""The metric for model selection: a parser is scored on every view that it was trained on."""

LAS = ComparedMetric(("uas", "las", "xpos"), "las", "las", "randomisation", ARCS)
BRACKET_F1 = ComparedMetric(
    ("bracket_f1", "xpos"), "bracket_f1", "bracket_f1", "randomisation", BRACKETS
)


@dataclass(frozen=True, slots=True)
class _Item:
    """A training sentence: its pieces, labels per word, and phrases.

    Args:
        phrases: start, end and label (from 1) of each phrase, ``[n_phrases, 3]``.
        kind: how phrases are annotated, see :class:`syntagma.parse.span_scorer.GoldSpans`.
    """

    encoded: EncodedSentence
    gold: dict[str, NDArray[np.int64]]
    phrases: NDArray[np.int64]
    kind: int

    def __len__(self) -> int:
        # Plus two special pieces, such as [CLS] and [SEP].
        return len(self.encoded) + 2


class ParsingTask(Task[TreeExample, Parse]):
    """Parses into dependencies and phrases, and tags, with one jointly trained model.

    Args:
        parser: the parser to train or use.
    """

    name = "parsing"
    model_class = ParserModel
    primary = "las"
    breakdowns = BREAKDOWNS["parsing"]
    comparisons = (LAS, BRACKET_F1, LAS._replace(metric="uas", score="uas", sums=HEADS))
    clusters = {"document": text_of("document")}  # noqa: RUF012
    sample = SAMPLE
    predictions_file = "predictions.conllu"

    def __init__(self, parser: JointParser) -> None:
        self.parser = parser
        self._texts: dict[str, list[RawDocument]] = {}
        self.tokenizer = parser.encoder.tokenizer
        if self.model.spans is not None:
            self.primary = PRIMARY[self.model.head.views]

    @property
    def model(self) -> ParserModel:  # type: ignore[override]
        """The scorer."""
        return self.parser.model

    @classmethod
    def primaries(cls, experiment: Experiment) -> tuple[str, ...]:
        """That of its views; LAS where the treebank has no phrases, which only scores show."""
        return tuple(dict.fromkeys((PRIMARY[head_of(experiment).views], cls.primary)))

    def parser_used(self, name: AnyParser = "") -> dict[str, str] | None:
        """The parser itself, once it is saved."""
        return None if self.model.source is None else self.model.source.identity()

    @classmethod
    def new(cls, experiment: Experiment, examples: Sequence[TreeExample]) -> Self:
        """Create a parser with the examples' labels, or continue from a saved one.

        Raises:
            InputError: a setting is impossible, or there is no such encoder.
        """
        head = experiment.head
        if head.mask_token_id:
            raise InputError("head.mask_token_id: is set from the encoder; omit it")
        if head.spaced_words:
            raise InputError("head.spaced_words: is set from the treebank; omit it")
        warn_of_other_languages(experiment.data.dev, examples)
        make = continue_parser if experiment.preset == SAVED else new_parser
        task = cls(make(experiment, examples))
        learns = head.sentence_ends == "encoder"
        rescored = task.model.config.labels.get(RESCORED, ()) if learns else ()
        for code, part in by_language(examples).items():
            if code in rescored:
                task._texts[code] = texts_of([each.source for each in part if each.source])
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
        """Load a saved parser.

        Raises:
            InputError: ``parser`` is given; a parser does not read the parses of another.
        """
        ref = find_model(name)
        if parser:
            raise InputError(f"{ref.name}: is a parser itself; omit the parser {parser!r}")
        loaded = JointParser.from_pretrained(ref, device=device, precision=precision)
        loaded.decoding = full_decoding(loaded.model)
        return cls(loaded)

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
        """Yield the text of each sentence."""
        for example in examples:
            yield example.source.text if example.source else " ".join(example.gold.sentence.forms)

    @classmethod
    def document_of(cls, example: TreeExample) -> str:
        """The id of the document that a sentence is from; empty if the treebank names none."""
        return example.document

    def features(self, examples: Sequence[TreeExample]) -> Features:
        """Encode training sentences; those too long for the encoder are skipped, with a warning.

        Raises:
            InputError: all sentences are empty or too long.
        """
        codes = WordCodes(self.model.config.labels)
        untagged = untagged_languages(examples)
        labels = self.model.config.labels.get("constituents", [])
        phrase_codes = {label: code for code, label in enumerate(labels, start=1)}
        encoded = self.parser.encoder.encode([example.gold.sentence for example in examples])
        items = []
        for example, pieces in zip(examples, encoded, strict=True):
            if not 0 < len(pieces) <= self.parser.max_content:
                continue
            gold = {"heads": np.array(example.gold.heads, np.int64)} | codes.of(
                example.gold, untagged=example.language in untagged
            )
            spans = collapse_chains(example.gold.constituents or ())
            phrases = [(start, end, phrase_codes.get(label, 0)) for start, end, label in spans]
            has_phrases = bool(phrase_codes) and example.gold.constituents is not None
            items.append(
                _Item(
                    pieces,
                    gold,
                    np.array(phrases, np.int64).reshape(-1, 3),
                    (1 + example.agrees) if has_phrases else 0,
                )
            )
        if n_long := sum(len(pieces) > self.parser.max_content for pieces in encoded):
            log.warning(
                "training: skipped %d of %d sentences longer than the %d pieces that the encoder "
                "reads",
                n_long,
                len(examples),
                self.parser.max_content,
            )
        if not items:
            raise InputError(
                f"none of {len(examples)} sentences can be trained on: each is empty or longer "
                f"than the {self.parser.max_content} pieces that the encoder reads"
            )
        return Features(items)

    def collate(self, items: Sequence[_Item]) -> dict[str, Tensor]:
        """Build a padded batch with gold labels."""
        batch = self.parser.encoder.collate([item.encoded for item in items])
        for name in items[0].gold:
            padded = np.full(batch["shapes"].shape, ABSENT, np.int64)
            for row, item in enumerate(items):
                padded[row, : len(item.gold[name])] = item.gold[name]
            batch[name] = torch.from_numpy(padded)
        if any(item.kind for item in items):
            rows = np.repeat(np.arange(len(items)), [len(item.phrases) for item in items])
            spans = np.concatenate([item.phrases for item in items])
            batch["phrases"] = torch.from_numpy(np.column_stack([rows, spans]))
            batch["phrase_kinds"] = torch.tensor([item.kind for item in items])
        return batch

    def predict(self, examples: Sequence[TreeExample]) -> list[Parse]:
        """Parse sentences whose words are those of the treebank."""
        return self.parser.parse(example.gold.sentence for example in examples)

    def score(
        self, examples: Sequence[TreeExample], predictions: Sequence[Parse]
    ) -> dict[str, float]:
        """Return attachment scores, tag accuracy and bracket scores, in per cent.

        Arcs are scored if the treebank has dependencies, brackets if it has phrases.
        """
        values = score_trees(examples, predictions)
        if self.model.spans is not None:
            known = [values[key] for key in ("las", "bracket_f1") if key in values]
            if known:
                values["las_f1_mean"] = sum(known) / len(known)
        return values

    @classmethod
    def score_file(cls, examples: Sequence[TreeExample], path: Path) -> dict[str, float]:
        """Return the scores of a treebank file with the words of the data."""
        return score_trees(examples, read_predicted(path, examples))

    def evaluate_raw(
        self, files: Sequence[Sequence[TreeExample]], *, lang: str = ""
    ) -> dict[str, float]:
        """Cut, tag and parse the raw text of treebank files, and score all of it together.

        Args:
            files: the sentences of each file.
            lang: their language, see :func:`syntagma.tasks.parsing.conll_measures.raw_scores`.
        """
        begin = time.perf_counter()
        values = raw_scores(self.parser, files, lang=lang)
        seconds = time.perf_counter() - begin
        return values | self.speed([each for file in files for each in file], seconds)

    @classmethod
    def score_raw_file(cls, examples: Sequence[TreeExample], path: Path) -> dict[str, float]:
        """Return the scores of a CoNLL-U file that was made from the raw text of the data."""
        return raw_file_scores(examples, read_conllu(path))

    def breakdown(
        self, by: str, examples: Sequence[TreeExample], predictions: Sequence[Parse]
    ) -> dict[str, dict[str, float]]:
        """Score attachments by gold relation, sentence length or genre, or count double arguments.

        ``arguments`` counts the words with two subjects or two objects in the treebank and in the
        predicted trees, see :func:`syntagma.parse.scores.double_arguments`.
        """
        if by == "arguments":
            pairs = zip(examples, predictions, strict=True)
            annotated = [(example.gold, parse) for example, parse in pairs if example.source]
            return {
                "gold": _double_arguments(gold for gold, _ in annotated),
                "predicted": _double_arguments(parse for _, parse in annotated),
            }
        groups: dict[str, AttachmentScore] = {}
        for example, parse in zip(examples, predictions, strict=True):
            if example.source is None:
                continue
            if by == "genre":
                scores = {genre_of(example): AttachmentScore.of(example.gold, parse)}
            elif by == "relation":
                scores = by_relation(example.gold, parse)
            else:
                scores = by_length(example.gold, parse)
            for name, score in scores.items():
                groups[name] = groups.get(name, AttachmentScore()) + score
        return {
            name: {"words": score.words, "uas": score.uas, "las": score.las}
            for name, score in sorted(groups.items(), key=lambda item: group_order(item[0]))
        }

    def score_examples(
        self, examples: Sequence[TreeExample], predictions: Sequence[Parse]
    ) -> dict[str, dict[str, float]]:
        """Count words, right heads and arcs, and brackets of each sentence.

        Counts of a view that the treebank does not annotate are 0.
        """
        rows: dict[str, dict[str, float]] = {}
        for number, (example, parse) in enumerate(zip(examples, predictions, strict=True)):
            arcs, brackets = AttachmentScore(), BracketScore()
            if example.source is not None:
                arcs = AttachmentScore.of(example.gold, parse)
            if example.gold.constituents is not None and parse.constituents is not None:
                brackets = bracket_score(example, parse)
            rows[self.row_id(example, number)] = {
                "words": arcs.words,
                "uas": arcs.correct_heads,
                "las": arcs.correct_arcs,
                "bracket_f1": brackets.f1,
                "brackets_matched": brackets.matched,
                "brackets_predicted": brackets.predicted,
                "brackets_gold": brackets.gold,
            }
        return rows

    def speed(self, examples: Sequence[TreeExample], seconds: float) -> dict[str, float]:
        """Return the number of sentences per second."""
        return {"sentences_per_second": len(examples) / seconds}

    def finish_training(self) -> None:
        """Train the scorer of doubtful sentence ends on the texts of the treebanks."""
        if self.model.sentence_ends is not None and self._texts:
            train_sentence_ends(self.parser, self._texts)

    def save(self, folder: Path, *, bits: int | None = None, rank: int = 0) -> None:
        """Write model, tokenizer, and what was learned about segmentation."""
        super().save(folder, bits=bits, rank=rank)
        self.parser.languages.write(folder)

    def write_predictions(
        self, examples: Sequence[TreeExample], predictions: Sequence[Parse], path: Path
    ) -> None:
        """Write the predicted trees, with the words of the treebank.

        The format is Penn brackets if the path has a suffix of bracket files, otherwise CoNLL-U.
        It keeps the ids, tokens and last column of a CoNLL-U treebank, but nothing that a parser
        could predict: scored again, the file gets the scores of the predictions.
        """
        write = _as_brackets if is_bracket_file(path) else _as_conllu
        write_text(path, "".join(map(write, examples, predictions)))


def _as_conllu(example: TreeExample, parse: Parse) -> str:
    if example.source is not None:
        return format_conllu(predicted_rows(example.source, parse))
    return format_conllu(TreebankSentence.from_parse(parse, text=" ".join(parse.sentence.forms)))


def _as_brackets(example: TreeExample, parse: Parse) -> str:
    forms = example.brackets.forms if example.brackets else parse.sentence.forms
    return format_brackets(forms, parse.xpos, parse.constituents or ()) + "\n"


def _double_arguments(parses: Iterable[Parse]) -> dict[str, float]:
    counts = Counter(two_subjects=0, two_objects=0)
    for parse in parses:
        counts.update(double_arguments(parse))
    return {name: float(count) for name, count in counts.items()}
