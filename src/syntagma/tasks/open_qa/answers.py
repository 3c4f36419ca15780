"""Combine the answers from many paragraphs of one question.

The scores of a reader are comparable within a paragraph, including the empty answer, but not across
paragraphs, since training never compares two paragraphs (Clark & Gardner 2018).  Odds against the
empty answer are comparable, since an offset common to all scores of a paragraph cancels.  So the
evidence for a span is SG-Net's odds (journal eq. 14) with the opposite sign,

    e = β₁ · (score of the span − null score of its paragraph) − β₂ · verification,

and all spans of all paragraphs share one softmax, with one empty answer whose evidence is 0.  This
is the shared normalisation of Clark & Gardner, applied to a reader of single paragraphs.  An
irrelevant paragraph has a high null score, which lowers the evidence for all of its spans.

Spans that the official metrics treat as the same answer, in one or several paragraphs, are one
candidate.  Lin et al. (2018) give two ways to aggregate their evidence: ``sum`` adds their
probabilities, so that paragraphs support one another; ``max`` takes the maximum.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from syntagma.models.open_model import OpenHead
from syntagma.reprs import brief, counted, quoted
from syntagma.tasks.spans.answers import Span, SpanPrediction
from syntagma.tasks.spans.metrics import normalise


class ReadParagraph(NamedTuple):
    """The prediction of a reader for one paragraph.

    Args:
        paragraph: index of the paragraph in the list of paragraphs.
        pid: id of the paragraph.
        answer: the prediction, with its candidate spans.
    """

    paragraph: int
    pid: str
    answer: SpanPrediction


@dataclass(frozen=True, slots=True)
class Candidate(Span):
    """An answer, with its best occurrence: ``paragraphs[paragraph][start:end] == text``.

    ``score`` is the aggregated evidence of all occurrences, as log odds against the empty answer,
    and ``probability`` its softmax over all candidates and the empty answer.

    Args:
        paragraph: index of its paragraph in the list of paragraphs.
        pid: id of its paragraph.
        n_paragraphs: number of paragraphs with an occurrence.
    """

    paragraph: int
    pid: str
    n_paragraphs: int

    def to_dict(self) -> dict[str, Any]:
        """Return plain values, as those of a span, with the paragraph."""
        return Span.to_dict(self) | {
            "paragraph": self.paragraph,
            "pid": self.pid,
            "n_paragraphs": self.n_paragraphs,
        }


@dataclass(frozen=True, slots=True, repr=False)
class OpenPrediction:
    """The pooled candidates for a question from several paragraphs, best first.

    Without any candidate, ``text`` and ``pid`` are empty, ``paragraph``, ``start`` and ``end`` are
    ``None``, and ``score`` is minus infinity.

    Args:
        question: the question.
        text: text of the best candidate.
        paragraph: index of its paragraph in the list of paragraphs.
        pid: id of its paragraph.
        start: character offset of its start in the paragraph.
        end: character offset of its end (exclusive).
        score: log odds against the empty answer.
        probability: softmax of the score over all candidates and the empty answer.
        null_probability: probability that no paragraph has an answer.
        candidates: the best answers, best first.
        verification: logit of unanswerable minus logit of answerable in the paragraph of the best
            candidate.
        n_windows: number of windows that were read in all paragraphs.
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
    verification: float = 0.0
    n_windows: int = 1

    def __repr__(self) -> str:
        found = counted(len(self.candidates), "candidate")
        return brief(
            self, quoted(self.text), f"score {self.score:.2f}", found, f"to {quoted(self.question)}"
        )

    @property
    def null_odds(self) -> float:
        """Score of no answer minus that of the best candidate, in logits."""
        return -self.score

    @classmethod
    def of(
        cls, question: str, candidates: Sequence[Candidate], null_probability: float
    ) -> OpenPrediction:
        """Build the answer from candidates, sorted best first."""
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


class _Occurrence(NamedTuple):
    """An occurrence of an answer in a paragraph."""

    evidence: float
    paragraph: int
    pid: str
    start: int
    end: int
    text: str


def pool(question: str, found: Sequence[ReadParagraph], head: OpenHead) -> OpenPrediction:
    """Combine the answers from the paragraphs of one question.

    Args:
        question: the question.
        found: the reader's answer from each paragraph.
        head: settings with the weights and the aggregation.
    """
    groups: dict[str, list[_Occurrence]] = {}
    for read in found:
        answer = read.answer
        against = head.answerability_weight * answer.verification
        for span in answer.spans:
            if same := normalise(span.text):
                evidence = head.span_weight * (span.score - answer.null_score) - against
                groups.setdefault(same, []).append(
                    _Occurrence(evidence, read.paragraph, read.pid, span.start, span.end, span.text)
                )
    scores = np.array([0.0, *(_aggregate(group, head) for group in groups.values())])
    shares = np.exp(scores - scores.max())
    shares /= shares.sum()
    rows = zip(groups.values(), scores[1:].tolist(), shares[1:].tolist(), strict=True)
    ranked = sorted(
        (_candidate(*row) for row in rows),
        key=lambda candidate: (-candidate.score, candidate.paragraph, candidate.start),
    )
    pooled = OpenPrediction.of(question, ranked[: head.n_best_size], float(shares[0]))
    verified = {read.paragraph: read.answer.verification for read in found}
    return replace(
        pooled,
        verification=0.0 if pooled.paragraph is None else verified[pooled.paragraph],
        n_windows=max(sum(read.answer.n_windows for read in found), 1),
    )


def _aggregate(group: Sequence[_Occurrence], head: OpenHead) -> float:
    """Aggregate the evidence of all occurrences of an answer."""
    evidence = [each.evidence for each in group]
    return float(max(evidence) if head.aggregate == "max" else np.logaddexp.reduce(evidence))


def _candidate(group: Sequence[_Occurrence], score: float, share: float) -> Candidate:
    # Ties go to the paragraph that was retrieved first, then to the first occurrence in it.
    best = min(group, key=lambda each: (-each.evidence, each.paragraph, each.start))
    return Candidate(
        text=best.text,
        paragraph=best.paragraph,
        pid=best.pid,
        start=best.start,
        end=best.end,
        score=score,
        probability=share,
        n_paragraphs=len({each.paragraph for each in group}),
    )
