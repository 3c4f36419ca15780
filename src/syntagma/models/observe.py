"""What there is to look at in a guided encoder: attention of its layers, turns of co-attention."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

import torch
from torch import Tensor

from syntagma.encoders.observe import watch_attention
from syntagma.models.guided_encoder import GuidedEncoder


class Observed(NamedTuple):
    """What was seen while a batch was encoded.

    Args:
        layers: attention weights of each of the encoder's layers, ``[batch, n_heads, n, n]``.
        guided: the same of each layer of ancestor attention; empty without that guide.
        turns: scores of iterative co-attention, ``[n_turns, batch, n]``; ``None`` without.
    """

    layers: tuple[Tensor, ...]
    guided: tuple[Tensor, ...]
    turns: Tensor | None


@torch.inference_mode()
def observe(model: GuidedEncoder, batch: Mapping[str, Tensor]) -> Observed:
    """Encode a batch and keep what there is to look at.

    Args:
        model: in evaluation mode.
        batch: the tensors that its ``encode`` names.

    Raises:
        InputError: the encoder gives no attention weights, or syntax tensors are missing.
    """
    with watch_attention(model.trunk) as layers:
        found = model.encode(**batch, observe=True).observed
    return Observed(
        tuple(layers), tuple(found.get("ancestor_attention", ())), found.get("coattention")
    )
