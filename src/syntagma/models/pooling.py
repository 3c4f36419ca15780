"""One vector for a sequence, from the states of its pieces."""

from __future__ import annotations

from typing import Literal

import torch
from torch import Tensor

__all__ = ["Pooling", "pool_states"]

Pooling = Literal["first", "max", "mean"]


def pool_states(states: Tensor, attention_mask: Tensor, how: Pooling) -> Tensor:
    """The vector that stands for each sequence.

    Args:
        states: ``[batch, n, width]``.
        attention_mask: 0 at padding, ``[batch, n]``.
        how: ``first``: the state of the first piece; ``max``: the greatest value of each unit
            (POI-Net, section 2.4.1); ``mean``: their mean.

    Returns:
        ``[batch, width]``.
    """
    if how == "first":
        return states[:, 0]
    inside = attention_mask.bool().unsqueeze(-1)
    if how == "max":
        return states.masked_fill(~inside, -torch.inf).amax(1)
    return states.masked_fill(~inside, 0.0).sum(1) / inside.sum(1)
