"""Decide what a user gets for a question: an answer, an unsure answer, or none.

One rule on two numbers, ``confidence`` (probability that the best span is right) and ``no_answer``
(probability that the text holds no answer), with limits that depend on the mode:

1. ``answer`` if the confidence is high enough, and ``no_answer`` is not too high for an answer;
2. otherwise ``none`` if ``no_answer`` is high enough;
3. otherwise ``unsure``.

A question that no single span can answer (:mod:`syntagma.tasks.spans.questions`) is never answered
by one: rule 1 does not apply to it, and the sentence with the best span is shown.

The same step, :func:`give`, answers from one passage and from several paragraphs
(:mod:`syntagma.tasks.open_qa.outcomes`); they differ in how the candidates are ranked.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Generic, NamedTuple, TypeVar

from syntagma.errors import InputError
from syntagma.models.calibration import Calibration, Probabilities, uncalibrated
from syntagma.models.span_model import SpanHead
from syntagma.tasks.spans.answers import (
    Answer,
    BaseAnswer,
    Excerpt,
    Mode,
    Outcome,
    Prediction,
    Span,
    SpanPrediction,
    SpanT,
)
from syntagma.tasks.spans.columns import row_at
from syntagma.tasks.spans.features import Ranked, rank
from syntagma.tasks.spans.lists import answer_items
from syntagma.tasks.spans.metrics import abstains
from syntagma.tasks.spans.questions import (
    DOUBTFUL_REASONS,
    REASONS,
    asks_for_all,
    has_number,
    question_kind,
)
from syntagma.tasks.spans.tables import names_empty_cell

DEFAULT_MODE: Mode = "balanced"

AnswerT = TypeVar("AnswerT", bound=BaseAnswer[Any, Any])


class Limits(NamedTuple):
    """The limits of a mode.

    Args:
        confidence: lowest confidence of an answer.
        no_answer: highest probability of no answer at which there is an answer.
        none: lowest probability of no answer at which nothing is shown.
    """

    confidence: float
    no_answer: float
    none: float


MODES: dict[Mode, Limits] = {
    "strict": Limits(confidence=0.5, no_answer=0.5, none=0.7),
    "balanced": Limits(confidence=0.25, no_answer=0.5, none=0.9),
    "lenient": Limits(confidence=0.15, no_answer=0.75, none=0.97),
}
EMPTY_CELL = "the cell of the table that the question names is empty"
"""Why a reader is unsure of another cell."""
CLOSE = 0.5
"""A candidate with this part of the best one's share of the softmax is nearly as likely."""
NOTHING = Probabilities(confidence=0.0, no_answer=1.0)
"""The two numbers if there is no candidate."""


def require_mode(mode: str) -> Mode:
    """Check the name of a mode.

    Raises:
        InputError: there is no such mode.
    """
    # What is no text may not be hashable either.
    if not isinstance(mode, str) or mode not in MODES:
        raise InputError(f"mode: expected one of {', '.join(MODES)}, got {mode!r:.60}")
    return mode


def outcome_of(probabilities: Probabilities, mode: Mode) -> Outcome:
    """Apply the rule to the two numbers of a question.

    Args:
        probabilities: the two numbers.
        mode: the mode.
    """
    limits = MODES[mode]
    confidence, no_answer = probabilities
    if confidence >= limits.confidence and no_answer <= limits.no_answer:
        return "answer"
    return "none" if no_answer >= limits.none else "unsure"


def weigh(
    prediction: Prediction,
    ranked: Ranked[Any],
    calibration: Calibration | None,
    fitted_threshold: float,
) -> Probabilities:
    """Compute the two numbers of the best candidate.

    Args:
        prediction: the scores.
        ranked: the distinct candidates.
        calibration: weights for the two numbers; without them, careful numbers are computed.
        fitted_threshold: of ``null_odds``.
    """
    if not ranked.candidates:
        return NOTHING
    if calibration is not None:
        return calibration.probabilities(ranked.features)
    shares = [span.probability for span in ranked.candidates]
    share = shares[0] / sum(shares) if sum(shares) else 0.0
    return uncalibrated(prediction.null_odds, fitted_threshold, share)


class Decision(NamedTuple, Generic[SpanT]):
    """What is shown for a question.

    Args:
        outcome: the outcome.
        reason: why the reader is unsure; empty for the other outcomes.
        shown: the answer, or what may be one; ``None`` for the outcome ``none``.
        spans: the parts of the answer.
    """

    outcome: Outcome
    reason: str
    shown: Excerpt | None
    spans: tuple[SpanT, ...]


REFUSED: Decision[Any] = Decision("none", "", None, ())


def decide(
    question: str, ranked: Ranked[SpanT], probabilities: Probabilities, mode: Mode
) -> Decision[SpanT]:
    """Apply the rule, with its exception for questions that no single span can answer.

    Args:
        question: the question.
        ranked: the distinct candidates.
        probabilities: the two numbers of the best one.
        mode: the mode.
    """
    outcome = outcome_of(probabilities, mode)
    if outcome == "none" or not ranked.candidates:
        return REFUSED
    best = ranked.candidates[0]
    kind = question_kind(question)
    items = answer_items(question, ranked.passage, best.start, best.end)
    # One span of these kinds is a fragment, however sure the reader is of it.
    needs_more = (
        kind in ("yes_no", "comparison")
        or (kind == "count" and not has_number(best.text))
        or (kind == "list" and not items and asks_for_all(question))
    )
    if needs_more:
        reasons = DOUBTFUL_REASONS if is_doubtful(probabilities) else REASONS
        return Decision("unsure", reasons[kind], _around(best, ranked), (best,))
    reason = why_unsure(ranked.candidates, probabilities) if outcome == "unsure" else ""
    shown = Excerpt(best.text, best.start, best.end)
    if names_empty_cell(question, ranked.passage, (best.start, best.end)):
        return Decision("unsure", EMPTY_CELL, shown, (best,))
    if not items:
        return Decision(outcome, reason, shown, (best,))
    spans = [replace(best, text=ranked.passage[a:b], start=a, end=b) for a, b in items]
    if kind == "list":
        # The whole list, of which the best span may be one item.
        first, last = items[0][0], items[-1][1]
        shown = Excerpt(ranked.passage[first:last], first, last)
    return Decision(outcome, reason, shown, tuple(spans))


def _around(best: Span, ranked: Ranked[SpanT]) -> Excerpt | None:
    """Return the row of a table that has a span, or its sentence where there is no table."""
    row = row_at(ranked.passage, best.start)
    return Excerpt(ranked.passage[slice(*row)], *row) if row else ranked.sentence


def is_doubtful(probabilities: Probabilities) -> bool:
    """Whether it is likelier that the text has no answer than that the best candidate is right."""
    confidence, no_answer = probabilities
    return no_answer > confidence


def why_unsure(candidates: Sequence[Span], probabilities: Probabilities) -> str:
    """Return a short reason why the best candidate is no sure answer.

    Args:
        candidates: distinct spans, best first; at least one.
        probabilities: the two numbers of the best one.
    """
    best, *others = candidates
    if is_doubtful(probabilities):
        return "the text may not answer this"
    if others and others[0].probability >= CLOSE * best.probability:
        return f"another span is nearly as likely: {' '.join(others[0].text.split())}"
    return "the span may be wrong or incomplete"


def give(
    kind: type[AnswerT],
    prediction: Prediction,
    ranked: Ranked[Any],
    *,
    calibration: Calibration | None,
    fitted_threshold: float,
    mode: Mode | None = None,
    threshold: float | None = None,
) -> AnswerT:
    """Turn ranked candidates into what a user gets.

    Args:
        kind: class of the answer.
        prediction: the scores.
        ranked: the distinct candidates of the prediction.
        calibration: weights for the two numbers; ``None`` for a reader that has none.
        fitted_threshold: of ``null_odds``, for a reader without a calibration.
        mode: the mode; by default ``balanced``.
        threshold: of ``null_odds``, instead of a mode: ``none`` above it, else ``answer``.
    """
    probabilities = weigh(prediction, ranked, calibration, fitted_threshold)
    if threshold is None:
        decision = decide(prediction.question, ranked, probabilities, mode or DEFAULT_MODE)
    elif abstains(prediction.null_odds, threshold) or not ranked.candidates:
        decision = REFUSED
    else:
        best = ranked.candidates[0]
        decision = Decision("answer", "", Excerpt(best.text, best.start, best.end), (best,))
    text, start, end = decision.shown or ("", None, None)
    return kind(
        question=prediction.question,
        outcome=decision.outcome,
        text=text,
        start=start,
        end=end,
        confidence=probabilities.confidence,
        no_answer=probabilities.no_answer,
        reason=decision.reason,
        spans=decision.spans,
        candidates=ranked.candidates,
        sentence=ranked.sentence,
        calibrated=calibration is not None,
        mode=(mode or DEFAULT_MODE) if threshold is None else None,
        threshold=threshold,
        prediction=prediction,
    )


def give_answer(
    prediction: SpanPrediction,
    passage: str,
    head: SpanHead,
    *,
    mode: Mode | None = None,
    threshold: float | None = None,
) -> Answer:
    """Turn the prediction for one passage into what a user gets.

    Args:
        prediction: the scored spans.
        passage: the passage.
        head: settings of the reader, with its calibration.
        mode: as for :func:`give`.
        threshold: as for :func:`give`.
    """
    return give(
        Answer,
        prediction,
        rank(prediction, passage),
        calibration=head.calibration,
        fitted_threshold=head.null_score_diff_threshold,
        mode=mode,
        threshold=threshold,
    )
