"""Ids of dependency relations for guides that read labelled trees."""

from __future__ import annotations

from collections.abc import Sequence

RELATIONS = (
    "acl", "advcl", "advmod", "amod", "appos", "aux", "case", "cc", "ccomp", "clf", "compound",
    "conj", "cop", "csubj", "dep", "det", "discourse", "dislocated", "expl", "fixed", "flat",
    "goeswith", "iobj", "list", "mark", "nmod", "nsubj", "nummod", "obj", "obl", "orphan",
    "parataxis", "punct", "reparandum", "vocative", "xcomp",
)  # fmt: skip
"""The universal relations between two words (Universal Dependencies 2), which our parsers predict;
without ``root``, which is none."""

OTHER = len(RELATIONS)
"""Id of all other relations, as parse sources with labels of their own have them."""

N_RELATIONS = len(RELATIONS) + 1


def relation_ids(relations: Sequence[str]) -> list[int]:
    """Return the id of each relation; subtypes have the id of their relation.

    >>> relation_ids(["acl", "acl:relcl", "pobj"]) == [0, 0, OTHER]
    True
    """
    known = {name: number for number, name in enumerate(RELATIONS)}
    return [known.get(name.partition(":")[0], OTHER) for name in relations]
