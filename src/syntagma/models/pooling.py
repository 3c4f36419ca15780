"""Pool the states of a sequence into one vector."""

from __future__ import annotations

from typing import Literal

import torch
from torch import Tensor

from syntagma.errors import InputError
from syntagma.models.guides import GUIDES, GuideSettings

Pooling = Literal["first", "max", "mean"]
HeadPooling = Literal["first", "pooler", "max", "mean"]
AnyPooling = Literal["auto", "first", "pooler", "max", "mean"]


def find_pooling(
    how: AnyPooling, guides: GuideSettings, *, where: str = "head.pooling"
) -> HeadPooling:
    """Choose how sequences are pooled after the guides of a model.

    Args:
        how: the setting; ``pooler`` is ``first`` through the encoder's pooler; ``auto`` is
            ``first`` if the first piece can represent the sequence, else the pooling that the last
            guide requires (:meth:`syntagma.models.guide.Guide.first_piece`).
        guides: settings of the model's guides.
        where: name of the setting in error messages.

    Raises:
        InputError: the setting is ``first`` or ``pooler``, but a guide leaves the first piece as it
            is, or makes it 0.
    """
    obstacles = [found for name, own in guides.items() if (found := GUIDES[name].first_piece(own))]
    blocking = [found for found in obstacles if not found.changed]
    if how in ("first", "pooler") and blocking:
        raise InputError(f"{where}: expected max or mean after {blocking[-1].reason}; got {how}")
    if how == "auto":
        return obstacles[-1].pooling if obstacles else "first"
    return how


def pool_states(states: Tensor, attention_mask: Tensor, how: Pooling) -> Tensor:
    """Pool the states of each sequence.

    Args:
        states: ``[batch, n, width]``.
        attention_mask: 0 at padding, ``[batch, n]``.
        how: ``first``: the state of the first piece; ``max``: the maximum of each dimension
            (POI-Net, section 2.4.1); ``mean``: the mean.

    Returns:
        ``[batch, width]``.
    """
    if how == "first":
        return states[:, 0]
    inside = attention_mask.bool().unsqueeze(-1)
    if how == "max":
        return states.masked_fill(~inside, -torch.inf).amax(1)
    return states.masked_fill(~inside, 0.0).sum(1) / inside.sum(1)
