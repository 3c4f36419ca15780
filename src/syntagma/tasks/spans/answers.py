"""What a reader finds for a question: the scored spans, and the answer that a user gets."""

from __future__ import annotations

import json
import math
from dataclasses import dataclass
from typing import Any, Generic, Literal, NamedTuple, Protocol, TypeVar

from syntagma.errors import InputError
from syntagma.reprs import brief, counted, quoted
from syntagma.views import render

Outcome = Literal["answer", "unsure", "none"]
Mode = Literal["strict", "balanced", "lenient"]


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

    def to_dict(self) -> dict[str, Any]:
        """Return plain values, as in the JSON files of ``syntagma answer``."""
        return {
            "text": self.text,
            "start": self.start,
            "end": self.end,
            "score": self.score,
            "share": self.probability,
        }


@dataclass(frozen=True, slots=True, repr=False)
class SpanPrediction:
    """The scored spans for one question, as the official metrics of SQuAD judge them.

    Args:
        question: the question.
        text: the best span; empty if the reader abstains.
        start: character offset of its start in the passage; ``None`` if the reader abstains.
        end: character offset of its end (exclusive); ``None`` if the reader abstains.
        score: score of the best span.
        null_score: score of the empty answer; the minimum over the windows of the passage.
        verification: logit of unanswerable minus logit of answerable; the minimum over the
            windows, 0 without a verifier.
        null_odds: ``null_score - score`` and ``verification``, combined by the fitted weights.
        threshold: the reader abstains if ``null_odds`` exceeds it; by default fitted on dev data.
        probability: probability of the predicted text, among the kept candidates.
        spans: the best spans as decoded, best first, even if the reader abstains; they overlap.
        n_windows: number of windows that the passage was read in.
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
    n_windows: int = 1

    def __repr__(self) -> str:
        found = quoted(self.text) if self.answered else "no answer"
        spans = counted(len(self.spans), "span")
        return brief(self, found, f"score {self.score:.2f}", spans, f"to {quoted(self.question)}")

    @property
    def answered(self) -> bool:
        """Whether the reader does not abstain."""
        return self.start is not None


class Excerpt(NamedTuple):
    """A part of the passage: ``passage[start:end] == text``.

    Args:
        text: its text.
        start: character offset of its start.
        end: character offset of its end (exclusive).
    """

    text: str
    start: int
    end: int


class Prediction(Protocol):
    """The scores behind an answer, from one passage or from several paragraphs."""

    @property
    def question(self) -> str:
        """The question."""

    @property
    def null_odds(self) -> float:
        """Score of no answer minus that of the best candidate, in logits."""


SpanT = TypeVar("SpanT", bound=Span)
PredictionT = TypeVar("PredictionT", bound=Prediction)


@dataclass(frozen=True, slots=True, repr=False)
class BaseAnswer(Generic[SpanT, PredictionT]):
    """What a user gets for one question; docs/outcomes.md has the rule.

    Args:
        question: the question.
        outcome: ``answer``; ``unsure``: ``text`` is shown, but marked; or ``none``: the text
            seems to hold no answer.
        text: the answer; if unsure, the best span, or the sentence that bears on the question if
            no single span can answer it; empty for ``none``.
        start: character offset of ``text`` in its passage; ``None`` if ``text`` is empty.
        end: character offset of its end (exclusive); ``None`` if ``text`` is empty.
        confidence: probability that ``text`` is the right answer; for ``none``, that the best
            candidate is.
        no_answer: probability that what was read holds no answer.
        reason: why the reader is unsure; empty for the other outcomes.
        spans: the parts of the answer: one, several if the passage lists them, none without an
            answer.
        candidates: distinct possible answers, best first, whatever the outcome.
        sentence: the sentence with the best candidate, in its passage; ``None`` without one.
        calibrated: whether the two numbers were fitted to labelled questions.
        mode: the mode that decided; ``None`` if a threshold did.
        threshold: the threshold of ``null_odds`` that decided; ``None`` if a mode did.
        prediction: the scores behind the answer.
    """

    question: str
    outcome: Outcome
    text: str
    start: int | None
    end: int | None
    confidence: float
    no_answer: float
    reason: str
    spans: tuple[SpanT, ...]
    candidates: tuple[SpanT, ...]
    sentence: Excerpt | None
    calibrated: bool
    mode: Mode | None
    threshold: float | None
    prediction: PredictionT

    def __repr__(self) -> str:
        shown = {
            "answer": f"{quoted(self.text)}, confidence {self.confidence:.2f}",
            "unsure": f"unsure, {quoted(self.text)}, confidence {self.confidence:.2f}",
            "none": f"none, probability of no answer {self.no_answer:.2f}",
        }[self.outcome]
        return brief(self, shown, f"to {quoted(self.question)}")

    def _repr_html_(self) -> str | None:
        return render("answer_html", self)

    @property
    def best(self) -> SpanT | None:
        """The best candidate, whatever the outcome; ``None`` if there is none."""
        return self.candidates[0] if self.candidates else None

    def place(self) -> dict[str, Any]:
        """Return where ``text`` is, as plain values."""
        return {"start": self.start, "end": self.end}

    def as_row(self) -> dict[str, Any]:
        """Return outcome, text, place, the two numbers and the reason as plain values."""
        return {
            "outcome": self.outcome,
            "text": self.text,
            **self.place(),
            "confidence": self.confidence,
            "no_answer": self.no_answer,
            "reason": self.reason,
        }

    def to_dict(self) -> dict[str, Any]:
        """Return plain values, as in the JSON files of ``syntagma answer``.

        An infinite threshold, which JSON lacks, is the text ``inf`` or ``-inf``.
        """
        return {
            "question": self.question,
            **self.as_row(),
            "spans": [span.to_dict() for span in self.spans],
            "candidates": [span.to_dict() for span in self.candidates],
            "sentence": None if self.sentence is None else self.sentence._asdict(),
            "calibrated": self.calibrated,
            "mode": self.mode,
            "threshold": _writable(self.threshold),
            # Without a candidate the difference is infinite, which JSON cannot say.
            "null_odds": self.prediction.null_odds if self.candidates else None,
        }

    def to_json(self) -> str:
        """Return :meth:`to_dict` as one line of JSON."""
        return json.dumps(self.to_dict(), ensure_ascii=False)


def _writable(threshold: float | None) -> float | str | None:
    """Return a threshold as JSON can have it: ``inf`` and ``-inf`` as texts."""
    return str(threshold) if threshold is not None and math.isinf(threshold) else threshold


@dataclass(frozen=True, slots=True, repr=False)
class Answer(BaseAnswer[Span, SpanPrediction]):
    """What a user gets for a question about one passage: the fields of :class:`BaseAnswer`."""

    def span(self, doc: Any) -> Any:
        """Return the answer as a span of the spaCy document that was read.

        The span has all tokens that the answer touches, and its label is the outcome in capitals.

        Args:
            doc: the ``Doc``, or the ``Span`` of one, that was given as the passage.

        Returns:
            A ``spacy.tokens.Span``; ``None`` if there is no answer.

        Raises:
            InputError: this is not the text that was read.
        """
        if self.start is None or self.end is None:
            return None
        found = doc.text[self.start : self.end]
        if found != self.text:
            raise InputError(
                f"Answer.span: expected the document that was read, with {self.text!r:.60} at "
                f"characters {self.start} to {self.end}, got {found!r:.60} there"
            )
        return doc.char_span(
            self.start, self.end, label=self.outcome.upper(), alignment_mode="expand"
        )
