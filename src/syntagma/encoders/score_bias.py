"""Add a bias to the scores of an encoder's attention, through the mask that each layer takes.

``softmax(QK/√d + M)``: where the mask M of a layer is added to the scores, a bias can be added to
the mask.  That works with Transformers' attention interface and for encoders without it (MPNet),
and leaves relative positions as they are.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from functools import cache
from typing import Any

import torch
from torch import Tensor, nn
from torch.utils.hooks import RemovableHandle
from transformers import PretrainedConfig

from syntagma.encoders.attention import NAME
from syntagma.errors import InputError

MASK = "attention_mask"
"""Name of the mask among the arguments of every layer in the table of sites."""

ADDING = ("eager", "sdpa", NAME)
"""Implementations of attention that add a mask to the scores."""

_REFUSED = {
    "deberta": "read its mask as true or false",
    "deberta-v2": "read its mask as true or false",
    "longformer": "attend within windows, for which there is no mask over all pairs",
    # https://github.com/huggingface/transformers: version 5.3 adds the mask of the first layer to
    # the relative positions, which all layers share.
    "mt5": "read the mask of the first layer only, in some versions of Transformers",
    "mvp": "take one mask for all heads",
    "t5": "read the mask of the first layer only, in some versions of Transformers",
}
"""Encoders of the table of sites whose layers do not add a mask to their scores, and why."""


def require_additive_mask(config: PretrainedConfig, *, purpose: str) -> None:
    """Check that the layers of an encoder add their mask to the scores of attention.

    Args:
        config: the encoder's configuration.
        purpose: what adds to the scores, as the subject of the error message.

    Raises:
        InputError: they do not, or the implementation of attention does not.
    """
    if why := _REFUSED.get(config.model_type):
        raise InputError(
            f"{purpose} adds to the scores of attention, but the layers of {config.model_type!r} "
            f"{why}; use tree_distance or ancestor_attention, or another encoder"
        )
    # A private attribute: Transformers has no public one that returns the implementation in use.
    found = getattr(config, "_attn_implementation", None)
    if found is not None and found not in ADDING:
        raise InputError(
            f"{purpose} adds to the scores of attention, which {found!r} does not allow; call "
            f'set_attn_implementation("sdpa") on the model'
        )


def heads_of(config: PretrainedConfig) -> int:
    """Return the number of heads that have scores in a layer."""
    n_heads: int = config.num_attention_heads
    # ConvBERT replaces a part of its heads by convolutions.
    return max(1, n_heads // int(getattr(config, "head_ratio", 1)))


@cache
def _mask_place(layer: Callable[..., Any]) -> int:
    """Return the position of the mask among the arguments of a kind of layer."""
    return list(inspect.signature(layer).parameters).index(MASK) - 1


def add_to_scores(
    layer: nn.Module, places: Tensor | None, bias: Callable[[Tensor], Tensor]
) -> RemovableHandle:
    """Add to some scores of a layer's attention with a hook.

    Args:
        layer: a layer of an encoder that :func:`require_additive_mask` accepts.
        places: where to add, in the flattened ``[batch, n, n]``; each place once, ``[n_pairs]``;
            ``None`` to add everywhere.
        bias: computes what to add there, ``[n_heads, n_pairs]``, from the states that the layer
            reads, ``[batch, n, width]``.

    Returns:
        A handle that removes the hook.
    """

    def hook(
        _: nn.Module, inputs: tuple[Any, ...], options: dict[str, Any]
    ) -> tuple[tuple[Any, ...], dict[str, Any]]:
        states = inputs[0] if inputs else options["hidden_states"]
        place = _mask_place(type(layer).forward)
        is_positional = place < len(inputs)
        mask = inputs[place] if is_positional else options.get(MASK)
        total = _sum(_additive(mask, states), places, bias(states))
        if is_positional:
            return (*inputs[:place], total, *inputs[place + 1 :]), options
        return inputs, {**options, MASK: total}

    return layer.register_forward_pre_hook(hook, with_kwargs=True)


def _additive(mask: Tensor | None, states: Tensor) -> Tensor:
    """Return a layer's mask as a summand of the scores, ``[batch, 1 or n_heads, n, n]``."""
    batch, n = states.shape[:2]
    dtype = _compute_dtype(states)
    if mask is None:
        return states.new_zeros((), dtype=dtype).expand(batch, 1, n, n)
    if mask.dtype == torch.bool:
        # As fused attention reads such a mask.
        mask = torch.zeros_like(mask, dtype=dtype).masked_fill_(~mask, -torch.inf)
    return mask.expand(batch, -1, n, n)


def _sum(mask: Tensor, places: Tensor | None, values: Tensor) -> Tensor:
    """Add values to a mask at some places, ``[batch, n_heads, n, n]``.

    Only these are computed: most pairs of a long text have no bias.
    """
    batch, _, n, _ = mask.shape
    if places is None:
        return mask + values.to(mask.dtype).unflatten(1, (batch, n, n)).transpose(0, 1)
    total = mask.transpose(0, 1).expand(len(values), -1, -1, -1)
    total = total.clone(memory_format=torch.contiguous_format).flatten(1)
    values = values.to(total.dtype) + total.index_select(1, places)
    return total.index_copy_(1, places, values).unflatten(1, (batch, n, n)).transpose(0, 1)


def _compute_dtype(states: Tensor) -> torch.dtype:
    """Return the type that attention on these states computes in."""
    device = states.device.type
    if torch.is_autocast_enabled(device):
        return torch.get_autocast_dtype(device)
    return states.dtype
