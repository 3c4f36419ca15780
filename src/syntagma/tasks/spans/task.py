"""Extractive reading comprehension: SQuAD 1.1 and 2.0."""

from __future__ import annotations

import logging
import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Self

import numpy as np
from numpy.typing import NDArray

from syntagma.models.span_model import SpanHead, SpanModel
from syntagma.outputs import is_stream, write_json
from syntagma.syntax.encode import EncodedText
from syntagma.tasks.comparison.clusters import text_of
from syntagma.tasks.comparison.comparisons import ACCURACY, ComparedMetric
from syntagma.tasks.comparison.properties import ANSWERS, QUESTION, length_of
from syntagma.tasks.experiment import Experiment
from syntagma.tasks.label_counts import accuracy_of
from syntagma.tasks.new_model import new_model, training_options
from syntagma.tasks.prediction_files import read_json_by_id, require_text_value
from syntagma.tasks.predictor import PredictorTask
from syntagma.tasks.spans.answers import Answer, Mode, SpanPrediction
from syntagma.tasks.spans.metrics import best_threshold, evaluate_spans, judge, score_answers
from syntagma.tasks.spans.outcomes import DEFAULT_MODE, give_answer
from syntagma.tasks.spans.reader import Reader, verifier_of
from syntagma.tasks.spans.sample import SAMPLE
from syntagma.tasks.spans.squad import (
    Form,
    SpanExample,
    TeacherAnswers,
    best_text,
    read_null_odds,
    read_squad,
    write_predictions,
)
from syntagma.tasks.spans.user_scores import user_scores
from syntagma.tasks.spans.windows import SpanWindow, Targets
from syntagma.tasks.task import ErrorExample, Features

log = logging.getLogger(__name__)

VERIFIER = "verifier"
"""Folder of the verifier in a reader's folder."""
VERIFIER_WEIGHTS = (0.0, 0.25, 0.5, 1.0, 2.0, 4.0)
"""The values of β₂ that are tried (eq. 14)."""

EXACT = ComparedMetric(("exact", "f1"), "exact", "exact", "mcnemar")
F1 = EXACT._replace(metric="f1", score="f1", test="t")
VERIFIED = ACCURACY._replace(test="mcnemar")


class SpanTask(PredictorTask[SpanExample, SpanPrediction, Reader]):
    """Answers questions with spans of the passage, or abstains.

    The metric for model selection is F1 at the best threshold: at the initial threshold, a better
    reader may abstain too often or too rarely, and the final threshold is fitted later anyway.
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
    clusters = {"paragraph": text_of("passage"), "article": text_of("title")}  # noqa: RUF012
    threshold = "null_score_diff_threshold"
    sample = SAMPLE

    def __init__(self, predictor: Reader) -> None:
        super().__init__(predictor)
        self.primary = _primary(predictor.model.head)

    @classmethod
    def primaries(cls, experiment: Experiment) -> tuple[str, ...]:
        """The accuracy of a verifier, the best F1 of a reader."""
        return (_primary(experiment.head),)

    @classmethod
    def new(cls, experiment: Experiment, examples: Sequence[SpanExample]) -> Self:
        """Create a reader with the experiment's encoder and guides."""
        model = new_model(SpanModel, experiment)
        options = training_options(model, experiment)
        verifier = verifier_of(model.head, experiment.training.precision)
        return cls(Reader(model, verifier=verifier, **options))

    @classmethod
    def read(cls, path: str | Path, *, skip_bad: bool = False) -> list[SpanExample]:
        """Read the questions of a SQuAD file."""
        examples, skipped = read_squad(path, skip_bad=skip_bad)
        if skipped.total:
            log.warning("%s: %s", path, skipped)
        return examples

    @classmethod
    def is_labelled(cls, example: SpanExample) -> bool:
        """Return whether a question has gold answers or is impossible."""
        return example.is_labelled

    @classmethod
    def texts(cls, examples: Sequence[SpanExample]) -> Iterator[str]:
        """Yield each distinct passage, before the questions about it."""
        yield from dict.fromkeys(
            text for example in examples for text in (example.passage, example.question)
        )

    @classmethod
    def describe(cls, example: SpanExample) -> ErrorExample:
        """Show the question, and the first gold answer in its passage."""
        first = zip(example.answer_starts[:1], example.answers[:1], strict=True)
        places = tuple((start, start + len(answer)) for start, answer in first)
        gold = tuple(dict.fromkeys(example.answers)) or ("",)
        return ErrorExample(example.question, gold, example.passage, places, asked_name="question")

    def features(self, examples: Sequence[SpanExample]) -> Features:
        """Encode the examples as training windows; the first gold answer is the target."""
        pairs = [(example.passage, example.question) for example in examples]
        items = []
        for window in self.predictor.encode_pairs(pairs):
            example = examples[window.example]
            labelled = _with_gold(window, _gold_pieces(example, window.passage))
            if example.teacher is not None:
                labelled = replace(labelled, targets=_targets(window, example.teacher))
            items.append(labelled)
        return Features(items, padded=True)

    def predict(self, examples: Sequence[SpanExample]) -> list[SpanPrediction]:
        """Answer the questions, without abstaining if the data has no impossible question.

        The rules of SQuAD 1.1, which apply to such data, know no abstention.
        """
        always = any(example.has_answers for example in examples) and not any(
            example.is_impossible for example in examples
        )
        pairs = ((example.passage, example.question) for example in examples)
        return list(self.predictor.predictions(pairs, threshold=math.inf if always else None))

    def score(
        self, examples: Sequence[SpanExample], predictions: Sequence[SpanPrediction]
    ) -> dict[str, float]:
        """Return the official metrics (:mod:`syntagma.tasks.spans.metrics`).

        For a verifier, this is the accuracy of its answerability.
        """
        labelled = self.labelled(examples, predictions)
        if self.model.head.objective == "answerability":
            return accuracy_of(list(map(_is_verified, labelled)))
        return score_answers(
            [example for example, _ in labelled], [answer for _, answer in labelled]
        )

    def user_scores(
        self, examples: Sequence[SpanExample], predictions: Sequence[SpanPrediction]
    ) -> dict[str, float]:
        """Return what users get in each mode, see :mod:`syntagma.tasks.spans.user_scores`."""
        if self.model.head.objective == "answerability":
            return {}
        labelled = self.labelled(examples, predictions)
        return user_scores(
            [example.answers for example, _ in labelled],
            lambda mode: _answers(mode, labelled, self.model.head),
        )

    def score_examples(
        self, examples: Sequence[SpanExample], predictions: Sequence[SpanPrediction]
    ) -> dict[str, dict[str, float]]:
        """Return exact match and F1 of each labelled question, or the accuracy of a verifier."""
        labelled = self.labelled(examples, predictions)
        if self.model.head.objective == "answerability":
            return {pair[0].id: {"accuracy": float(_is_verified(pair))} for pair in labelled}
        rows = judge([example for example, _ in labelled], [answer.text for _, answer in labelled])
        return {
            example.id: {"exact": row.exact, "f1": row.f1}
            for (example, _), row in zip(labelled, rows, strict=True)
        }

    def fit_after_training(
        self, examples: Sequence[SpanExample], predictions: Sequence[SpanPrediction]
    ) -> dict[str, float]:
        """Fit the threshold δ, together with β₂ if there is a verifier (journal eq. 14)."""
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
        best, weight = max(fits, key=lambda fit: fit[0].value)
        fitted = {"null_score_diff_threshold": best.threshold, "answerability_weight": weight}
        self.model.set_head(**fitted)
        return fitted

    def write_predictions(
        self, examples: Sequence[SpanExample], predictions: Sequence[SpanPrediction], path: Path
    ) -> None:
        """Write the best spans, and the official ``null_odds`` and ``nbest`` next to them.

        ``outcomes`` next to them has what users get in the mode ``balanced``.

        From best spans and odds, the official script finds the best thresholds; where the reader
        abstains, it would find others. For the answers after abstaining, see
        :meth:`write_abstaining`.
        """
        write_predictions(path, examples, predictions, form="best_predictions")
        if is_stream(path):  # It takes one file.
            return
        _write_beside(path, examples, predictions, ("null_odds", "nbest"))
        pairs = zip(examples, predictions, strict=True)
        answers = _answers(DEFAULT_MODE, pairs, self.model.head)
        outcomes = {
            example.id: answer.as_row() for example, answer in zip(examples, answers, strict=True)
        }
        write_json(path.with_name(f"{path.stem}.outcomes{path.suffix}"), outcomes)

    def write_abstaining(
        self, examples: Sequence[SpanExample], predictions: Sequence[SpanPrediction], path: Path
    ) -> None:
        """Write the answers as given, empty where the reader abstains."""
        write_predictions(path, examples, predictions)

    def write_to_run(
        self, examples: Sequence[SpanExample], predictions: Sequence[SpanPrediction], path: Path
    ) -> None:
        """Write the answers as given, and all other forms next to them."""
        write_predictions(path, examples, predictions)
        _write_beside(path, examples, predictions, ("best_predictions", "null_odds", "nbest"))

    @classmethod
    def score_file(
        cls, examples: Sequence[SpanExample], path: Path, null_odds: Path | None = None
    ) -> dict[str, float]:
        """Return the official metrics of a file of texts by question id, empty for no answer.

        Args:
            examples: labelled questions.
            path: the file; with ``null_odds``, of best spans.
            null_odds: file of scores of no answer minus those of the best spans; adds the metrics
                at the best thresholds.

        Raises:
            InputError: a file cannot be read, or does not answer exactly these questions.
        """
        ids = [example.id for example in examples]
        values = zip(ids, read_json_by_id(path, ids), strict=True)
        texts = {key: require_text_value(path, key, value) for key, value in values}
        if null_odds is None:
            return evaluate_spans(examples, texts)
        return evaluate_spans(examples, texts, null_odds=read_null_odds(null_odds, examples))

    def save(self, folder: Path, *, bits: int | None = None, rank: int = 0) -> None:
        """Write the reader, with its verifier in a subfolder."""
        if self.predictor.verifier is not None:
            # Must precede the saving: the relative path stays valid when the folder is moved.
            self.model.set_head(verifier=VERIFIER)
        super().save(folder, bits=bits, rank=rank)
        if self.predictor.verifier is not None:
            subfolder = folder / VERIFIER
            subfolder.mkdir(exist_ok=True)
            type(self)(self.predictor.verifier).save(subfolder, bits=bits, rank=rank)


def _primary(head: SpanHead) -> str:
    """Return the metric by which models with these settings are chosen."""
    return "accuracy" if head.objective == "answerability" else SpanTask.primary


def _answers(
    mode: Mode, pairs: Iterable[tuple[SpanExample, SpanPrediction]], head: SpanHead
) -> list[Answer]:
    """Return what users get in a mode."""
    return [give_answer(found, example.passage, head, mode=mode) for example, found in pairs]


def _write_beside(
    path: Path,
    examples: Sequence[SpanExample],
    answers: Sequence[SpanPrediction],
    forms: Sequence[Form],
) -> None:
    """Write files of other forms, named after the file of predictions."""
    for form in forms:
        other = path.with_name(f"{path.stem}.{form}{path.suffix}")
        write_predictions(other, examples, answers, form=form)


def _is_verified(pair: tuple[SpanExample, SpanPrediction]) -> bool:
    """Return whether a verifier is right about a question's answerability."""
    example, answer = pair
    return (answer.verification > 0) == example.is_impossible


def _gold_pieces(example: SpanExample, passage: EncodedText) -> tuple[int, int] | None:
    """Return the first and last piece of the first gold answer; ``None`` if there is none."""
    if not example.answers:
        return None
    answer, begin = example.answers[0], example.answer_starts[0]
    begin += len(answer) - len(answer.lstrip())
    firsts, lasts = _pieces(passage, [begin], [begin + len(answer.strip())])
    first, last = int(firsts[0]), int(lasts[0])
    return (first, last) if first <= last else None


def _pieces(
    passage: EncodedText, begins: Sequence[int], ends: Sequence[int]
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the first and last pieces of intervals of characters; reversed if they have none."""
    first = np.searchsorted(passage.ends, begins, side="right")
    last = np.searchsorted(passage.starts, ends, side="left") - 1
    return first, last


def _targets(window: SpanWindow, teacher: TeacherAnswers) -> Targets:
    """Place a teacher's probabilities in a window; spans outside count as no answer there."""
    first, last = _pieces(window.passage, teacher.starts, teacher.ends)
    inside = (window.begin <= first) & (first <= last) & (last < window.end)
    shift = window.offset - window.begin
    starts = np.append(np.where(inside, first + shift, 0), 0)
    ends = np.append(np.where(inside, last + shift, 0), 0)
    shares = np.array([*teacher.probabilities, teacher.no_answer], np.float32)
    return Targets(starts, ends, shares / shares.sum())


def _with_gold(window: SpanWindow, gold: tuple[int, int] | None) -> SpanWindow:
    """Set the gold positions of a window, if it contains the whole answer."""
    if gold is None or gold[0] < window.begin or gold[1] >= window.end:
        return window
    shift = window.offset - window.begin
    return replace(window, start=gold[0] + shift, last=gold[1] + shift)
