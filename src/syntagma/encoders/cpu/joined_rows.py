"""Compute several short texts as one row, without padding, on CPUs.

Sentences of a paragraph have different lengths, so that half as many pieces again are computed in a
padded batch.  As one row they need no padding: each piece attends to those of its own sentence
alone, and positions are counted anew in each.  The states are the same up to rounding.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

MAX_JOINED = 512
"""Pieces of a row; attention to the pieces of other sentences, which is thrown away, grows with its
square."""
MIN_PADDING = 1.25
"""Padded pieces for each piece, at least.  A batch without padding takes up to a sixth longer as
one row, because of the attention to other sentences."""
MAX_PAIRS = 150_000
"""Pairs of pieces of the padded batch: arcs are scored in that, and with one long sentence beside
many short ones they would take longer than the encoder."""
FAMILIES = ("bert",)
"""Encoders that take positions, and a mask of pairs of pieces."""


class JoinedRows(NamedTuple):
    """A batch as one row.

    Args:
        input_ids: ``[1, n]``.
        position_ids: ``[1, n]``.
        mask: whether a piece attends to another, ``[1, 1, n, n]``.
        places: index of each piece in the flat batch, ``[n]``.
    """

    input_ids: Tensor
    position_ids: Tensor
    mask: Tensor
    places: Tensor

    def separate(self, states: Tensor, shape: torch.Size) -> Tensor:
        """Return the states of the batch, zeros at padding.

        Args:
            states: those of the row, ``[1, n, width]``.
            shape: ``(batch, longest)``.

        Returns:
            ``[batch, longest, width]``.
        """
        found = states.new_zeros(shape.numel(), states.shape[-1])
        found[self.places] = states[0]
        return found.view(*shape, -1)


def can_join(encoder: nn.Module, device_type: str) -> bool:
    """Whether an encoder computes joined rows, and is faster that way.

    Args:
        encoder: an encoder of Transformers.
        device_type: type of its device; GPUs lose nothing by padding.
    """
    config = encoder.config
    return (
        device_type == "cpu"
        and not torch.compiler.is_compiling()  # An exported graph has batches.
        and getattr(config, "model_type", "") in FAMILIES
        and getattr(config, "_attn_implementation", "") in ("sdpa", "syntagma")
    )


def is_joined_fast(lengths: NDArray[np.int64]) -> bool:
    """Whether sentences are computed fastest in one call, as one row.

    Args:
        lengths: number of pieces of each, ``[n]``.
    """
    n_pieces, longest = int(lengths.sum()), int(lengths.max(initial=0))
    padded = len(lengths) * longest
    return is_worth_it(n_pieces, padded) and padded * longest <= MAX_PAIRS


def is_worth_it(n_pieces: int, padded: int) -> bool:
    """Whether the encoder computes a batch faster as one row.

    Args:
        n_pieces: pieces of the batch.
        padded: the same with padding.
    """
    return 0 < n_pieces <= MAX_JOINED and padded >= MIN_PADDING * n_pieces


def join_rows(input_ids: Tensor, attention_mask: Tensor) -> JoinedRows | None:
    """Join the rows of a batch; ``None`` where that is not faster.

    Args:
        input_ids: ``[batch, longest]``.
        attention_mask: 1 for pieces, and 0 for padding at the end of rows, ``[batch, longest]``.
    """
    lengths = attention_mask.sum(1)
    n_pieces = int(lengths.sum())
    if not is_worth_it(n_pieces, attention_mask.numel()):
        return None
    places = attention_mask.flatten().nonzero()[:, 0]
    row_of_piece = torch.repeat_interleave(lengths)
    positions = places % attention_mask.shape[1]
    mask = row_of_piece.unsqueeze(1) == row_of_piece
    ids = input_ids.flatten()[places]
    return JoinedRows(ids.unsqueeze(0), positions.unsqueeze(0), mask[None, None], places)
