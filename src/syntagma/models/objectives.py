"""Inputs and targets of SEPREM's pre-training: masked pieces, masked tree distances, and heads.

Section 4.4.  All random choices are made on the model's device, with its random generator, so that
a run resumed with the generator's state makes the same choices.
"""

from __future__ import annotations

from typing import NamedTuple

import torch
from torch import Tensor
from torch.nn import functional as F

IGNORED = -100
"""Target of pieces that are not predicted."""

HIDDEN, REPLACED = 0.8, 0.9
"""Bounds of the shares of chosen pieces: 80 % are masked, 10 % replaced at random, 10 % kept."""


class HiddenPieces(NamedTuple):
    """Masked pieces and their targets.

    Args:
        input_ids: pieces as the encoder reads them, ``[batch, n]``.
        targets: original ids of pieces to predict, else :data:`IGNORED`, ``[batch, n]``.
    """

    input_ids: Tensor
    targets: Tensor


class HiddenDistances(NamedTuple):
    """Masked tree distances and their targets.

    Args:
        distances: distances as the layers read them, ``[batch, n, n]``.
        places: batch index and both pieces of each distance to predict, ``[n_targets, 3]``.
        targets: the original distances, ``[n_targets]``.
    """

    distances: Tensor
    places: Tensor
    targets: Tensor


class HeadPlaces(NamedTuple):
    """Positions of heads.

    Args:
        candidates: true at possible heads, ``[batch, n]``: first pieces of words, and the first
            special token, which represents the head of roots.
        targets: position of the first piece of each word's head, ``[batch, n]``; :data:`IGNORED`
            for later pieces of words, and for words whose head is not in the sequence.
    """

    candidates: Tensor
    targets: Tensor


def hide_pieces(
    input_ids: Tensor, candidates: Tensor, *, share: float, mask_token_id: int, n_pieces: int
) -> HiddenPieces:
    """Mask pieces for the masked language model, anew in each call (RoBERTa's dynamic masking).

    Args:
        input_ids: ``[batch, n]``.
        candidates: true at pieces that may be chosen, ``[batch, n]``.
        share: share of the candidates that is chosen.
        mask_token_id: id of the mask token.
        n_pieces: size of the vocabulary that replacements are drawn from.
    """
    chosen = (torch.rand(input_ids.shape, device=input_ids.device) < share) & candidates
    fate = torch.rand(input_ids.shape, device=input_ids.device)
    others = torch.randint(n_pieces, input_ids.shape, device=input_ids.device)
    read = input_ids.masked_fill(chosen & (fate < HIDDEN), mask_token_id)
    read = torch.where(chosen & (fate >= HIDDEN) & (fate < REPLACED), others, read)
    return HiddenPieces(read, input_ids.masked_fill(~chosen, IGNORED))


def hide_distances(
    distances: Tensor, word: Tensor, *, share: float, longest: int
) -> HiddenDistances:
    """Mask tree distances that the layers would read.

    Pairs of words are chosen, in both directions.  All pieces of a word are treated alike;
    otherwise one piece would reveal what is masked for another.

    Args:
        distances: D, ``[batch, n, n]``; see :func:`syntagma.syntax.distances.tree_distances`.
        word: number of each piece's word, negative without a word, ``[batch, n]``.
        share: share of the pairs with a path that is chosen.
        longest: largest distance that replacements are drawn from.
    """
    batch, n = word.shape
    first = _first_pieces(word)
    chosen = (_draw_pairs(first) < share) & (distances > 0)
    fate, size = _draw_pairs(first), _draw_pairs(first)
    others = (size * longest).to(distances.dtype) + 1
    read = distances.masked_fill(chosen & (fate < HIDDEN), 0)
    read = torch.where(chosen & (fate >= HIDDEN) & (fate < REPLACED), others, read)
    # One target per pair of words: the distance of their first pieces.
    is_first = first == torch.arange(n, device=word.device).expand(batch, n)
    places = (chosen & is_first.unsqueeze(1) & is_first.unsqueeze(2)).nonzero()
    return HiddenDistances(read, places, distances[tuple(places.T)].long())


def _first_pieces(word: Tensor) -> Tensor:
    """Return the position of the first piece of each piece's word; without a word, its own."""
    n = word.shape[1]
    begins = (word < 0) | (word != F.pad(word, (1, 0), value=-1)[:, :-1])
    places = torch.arange(n, device=word.device)
    return torch.where(begins, places, 0).cummax(1).values


def _draw_pairs(first: Tensor) -> Tensor:
    """Draw a number for each pair of words, the same in both directions, ``[batch, n, n]``."""
    batch, n = first.shape
    drawn = torch.rand(batch, n, n, device=first.device)
    drawn = drawn.triu() + drawn.triu(1).mT
    drawn = drawn.gather(2, first.unsqueeze(1).expand(batch, n, n))
    return drawn.gather(1, first.unsqueeze(2).expand(batch, n, n))


def head_places(up: Tensor, word: Tensor, depth: Tensor) -> HeadPlaces:
    """Find the position of each word's head.

    Args:
        up: distances from dependent to head, ``[batch, n, n]``.
        word: number of each piece's word, negative without a word, ``[batch, n]``.
        depth: number of arcs to the root, ``[batch, n]``.
    """
    is_head = up == 1
    first = _first_pieces(word) == torch.arange(word.shape[1], device=word.device)
    first &= word >= 0
    # The head of a word may be missing from a truncated sentence.
    known = is_head.any(2) | (depth == 0)
    places = torch.where(is_head.any(2), is_head.int().argmax(2), 0)
    candidates = first.clone()
    candidates[:, 0] = True
    return HeadPlaces(candidates, places.masked_fill(~(first & known), IGNORED))
