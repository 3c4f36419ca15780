"""Scaled dot-product attention for guides and for the encoders of Transformers.

It is torch's, except that gradients in 16 bits on CPUs come from
:mod:`syntagma.encoders.cpu.attention`, and that on GPUs one backend is avoided.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional as F
from torch.nn.attention import SDPBackend, sdpa_kernel
from transformers import AttentionInterface, AttentionMaskInterface
from transformers.integrations.sdpa_attention import sdpa_attention_forward
from transformers.masking_utils import sdpa_mask

from syntagma.encoders.cpu.attention import attend_with_float_gradients, has_slow_gradients

NAME = "syntagma"
"""Name of this attention among the implementations registered with Transformers."""


@contextmanager
def _masked_kernels(device: torch.device) -> Iterator[None]:
    """Exclude cuDNN's attention: it is wrong with boolean masks.

    For some lengths its gradients are NaN (https://github.com/pytorch/pytorch/issues/196678).
    """
    if device.type != "cuda":
        yield
        return
    with sdpa_kernel([SDPBackend.EFFICIENT_ATTENTION, SDPBackend.MATH]):
        yield


def attend(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    mask: Tensor,
    *,
    bias: Tensor | None = None,
    scale: float | None = None,
    dropout_prob: float = 0.0,
) -> Tensor:
    """Compute scaled dot-product attention under a boolean mask.

    Args:
        query: ``[batch, n_heads, n, width]``.
        key: ``[batch, n_heads, n, width]``.
        value: ``[batch, n_heads, n, width]``.
        mask: true where a row may attend to a column; broadcastable to ``[batch, n_heads, n, n]``.
            Every row must be allowed at least one column.
        bias: added to the scores; broadcastable to ``[batch, n_heads, n, n]``.
        scale: factor of the products of queries and keys; 1/√width by default.
        dropout_prob: dropout probability of attention weights.

    Returns:
        ``[batch, n_heads, n, width]``.
    """
    if bias is not None:
        mask = bias.to(query.dtype).masked_fill(~mask, -torch.inf)
    if not dropout_prob and has_slow_gradients(query, key, value, mask):
        return attend_with_float_gradients(query, key, value, mask, scale=scale)
    with _masked_kernels(query.device):
        return F.scaled_dot_product_attention(
            query, key, value, attn_mask=mask, dropout_p=dropout_prob, scale=scale
        )


def _encoder_attention(
    module: nn.Module,
    query: Tensor,
    key: Tensor,
    value: Tensor,
    attention_mask: Tensor | None,
    dropout: float = 0.0,
    scaling: float | None = None,
    is_causal: bool | None = None,
    **options: Any,
) -> tuple[Tensor, None]:
    """The attention function that layers of Transformers call; same contract as its ``sdpa``."""
    # The same rules as in `sdpa_attention_forward`: a mask already includes causality, and a single
    # query (generation step by step) may attend to all keys.
    if is_causal is None:
        is_causal = getattr(module, "is_causal", True)
    causal = is_causal and attention_mask is None and query.shape[2] > 1
    # Leave everything else that changes the scores or the keys to Transformers.
    extras = any(options.get(name) is not None for name in ("position_bias", "cache", "softcap"))
    if (
        not extras
        and not dropout
        and not (causal and query.shape[2] != key.shape[2])
        and has_slow_gradients(query, key, value, attention_mask)
    ):
        states = attend_with_float_gradients(
            query, key, value, attention_mask, causal=causal, scale=scaling
        )
        return states.transpose(1, 2).contiguous(), None
    with _masked_kernels(query.device) if attention_mask is not None else nullcontext():
        return sdpa_attention_forward(
            module,
            query,
            key,
            value,
            attention_mask,
            dropout=dropout,
            scaling=scaling,
            is_causal=is_causal,
            **options,
        )


def _register() -> None:
    """Make this attention known to Transformers; done on first use, not by an import."""
    # An implementation that Transformers does not know needs a mask function too: without one,
    # layers would receive no mask at all.
    AttentionInterface.register(NAME, _encoder_attention)
    AttentionMaskInterface.register(NAME, sdpa_mask)


def use_attention(encoder: nn.Module) -> None:
    """Let an encoder of Transformers use this module's attention in place of ``sdpa``.

    Args:
        encoder: changed only if its attention implementation is ``sdpa``.
    """
    # A private attribute: Transformers has no public one that returns the implementation in use.
    if getattr(encoder.config, "_attn_implementation", None) == "sdpa":
        _register()
        encoder.set_attn_implementation(NAME)  # type: ignore[operator]
