"""The morphology of a sentence: lemma and features of each word, as in Universal Dependencies."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

UNKNOWN = "_"
"""CoNLL-U's placeholder for a missing value; among features it also means that there are none."""


class WordMorphology(Protocol):
    """What a parse refers to for lemmas and features; a parser computes them when they are read."""

    @property
    def feats(self) -> tuple[str, ...] | None:
        """Features of each word, ``[n_words]``; ``None`` if they are unknown."""
        ...

    @property
    def lemmas(self) -> tuple[str, ...] | None:
        """Lemma of each word, ``[n_words]``; ``None`` if they are unknown."""
        ...


@dataclass(frozen=True, slots=True)
class Morphology:
    """Lemmas and features as strings.

    Args:
        feats: features of each word, such as ``Number=Sing|Person=3``, ``_`` for a word without
            any, ``[n_words]``; ``None`` if they are unknown.
        lemmas: lemma of each word, ``_`` if it has none, ``[n_words]``; ``None`` if they are
            unknown.
    """

    feats: tuple[str, ...] | None = None
    lemmas: tuple[str, ...] | None = None

    @classmethod
    def of_columns(cls, feats: Sequence[str], lemmas: Sequence[str]) -> Morphology | None:
        """Build the morphology of a sentence from two columns of CoNLL-U.

        A sentence without any lemma and without any feature was not annotated: ``None``.  One with
        lemmas was, so that ``_`` in all its features says that no word has any.

        Args:
            feats: column FEATS, ``[n_words]``.
            lemmas: column LEMMA, ``[n_words]``.
        """
        has_lemmas = any(lemma != UNKNOWN for lemma in lemmas)
        has_feats = has_lemmas or any(feature != UNKNOWN for feature in feats)
        if not has_feats:
            return None
        return cls(tuple(feats), tuple(lemmas) if has_lemmas else None)


def select_words(morphology: WordMorphology | None, words: Sequence[int]) -> Morphology | None:
    """Return the morphology of some words of a sentence.

    Args:
        morphology: that of the whole sentence.
        words: positions of the words, from 0.
    """
    if morphology is None:
        return None
    feats, lemmas = morphology.feats, morphology.lemmas
    return Morphology(
        None if feats is None else tuple(feats[word] for word in words),
        None if lemmas is None else tuple(lemmas[word] for word in words),
    )


def join_morphologies(parts: Sequence[WordMorphology | None]) -> Morphology | None:
    """Join the morphologies of consecutive parts of a sentence.

    Args:
        parts: the morphology of each part; what one of them lacks, the whole lacks.
    """
    feats = _joined([None if part is None else part.feats for part in parts])
    lemmas = _joined([None if part is None else part.lemmas for part in parts])
    return None if feats is None and lemmas is None else Morphology(feats, lemmas)


def _joined(columns: Sequence[tuple[str, ...] | None]) -> tuple[str, ...] | None:
    known = [column for column in columns if column is not None]
    if not known or len(known) < len(columns):
        return None
    return tuple(value for column in known for value in column)
