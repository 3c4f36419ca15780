"""Fit the two numbers of a reader's answers, and measure how well they are calibrated."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

import numpy as np

from syntagma.errors import InputError
from syntagma.models.calibration import (
    CONSTANT,
    RETRIEVAL_FEATURES,
    Calibration,
    Probabilities,
)
from syntagma.settings import to_dict
from syntagma.tasks.spans.answers import SpanPrediction
from syntagma.tasks.spans.features import rank
from syntagma.tasks.spans.logistic import Vector, fit_logistic
from syntagma.tasks.spans.metrics import exact_of
from syntagma.tasks.spans.reliability import CalibrationError, bootstrap_error
from syntagma.tasks.spans.squad import SpanExample

FEWEST = 10
"""Fewest questions with an answer, and without one, that a number is fitted on."""
PENALTY = 2.0
"""Strength of the penalty, in questions: how much what is known before counts."""
FOLDS = 10

CalibrationT = TypeVar("CalibrationT", bound=Calibration)


@dataclass(frozen=True, slots=True)
class Row:
    """What is known of one labelled question.

    Args:
        features: of its scores; those that the calibration names, or more.
        right: whether the best candidate is exactly a gold answer.
        impossible: whether what was read holds no answer.
        group: the questions of a group are held out together: those about one passage.
    """

    features: Mapping[str, float]
    right: bool
    impossible: bool
    group: str


@dataclass(frozen=True, slots=True)
class FittedCalibration(Generic[CalibrationT]):
    """A calibration, and how well it holds on questions that it was not fitted on.

    Args:
        calibration: fitted on all questions.
        confidence: error of the confidence, by cross-validation.
        no_answer: error of the probability of no answer, by cross-validation.
    """

    calibration: CalibrationT
    confidence: CalibrationError
    no_answer: CalibrationError

    def to_dict(self) -> dict[str, Any]:
        """Return plain values: the weights, and each error with its interval."""
        return {
            "calibration": to_dict(self.calibration),
            "ece_confidence": self.confidence._asdict(),
            "ece_no_answer": self.no_answer._asdict(),
        }


def calibration_rows(
    examples: Sequence[SpanExample], predictions: Sequence[SpanPrediction]
) -> list[Row]:
    """Compute what a calibration is fitted on; questions without any candidate are left out.

    Args:
        examples: labelled questions.
        predictions: for them, in the same order.
    """
    rows = []
    for example, prediction in zip(examples, predictions, strict=True):
        ranked = rank(prediction, example.passage)
        if ranked.candidates:
            best = ranked.candidates[0]
            right = example.has_answers and bool(exact_of(best.text, example.answers))
            rows.append(Row(ranked.features, right, example.is_impossible, example.passage))
    return rows


def fit_calibration(
    rows: Sequence[Row],
    kind: type[CalibrationT],
    *,
    unanswerable: float = 0.5,
    before: CalibrationT | None = None,
) -> CalibrationT:
    """Fit the weights of both numbers.

    Questions are weighted so that their share without an answer is ``unanswerable``.  The penalty
    pulls the weights to those of an earlier calibration, so that 50 questions can adapt one.  If
    too few questions have no answer, the earlier weights for that are kept.

    Args:
        rows: labelled questions.
        kind: class of the calibration, which names the features.
        unanswerable: share of questions without an answer that the numbers will assume.
        before: earlier calibration of the same reader.

    Raises:
        InputError: there are too few questions of a kind.
    """
    impossible = np.array([row.impossible for row in rows], float)
    n_impossible = int(impossible.sum())
    if len(rows) - n_impossible < FEWEST:
        raise InputError(
            f"expected at least {FEWEST} questions with an answer, got {len(rows) - n_impossible}; "
            f"add some"
        )
    keeps = n_impossible < FEWEST
    if keeps and before is None:
        raise InputError(
            f"expected at least {FEWEST} questions without an answer, got {n_impossible}; add "
            f'some, marked by "is_impossible": true in the SQuAD format, by "answers": [] in others'
        )
    scale = _Scale.of(rows, kind.names)
    values = scale.values(rows)
    wanted = np.where(impossible == 1, unanswerable, 1 - unanswerable)
    share = np.where(impossible == 1, impossible.mean(), 1 - impossible.mean())
    earlier = before.with_unanswerable(unanswerable) if before else kind()
    no_answer = scale.vector(earlier.no_answer)
    if not keeps:
        no_answer = fit_logistic(
            values, impossible, weights=wanted / share, centre=no_answer, penalty=PENALTY
        )
    answerable = impossible == 0
    right = np.array([row.right for row in rows], float)
    right_weights = fit_logistic(
        values[answerable],
        right[answerable],
        centre=scale.vector(earlier.right),
        penalty=PENALTY,
    )
    return kind(
        unanswerable=unanswerable,
        n_questions=len(rows),
        no_answer=scale.weights(no_answer),
        right=scale.weights(right_weights),
    )


def calibrate(
    rows: Sequence[Row],
    kind: type[CalibrationT],
    *,
    unanswerable: float = 0.5,
    before: CalibrationT | None = None,
) -> FittedCalibration[CalibrationT]:
    """Fit the weights, and estimate the calibration error by cross-validation over passages.

    The error is estimated at the share of unanswerable questions that the data have, since bins of
    reweighted questions would say less.

    Args:
        rows: labelled questions.
        kind: class of the calibration.
        unanswerable: share of questions without an answer that the numbers will assume.
        before: earlier calibration of the same reader.

    Raises:
        InputError: there are too few questions of a kind.
    """
    fitted = fit_calibration(rows, kind, unanswerable=unanswerable, before=before)
    numbers = _held_out(rows, before, fitted)
    return FittedCalibration(
        fitted,
        bootstrap_error([n.confidence for n in numbers], [row.right for row in rows]),
        bootstrap_error([n.no_answer for n in numbers], [row.impossible for row in rows]),
    )


def _held_out(
    rows: Sequence[Row], before: CalibrationT | None, fitted: CalibrationT
) -> list[Probabilities]:
    """Return the two numbers of each question, fitted on the other folds."""
    share = min(max(sum(row.impossible for row in rows) / len(rows), 0.001), 0.999)
    groups = list(dict.fromkeys(row.group for row in rows))
    fold_of = {group: number % FOLDS for number, group in enumerate(groups)}
    numbers: dict[int, Probabilities] = {}
    for fold in range(FOLDS):
        rest = [row for row in rows if fold_of[row.group] != fold]
        held = [n for n, row in enumerate(rows) if fold_of[row.group] == fold]
        if not held:
            continue
        try:
            model = fit_calibration(rest, type(fitted), unanswerable=share, before=before)
        except InputError:
            # With so few questions a fold may hold most of one kind.
            model = fitted.with_unanswerable(share)
        numbers |= {n: model.probabilities(rows[n].features) for n in held}
    return [numbers[n] for n in range(len(rows))]


class _Scale:
    """Converts between weights of features as they are, and of features of about one size.

    The penalty must not depend on the unit of a feature.  All are of about the same size, but for
    the scores of a retriever: these are standardised for the fit, and their weights are converted
    back, so that a calibration needs to store nothing else.
    """

    def __init__(self, names: Sequence[str], mean: Vector, deviation: Vector) -> None:
        self.names = names
        self.mean = mean
        self.deviation = deviation

    @classmethod
    def of(cls, rows: Sequence[Row], names: Sequence[str]) -> _Scale:
        """Measure the features that need it, and leave the others as they are."""
        mean, deviation = np.zeros(len(names)), np.ones(len(names))
        for place, name in enumerate(names):
            if name in RETRIEVAL_FEATURES:
                values = np.array([row.features[name] for row in rows])
                mean[place] = values.mean()
                deviation[place] = values.std() or 1.0
        return cls(names, mean, deviation)

    def values(self, rows: Sequence[Row]) -> Vector:
        """Return the scaled features, ``[n, k]``."""
        found = np.array([[row.features[name] for name in self.names] for row in rows])
        return (found - self.mean) / self.deviation

    def vector(self, weights: Mapping[str, float]) -> Vector:
        """Return the weights of the scaled features, the constant last, ``[k + 1]``."""
        vector = np.array([weights.get(name, 0.0) for name in self.names])
        constant = weights.get(CONSTANT, 0.0) + float(vector @ self.mean)
        return np.append(vector * self.deviation, constant)

    def weights(self, vector: Vector) -> dict[str, float]:
        """Return the weights of the features as they are, and the constant."""
        weights = vector[:-1] / self.deviation
        constant = vector[-1] - weights @ self.mean
        # Six digits: the file stays readable, and nothing depends on more.
        values = [round(float(value), 6) for value in (*weights, constant)]
        return dict(zip((*self.names, CONSTANT), values, strict=True))
