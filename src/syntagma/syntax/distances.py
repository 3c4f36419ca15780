"""Tree distances between pieces, computed on the device from intervals and depths.

This is SEPREM's distance matrix (section 4.1): ``D[i, j] = k`` iff the path from the word of ``i``
to the word of ``j`` has ``k`` arcs in the given direction, and 0 if there is no such path.  An arc
between words becomes arcs from the *first* piece of the head to *all* pieces of the dependent
(section 3), so that only first pieces of heads have a row (``down``) or a column (``up``).
"""

from __future__ import annotations

from typing import Literal, get_args

import torch
from torch import Tensor
from torch.nn import functional as F

from syntagma.errors import InputError
from syntagma.syntax.ancestors import ancestor_mask

Direction = Literal["down", "up", "both", "undirected"]


def tree_distances(
    enter: Tensor, exit: Tensor, depth: Tensor, word: Tensor, *, direction: Direction = "down"
) -> Tensor:
    """Compute the distances between all pieces of a batch of sequences.

    Args:
        enter: start of each piece's interval, ``[batch, n]``; pieces of a word must share it.
        exit: end of each piece's interval, ``[batch, n]``.
        depth: number of arcs to the root of the sentence, ``[batch, n]``.
        word: number of each piece's word, negative for pieces without a word, ``[batch, n]``.
        direction: ``down``: from head to dependent (eq. 3); ``up``: from dependent to head;
            ``both``: either of these; ``undirected``: along the tree between any two words that
            have a common ancestor in the sequence.

    Returns:
        Number of arcs, 0 without a path, ``[batch, n, n]``, with the dtype of ``depth``.

    Raises:
        InputError: the direction is unknown.
    """
    if direction not in get_args(Direction):
        raise InputError(
            f"direction must be one of {', '.join(get_args(Direction))}; got {direction!r}"
        )
    is_word = word >= 0
    first = is_word & _first_occurrence(word)
    # [batch, i, j]: whether j is an ancestor of i or belongs to the same word.
    above = ancestor_mask(enter, exit)
    if direction == "undirected":
        # Count each tree position once: a marker has the same position as its head word.
        representatives = _first_occurrence(torch.where(is_word, enter, -1))
        ancestors = above & (is_word & representatives).unsqueeze(1)
        return _undirected(ancestors, depth, first, is_word)
    arcs = depth.unsqueeze(2) - depth.unsqueeze(1)
    up = torch.where(above & first.unsqueeze(1), arcs, 0)
    if direction == "up":
        return up
    return up.mT if direction == "down" else up + up.mT


def _first_occurrence(values: Tensor) -> Tensor:
    """Whether each value occurs for the first time in its row, ``[batch, n]``.

    Comparing neighbours is not enough: a marker inside a word separates its pieces.
    """
    n = values.shape[1]
    # The position makes each number unique, so that any sort is stable; ONNX has no stable one.
    ordered, positions = (values.long() * n + torch.arange(n, device=values.device)).sort(dim=-1)
    ordered = ordered.div(n, rounding_mode="floor")
    is_new = ordered != F.pad(ordered, (1, 0))[:, :-1]
    is_new[:, :1] = True
    return torch.zeros_like(is_new).scatter(1, positions, is_new)


def _undirected(ancestors: Tensor, depth: Tensor, first: Tensor, is_word: Tensor) -> Tensor:
    """Compute distances along the path over the lowest common ancestor.

    A matrix product finds the depth of that ancestor for all pairs: each ancestor is weighted with
    the number of arcs to the next ancestor that is present, and the topmost one with its depth plus
    one.  The weights of the common ancestors then sum to the depth of the lowest one, plus one.
    Words cut off by a window are absent: the path then goes over the next higher ancestor, and
    words without a common ancestor have no path.
    """
    higher = ancestors & (depth.unsqueeze(1) < depth.unsqueeze(2))
    next_above = torch.where(higher, depth.unsqueeze(1), -1).amax(-1)
    # Single precision even under autocast: bfloat16 has 8 significant bits, so that integers beyond
    # 256 would be rounded.
    with torch.autocast(depth.device.type, enabled=False):
        counted = ancestors.float()
        arcs = (depth - next_above).float().unsqueeze(1)
        shared = ((counted * arcs) @ counted.mT).to(depth.dtype)  # [batch, n, n]
    between = depth.unsqueeze(2) + depth.unsqueeze(1) - 2 * (shared - 1)
    pair = is_word.unsqueeze(2) & is_word.unsqueeze(1) & (first.unsqueeze(2) | first.unsqueeze(1))
    return torch.where(pair & (shared > 0), between, 0)


def normalised_strength(distances: Tensor) -> Tensor:
    """Compute D̃, the inverse distances with each row normalised to sum to 1 (SEPREM eq. 4).

    Args:
        distances: number of arcs, 0 without a path, ``[batch, n, n]``.

    Returns:
        Dependency strengths in single precision, ``[batch, n, n]``; 0 without a path, so a row
        without any path sums to 0.
    """
    inverse = torch.where(distances > 0, 1.0 / distances.clamp(min=1), 0.0).float()
    # The clamp avoids 0/0 in rows without any path.
    return inverse / inverse.sum(-1, keepdim=True).clamp(min=torch.finfo(torch.float).tiny)
