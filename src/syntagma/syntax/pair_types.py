"""How the words of two pieces are related in the tree, as one number for each pair of pieces.

The types are computed on the device for a whole batch.  A sentence with several roots counts as a
tree below a common root, which is no word.
"""

from __future__ import annotations

import torch
from torch import Tensor

from syntagma.syntax.ancestors import ancestor_mask
from syntagma.syntax.relations import N_RELATIONS

TYPES = (
    "unrelated", "same word", "ancestor", "descendant", "sibling", "distance 3", "distance 4",
    "farther", "parent", "child",
)  # fmt: skip
"""The types of a pair (i, j), by what the word of j is to that of i.

``unrelated``: pieces of different sentences, and pieces without a word; ``ancestor`` and
``descendant``: two arcs or more; ``sibling``: a word with the same parent; the others are neither,
at a distance of 3, 4, or at least 5 arcs along the tree.
"""

UNRELATED, SAME, ANCESTOR, DESCENDANT, SIBLING, THREE, FOUR, FARTHER, PARENT, CHILD = range(
    len(TYPES)
)


def n_types(*, labels: bool) -> int:
    """Return the number of types.

    Args:
        labels: whether ``parent`` and ``child`` are split by the relation between the two words.
            They are then the last types, in the order of their relations, parents first.
    """
    return PARENT + 2 * N_RELATIONS if labels else len(TYPES)


def pair_types(
    enter: Tensor,
    exit: Tensor,
    depth: Tensor,
    sentence: Tensor,
    word: Tensor,
    parent: Tensor,
    relation: Tensor | None = None,
) -> Tensor:
    """Compute the type of each pair of pieces.

    A pair of words whose type depends on a word that is not in the sequence, because a window cut
    it off, is ``farther``; that concerns the distances 3 and 4 only.

    Args:
        enter: start of each piece's interval, ``[batch, n]``; pieces of a word must share it.
        exit: end of each piece's interval, ``[batch, n]``.
        depth: number of arcs to the root of the sentence, ``[batch, n]``.
        sentence: number of the sentence, ``[batch, n]``.
        word: number of each piece's word, negative for pieces without a word, ``[batch, n]``.
        parent: number of the head of that word, ``[batch, n]``.
        relation: relation to the head, to split parents and children by it, ``[batch, n]``.

    Returns:
        Numbers of types, of dtype uint8, ``[batch, n, n]``.
    """
    grand = _parent_of(parent, sentence, word, parent)
    great = _parent_of(grand, sentence, word, parent)
    above = ancestor_mask(enter, exit)  # [batch, i, j]: j is an ancestor of i, or the same word
    types = torch.full_like(above, FARTHER, dtype=torch.uint8)
    # Later types replace earlier ones: the words on a path to the root have common ancestors too.
    types.masked_fill_(_equal(great, parent) | _equal(grand, grand) | _equal(parent, great), FOUR)
    types.masked_fill_(_equal(grand, parent) | _equal(parent, grand), THREE)
    types.masked_fill_(_equal(parent, parent), SIBLING)
    types.masked_fill_(above, ANCESTOR)
    types.masked_fill_(above.mT, DESCENDANT)
    is_arc = (depth.unsqueeze(2) - depth.unsqueeze(1)).abs() == 1
    if relation is None:
        types.masked_fill_(above & is_arc, PARENT)
        types.masked_fill_(above.mT & is_arc, CHILD)
    else:
        labelled = PARENT + relation.to(torch.uint8)
        types = torch.where(above & is_arc, labelled.unsqueeze(2), types)
        types = torch.where(above.mT & is_arc, labelled.unsqueeze(1) + N_RELATIONS, types)
    types.masked_fill_(_equal(enter, enter), SAME)
    has_word = word >= 0
    related = _equal(sentence, sentence) & has_word.unsqueeze(2) & has_word.unsqueeze(1)
    return types.masked_fill_(~related, UNRELATED)


def _equal(row: Tensor, column: Tensor) -> Tensor:
    """Whether the number of piece i equals that of piece j, ``[batch, i, j]``."""
    return row.unsqueeze(2) == column.unsqueeze(1)


def _parent_of(number: Tensor, sentence: Tensor, word: Tensor, parent: Tensor) -> Tensor:
    """Return the number of the parent of each word that is given by its number, ``[batch, n]``.

    A word that is not in the sequence gets a parent of its own, which equals no other.
    """
    is_it = _equal(number, word) & _equal(sentence, sentence)
    alone = -2 - torch.arange(number.shape[1], device=number.device, dtype=parent.dtype)
    # Numbers of parents are at least -1.
    found = torch.where(is_it, parent.unsqueeze(1), -2).amax(-1)
    return torch.where(found > -2, found, alone)
