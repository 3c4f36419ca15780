"""One vector for a sequence, from the states of its pieces."""

from __future__ import annotations

from typing import Literal

import torch
from torch import Tensor

from syntagma.errors import InputError
from syntagma.models.guides import GUIDES, GuideSettings

Pooling = Literal["first", "max", "mean"]
AnyPooling = Literal["auto", "first", "max", "mean"]


def find_pooling(how: AnyPooling, guides: GuideSettings) -> Pooling:
    """How sequences are pooled behind some guides.

    Args:
        how: the setting; ``auto`` is ``first`` where the first piece can represent the sequence,
            else what the last guide that prevents it takes instead
            (:meth:`syntagma.models.guide.Guide.first_piece`).
        guides: of the model.

    Raises:
        InputError: ``first`` was asked for, and a guide prevents it.
    """
    obstacles = [found for name, own in guides.items() if (found := GUIDES[name].first_piece(own))]
    if how == "first" and obstacles:
        raise InputError(
            f"head.pooling: behind {obstacles[-1].reason}, expected max or mean, got first"
        )
    if how == "auto":
        return obstacles[-1].pooling if obstacles else "first"
    return how


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
