"""Open-domain question answering over retrieved paragraphs: SearchQA, Quasar-T."""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any, Self

import numpy as np

from syntagma.encoders.precision import Precision
from syntagma.encoders.reference import ModelName
from syntagma.errors import InputError
from syntagma.models.open_model import OpenModel
from syntagma.outputs import is_stream, write_json
from syntagma.parse.sources.load import AnyParser
from syntagma.tasks import BREAKDOWNS
from syntagma.tasks.collect import warn_of_skipped
from syntagma.tasks.comparison.properties import ANSWERS, QUESTION
from syntagma.tasks.experiment import Experiment, TrainingSettings
from syntagma.tasks.new_model import new_model, training_options
from syntagma.tasks.open_qa.answers import OpenPrediction
from syntagma.tasks.open_qa.data import OpenExample, Paragraph, read_open_qa
from syntagma.tasks.open_qa.distant import AnswerFinder, AnswerSpan
from syntagma.tasks.open_qa.outcomes import OpenAnswer, give_open_answer
from syntagma.tasks.open_qa.reader import OpenReader, ParagraphReader, distinct_paragraphs
from syntagma.tasks.open_qa.sample import SAMPLE
from syntagma.tasks.prediction_files import read_json_by_id, require_text_value
from syntagma.tasks.predictor import PredictorTask
from syntagma.tasks.spans.answers import Mode
from syntagma.tasks.spans.metrics import QuestionScore, Tally, exact_of, f1_of
from syntagma.tasks.spans.reader import verifier_of
from syntagma.tasks.spans.squad import SpanExample
from syntagma.tasks.spans.task import EXACT, F1, SpanTask
from syntagma.tasks.spans.user_scores import user_scores
from syntagma.tasks.task import ErrorExample, Features

log = logging.getLogger(__name__)

MANY = 10
"""Questions with at least this many paragraphs with an answer are one group in the breakdown."""

NO_PARAGRAPHS = "without paragraphs"
NO_POSITIVE = "whose paragraphs do not contain an answer"


class OpenQaTask(PredictorTask[OpenExample, OpenPrediction, ParagraphReader]):
    """Answers questions from several paragraphs; trained by distant supervision.

    Its predictor reads single paragraphs. What users load is an :class:`OpenReader` around it, so
    there is no ``predictor_class``.

    Args:
        reader: the reader to train or use.
        seed: seed for sampling the training paragraphs.
    """

    name = "open_qa"
    model_class = OpenModel
    primary = "f1"
    breakdowns = BREAKDOWNS["open_qa"]
    comparisons = (EXACT, F1)
    groupings = QUESTION | ANSWERS
    clusters = {  # noqa: RUF012
        "paragraph": lambda example: example.gold.text if example.gold else "",
        "article": lambda example: example.gold.title if example.gold else "",
    }
    sample = SAMPLE

    def __init__(self, reader: OpenReader, *, seed: int = TrainingSettings.seed) -> None:
        super().__init__(reader.reader)
        self.reader = reader
        self.seed = seed
        # Training is on single paragraphs, as for SQuAD 2.0; negatives are impossible questions.
        self.spans = SpanTask(reader.reader)

    @classmethod
    def new(cls, experiment: Experiment, examples: Sequence[OpenExample]) -> Self:
        """Create a reader with the experiment's encoder and guides."""
        model = new_model(OpenModel, experiment)
        options = training_options(model, experiment)
        verifier = verifier_of(model.head, experiment.training.precision)
        reader = ParagraphReader(model, verifier=verifier, **options)
        return cls(OpenReader(reader), seed=experiment.training.seed)

    @classmethod
    def from_pretrained(
        cls,
        name: ModelName,
        *,
        device: str = "cpu",
        parser: AnyParser = "",
        precision: Precision | None = None,
    ) -> Self:
        """Load a saved reader of this task, or of the task ``spans``."""
        reader = OpenReader.from_pretrained(
            name, device=device, parser=parser, precision=precision or "auto"
        )
        return cls(reader)

    @classmethod
    def read(cls, path: str | Path, *, skip_bad: bool = False) -> list[OpenExample]:
        """Read questions with their paragraphs, see :mod:`syntagma.tasks.open_qa.data`."""
        examples, wrong = read_open_qa(path, skip_bad=skip_bad)
        warn_of_skipped(path, wrong, "lines")
        return examples

    @classmethod
    def is_labelled(cls, example: OpenExample) -> bool:
        """Return whether a question has gold answers, or is known to have none."""
        return bool(example.answers) or example.is_impossible

    @classmethod
    def texts(cls, examples: Sequence[OpenExample]) -> Iterator[str]:
        """Yield each distinct paragraph and question."""
        yield from dict.fromkeys(
            text
            for example in examples
            for text in (
                *(paragraph.text for paragraph in example.paragraphs),
                *([example.gold.text] if example.gold else []),
                example.question,
            )
            if text.strip()
        )

    @classmethod
    def describe(cls, example: OpenExample) -> ErrorExample:
        """Show the question, with its gold paragraph or else the first one."""
        known = example.gold or next(iter(example.paragraphs), None)
        return ErrorExample(
            example.question, example.answers, known.text if known else "", asked_name="question"
        )

    def features(self, examples: Sequence[OpenExample]) -> Features:
        """Encode training windows over a sample of each question's paragraphs.

        Positives are ``train_positives`` of the paragraphs with an answer, whose first occurrence
        is the gold span; negatives are ``train_negatives`` of the others, with the empty answer.
        The gold paragraph is always a positive if it contains an answer.  Questions without a
        positive are skipped and counted, unless they are impossible: these have negatives only.

        Raises:
            InputError: a question is unlabelled, or no question is left.
        """
        chosen: list[SpanExample] = []
        skipped: Counter[str] = Counter()
        for number, example in enumerate(examples):
            if not self.is_labelled(example):
                raise InputError(
                    f"question {example.id}: has no answers to train on; write them, or "
                    f'"answers": [] if no paragraph answers it'
                )
            found = self.choose(example, np.random.default_rng((self.seed, number)))
            chosen += found
            if not found:
                skipped[NO_POSITIVE if example.paragraphs else NO_PARAGRAPHS] += 1
        if skipped:
            reasons = ", ".join(f"{count} {reason}" for reason, count in skipped.items())
            count = skipped.total()
            log.warning("training: skipped %d of %d questions: %s", count, len(examples), reasons)
        if not chosen:
            raise InputError("no training examples: no question has a paragraph with its answer")
        return self.spans.features(chosen)

    def choose(self, example: OpenExample, random: np.random.Generator) -> list[SpanExample]:
        """Sample the training paragraphs of one question.

        There are none if no paragraph contains an answer although there is one.
        """
        head = self.reader.head
        finder = AnswerFinder(example.answers)
        first = [example.gold] if example.gold is not None else []
        candidates: dict[str, Paragraph] = {}
        for paragraph in (*first, *example.paragraphs[: head.train_paragraphs]):
            candidates.setdefault(paragraph.text, paragraph)
        positives: list[tuple[Paragraph, AnswerSpan]] = []
        negatives: list[Paragraph] = []
        for paragraph in candidates.values():
            if (span := finder.find(paragraph.text)) is not None:
                positives.append((paragraph, span))
            elif paragraph.text.strip():
                negatives.append(paragraph)
        if not positives and not example.is_impossible:
            return []
        n_gold = int(bool(positives) and positives[0][0] is example.gold)
        drawn = _draw(len(positives) - n_gold, head.train_positives - n_gold, random)
        kept = [*positives[:n_gold], *(positives[n_gold + index] for index in drawn)]
        return [
            *(_span_example(example, paragraph, span) for paragraph, span in kept),
            *(
                _span_example(example, negatives[index])
                for index in _draw(len(negatives), head.train_negatives, random)
            ),
        ]

    def predict(self, examples: Sequence[OpenExample]) -> list[OpenPrediction]:
        """Answer the questions from their first ``head.paragraphs`` paragraphs; never abstain."""
        n_read = self.reader.head.paragraphs
        return list(self.reader.predictions((e.question, e.paragraphs[:n_read]) for e in examples))

    def score(
        self, examples: Sequence[OpenExample], predictions: Sequence[OpenPrediction]
    ) -> dict[str, float]:
        """Return exact match and F1 by the rules of SQuAD 1.1, as usual for these data sets.

        Questions that are known to have no answer do not count, see :meth:`user_scores` for them.
        ``answerable`` is the share of questions with an answer in a paragraph that was read, an
        upper bound of exact match; ``answerable_exact`` and ``answerable_f1`` are the metrics on
        these questions.
        """
        labelled, rows = self._judge(examples, predictions)
        answerable = [row for row, n in zip(rows, self._evidence(labelled), strict=True) if n]
        values = Tally.of(rows).to_dict()
        values["answerable"] = 100 * len(answerable) / max(len(rows), 1)
        return values | Tally.of(answerable).to_dict("answerable_")

    def user_scores(
        self, examples: Sequence[OpenExample], predictions: Sequence[OpenPrediction]
    ) -> dict[str, float]:
        """Return what users get in each mode, see :mod:`syntagma.tasks.spans.user_scores`.

        A question has an answer if a paragraph that was read contains one of its gold answers.
        """
        labelled = self.labelled(examples, predictions)
        read = [self.paragraphs_of(example) for example, _ in labelled]
        pairs = zip(labelled, read, strict=True)
        golds = [gold_answers(example, paragraphs) for (example, _), paragraphs in pairs]

        def give(mode: Mode) -> list[OpenAnswer]:
            pairs = zip(labelled, read, strict=True)
            head = self.reader.head
            return [give_open_answer(found, texts, head, mode) for (_, found), texts in pairs]

        return user_scores(golds, give)

    def paragraphs_of(self, example: OpenExample) -> dict[int, Paragraph]:
        """Return the paragraphs of a question that are read, by their index."""
        return distinct_paragraphs(example.paragraphs[: self.reader.head.paragraphs])

    def score_examples(
        self, examples: Sequence[OpenExample], predictions: Sequence[OpenPrediction]
    ) -> dict[str, dict[str, float]]:
        """Return exact match and F1 of each question with gold answers."""
        return {
            example.id: {"exact": row.exact, "f1": row.f1}
            for example, row in zip(*self._judge(examples, predictions), strict=True)
        }

    def breakdown(
        self, by: str, examples: Sequence[OpenExample], predictions: Sequence[OpenPrediction]
    ) -> dict[str, dict[str, float]]:
        """Return the metrics by ``evidence``: the number of paragraphs read with an answer."""
        groups: dict[int, list[QuestionScore]] = {}
        labelled, rows = self._judge(examples, predictions)
        for row, count in zip(rows, self._evidence(labelled), strict=True):
            groups.setdefault(min(count, MANY), []).append(row)
        return {
            f"{count}+" if count == MANY else str(count): Tally.of(rows).to_dict()
            for count, rows in sorted(groups.items())
        }

    def _evidence(self, examples: Sequence[OpenExample]) -> Iterator[int]:
        """Count, for each question, the paragraphs read that contain an answer."""
        for example in examples:
            finder = AnswerFinder(example.answers)
            paragraphs = example.paragraphs[: self.reader.head.paragraphs]
            yield sum(map(finder.is_in, {paragraph.text for paragraph in paragraphs}))

    @classmethod
    def score_file(cls, examples: Sequence[OpenExample], path: Path) -> dict[str, float]:
        """Return exact match and F1 of a JSON file of texts by question id.

        Raises:
            InputError: the file cannot be read, or does not answer exactly these questions.
        """
        ids = [example.id for example in examples]
        texts = zip(examples, read_json_by_id(path, ids), strict=True)
        rows = [
            _judged(example, require_text_value(path, example.id, text))
            for example, text in texts
            if example.answers
        ]
        return Tally.of(rows).to_dict()

    def write_predictions(
        self, examples: Sequence[OpenExample], predictions: Sequence[OpenPrediction], path: Path
    ) -> None:
        """Write texts by question id, as for SQuAD, and the candidates to a second file."""
        pairs = list(zip(examples, predictions, strict=True))
        write_json(path, {example.id: answer.text for example, answer in pairs})
        if is_stream(path):  # It takes one file.
            return
        nbest: dict[str, list[dict[str, Any]]] = {
            example.id: [asdict(candidate) for candidate in answer.candidates]
            for example, answer in pairs
        }
        write_json(path.with_name(f"{path.stem}.nbest{path.suffix}"), nbest)

    def save(self, folder: Path, *, bits: int | None = None, rank: int = 0) -> None:
        """Write the reader, with its verifier in a subfolder."""
        self.spans.save(folder, bits=bits, rank=rank)

    @classmethod
    def _judge(
        cls, examples: Sequence[OpenExample], predictions: Sequence[OpenPrediction]
    ) -> tuple[list[OpenExample], list[QuestionScore]]:
        """Return the questions with gold answers and their scores; an empty answer is wrong."""
        labelled = [pair for pair in cls.labelled(examples, predictions) if pair[0].answers]
        rows = [_judged(example, answer.text) for example, answer in labelled]
        return [example for example, _ in labelled], rows


def gold_answers(example: OpenExample, paragraphs: Mapping[int, Paragraph]) -> Sequence[str]:
    """Return the gold answers of a question, or none if no paragraph contains one of them.

    Args:
        example: a labelled question.
        paragraphs: those that were read, by their index.
    """
    finder = AnswerFinder(example.answers)
    found = any(finder.is_in(paragraph.text) for paragraph in paragraphs.values())
    return example.answers if found else ()


def _draw(n_items: int, size: int, random: np.random.Generator) -> list[int]:
    """Draw indices of items without replacement, and sort them."""
    return sorted(random.permutation(n_items)[: max(size, 0)].tolist())


def _span_example(
    example: OpenExample, paragraph: Paragraph, span: AnswerSpan | None = None
) -> SpanExample:
    return SpanExample(
        id=f"{example.id} {paragraph.id}",
        passage=paragraph.text,
        question=example.question,
        title=paragraph.title,
        answers=() if span is None else (paragraph.text[span.start : span.end],),
        answer_starts=() if span is None else (span.start,),
        is_impossible=span is None,
    )


def _judged(example: OpenExample, text: str) -> QuestionScore:
    """Score one answer; an empty text is wrong."""
    return QuestionScore(
        exact=exact_of(text, example.answers, rules="1.1") if text else 0,
        f1=f1_of(text, example.answers, rules="1.1") if text else 0.0,
        has_answers=True,
        answered=bool(text),
    )
