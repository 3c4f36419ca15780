"""Attachment scores and tag accuracy, kept as counts that can be added."""

from __future__ import annotations

import unicodedata
from collections import Counter
from dataclasses import dataclass, fields
from typing import Self

from syntagma.parse.validity.arguments import is_object, is_subject
from syntagma.text.sentence import Parse


def is_punctuation(form: str) -> bool:
    """Whether every character of a word is Unicode punctuation, as in the CoNLL evaluation script.

    The Penn Treebank's opening quote, two backticks, counts as well, although backticks are symbols
    in Unicode.

    Args:
        form: the word.

    >>> is_punctuation("--"), is_punctuation("$"), is_punctuation("``")
    (True, False, True)
    """
    return form == "``" or all(
        unicodedata.category(character).startswith("P") for character in form
    )


def _universal(relation: str) -> str:
    """Strip the subtype from a relation."""
    return relation.partition(":")[0]


@dataclass(frozen=True, slots=True)
class AttachmentScore:
    """Word counts; the sum of two scores is the score of both samples together.

    Relations are compared without their subtypes (``nsubj:pass`` equals ``nsubj``), as in the CoNLL
    shared tasks, except in ``correct_subtyped_arcs``.

    Args:
        words: number of words.
        correct_heads: number of words with the correct head.
        correct_arcs: number of words with the correct head and relation.
        correct_subtyped_arcs: number of words with the correct head, relation and subtype.
        correct_upos: number of words with the correct universal tag.
        correct_xpos: number of words with the correct treebank tag.
        sentences: number of sentences.
        correct_trees: number of sentences in which all heads are correct.
    """

    words: int = 0
    correct_heads: int = 0
    correct_arcs: int = 0
    correct_subtyped_arcs: int = 0
    correct_upos: int = 0
    correct_xpos: int = 0
    sentences: int = 0
    correct_trees: int = 0

    @classmethod
    def of(
        cls,
        gold: Parse,
        predicted: Parse,
        *,
        punctuation: bool = True,
        relation: str | None = None,
    ) -> Self:
        """Count the words of one sentence.

        Args:
            gold: gold parse.
            predicted: predicted parse of the same words.
            punctuation: whether to count punctuation.
            relation: count only words with this gold relation, given without subtype.

        Raises:
            ValueError: the parses differ in their number of words.
        """
        if len(gold) != len(predicted):
            raise ValueError(f"expected a parse of {len(gold)} words, got {len(predicted)}")
        # Punctuation is recognised by form, as in the CoNLL script: not all treebanks have tags.
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
        full_labels = [gold.relations[i] == predicted.relations[i] for i in counted]
        return cls(
            words=len(counted),
            correct_heads=sum(heads),
            correct_arcs=sum(head and label for head, label in zip(heads, labels, strict=True)),
            correct_subtyped_arcs=sum(
                head and label for head, label in zip(heads, full_labels, strict=True)
            ),
            correct_upos=sum(gold.upos[i] == predicted.upos[i] for i in counted),
            correct_xpos=sum(gold.xpos[i] == predicted.xpos[i] for i in counted),
            sentences=1,
            correct_trees=int(all(heads)),
        )

    def __add__(self, other: AttachmentScore) -> AttachmentScore:
        return AttachmentScore(
            *(getattr(self, field.name) + getattr(other, field.name) for field in fields(self))
        )

    def _percentage(self, count: int, total: int) -> float:
        return 100 * count / total if total else 0.0

    @property
    def uas(self) -> float:
        """Unlabelled attachment score, as a percentage."""
        return self._percentage(self.correct_heads, self.words)

    @property
    def las(self) -> float:
        """Labelled attachment score, as a percentage."""
        return self._percentage(self.correct_arcs, self.words)

    @property
    def las_subtypes(self) -> float:
        """Labelled attachment score with relation subtypes, as a percentage."""
        return self._percentage(self.correct_subtyped_arcs, self.words)

    @property
    def upos(self) -> float:
        """Accuracy of universal tags, as a percentage."""
        return self._percentage(self.correct_upos, self.words)

    @property
    def xpos(self) -> float:
        """Accuracy of treebank tags, as a percentage."""
        return self._percentage(self.correct_xpos, self.words)

    @property
    def exact(self) -> float:
        """Percentage of sentences in which all heads are correct."""
        return self._percentage(self.correct_trees, self.sentences)


def double_arguments(parse: Parse) -> dict[str, int]:
    """Count the words with more subjects or objects than a clause can have.

    Universal Dependencies allows none; our parser gives none
    (:mod:`syntagma.parse.validity.arguments`), but other parse sources may.

    Args:
        parse: parse with universal relations.

    Returns:
        ``two_subjects`` and ``two_objects``, numbers of words.
    """
    subjects: Counter[int] = Counter()
    objects: Counter[int] = Counter()
    for head, relation in zip(parse.heads, parse.relations, strict=True):
        if is_subject(relation):
            subjects[head] += 1
        elif is_object(relation):
            objects[head] += 1
    return {
        "two_subjects": sum(count > 1 for count in subjects.values()),
        "two_objects": sum(count > 1 for count in objects.values()),
    }


LENGTHS = (10, 20, 30, 40)
"""Upper bounds of the sentence length groups, in words."""


def by_relation(gold: Parse, predicted: Parse) -> dict[str, AttachmentScore]:
    """Score one sentence by gold relation, without subtypes.

    Args:
        gold: gold parse.
        predicted: predicted parse of the same words.
    """
    relations = {_universal(relation) for relation in gold.relations}
    return {
        relation: AttachmentScore.of(gold, predicted, relation=relation) for relation in relations
    }


def by_length(gold: Parse, predicted: Parse) -> dict[str, AttachmentScore]:
    """Score one sentence, under the name of its length group.

    Args:
        gold: gold parse.
        predicted: predicted parse of the same words.
    """
    lower = 1
    for upper in LENGTHS:
        if len(gold) <= upper:
            return {f"{lower}-{upper}": AttachmentScore.of(gold, predicted)}
        lower = upper + 1
    return {f"{lower}-": AttachmentScore.of(gold, predicted)}


def group_order(name: str) -> tuple[int, str]:
    """Sort key for group names: length groups by length, relations alphabetically.

    Args:
        name: a group name from :func:`by_length` or :func:`by_relation`.
    """
    lower = name.partition("-")[0]
    return (int(lower) if lower.isdigit() else 0, name)
