"""Decode start and end scores: the best spans over all windows of a passage."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from syntagma.models.span_model import SpanHead
from syntagma.tasks.spans.answers import Span, SpanPrediction
from syntagma.tasks.spans.windows import SpanWindow


class WindowCandidates(NamedTuple):
    """The best spans of one window.

    Args:
        scores: sums of start and end score, best first, ``[n_best_size]``.
        first: positions of the first pieces, ``[n_best_size]``.
        last: positions of the last pieces, ``[n_best_size]``.
        null_score: start plus end score of the sequence's first piece (journal eq. 12).
        verification: logit of unanswerable minus logit of answerable; 0 without a verifier.
    """

    scores: NDArray[np.float32]
    first: NDArray[np.int64]
    last: NDArray[np.int64]
    null_score: float
    verification: float


def best_spans(
    start: Tensor, end: Tensor, *, max_answer_length: int, n_best_size: int
) -> tuple[Tensor, Tensor, Tensor]:
    """Find the best ``s_k + e_l`` with ``k ≤ l < k + max_answer_length``, excluding ``k = 0``.

    Args:
        start: start scores, ``[batch, n]``; minus infinity where no answer may start.
        end: end scores, ``[batch, n]``.
        max_answer_length: maximum length of an answer, in pieces.
        n_best_size: number of spans to return.

    Returns:
        Scores, first and last positions, each ``[batch, n_best_size]``, best first.  If there are
        fewer spans, scores of minus infinity fill the rest.
    """
    n = start.shape[1]
    padded = torch.nn.functional.pad(end, (0, max_answer_length - 1), value=-torch.inf)
    ends = padded.unfold(1, max_answer_length, 1)  # [batch, n, max_answer_length]
    scores = start.unsqueeze(2) + ends
    scores[:, 0] = -torch.inf
    best = scores.flatten(1).topk(min(n_best_size, n * max_answer_length), dim=1)
    first = best.indices // max_answer_length
    return best.values, first, first + best.indices % max_answer_length


def decode_answer(
    question: str,
    passage: str,
    windows: Sequence[SpanWindow],
    candidates: Iterable[WindowCandidates],
    head: SpanHead,
    *,
    threshold: float | None = None,
) -> SpanPrediction:
    """Combine the windows of a question into one prediction.

    A span in several windows counts once, with its best score.  Null score and verification score
    are the minimum over the windows, since a passage has no answer only if none of its windows has.

    Args:
        question: the question.
        passage: the passage.
        windows: all windows of the question.
        candidates: the best spans of each window.
        head: thresholds and weights.
        threshold: abstention threshold; by default the fitted one.
    """
    spans: dict[tuple[int, int], float] = {}
    null_score = verification = float("inf")
    for window, found in zip(windows, candidates, strict=True):
        null_score = min(null_score, found.null_score)
        verification = min(verification, found.verification)
        shift = window.begin - window.offset
        starts = window.passage.starts
        ends = window.passage.ends
        for score, first, last in zip(found.scores, found.first, found.last, strict=True):
            if score == -np.inf:
                break
            span = answer_interval(passage, int(starts[first + shift]), int(ends[last + shift]))
            if span[0] < span[1] and float(score) > spans.get(span, -np.inf):
                spans[span] = float(score)
    ranked = sorted(spans.items(), key=lambda item: (-item[1], item[0]))[: head.n_best_size]
    predicted = _predict(question, passage, ranked, null_score, verification, head, threshold)
    return replace(predicted, n_windows=max(len(windows), 1))


ZERO_WIDTH_JOINER = "\u200d"


def answer_interval(passage: str, start: int, end: int) -> tuple[int, int]:
    """Strip white space from an interval, and extend it by the combining marks that follow it.

    Some tokenizers make a space part of the next piece; those that strip accents end a piece before
    a combining accent.
    """
    while start < end and passage[start].isspace():
        start += 1
    while start < end and passage[end - 1].isspace():
        end -= 1
    while start < end < len(passage) and _continues(passage[end]):
        end += 1
    return start, end


def _continues(character: str) -> bool:
    """Return whether a character belongs to the previous one: accents, vowel signs, selectors."""
    return unicodedata.category(character) in ("Mn", "Mc", "Me") or character == ZERO_WIDTH_JOINER


def _predict(
    question: str,
    passage: str,
    ranked: list[tuple[tuple[int, int], float]],
    null_score: float,
    verification: float,
    head: SpanHead,
    threshold: float | None,
) -> SpanPrediction:
    threshold = head.null_score_diff_threshold if threshold is None else threshold
    scores = np.array([null_score, *(score for _, score in ranked)], np.float64)
    shares = np.exp(scores - scores.max())
    shares /= shares.sum()
    spans = tuple(
        Span(passage[start:end], start, end, score, float(share))
        for ((start, end), score), share in zip(ranked, shares[1:], strict=True)
    )
    best = spans[0].score if spans else float("-inf")
    odds = head.span_weight * (null_score - best) + head.answerability_weight * verification
    answered = bool(spans) and odds <= threshold
    return SpanPrediction(
        question=question,
        text=spans[0].text if answered else "",
        start=spans[0].start if answered else None,
        end=spans[0].end if answered else None,
        score=best,
        null_score=null_score,
        verification=verification,
        null_odds=odds,
        threshold=threshold,
        probability=spans[0].probability if answered else float(shares[0]),
        spans=spans,
    )
