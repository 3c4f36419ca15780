"""How good phrase trees are: labelled brackets as EVALB counts them with its COLLINS settings.

Words tagged as punctuation are taken out before spans are compared, phrases left without words do
not count, and ``PRT`` counts as ``ADVP``.  Which words are punctuation follows from the gold tags.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, fields
from itertools import accumulate
from typing import Self

from syntagma.text.sentence import Constituent

__all__ = ["BracketScore"]

PUNCTUATION_TAGS = frozenset({",", ":", "``", "''", "."})
SAME_LABEL = {"PRT": "ADVP"}


@dataclass(frozen=True, slots=True)
class BracketScore:
    """Counts over phrases; add two scores to score their union."""

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
        """The counts of one sentence.

        Args:
            gold: the treebank's phrases.
            predicted: phrases over the same words.
            tags: gold part-of-speech tags, ``[n_words]``.
        """
        # Position of each gap between words, words of punctuation not counted.
        position = list(accumulate((tag not in PUNCTUATION_TAGS for tag in tags), initial=0))
        right, found = _spans(gold, position), _spans(predicted, position)
        matched = (right & found).total()
        return cls(
            gold=right.total(),
            predicted=found.total(),
            matched=matched,
            sentences=1,
            complete=int(matched == right.total() == found.total()),
        )

    def __add__(self, other: BracketScore) -> BracketScore:
        return BracketScore(
            *(getattr(self, field.name) + getattr(other, field.name) for field in fields(self))
        )

    @property
    def precision(self) -> float:
        """Share of predicted phrases that are right, in per cent."""
        return 100 * self.matched / self.predicted if self.predicted else 0.0

    @property
    def recall(self) -> float:
        """Share of gold phrases that were found, in per cent."""
        return 100 * self.matched / self.gold if self.gold else 0.0

    @property
    def f1(self) -> float:
        """Harmonic mean of precision and recall, in per cent."""
        total = self.gold + self.predicted
        return 200 * self.matched / total if total else 0.0

    @property
    def complete_match(self) -> float:
        """Share of sentences without a wrong or missing phrase, in per cent."""
        return 100 * self.complete / self.sentences if self.sentences else 0.0


def _spans(constituents: Sequence[Constituent], position: Sequence[int]) -> Counter[object]:
    return Counter(
        (SAME_LABEL.get(label, label), position[start], position[end])
        for label, start, end in constituents
        if position[start] < position[end]
    )
