"""Decide what a user gets for a question: an answer, an unsure answer, or none.

One rule on two numbers, ``confidence`` (probability that the best span is right) and ``no_answer``
(probability that the text holds no answer), with limits that depend on the mode:

1. ``answer`` if the confidence is high enough, and ``no_answer`` is not too high for an answer;
2. otherwise ``none`` if ``no_answer`` is high enough;
3. otherwise ``unsure``.

A question that no single span can answer (:mod:`syntagma.tasks.spans.questions`) is never answered
by one: rule 1 does not apply to it, and the sentence with the best span is shown.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from syntagma.errors import InputError
from syntagma.models.calibration import Probabilities, uncalibrated
from syntagma.models.span_model import SpanHead
from syntagma.tasks.spans.answers import Answer, Excerpt, Mode, Outcome, Span, SpanPrediction
from syntagma.tasks.spans.features import score_features, sentence_of
from syntagma.tasks.spans.lists import list_items
from syntagma.tasks.spans.metrics import abstains
from syntagma.tasks.spans.questions import REASONS, asks_for_all, has_number, question_kind
from syntagma.tasks.spans.tidy import distinct_spans

DEFAULT_MODE: Mode = "balanced"


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
CLOSE = 0.5
"""A candidate with this part of the best one's share of the softmax is nearly as likely."""


def require_mode(mode: str) -> Mode:
    """Check the name of a mode.

    Raises:
        InputError: there is no such mode.
    """
    if mode not in MODES:
        raise InputError(f"mode: expected one of {', '.join(MODES)}, got {mode!r}")
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


class Weighed(NamedTuple):
    """The candidates of a question, and how likely the best one is.

    Args:
        candidates: distinct spans, best first.
        sentence: the sentence with the best one; ``None`` without candidates.
        probabilities: the two numbers.
    """

    candidates: tuple[Span, ...]
    sentence: Excerpt | None
    probabilities: Probabilities


NOTHING = Weighed((), None, Probabilities(confidence=0.0, no_answer=1.0))


def weigh(prediction: SpanPrediction, passage: str, head: SpanHead) -> Weighed:
    """Find the distinct candidates of a prediction, and compute the two numbers.

    Args:
        prediction: the scored spans.
        passage: the passage.
        head: settings of the reader, with its calibration.
    """
    candidates = distinct_spans(passage, prediction.spans)
    if not candidates:
        return NOTHING
    sentence = sentence_of(passage, candidates[0].start, candidates[0].end)
    if head.calibration is None:
        threshold = head.null_score_diff_threshold
        return Weighed(candidates, sentence, careful(candidates, prediction.null_odds, threshold))
    features = score_features(
        prediction.question,
        passage,
        candidates,
        lowest=prediction.spans[-1].score,
        null_score=prediction.null_score,
        verification=prediction.verification,
        n_windows=prediction.n_windows,
        sentence=sentence,
    )
    return Weighed(candidates, sentence, head.calibration.probabilities(features))


def careful(candidates: Sequence[Span], null_odds: float, threshold: float) -> Probabilities:
    """Return the two numbers of a reader that was never calibrated.

    Args:
        candidates: distinct spans, best first.
        null_odds: odds of no answer, in logits.
        threshold: fitted threshold of the odds.
    """
    total = sum(span.probability for span in candidates)
    share = candidates[0].probability / total if total else 0.0
    return uncalibrated(null_odds, threshold, share)


class Decision(NamedTuple):
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
    spans: tuple[Span, ...]


REFUSED = Decision("none", "", None, ())


def decide(question: str, passage: str, weighed: Weighed, mode: Mode) -> Decision:
    """Apply the rule, with its exception for questions that no single span can answer.

    Args:
        question: the question.
        passage: the passage of the best candidate.
        weighed: the candidates with the two numbers.
        mode: the mode.
    """
    if not weighed.candidates:
        return REFUSED
    best = weighed.candidates[0]
    kind = question_kind(question)
    items = list_items(passage, best.start, best.end) if kind == "list" else []
    # One span of these kinds is a fragment, however sure the reader is of it.
    needs_more = (
        kind in ("yes_no", "comparison")
        or (kind == "count" and not has_number(best.text))
        or (kind == "list" and not items and asks_for_all(question))
    )
    outcome = outcome_of(weighed.probabilities, mode)
    if outcome == "none":
        return REFUSED
    if needs_more:
        return Decision("unsure", REASONS[kind], weighed.sentence, (best,))
    reason = why_unsure(weighed) if outcome == "unsure" else ""
    if items:
        first, last = items[0][0], items[-1][1]
        spans = [Span(passage[a:b], a, b, best.score, best.probability) for a, b in items]
        return Decision(outcome, reason, Excerpt(passage[first:last], first, last), tuple(spans))
    return Decision(outcome, reason, Excerpt(best.text, best.start, best.end), (best,))


def why_unsure(weighed: Weighed) -> str:
    """Return a short reason why the best candidate is no sure answer.

    Args:
        weighed: the candidates with the two numbers.
    """
    confidence, no_answer = weighed.probabilities
    best, *others = weighed.candidates
    if no_answer > confidence:
        return "the text may not answer this"
    if others and others[0].probability >= CLOSE * best.probability:
        return f"another span is nearly as likely: {' '.join(others[0].text.split())}"
    return "the span may be wrong or incomplete"


def give_answer(
    prediction: SpanPrediction,
    passage: str,
    head: SpanHead,
    *,
    mode: Mode | None = None,
    threshold: float | None = None,
) -> Answer:
    """Turn a prediction into what a user gets.

    Args:
        prediction: the scored spans.
        passage: the passage.
        head: settings of the reader, with its calibration.
        mode: the mode; by default ``balanced``.
        threshold: of the odds of no answer, instead of a mode: ``none`` above it, else ``answer``.
    """
    weighed = weigh(prediction, passage, head)
    if threshold is None:
        decision = decide(prediction.question, passage, weighed, mode or DEFAULT_MODE)
    elif abstains(prediction.null_odds, threshold) or not weighed.candidates:
        decision = REFUSED
    else:
        best = weighed.candidates[0]
        decision = Decision("answer", "", Excerpt(best.text, best.start, best.end), (best,))
    text, start, end = decision.shown or ("", None, None)
    return Answer(
        question=prediction.question,
        outcome=decision.outcome,
        text=text,
        start=start,
        end=end,
        confidence=weighed.probabilities.confidence,
        no_answer=weighed.probabilities.no_answer,
        reason=decision.reason,
        spans=decision.spans,
        candidates=weighed.candidates,
        sentence=weighed.sentence,
        calibrated=head.calibration is not None,
        mode=(mode or DEFAULT_MODE) if threshold is None else None,
        threshold=threshold,
        prediction=prediction,
    )
