"""The task of reading comprehension by spans: SQuAD 1.1 and 2.0."""

from __future__ import annotations

import logging
import math
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Self

import numpy as np

from syntagma.models.span_model import SpanModel
from syntagma.syntax.encode import EncodedText
from syntagma.tasks.comparison.comparisons import ACCURACY, ComparedMetric
from syntagma.tasks.comparison.properties import ANSWERS, QUESTION, length_of
from syntagma.tasks.experiment import Experiment
from syntagma.tasks.new_model import new_model, training_options
from syntagma.tasks.predictor import PredictorTask
from syntagma.tasks.spans.answers import Answer
from syntagma.tasks.spans.metrics import best_threshold, judge, score_answers
from syntagma.tasks.spans.reader import Reader, verifier_of
from syntagma.tasks.spans.sample import SAMPLE
from syntagma.tasks.spans.squad import SpanExample, best_text, read_squad, write_predictions
from syntagma.tasks.spans.windows import SpanWindow
from syntagma.tasks.task import ErrorExample, Features

log = logging.getLogger(__name__)

VERIFIER = "verifier"
VERIFIER_WEIGHTS = (0.0, 0.25, 0.5, 1.0, 2.0, 4.0)


EXACT = ComparedMetric(("exact", "f1"), "exact", "exact", "mcnemar")
F1 = EXACT._replace(metric="f1", score="f1", test="t")
VERIFIED = ACCURACY._replace(test="mcnemar")


class SpanTask(PredictorTask[SpanExample, Answer, Reader]):
    """Answers as spans of the passage, with abstention.

    Models are chosen by the F1 that they have once their threshold is fitted: at the one that they
    begin with, a better reader may abstain more, or less, than it will.
    """

    name = "spans"
    model_class = SpanModel
    predictor_class = Reader
    primary = "best_f1"
    comparisons = (EXACT, VERIFIED, F1)
    groupings = {  # noqa: RUF012
        **QUESTION,
        **ANSWERS,
        "passage_length": length_of("passage"),
    }
    sample = SAMPLE

    def __init__(self, predictor: Reader) -> None:
        super().__init__(predictor)
        if predictor.model.head.objective == "answerability":
            self.primary = "accuracy"

    @classmethod
    def new(cls, experiment: Experiment, examples: Sequence[SpanExample]) -> Self:
        """A new reader with the experiment's guides."""
        model = new_model(SpanModel, experiment)
        options = training_options(model, experiment)
        verifier = verifier_of(model.head, experiment.training.precision)
        return cls(Reader(model, verifier=verifier, **options))

    @classmethod
    def read(cls, path: str | Path, *, skip_bad: bool = False) -> list[SpanExample]:
        """Questions of a SQuAD file."""
        examples, skipped = read_squad(path, skip_bad=skip_bad)
        if skipped.total:
            log.warning("%s: %s", path, skipped)
        return examples

    @classmethod
    def is_labelled(cls, example: SpanExample) -> bool:
        """Whether it has gold answers, or is known to have none."""
        return example.is_labelled

    @classmethod
    def texts(cls, examples: Sequence[SpanExample]) -> Iterator[str]:
        """Each passage once, before the questions about it."""
        seen: set[str] = set()
        for example in examples:
            for text in (example.passage, example.question):
                if text not in seen:
                    seen.add(text)
                    yield text

    @classmethod
    def describe(cls, example: SpanExample) -> ErrorExample:
        """The question, and the first gold answer in its passage."""
        first = zip(example.answer_starts[:1], example.answers[:1], strict=True)
        places = tuple((start, start + len(answer)) for start, answer in first)
        gold = tuple(dict.fromkeys(example.answers)) or ("",)
        return ErrorExample(example.question, gold, example.passage, places, asked_name="question")

    def features(self, examples: Sequence[SpanExample]) -> Features:
        """Training windows; the gold span is the first answer's."""
        texts = self.predictor.texts.encode(
            [text for example in examples for text in (example.passage, example.question)]
        )
        items = []
        for number, example in enumerate(examples):
            passage = texts[example.passage]
            gold = _gold_pieces(example, passage)
            for window in self.predictor.maker.windows(number, passage, texts[example.question]):
                items.append(_with_gold(window, gold))
        return Features(items, padded=True)

    def predict(self, examples: Sequence[SpanExample]) -> list[Answer]:
        """Answers; never the empty one where questions have answers and none is impossible.

        So a reader that can abstain is still scored by the rules of SQuAD 1.1 on its files.
        """
        self.model.eval()
        always = any(example.has_answers for example in examples) and not any(
            example.is_impossible for example in examples
        )
        pairs = ((example.passage, example.question) for example in examples)
        return list(self.predictor.stream(pairs, threshold=math.inf if always else None))

    def score(
        self, examples: Sequence[SpanExample], predictions: Sequence[Answer]
    ) -> dict[str, float]:
        """The official metrics (:mod:`syntagma.tasks.spans.metrics`)."""
        labelled = self.labelled(examples, predictions)
        if self.model.head.objective == "answerability":
            right = sum(map(_is_verified, labelled))
            return {"accuracy": 100 * right / max(len(labelled), 1), "total": float(len(labelled))}
        return score_answers(
            [example for example, _ in labelled], [answer for _, answer in labelled]
        )

    def score_examples(
        self, examples: Sequence[SpanExample], predictions: Sequence[Answer]
    ) -> dict[str, dict[str, float]]:
        """Exact match and F1 of each question; of a verifier, whether it is right."""
        labelled = self.labelled(examples, predictions)
        if self.model.head.objective == "answerability":
            return {pair[0].id: {"accuracy": float(_is_verified(pair))} for pair in labelled}
        rows = judge([example for example, _ in labelled], [answer.text for _, answer in labelled])
        return {
            example.id: {"exact": row.exact, "f1": row.f1}
            for (example, _), row in zip(labelled, rows, strict=True)
        }

    def fit_after_training(
        self, examples: Sequence[SpanExample], predictions: Sequence[Answer]
    ) -> dict[str, float]:
        """Fit δ, and the verifier's β₂ where there is one, in one sweep each (eq. 14)."""
        labelled = self.labelled(examples, predictions)
        if all(example.has_answers for example, _ in labelled):
            return {}
        rows = judge(
            [example for example, _ in labelled], [best_text(answer) for _, answer in labelled]
        )
        verified = any(answer.verification for _, answer in labelled)
        span_weight = self.model.head.span_weight
        fits = []
        for weight in VERIFIER_WEIGHTS if verified else (0.0,):
            odds = [
                span_weight * (answer.null_score - answer.score) + weight * answer.verification
                for _, answer in labelled
            ]
            fits.append((best_threshold(rows, odds), weight))
        cut, weight = max(fits, key=lambda fit: fit[0].value)
        fitted = {"null_score_diff_threshold": cut.threshold, "answerability_weight": weight}
        self.model.set_head(**fitted)
        return fitted

    def write_predictions(
        self, examples: Sequence[SpanExample], predictions: Sequence[Answer], path: Path
    ) -> None:
        """Write ``predictions.json`` and beside it the official ``null_odds`` and ``nbest``."""
        write_predictions(path, examples, predictions)
        for form in ("null_odds", "nbest"):
            place = path.with_name(f"{path.stem}.{form}{path.suffix}")
            write_predictions(place, examples, predictions, form=form)

    def save(self, folder: Path, *, bits: int | None = None) -> None:
        """Write the reader, its verifier beside it."""
        if self.predictor.verifier is not None:
            # From now on it is found beside the reader, wherever that goes.
            self.model.set_head(verifier=VERIFIER)
        super().save(folder, bits=bits)
        if self.predictor.verifier is not None:
            place = folder / VERIFIER
            place.mkdir(exist_ok=True)
            type(self)(self.predictor.verifier).save(place, bits=bits)


def _is_verified(pair: tuple[SpanExample, Answer]) -> bool:
    """Whether a verifier is right about whether a question has an answer."""
    example, answer = pair
    return (answer.verification > 0) == example.is_impossible


def _gold_pieces(example: SpanExample, passage: EncodedText) -> tuple[int, int] | None:
    """First and last piece of the first gold answer, or ``None`` without one."""
    if not example.answers:
        return None
    answer, begin = example.answers[0], example.answer_starts[0]
    begin += len(answer) - len(answer.lstrip())
    end = begin + len(answer.strip())
    first = int(np.searchsorted(passage.ends, begin, side="right"))
    last = int(np.searchsorted(passage.starts, end, side="left")) - 1
    return (first, last) if first <= last else None


def _with_gold(window: SpanWindow, gold: tuple[int, int] | None) -> SpanWindow:
    if gold is None or gold[0] < window.begin or gold[1] >= window.end:
        return window
    shift = window.offset - window.begin
    return replace(window, start=gold[0] + shift, last=gold[1] + shift)
