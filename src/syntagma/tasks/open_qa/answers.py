"""One answer from many paragraphs: candidates of all of them are weighed together.

A reader's scores compare the spans of one paragraph with one another and with the empty answer;
nothing in its training ties the scores of two paragraphs together (Clark & Gardner 2018). Odds
against the empty answer can be compared, because what the scores of a paragraph have in common
drops out of them. So the evidence for a span is SG-Net's odds (journal eq. 14) turned round,

    e = β₁ · (score of the span − null score of its paragraph) − β₂ · verification,

and all spans of all paragraphs share one softmax with one empty answer whose evidence is 0: the
shared normalisation of Clark & Gardner, made from a reader of single paragraphs. A paragraph that
answers nothing has a high null score, and all its spans count little.

Spans that the official metrics take for the same answer, in one paragraph or in several, are one
candidate. Lin et al. (2018) give two ways to count their evidence: ``sum`` adds their
probabilities, so that paragraphs support one another; ``max`` takes the greatest.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from syntagma.models.open_model import OpenHead
from syntagma.tasks.spans.answers import Answer
from syntagma.tasks.spans.metrics import normalise

__all__ = ["Candidate", "OpenAnswer", "ReadParagraph", "pool"]


class ReadParagraph(NamedTuple):
    """What a reader found in one paragraph.

    Args:
        place: of the paragraph in the list that was given, from 0.
        pid: its id.
        answer: the reader's, with its candidate spans.
    """

    place: int
    pid: str
    answer: Answer


@dataclass(frozen=True, slots=True)
class Candidate:
    """An answer with its best place: ``paragraphs[paragraph][start:end] == text``.

    Args:
        text: as it stands at its best place.
        paragraph: place of that paragraph in the list, from 0.
        pid: its id.
        start: character offset of the first character.
        end: character offset after the last.
        score: evidence of all places together, as log odds against the empty answer.
        probability: share among the candidates of all paragraphs and the empty answer.
        n_paragraphs: in how many paragraphs it is a candidate.
    """

    text: str
    paragraph: int
    pid: str
    start: int
    end: int
    score: float
    probability: float
    n_paragraphs: int


@dataclass(frozen=True, slots=True)
class OpenAnswer:
    """The answer to a question that was asked of several paragraphs.

    Args:
        question: as asked.
        text: the best candidate's, empty where there was nothing to read; so the others.
        paragraph: place of its paragraph in the list, ``None`` without one.
        pid: id of the paragraph, empty without one.
        start: character offset in the paragraph, ``None`` without one.
        end: character offset after the answer, ``None`` without one.
        score: log odds against the empty answer, minus infinity without one.
        probability: share among all candidates and the empty answer.
        null_probability: of the empty answer: that no paragraph tells.
        candidates: the best answers, best first.
    """

    question: str
    text: str
    paragraph: int | None
    pid: str
    start: int | None
    end: int | None
    score: float
    probability: float
    null_probability: float
    candidates: tuple[Candidate, ...]

    @classmethod
    def of(
        cls, question: str, candidates: Sequence[Candidate], null_probability: float
    ) -> OpenAnswer:
        """The best of some candidates, which are given best first."""
        if not candidates:
            return cls(
                question, "", None, "", None, None, -np.inf, 0.0, null_probability, candidates=()
            )
        best = candidates[0]
        return cls(
            question=question,
            text=best.text,
            paragraph=best.paragraph,
            pid=best.pid,
            start=best.start,
            end=best.end,
            score=best.score,
            probability=best.probability,
            null_probability=null_probability,
            candidates=tuple(candidates),
        )


class _Place(NamedTuple):
    evidence: float
    paragraph: int
    pid: str
    start: int
    end: int
    text: str


def pool(question: str, found: Sequence[ReadParagraph], head: OpenHead) -> OpenAnswer:
    """Join what was found in the paragraphs of one question.

    Args:
        question: as asked.
        found: one a paragraph.
        head: how to weigh and to count.
    """
    groups: dict[str, list[_Place]] = {}
    for read in found:
        answer = read.answer
        against = head.answerability_weight * answer.verification
        for span in answer.spans:
            if same := normalise(span.text):
                evidence = head.span_weight * (span.score - answer.null_score) - against
                place = _Place(evidence, read.place, read.pid, span.start, span.end, span.text)
                groups.setdefault(same, []).append(place)
    scores = np.array([0.0, *(_together(group, head) for group in groups.values())])
    shares = np.exp(scores - scores.max())
    shares /= shares.sum()
    rows = zip(groups.values(), scores[1:].tolist(), shares[1:].tolist(), strict=True)
    ranked = sorted(
        (_candidate(*row) for row in rows),
        key=lambda candidate: (-candidate.score, candidate.paragraph, candidate.start),
    )
    return OpenAnswer.of(question, ranked[: head.n_best_size], float(shares[0]))


def _together(group: Sequence[_Place], head: OpenHead) -> float:
    """The evidence of all places of an answer."""
    evidence = [place.evidence for place in group]
    return float(max(evidence) if head.aggregate == "max" else np.logaddexp.reduce(evidence))


def _candidate(group: Sequence[_Place], score: float, share: float) -> Candidate:
    # At equal evidence the paragraph that was retrieved first counts, and there the first place.
    best = min(group, key=lambda place: (-place.evidence, place.paragraph, place.start))
    return Candidate(
        text=best.text,
        paragraph=best.paragraph,
        pid=best.pid,
        start=best.start,
        end=best.end,
        score=score,
        probability=share,
        n_paragraphs=len({place.paragraph for place in group}),
    )
