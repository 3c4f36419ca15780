"""Record what a guided encoder computes inside: attention weights and scores of co-attention."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import torch
from torch import Tensor

from syntagma.encoders.observe import watch_attention
from syntagma.models.guided_encoder import GuidedEncoder


class Observed(NamedTuple):
    """Data recorded while a batch was encoded.

    Args:
        layers: attention weights of each of the encoder's layers, ``[batch, n_heads, n, n]``.
        guided: attention weights of each layer of ancestor attention, ``[batch, n_heads, n, n]``;
            empty without this guide.
        turns: scores of iterative co-attention, ``[n_turns, batch, n]``; ``None`` without it.
    """

    layers: tuple[Tensor, ...]
    guided: tuple[Tensor, ...]
    turns: Tensor | None


@torch.inference_mode()
def observe(model: GuidedEncoder, batch: Mapping[str, Any]) -> Observed:
    """Encode a batch and record attention weights and scores.

    Args:
        model: the model, in evaluation mode.
        batch: the arguments of :meth:`GuidedEncoder.encode`.

    Raises:
        InputError: the encoder returns no attention weights, or syntax tensors are missing.
    """
    with model.alone(), watch_attention(model.trunk) as layers:
        found = model.encode(**batch, observe=True).observed or {}
    return Observed(
        tuple(layers), tuple(found.get("ancestor_attention", ())), found.get("coattention")
    )
