"""One vector for a sequence, from the states of its pieces."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

import torch
from torch import Tensor

from syntagma.errors import InputError
from syntagma.models.config import read_guides

__all__ = ["AnyPooling", "Pooling", "find_pooling", "pool_states"]

Pooling = Literal["first", "max", "mean"]
AnyPooling = Literal["auto", "first", "max", "mean"]


def find_pooling(how: AnyPooling, guides: Mapping[str, Any]) -> Pooling:
    """How sequences are pooled behind some guides.

    Iterative co-attention weighs the piece that fits the other text least with 0, and the first
    piece may be the one.  A guided layer leaves special pieces as they are: nothing of it is in the
    first one.

    Args:
        how: what was asked for; ``auto`` is ``first`` where that can be, else ``max`` behind
            co-attention and ``mean`` behind a guided layer.
        guides: settings by guide.

    Raises:
        InputError: ``first`` was asked for where it cannot be.
    """
    settings = read_guides(guides)
    coattention, ancestors = settings.get("coattention"), settings.get("ancestor_attention")
    spares = ancestors is not None and ancestors.aggregation != "vanilla_only"
    weighs = coattention is not None and coattention.kind == "iterative" and coattention.turns > 0
    if how == "first" and weighs:
        raise InputError(
            "head.pooling: behind iterative co-attention, which may weigh the first piece with 0, "
            "expected max or mean, got first"
        )
    if how == "first" and spares:
        raise InputError(
            "head.pooling: behind ancestor_attention, where the first piece sees no other, "
            "expected max or mean, got first"
        )
    if how == "auto":
        return "max" if weighs else "mean" if spares else "first"
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
