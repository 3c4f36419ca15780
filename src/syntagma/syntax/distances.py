"""Tree distances between pieces, made on the device from intervals and depths (SEPREM section 4.1).

``D[i, j] = k`` iff the word of ``i`` is ``k`` arcs away from the word of ``j`` in the direction
that is asked for, else 0.  An arc from word to word becomes arcs from the *first* piece of the head
to *all* pieces of the dependent (section 3), so that only first pieces of heads have a row
(``down``) or a column (``up``).
"""

from __future__ import annotations

from typing import Literal, get_args

import torch
from torch import Tensor
from torch.nn import functional as F

from syntagma.errors import InputError
from syntagma.syntax.ancestors import ancestor_mask

__all__ = ["Direction", "normalised_strength", "tree_distances"]

Direction = Literal["down", "up", "both", "undirected"]


def tree_distances(
    enter: Tensor, exit: Tensor, depth: Tensor, word: Tensor, *, direction: Direction = "down"
) -> Tensor:
    """Distances between all pieces of a batch of sequences.

    Args:
        enter: start of each piece's interval, ``[batch, n]``; pieces of a word must share it.
        exit: end of the interval, ``[batch, n]``.
        depth: arcs to the root of the sentence, ``[batch, n]``.
        word: number of the word, negative for pieces without one, ``[batch, n]``.
        direction: ``down``: from head to dependent (eq. 3); ``up``: from dependent to head;
            ``both``: either; ``undirected``: along the tree between any two words of a sentence
            that share an ancestor in the sequence.

    Returns:
        Arcs, 0 where there is no path, ``[batch, n, n]``, of the type of ``depth``.

    Raises:
        InputError: the direction is unknown.
    """
    if direction not in get_args(Direction):
        raise InputError(f"direction must be one of {', '.join(get_args(Direction))}")
    is_word = word >= 0
    first = is_word & _first_met(word)
    # Row i, column j: whether j is an ancestor of i, or stands in the same word.
    above = ancestor_mask(enter, exit)
    if direction == "undirected":
        # One column a place in the tree: a marker stands where a word stands already.
        places = _first_met(torch.where(is_word, enter, -1))
        ancestors = above & (is_word & places).unsqueeze(1)
        return _undirected(ancestors, depth, first, is_word)
    arcs = depth.unsqueeze(2) - depth.unsqueeze(1)
    up = torch.where(above & first.unsqueeze(1), arcs, 0)
    if direction == "up":
        return up
    return up.mT if direction == "down" else up + up.mT


def _first_met(values: Tensor) -> Tensor:
    """Whether a value is met for the first time in its row, ``[batch, n]``.

    Not only where it differs from its neighbour: a marker may stand inside a word.
    """
    ordered, places = values.sort(dim=-1, stable=True)
    fresh = ordered != F.pad(ordered, (1, 0))[:, :-1]
    fresh[:, :1] = True
    return torch.zeros_like(fresh).scatter(1, places, fresh)


def _undirected(ancestors: Tensor, depth: Tensor, first: Tensor, is_word: Tensor) -> Tensor:
    """Up to the lowest common ancestor and down again.

    Each ancestor counts for the arcs between it and the next one that is there, the highest also
    for the root: so those that two words share, themselves included, make the depth of the lowest
    of them, plus one.  Where that one was cut off the path goes by the next higher one; words that
    share none have no path.
    """
    higher = ancestors & (depth.unsqueeze(1) < depth.unsqueeze(2))
    next_above = torch.where(higher, depth.unsqueeze(1), -1).amax(-1)
    # In single precision: sums of some hundred arcs are too much for half of it.
    with torch.autocast(depth.device.type, enabled=False):
        counted = ancestors.float()
        arcs = (depth - next_above).float().unsqueeze(1)
        shared = ((counted * arcs) @ counted.mT).to(depth.dtype)
    between = depth.unsqueeze(2) + depth.unsqueeze(1) - 2 * (shared - 1)
    pair = is_word.unsqueeze(2) & is_word.unsqueeze(1) & (first.unsqueeze(2) | first.unsqueeze(1))
    return torch.where(pair & (shared > 0), between, 0)


def normalised_strength(distances: Tensor) -> Tensor:
    """D̃: inverse distances, each row divided by its sum (eq. 4); 0 where there is no path.

    Args:
        distances: ``[batch, n, n]``.

    Returns:
        ``[batch, n, n]``, in single precision; rows sum to 1, or to 0 where nothing is reached.
    """
    inverse = torch.where(distances > 0, 1.0 / distances.clamp(min=1), 0.0).float()
    return inverse / inverse.sum(-1, keepdim=True).clamp(min=torch.finfo(torch.float).tiny)
