"""Make the states of a text independent of the padding after it, and so of its batch.

The mask of an encoder keeps attention from padding.  Some encoders mix neighbours in by other ways,
which read padding as text.  Where zeros in its place are what follows the last piece of a text on
its own, hooks put them there.
"""

from __future__ import annotations

import inspect
from typing import Any

import torch
from torch import Tensor, nn

STILL_READ = frozenset("canine funnel nystromformer yoso".split())
"""Encoders with a mask for attention, but none for their convolutions, pooling or landmarks."""


def hide_padding(encoder: nn.Module) -> bool:
    """Hide padding from an encoder, where hooks can do that.

    Args:
        encoder: a new encoder, which is changed.

    Returns:
        Whether its states are independent of padding.
    """
    config: Any = encoder.config
    if config.model_type == "mobilebert" and config.trigram_input:
        encoder.register_forward_pre_hook(_embed_without_padding, with_kwargs=True)
    if config.model_type == "convbert":
        for layer in encoder.get_submodule("encoder.layer").children():
            attention = layer.get_submodule("attention.self")
            attention.register_forward_pre_hook(_without_padding, with_kwargs=True)
            attention.get_submodule("conv_out_layer").register_forward_hook(_zeros_stay)
    has_mask = "attention_mask" in inspect.signature(encoder.forward).parameters
    return has_mask and config.model_type not in STILL_READ


def _embed_without_padding(
    encoder: nn.Module, inputs: tuple[Any, ...], options: dict[str, Any]
) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """Embed the pieces: MobileBERT embeds each together with those on its left and right."""
    mask, pieces = options.get("attention_mask"), options.get("input_ids")
    if mask is None or pieces is None:
        return inputs, options
    vectors: Tensor = encoder.get_input_embeddings()(pieces)  # type: ignore[operator]
    rest = {name: value for name, value in options.items() if name != "input_ids"}
    hidden = vectors.masked_fill((mask == 0).unsqueeze(-1), 0.0)
    return inputs, {**rest, "inputs_embeds": hidden}


def _without_padding(
    _: nn.Module, inputs: tuple[Any, ...], options: dict[str, Any]
) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """Replace the states of padding by zeros, in the input of ConvBERT's attention."""
    states, *others = inputs
    mask = others[0] if others else options.get("attention_mask")
    if mask is None:
        return inputs, options
    keys = mask[:, 0, 0]  # Every query of every head may attend to the same keys.
    seen = keys if keys.dtype == torch.bool else keys > torch.finfo(keys.dtype).min / 2
    return (states.masked_fill(~seen.unsqueeze(-1), 0.0), *others), options


def _zeros_stay(_: nn.Module, inputs: tuple[Any, ...], output: Tensor) -> Tensor:
    """Leave zeros, which stand for padding, without the bias of a linear map."""
    return output.masked_fill((inputs[0] == 0).all(-1, keepdim=True), 0.0)
