"""Labelled bracket scores of phrase trees, as computed by EVALB with its ``COLLINS.prm``.

Punctuation is removed before spans are compared, phrases that contain nothing else are ignored, and
``PRT`` is equivalent to ``ADVP``.  The gold tags decide which words are punctuation.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, fields
from itertools import accumulate
from typing import Self

from syntagma.text.sentence import Constituent

PUNCTUATION_TAGS = frozenset({",", ":", "``", "''", "."})
EQUIVALENT_LABELS = {"PRT": "ADVP"}


@dataclass(frozen=True, slots=True)
class BracketScore:
    """Phrase counts; the sum of two scores is the score of both samples together.

    Args:
        gold: number of gold phrases.
        predicted: number of predicted phrases.
        matched: number of predicted phrases with the span and label of a gold phrase.
        sentences: number of sentences.
        complete: number of sentences whose gold and predicted phrases are the same.
    """

    gold: int = 0
    predicted: int = 0
    matched: int = 0
    sentences: int = 0
    complete: int = 0

    @classmethod
    def of(
        cls,
        gold: Sequence[Constituent],
        predicted: Sequence[Constituent],
        tags: Sequence[str],
    ) -> Self:
        """Count the phrases of one sentence.

        Args:
            gold: gold phrases.
            predicted: predicted phrases over the same words.
            tags: gold part-of-speech tags, ``[n_words]``.
        """
        # Index of each gap between words when punctuation is not counted.
        position = list(accumulate((tag not in PUNCTUATION_TAGS for tag in tags), initial=0))
        gold_spans, predicted_spans = _spans(gold, position), _spans(predicted, position)
        # Multisets: a phrase that occurs twice over the same words can be matched twice.
        n_gold, n_predicted = gold_spans.total(), predicted_spans.total()
        matched = (gold_spans & predicted_spans).total()
        return cls(
            gold=n_gold,
            predicted=n_predicted,
            matched=matched,
            sentences=1,
            complete=int(matched == n_gold == n_predicted),
        )

    def __add__(self, other: BracketScore) -> BracketScore:
        return BracketScore(
            *(getattr(self, field.name) + getattr(other, field.name) for field in fields(self))
        )

    @property
    def precision(self) -> float:
        """Percentage of predicted phrases that are correct."""
        return 100 * self.matched / self.predicted if self.predicted else 0.0

    @property
    def recall(self) -> float:
        """Percentage of gold phrases that were predicted."""
        return 100 * self.matched / self.gold if self.gold else 0.0

    @property
    def f1(self) -> float:
        """Harmonic mean of precision and recall, as a percentage."""
        total = self.gold + self.predicted
        return 200 * self.matched / total if total else 0.0

    @property
    def complete_match(self) -> float:
        """Percentage of sentences without a wrong or missing phrase."""
        return 100 * self.complete / self.sentences if self.sentences else 0.0


def _spans(constituents: Sequence[Constituent], position: Sequence[int]) -> Counter[object]:
    """Count labelled spans over the words that are not punctuation."""
    return Counter(
        (EQUIVALENT_LABELS.get(label, label), position[start], position[end])
        for label, start, end in constituents
        if position[start] < position[end]
    )
