"""Say in words what a reader found: for a terminal, and for the page of answers."""

from __future__ import annotations

from typing import Any

from syntagma.drawing.tables import signed
from syntagma.tasks.spans.answers import BaseAnswer
from syntagma.tasks.spans.tidy import readable

NO_ANSWER = "no answer in the text"
NO_CANDIDATE = "no span could be an answer"


def shown_text(answer: BaseAnswer[Any, Any]) -> str:
    """Return what is shown for an answer, in one line; several parts are separated by semicolons.

    Args:
        answer: the answer.
    """
    if answer.outcome == "none":
        return NO_ANSWER
    if len(answer.spans) > 1:
        return "; ".join(readable(span.text) for span in answer.spans)
    return readable(answer.text)


def numbers_text(answer: BaseAnswer[Any, Any]) -> str:
    """Return the numbers behind an outcome in words.

    Args:
        answer: the answer.
    """
    if answer.threshold is not None:
        # The threshold decided, so the probabilities may say otherwise.
        if not answer.candidates:  # The difference is infinite, and so may the threshold be.
            return NO_CANDIDATE
        return f"margin {signed(answer.threshold - answer.prediction.null_odds, 1)}"
    no_answer = f"probability of no answer {probability_text(answer.no_answer)}"
    numbers = f"confidence {probability_text(answer.confidence)}, {no_answer}"
    if answer.outcome == "none":
        numbers = no_answer
    return numbers if answer.calibrated else f"{numbers}, not calibrated"


def probability_text(probability: float) -> str:
    """Return a probability with two decimals, never as certain.

    >>> probability_text(0.5), probability_text(0.001), probability_text(0.999)
    ('0.50', '<0.01', '>0.99')
    """
    if probability < 0.01:
        return "<0.01"
    return ">0.99" if probability > 0.99 else f"{probability:.2f}"


def outcome_line(answer: BaseAnswer[Any, Any]) -> str:
    """Format one answer for a terminal.

    Args:
        answer: the answer.
    """
    shown, numbers = shown_text(answer), numbers_text(answer)
    if answer.outcome == "none":
        return f"— {shown} —  ({numbers})"
    if answer.outcome == "unsure":
        return f"? {shown}  (unsure: {answer.reason}; {numbers})"
    return f"{shown}  ({numbers})"
