"""At most one subject and one object for each word: relations are scored one by one.

A parser that labels each arc by itself may give a word two subjects ("In which town was she born?",
with both ``town`` and ``she``).  Universal Dependencies allows one subject and one direct object.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

SUBJECTS = ("nsubj", "csubj")
OUTER = ":outer"
"""Subtype of the subject of a clause that is itself a predicate, which may have its own subject."""


def is_subject(relation: str) -> bool:
    """Whether a relation is one of those of which a word has at most one.

    >>> is_subject("nsubj:pass"), is_subject("nsubj:outer"), is_subject("obj")
    (True, False, False)
    """
    return relation.partition(":")[0] in SUBJECTS and not relation.endswith(OUTER)


def is_object(relation: str) -> bool:
    """Whether a relation is that of a direct object."""
    return relation.partition(":")[0] == "obj"


def single_arguments(
    scores: NDArray[np.floating], heads: NDArray[np.int64], names: Sequence[str]
) -> NDArray[np.int64]:
    """Choose the best relation of each word, but at most one subject and one object of a head.

    Of several subjects, that one stays which would lose most by another relation; the others get
    their best relation that is no subject.  The same then holds for objects.

    Args:
        scores: of each relation, minus infinity where it is forbidden, ``[batch, n, n_relations]``.
        heads: head of each word, 0 for the root and for padding, ``[batch, n]``.
        names: the relations, ``[n_relations]``.

    Returns:
        Codes of the relations, ``[batch, n]``.
    """
    codes = scores.argmax(-1)
    subjects = np.array([is_subject(name) for name in names], dtype=bool)
    objects = np.array([is_object(name) for name in names], dtype=bool)
    for group, excluded in ((subjects, subjects), (objects, subjects | objects)):
        if group.all() or not group.any():
            continue
        for row, words in _shared_heads(group[codes], heads):
            own = scores[row, words]
            instead = np.where(excluded, -np.inf, own)
            loss = own[:, group].max(1) - instead.max(1)
            lost = np.delete(words, loss.argmax())
            codes[row, lost] = np.delete(instead, loss.argmax(), axis=0).argmax(1)
    return codes


def _shared_heads(
    chosen: NDArray[np.bool_], heads: NDArray[np.int64]
) -> list[tuple[int, NDArray[np.intp]]]:
    """Return the chosen words that share a head, as their sentence and their numbers."""
    rows, words = np.nonzero(chosen & (heads > 0))
    keys = rows * (heads.shape[1] + 1) + heads[rows, words]
    _, first, counts = np.unique(keys, return_index=True, return_counts=True)
    return [(int(rows[place]), words[keys == keys[place]]) for place in first[counts > 1]]
