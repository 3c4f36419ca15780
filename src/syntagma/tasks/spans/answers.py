"""What a reader says: an answer with its place in the passage, or that there is none."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["Answer", "Span"]


@dataclass(frozen=True, slots=True)
class Span:
    """A candidate answer: ``passage[start:end] == text``.

    Args:
        text: as it stands in the passage.
        start: character offset of its first character.
        end: character offset after its last character.
        score: start score plus end score.
        probability: share among the candidates kept, the empty answer included.
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
        question: as asked.
        text: the answer, empty where the reader abstains.
        start: character offset in the passage; ``None`` where the reader abstains.
        end: character offset after the answer; ``None`` where the reader abstains.
        score: of the best span, start plus end.
        null_score: of the empty answer; the least over the windows of the passage.
        verification: logit of unanswerable minus logit of answerable; the least over the
            windows, 0 without a verifier.
        null_odds: ``null_score - score``, combined with the verification by the fitted weights;
            the reader abstains where it exceeds ``threshold``.
        threshold: fitted on dev data.
        probability: of what was answered, among the candidates kept.
        spans: the best spans, best first, whether or not the reader abstains.
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
