"""Attention masks without a tree, the controls of SG-Net's ancestor mask.

They are computed on the device, from the columns of :class:`syntagma.syntax.pieces.PieceSyntax`.
As in :func:`syntagma.syntax.ancestors.ancestor_mask`, a piece without a word sees itself only.
"""

from __future__ import annotations

import torch
from torch import Tensor

_BITS = 0xFFFFFFFF
"""Hashes have 32 bits: their products with the factors below fit into 64."""


def same_word_mask(word: Tensor) -> Tensor:
    """Compute the mask in which a piece sees the pieces of its own word.

    Args:
        word: number of the word, negative for pieces without one, ``[batch, n]``.

    Returns:
        Boolean mask, ``[batch, n, n]``: true if row ``i`` may attend to column ``j``.
    """
    own = word.unsqueeze(2) == word.unsqueeze(1)
    return (own & (word >= 0).unsqueeze(2)) | _diagonal(word)


def all_pieces_mask(word: Tensor, attention_mask: Tensor) -> Tensor:
    """Compute the mask in which a piece of a word sees the whole sequence, except padding.

    Args:
        word: number of the word, negative for pieces without one, ``[batch, n]``.
        attention_mask: 0 at padding, ``[batch, n]``.

    Returns:
        Boolean mask, ``[batch, n, n]``: true if row ``i`` may attend to column ``j``.
    """
    seen = (word >= 0).unsqueeze(2) & attention_mask.bool().unsqueeze(1)
    return seen | _diagonal(word)


def random_mask(
    mask: Tensor, enter: Tensor, word: Tensor, sentence: Tensor, *, seed: int = 0
) -> Tensor:
    """Replace what each row sees outside of its word by as many pieces of the same sentence.

    The other words of the sentence are put into a random order, and the row sees their pieces in
    this order until it sees as many as in the given mask.  The order is a hash of the seed, the
    numbers of both words and their places in the tour of the tree.  All of these are those of the
    whole text, so that a row has the same order in every epoch, in every batch, in every window
    over its text, and on every device.

    Args:
        mask: the ancestor mask, ``[batch, n, n]``.
        enter: start of each interval, ``[batch, n]``.
        word: number of the word, negative for pieces without one, ``[batch, n]``.
        sentence: number of the sentence, negative for pieces without one, ``[batch, n]``.
        seed: random seed.

    Returns:
        Boolean mask, ``[batch, n, n]``; each row has as many true values as in ``mask``, and the
        same ones inside its own word.
    """
    same_word = word.unsqueeze(2) == word.unsqueeze(1)
    own = mask & (same_word | _diagonal(word))
    n_drawn = (mask & ~own).sum(-1, keepdim=True)
    inside = (sentence.unsqueeze(2) == sentence.unsqueeze(1)) & (sentence >= 0).unsqueeze(2)
    base = (seed * 0x9E3779B1) & _BITS
    # The pieces of a word share its key if they share its interval, and the sort is stable: words
    # are drawn as wholes, as far as the number allows it.
    key = _mix(_mix((word.long() + base) & _BITS) ^ (enter.long() & _BITS))
    order = _mix((_mix(key ^ 0x5BD1E995).unsqueeze(2) + key.unsqueeze(1)) & _BITS)
    order = order.masked_fill(~inside | same_word, _BITS + 1)
    columns = order.argsort(dim=-1, stable=True)
    is_drawn = torch.arange(mask.shape[-1], device=mask.device) < n_drawn
    return own | torch.zeros_like(mask).scatter(-1, columns, is_drawn)


def open_special_rows(mask: Tensor, word: Tensor, attention_mask: Tensor) -> Tensor:
    """Let pieces without a word see all but padding, as in SG-Net's released code.

    There, all scores of such a row are lowered by the same number, which the softmax cancels.

    Args:
        mask: true where a row may attend to a column, ``[batch, n, n]``.
        word: number of the word, negative for pieces without one, ``[batch, n]``.
        attention_mask: 0 at padding, ``[batch, n]``.

    Returns:
        Boolean mask, ``[batch, n, n]``; rows of padding are unchanged.
    """
    inside = attention_mask.bool()
    return mask | ((word < 0) & inside).unsqueeze(2) & inside.unsqueeze(1)


def _diagonal(word: Tensor) -> Tensor:
    """Return the mask in which a piece sees itself only, ``[1, n, n]``."""
    n = word.shape[1]
    return torch.eye(n, dtype=torch.bool, device=word.device).unsqueeze(0)


def _mix(x: Tensor) -> Tensor:
    """Hash numbers of 32 bits, by shifts and odd factors in turn."""
    x = ((x ^ (x >> 16)) * 0x7FEB352D) & _BITS
    x = ((x ^ (x >> 15)) * 0x45D9F3B3) & _BITS
    return x ^ (x >> 16)
