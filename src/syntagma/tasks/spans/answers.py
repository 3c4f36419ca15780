"""The output of a reader: an answer with its offsets in the passage, or no answer."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Span:
    """A candidate answer: ``passage[start:end] == text``.

    Args:
        text: the text of the span.
        start: character offset of its start.
        end: character offset of its end (exclusive).
        score: sum of start and end score.
        probability: softmax of the score over the kept candidates and the empty answer.
    """

    text: str
    start: int
    end: int
    score: float
    probability: float


@dataclass(frozen=True, slots=True)
class Answer:
    """A reader's answer to one question.

    Args:
        question: the question.
        text: the answer; empty if the reader abstains.
        start: character offset of its start in the passage; ``None`` if the reader abstains.
        end: character offset of its end (exclusive); ``None`` if the reader abstains.
        score: score of the best span.
        null_score: score of the empty answer; the minimum over the windows of the passage.
        verification: logit of unanswerable minus logit of answerable; the minimum over the
            windows, 0 without a verifier.
        null_odds: ``null_score - score`` and ``verification``, combined by the fitted weights.
        threshold: the reader abstains if ``null_odds`` exceeds it; by default fitted on dev data.
        probability: probability of the given answer, among the kept candidates.
        spans: the best spans, best first, even if the reader abstains.
    """

    question: str
    text: str
    start: int | None
    end: int | None
    score: float
    null_score: float
    verification: float
    null_odds: float
    threshold: float
    probability: float
    spans: tuple[Span, ...]

    @property
    def answered(self) -> bool:
        """Whether the reader gives an answer."""
        return self.start is not None
