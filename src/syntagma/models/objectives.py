"""What SEPREM pre-trains on: hidden pieces, hidden tree distances, and heads (section 4.4).

Everything is chosen on the device where the model computes, from its random numbers; a model that
is saved and resumed with their state makes the same choices.
"""

from __future__ import annotations

from typing import NamedTuple

import torch
from torch import Tensor
from torch.nn import functional as F

IGNORED = -100
"""The target of what is not to be predicted."""

HIDDEN, REPLACED = 0.8, 0.9
"""Of what is chosen 80 % is hidden, 10 % replaced at random, 10 % kept."""


class HiddenPieces(NamedTuple):
    """Pieces as the encoder reads them, and what they were.

    Args:
        input_ids: ``[batch, n]``.
        targets: the pieces that are to be predicted, else :data:`IGNORED`, ``[batch, n]``.
    """

    input_ids: Tensor
    targets: Tensor


class HiddenDistances(NamedTuple):
    """Tree distances as the layers read them, and what they were.

    Args:
        distances: ``[batch, n, n]``.
        places: row of the batch and both pieces of each distance that is to be predicted,
            ``[n_targets, 3]``.
        targets: those distances, ``[n_targets]``.
    """

    distances: Tensor
    places: Tensor
    targets: Tensor


class HeadPlaces(NamedTuple):
    """Where heads stand.

    Args:
        candidates: the first pieces of words, and the special piece that begins the sequence,
            which stands for the head of roots, ``[batch, n]``.
        targets: place of the first piece of each word's head; :data:`IGNORED` for all pieces but
            the first of a word, and for words whose head is not in the sequence, ``[batch, n]``.
    """

    candidates: Tensor
    targets: Tensor


def hide_pieces(
    input_ids: Tensor, candidates: Tensor, *, share: float, mask_token_id: int, n_pieces: int
) -> HiddenPieces:
    """Hide pieces for the masked language model, others each time (RoBERTa's dynamic masking).

    Args:
        input_ids: ``[batch, n]``.
        candidates: which pieces may be chosen, ``[batch, n]``.
        share: of the candidates that is chosen.
        mask_token_id: the piece that stands for a hidden one.
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
    """Hide tree distances from the layers.

    What is chosen is a pair of words, in both directions: all pieces of a word share its fate, so
    that none of them tells what is hidden from another.

    Args:
        distances: D, ``[batch, n, n]``; see :func:`syntagma.syntax.distances.tree_distances`.
        word: number of the word of each piece, negative without one, ``[batch, n]``.
        share: of the pairs of words with a path that is chosen.
        longest: replacements are drawn from 1 to this.
    """
    batch, n = word.shape
    first = _first_pieces(word)
    chosen = (_draw_pairs(first) < share) & (distances > 0)
    fate, size = _draw_pairs(first), _draw_pairs(first)
    others = (size * longest).to(distances.dtype) + 1
    read = distances.masked_fill(chosen & (fate < HIDDEN), 0)
    read = torch.where(chosen & (fate >= HIDDEN) & (fate < REPLACED), others, read)
    # One target a pair of words: that of their first pieces.
    is_first = first == torch.arange(n, device=word.device).expand(batch, n)
    places = (chosen & is_first.unsqueeze(1) & is_first.unsqueeze(2)).nonzero()
    return HiddenDistances(read, places, distances[tuple(places.T)].long())


def _first_pieces(word: Tensor) -> Tensor:
    """Place of the first piece of each piece's word; a piece without a word stands for itself."""
    n = word.shape[1]
    begins = (word < 0) | (word != F.pad(word, (1, 0), value=-1)[:, :-1])
    places = torch.arange(n, device=word.device)
    return torch.where(begins, places, 0).cummax(1).values


def _draw_pairs(first: Tensor) -> Tensor:
    """A random number for each pair of words, the same in both directions, ``[batch, n, n]``."""
    batch, n = first.shape
    drawn = torch.rand(batch, n, n, device=first.device)
    drawn = drawn.triu() + drawn.triu(1).mT
    drawn = drawn.gather(2, first.unsqueeze(1).expand(batch, n, n))
    return drawn.gather(1, first.unsqueeze(2).expand(batch, n, n))


def head_places(up: Tensor, word: Tensor, depth: Tensor) -> HeadPlaces:
    """Where the head of each word stands.

    Args:
        up: distances from dependent to head, ``[batch, n, n]``.
        word: number of the word, ``[batch, n]``.
        depth: arcs between the word and its root, ``[batch, n]``.
    """
    is_head = up == 1
    first = _first_pieces(word) == torch.arange(word.shape[1], device=word.device)
    first &= word >= 0
    # Where a sentence is cut, the head of a word may be gone.
    known = is_head.any(2) | (depth == 0)
    places = torch.where(is_head.any(2), is_head.int().argmax(2), 0)
    candidates = first.clone()
    candidates[:, 0] = True
    return HeadPlaces(candidates, places.masked_fill(~(first & known), IGNORED))
