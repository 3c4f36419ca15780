"""Choose relations that Universal Dependencies allows, given tags, heads and the other relations.

A parser that scores tags and relations one by one may find what no treebank has: a noun that is a
``mark``, an auxiliary with an object, a verb with two subjects.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from syntagma.parse.validity.arguments import single_arguments
from syntagma.parse.validity.rules import (
    APART,
    OF_NOMINAL,
    Rules,
    Words,
    acting_tags,
    apart,
    of_nominal,
    precede,
    wrong_dependents,
)

ROUNDS = 3
"""How often relations are chosen again, because a new one may break another rule."""


def choose_relations(
    scores: NDArray[np.floating],
    heads: NDArray[np.int64],
    upos: NDArray[np.int64],
    feats: NDArray[np.int64] | None,
    rules: Rules,
) -> NDArray[np.int64]:
    """Choose the best relation of each word that breaks no rule.

    Where rules leave a word no relation, they do not hold.

    Args:
        scores: of each relation, minus infinity where it is forbidden,
            ``[batch, n_words, n_relations]``.
        heads: head of each word, 0 for the root and for padding, ``[batch, n_words]``.
        upos: codes of universal tags, ``[batch, n_words]``.
        feats: codes of features, or ``None``, ``[batch, n_words]``.
        rules: those for the labels of the parser.

    Returns:
        Codes of the relations, ``[batch, n_words]``.
    """
    scores = _without(scores, _forbidden_alone(heads, upos, feats, rules))
    codes = single_arguments(scores, heads, rules.names)
    for _ in range(ROUNDS):
        broken = _broken(Words(codes, heads, upos, feats), rules)
        if not len(broken.rows):
            break
        for row, place, relations in zip(*broken, strict=True):
            scores[row, place] = _without(scores[row, place], relations)
        codes = single_arguments(scores, heads, rules.names)
    return codes


def _without(scores: NDArray[np.floating], forbidden: NDArray[np.bool_]) -> NDArray[np.floating]:
    """Return scores with minus infinity for forbidden relations, unless none would be left."""
    found = np.where(forbidden, -np.inf, scores)
    nothing_left = ~np.isfinite(found).any(-1, keepdims=True)
    return np.where(nothing_left, scores, found) if nothing_left.any() else found


def _forbidden_alone(
    heads: NDArray[np.int64],
    upos: NDArray[np.int64],
    feats: NDArray[np.int64] | None,
    rules: Rules,
) -> NDArray[np.bool_]:
    """Whether tag or direction forbid a relation, ``[batch, n_words, n_relations]``."""
    forbidden = rules.forbidden[acting_tags(upos, feats, rules)]
    found: NDArray[np.bool_] = forbidden | (precede(heads)[..., None] & rules.head_first)
    return found


class Broken(NamedTuple):
    """Words whose relation does not go with those of other words.

    Args:
        rows: their sentences, ``[n]``.
        places: their places, from 0, ``[n]``.
        forbidden: relations that they may not have, ``[n, n_relations]``.
    """

    rows: NDArray[np.intp]
    places: NDArray[np.intp]
    forbidden: NDArray[np.bool_]


def _broken(words: Words, rules: Rules) -> Broken:
    """Find the words whose relation does not go with those of other words."""
    rows, places = np.nonzero(wrong_dependents(words, rules))
    forbidden = rules.dependents[:, words.codes[rows, places]].T
    found = [Broken(rows, words.heads[rows, places] - 1, forbidden)]
    for exception, find, relation in (
        (APART, apart, rules.is_part),
        (OF_NOMINAL, of_nominal, rules.is_oblique),
    ):
        if exception not in rules.exceptions:
            rows, places = np.nonzero(find(words, rules))
            forbidden = np.broadcast_to(relation, (len(rows), len(relation)))
            found.append(Broken(rows, places, forbidden))
    return Broken(*(np.concatenate(parts) for parts in zip(*found, strict=True)))
