"""Decide what a user gets for a question about several paragraphs.

The paragraphs are treated like the windows of one long text: the best candidate of all of them is
weighed by the same features and the same calibration as an answer from one passage, and the same
rule decides (:mod:`syntagma.tasks.spans.outcomes`).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from syntagma.models.open_model import OpenHead
from syntagma.tasks.open_qa.answers import Candidate, OpenPrediction
from syntagma.tasks.spans.answers import BaseAnswer, Mode
from syntagma.tasks.spans.features import Ranked, score_features, sentence_of
from syntagma.tasks.spans.outcomes import give
from syntagma.tasks.spans.tidy import tidy_interval


@dataclass(frozen=True, slots=True)
class OpenAnswer(BaseAnswer[Candidate, OpenPrediction]):
    """What a user gets for a question about several paragraphs."""

    @property
    def paragraph(self) -> int | None:
        """Index of the paragraph of ``text`` in the list of paragraphs; ``None`` without text."""
        return self.spans[0].paragraph if self.spans else None

    @property
    def pid(self) -> str:
        """Id of the paragraph of ``text``; empty without text."""
        return self.spans[0].pid if self.spans else ""

    def place(self) -> dict[str, Any]:
        """Return where ``text`` is, as plain values."""
        return {"paragraph": self.paragraph, "pid": self.pid} | BaseAnswer.place(self)


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
    return give(
        OpenAnswer,
        prediction,
        rank_paragraphs(prediction, texts, head),
        calibration=head.calibration,
        fitted_threshold=head.null_score_diff_threshold,
        mode=mode,
    )


def rank_paragraphs(
    prediction: OpenPrediction, texts: Mapping[int, str], head: OpenHead
) -> Ranked[Candidate]:
    """Find the distinct candidates of a prediction for several paragraphs.

    Args:
        prediction: the pooled candidates.
        texts: the paragraphs that were read, by their index.
        head: settings of the reader.
    """
    candidates = distinct_candidates(prediction.candidates, texts)
    if not candidates:
        return Ranked((), "", None, {})
    best = candidates[0]
    passage = texts[best.paragraph]
    sentence = sentence_of(passage, best.start, best.end)
    features = score_features(
        prediction.question,
        "\n".join(texts.values()),
        candidates,
        lowest=prediction.candidates[-1].score,
        # Evidence is relative to the empty answer, minus what the verifier says.
        null_score=-head.answerability_weight * prediction.verification,
        verification=prediction.verification,
        n_windows=prediction.n_windows,
        sentence=sentence,
    )
    return Ranked(candidates, passage, sentence, features)


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
