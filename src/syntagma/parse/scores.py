"""How good parses are: attachment scores and tag accuracy, kept as sums."""

from __future__ import annotations

import unicodedata
from dataclasses import dataclass, fields
from typing import Self

from syntagma.text.sentence import Parse

__all__ = ["AttachmentScore", "by_length", "by_relation", "group_order", "is_punctuation"]


def is_punctuation(form: str) -> bool:
    """Whether every character of a word is Unicode punctuation (as the CoNLL evaluation counts).

    Penn's opening quote is written with two accents, which count as well.

    >>> is_punctuation("--"), is_punctuation("$"), is_punctuation("``")
    (True, False, True)
    """
    return form == "``" or all(
        unicodedata.category(character).startswith("P") for character in form
    )


def _universal(relation: str) -> str:
    return relation.partition(":")[0]


@dataclass(frozen=True, slots=True)
class AttachmentScore:
    """Counts over words; add two scores to score their union.

    A word is attached right if its head is right; its label is right if the universal part of the
    relation is (``nsubj:pass`` counts as ``nsubj``, as in the CoNLL shared tasks).
    """

    words: int = 0
    heads_right: int = 0
    arcs_right: int = 0
    subtyped_right: int = 0
    upos_right: int = 0
    xpos_right: int = 0
    sentences: int = 0
    trees_right: int = 0

    @classmethod
    def of(
        cls,
        gold: Parse,
        predicted: Parse,
        *,
        punctuation: bool = True,
        relation: str | None = None,
    ) -> Self:
        """The counts of one sentence.

        Args:
            gold: the treebank's parse.
            predicted: a parse of the same words.
            punctuation: whether words of punctuation count.
            relation: count only the words that have this gold relation, without its subtype.

        Raises:
            ValueError: the parses have different numbers of words.
        """
        if len(gold) != len(predicted):
            raise ValueError(f"expected a parse of {len(gold)} words, got {len(predicted)}")
        counted = [
            index
            for index, form in enumerate(gold.sentence.forms)
            if (punctuation or not is_punctuation(form))
            and relation in (None, _universal(gold.relations[index]))
        ]
        heads = [gold.heads[i] == predicted.heads[i] for i in counted]
        labels = [
            _universal(gold.relations[i]) == _universal(predicted.relations[i]) for i in counted
        ]
        full = [gold.relations[i] == predicted.relations[i] for i in counted]
        return cls(
            words=len(counted),
            heads_right=sum(heads),
            arcs_right=sum(head and label for head, label in zip(heads, labels, strict=True)),
            subtyped_right=sum(head and label for head, label in zip(heads, full, strict=True)),
            upos_right=sum(gold.upos[i] == predicted.upos[i] for i in counted),
            xpos_right=sum(gold.xpos[i] == predicted.xpos[i] for i in counted),
            sentences=1,
            trees_right=int(all(heads)),
        )

    def __add__(self, other: AttachmentScore) -> AttachmentScore:
        return AttachmentScore(
            *(getattr(self, field.name) + getattr(other, field.name) for field in fields(self))
        )

    def _share(self, count: int, total: int) -> float:
        return 100 * count / total if total else 0.0

    @property
    def uas(self) -> float:
        """Unlabelled attachment score, in per cent."""
        return self._share(self.heads_right, self.words)

    @property
    def las(self) -> float:
        """Labelled attachment score, in per cent."""
        return self._share(self.arcs_right, self.words)

    @property
    def las_subtypes(self) -> float:
        """Labelled attachment score in which subtypes of relations count, in per cent."""
        return self._share(self.subtyped_right, self.words)

    @property
    def upos(self) -> float:
        """Share of right universal tags, in per cent."""
        return self._share(self.upos_right, self.words)

    @property
    def xpos(self) -> float:
        """Share of right treebank tags, in per cent."""
        return self._share(self.xpos_right, self.words)

    @property
    def exact(self) -> float:
        """Share of sentences whose heads are all right, in per cent."""
        return self._share(self.trees_right, self.sentences)


LENGTHS = (10, 20, 30, 40)
"""Upper ends of the groups of sentence lengths."""


def by_relation(gold: Parse, predicted: Parse) -> dict[str, AttachmentScore]:
    """The counts of one sentence by gold relation, without subtypes."""
    relations = {_universal(relation) for relation in gold.relations}
    return {
        relation: AttachmentScore.of(gold, predicted, relation=relation) for relation in relations
    }


def by_length(gold: Parse, predicted: Parse) -> dict[str, AttachmentScore]:
    """The counts of one sentence under the name of its group of lengths, in words."""
    lower = 1
    for upper in LENGTHS:
        if len(gold) <= upper:
            return {f"{lower}-{upper}": AttachmentScore.of(gold, predicted)}
        lower = upper + 1
    return {f"{lower}-": AttachmentScore.of(gold, predicted)}


def group_order(name: str) -> tuple[int, str]:
    """Groups of lengths by their length, relations by the alphabet."""
    lower = name.partition("-")[0]
    return (int(lower) if lower.isdigit() else 0, name)
