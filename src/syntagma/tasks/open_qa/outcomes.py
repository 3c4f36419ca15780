"""Decide what a user gets for a question about several paragraphs.

The paragraphs are treated like the windows of one long text: the best candidate of all of them is
weighed by the same features and the same calibration as an answer from one passage, and the same
rule decides (:mod:`syntagma.tasks.spans.outcomes`).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from typing import Any

from syntagma.models.open_model import OpenHead
from syntagma.tasks.open_qa.answers import Candidate, OpenPrediction
from syntagma.tasks.spans.answers import Mode, Outcome, Span
from syntagma.tasks.spans.features import score_features, sentence_of
from syntagma.tasks.spans.outcomes import NOTHING, Weighed, careful, decide
from syntagma.tasks.spans.tidy import tidy_interval


@dataclass(frozen=True, slots=True)
class OpenAnswer:
    """What a user gets for a question about several paragraphs.

    Args:
        question: the question.
        outcome: ``answer``, ``unsure`` or ``none``, see
            :class:`syntagma.tasks.spans.answers.Answer`.
        text: the answer; if unsure, the best candidate, or the sentence that bears on the question;
            empty for ``none``.
        paragraph: index of its paragraph in the list of paragraphs; ``None`` if ``text`` is empty.
        pid: id of its paragraph; empty if ``text`` is.
        start: character offset of ``text`` in the paragraph; ``None`` if it is empty.
        end: character offset of its end (exclusive); ``None`` if it is empty.
        confidence: probability that the best candidate is right.
        no_answer: probability that no paragraph holds an answer.
        reason: why the reader is unsure; empty for the other outcomes.
        spans: the parts of the answer, in its paragraph.
        candidates: distinct possible answers, best first, whatever the outcome.
        calibrated: whether the two numbers were fitted to labelled questions.
        prediction: the scores behind the answer.
    """

    question: str
    outcome: Outcome
    text: str
    paragraph: int | None
    pid: str
    start: int | None
    end: int | None
    confidence: float
    no_answer: float
    reason: str
    spans: tuple[Span, ...]
    candidates: tuple[Candidate, ...]
    calibrated: bool
    prediction: OpenPrediction

    def as_dict(self) -> dict[str, Any]:
        """Return plain values, without the scores behind the answer."""
        values = asdict(self)
        del values["prediction"]
        return values


def give_open_answer(
    prediction: OpenPrediction, texts: Mapping[int, str], head: OpenHead, mode: Mode
) -> OpenAnswer:
    """Turn pooled candidates into what a user gets.

    Args:
        prediction: the candidates.
        texts: the paragraphs that were read, by their index.
        head: settings of the reader, with its calibration.
        mode: the mode.
    """
    candidates = distinct_candidates(prediction.candidates, texts)
    if candidates:
        weighed = _weigh(prediction, candidates, texts, head)
        best = candidates[0]
        decision = decide(prediction.question, texts[best.paragraph], weighed, mode)
        place: tuple[int | None, str] = (best.paragraph, best.pid)
    else:
        weighed, place = NOTHING, (None, "")
        decision = decide(prediction.question, "", weighed, mode)
    text, start, end = decision.shown or ("", None, None)
    paragraph, pid = place if decision.shown else (None, "")
    return OpenAnswer(
        question=prediction.question,
        outcome=decision.outcome,
        text=text,
        paragraph=paragraph,
        pid=pid,
        start=start,
        end=end,
        confidence=weighed.probabilities.confidence,
        no_answer=weighed.probabilities.no_answer,
        reason=decision.reason,
        spans=decision.spans,
        candidates=candidates,
        calibrated=head.calibration is not None,
        prediction=prediction,
    )


def distinct_candidates(
    candidates: tuple[Candidate, ...], texts: Mapping[int, str]
) -> tuple[Candidate, ...]:
    """Tidy candidates, and drop those that overlap a better one of the same paragraph.

    Args:
        candidates: best first.
        texts: the paragraphs, by their index.
    """
    kept: list[Candidate] = []
    for candidate in candidates:
        text = texts[candidate.paragraph]
        start, end = tidy_interval(text, candidate.start, candidate.end)
        if not any(
            better.paragraph == candidate.paragraph and start < better.end and better.start < end
            for better in kept
        ):
            kept.append(replace(candidate, text=text[start:end], start=start, end=end))
    return tuple(kept)


def _weigh(
    prediction: OpenPrediction,
    candidates: tuple[Candidate, ...],
    texts: Mapping[int, str],
    head: OpenHead,
) -> Weighed:
    """Compute the two numbers of the best candidate."""
    spans = tuple(Span(c.text, c.start, c.end, c.score, c.probability) for c in candidates)
    best = candidates[0]
    sentence = sentence_of(texts[best.paragraph], best.start, best.end)
    if head.calibration is None:
        threshold = head.null_score_diff_threshold
        return Weighed(spans, sentence, careful(spans, -best.score, threshold))
    features = score_features(
        prediction.question,
        "\n".join(texts.values()),
        spans,
        lowest=prediction.candidates[-1].score,
        # Evidence is relative to the empty answer, minus what the verifier says.
        null_score=-head.answerability_weight * prediction.verification,
        verification=prediction.verification,
        n_windows=prediction.n_windows,
        sentence=sentence,
    )
    return Weighed(spans, sentence, head.calibration.probabilities(features))
