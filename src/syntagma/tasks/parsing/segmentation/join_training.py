"""Learn which tokens of a treebank are one word although a space separates them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import groupby
from operator import attrgetter
from typing import Any

import numpy as np
from numpy.typing import NDArray

from syntagma.tasks.parsing.segmentation.feature_training import train
from syntagma.tasks.parsing.segmentation.tokens import Token
from syntagma.text.segmentation.learned.hashes import Hashes
from syntagma.text.segmentation.learned.joins import join_features, shapes_around, spaced_hashes

MIN_JOINED = 10
"""Spaces inside words: a treebank with fewer teaches nothing about them."""

Spaces = list[tuple[int, bool]]
"""Index of the part before each space of a sentence, and whether the space is inside a word."""


def learn_joins(tokens: Sequence[Token]) -> dict[str, NDArray[Any]]:
    """Return the weights of a :class:`syntagma.text.segmentation.learned.joins.Joiner`.

    Args:
        tokens: of a treebank, in order.

    Returns:
        The weights; none if hardly any word of the treebank has a space inside.
    """
    sentences = [list(group) for _, group in groupby(tokens, attrgetter("sentence"))]
    parts = [[part for token in each for part in token.parts] for each in sentences]
    spaces = [_spaces(each) for each in sentences]
    if sum(is_inside for each in spaces for _, is_inside in each) < MIN_JOINED:
        return {}
    shapes = {
        shapes_around(words, index)
        for words, each in zip(parts, spaces, strict=True)
        for index, is_inside in each
        if is_inside
    }
    # Each half is read with the words of the other one: with its own it would learn that all words
    # are known.
    halves = [range(first, len(sentences), 2) for first in (0, 1)]
    features, labels = [], []
    for half, other in zip(halves, reversed(halves), strict=True):
        found = [
            (number, index, is_inside)
            for number in half
            for index, is_inside in spaces[number]
            if shapes_around(parts[number], index) in shapes
        ]
        places = [(number, index) for number, index, _ in found]
        known = _spaced_words(sentences[number] for number in other)
        features.append(join_features(parts, places, known))
        labels += [is_inside for *_, is_inside in found]
    model = train(
        np.concatenate(features),
        np.array(labels, np.int64),
        n_classes=1,
        epochs=8,
        batch_size=256,
        min_count=2,
        dropout=0.15,
        width=24,
    )
    known_shapes = np.array(sorted(shapes), np.int64)
    return {"words": _spaced_words(sentences), "shapes": known_shapes} | model.weights()


def _spaces(tokens: Sequence[Token]) -> Spaces:
    """Return the spaces between and inside the tokens of a sentence."""
    found: Spaces = []
    last = -1
    for number, token in enumerate(tokens):
        n_parts = len(token.parts)
        found += [(last + k, True) for k in range(1, n_parts)]
        last += n_parts
        if not token.joined and number + 1 < len(tokens):
            found.append((last, False))
    return found


def _spaced_words(sentences: Iterable[Sequence[Token]]) -> Hashes:
    """Return the hashes of the words with spaces in some sentences, ascending."""
    found = {token.form for each in sentences for token in each if len(token.parts) > 1}
    return spaced_hashes([" ".join(form.lower().split()) for form in sorted(found)])
