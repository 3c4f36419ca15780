"""Rank passages by keywords, by meaning, or by both."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from syntagma.errors import InputError
from syntagma.retrieval.bm25 import KeywordScorer
from syntagma.retrieval.vectors import SentenceEncoder, similarities

Method = Literal["fused", "bm25", "vectors"]
METHODS: tuple[Method, ...] = ("fused", "bm25", "vectors")
KEYWORD_WEIGHT = 1.0
"""Weight of the keyword score beside the cosine similarity; see docs/documents.md."""


class Ranked(NamedTuple):
    """The best passages for a question.

    Args:
        numbers: their numbers, best first, ``[n]``.
        scores: their scores, ``[n]``.
    """

    numbers: NDArray[np.int64]
    scores: NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class Ranker:
    """Ranks passages that are known by number.

    Both kinds of scores mean the same for every question (a cosine, and a share of what is
    possible), so their sum does too.

    Args:
        keywords: scores by terms.
        vectors: unit vectors of the passages, ``[n_passages, size]``; ``None`` without them.
        encoder: computes the vectors of questions; ``None`` without vectors.
    """

    keywords: KeywordScorer
    vectors: NDArray[np.float16] | None
    encoder: SentenceEncoder | None

    def rank(self, questions: Sequence[str], *, top: int, by: Method = "fused") -> list[Ranked]:
        """Find the best passages for each question.

        Args:
            questions: the questions.
            top: the greatest number of passages for each.
            by: kinds of scores: of both, of keywords, or of meaning; without vectors, both are the
                keywords alone.

        Raises:
            InputError: there is no such kind, or there are no vectors.
        """
        if by not in METHODS:
            raise InputError(f"by: expected one of {', '.join(METHODS)}, got {by!r}")
        if by == "vectors" and self.vectors is None:
            raise InputError("by='vectors': the index has no vectors; build it with an encoder")
        alike = None
        if by != "bm25" and self.vectors is not None and self.encoder is not None:
            alike = similarities(self.vectors, self.encoder.encode(questions))
        ranked = []
        for number, question in enumerate(questions):
            scores = np.zeros(self.keywords.n_passages, dtype=np.float32)
            if alike is not None:
                scores += alike[number]
            if by != "vectors":
                weight = 1.0 if alike is None else KEYWORD_WEIGHT
                scores += weight * self.keywords.scores(question)
            ranked.append(_best(scores, top))
        return ranked


def _best(scores: NDArray[np.float32], top: int) -> Ranked:
    """Sort the best scores; of equal ones, the first passage comes first."""
    if top < len(scores):
        # Sorting all of them takes longer than everything else.
        lowest = np.partition(scores, len(scores) - top)[len(scores) - top]
        chosen = np.flatnonzero(scores >= lowest)
    else:
        chosen = np.arange(len(scores))
    order = chosen[np.argsort(-scores[chosen], kind="stable")][:top]
    return Ranked(order, scores[order])
