"""Attention with gradients that are fast on processors too.

On processors the backward half of torch's fused kernel is slow in bfloat16: with a few dozen pieces
a row it takes 15 times as long as the forward half, and six times as long as its own float32
version.  So the forward half runs as torch has it, and the backward half in float32 on the same
numbers; its gradients are nearer to the exact ones, and its memory still grows with the length, not
with its square (``python -m benchmarks.training``).
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from typing import Any

import torch
from torch import Tensor, nn
from torch.autograd.function import once_differentiable
from torch.nn import functional as F
from torch.nn.attention import SDPBackend, sdpa_kernel
from transformers import AttentionInterface, AttentionMaskInterface
from transformers.integrations.sdpa_attention import sdpa_attention_forward
from transformers.masking_utils import sdpa_mask

__all__ = ["attend", "use_fast_gradients"]

NAME = "syntagma"
"""Of this attention among those of Transformers."""

_forward = torch.ops.aten._scaled_dot_product_flash_attention_for_cpu
_backward = torch.ops.aten._scaled_dot_product_flash_attention_for_cpu_backward


class _FloatGradients(torch.autograd.Function):
    """Fused attention in the precision of its inputs, differentiated in float32."""

    @staticmethod
    def forward(
        context: Any,
        query: Tensor,
        key: Tensor,
        value: Tensor,
        bias: Tensor | None,
        causal: bool,
        scale: float,
    ) -> Tensor:
        states, log_sums = _forward(query, key, value, 0.0, causal, attn_mask=bias, scale=scale)
        context.save_for_backward(query, key, value, bias, states, log_sums)
        context.causal, context.scale = causal, scale
        return states

    @staticmethod
    @once_differentiable
    def backward(context: Any, gradient: Tensor) -> tuple[Tensor | None, ...]:
        *inputs, bias, states, log_sums = context.saved_tensors
        gradients = _backward(
            gradient.float(),
            *(part.float() for part in inputs),
            states.float(),
            log_sums,
            0.0,
            context.causal,
            attn_mask=None if bias is None else bias.float(),
            scale=context.scale,
        )
        dtype = inputs[0].dtype
        return (*(part.to(dtype) for part in gradients), None, None, None)


def _has_slow_gradients(query: Tensor, key: Tensor, value: Tensor, mask: Tensor | None) -> bool:
    return (
        query.device.type == "cpu"
        and query.dtype in (torch.bfloat16, torch.float16)
        and query.dtype == key.dtype == value.dtype
        and query.shape[1] == key.shape[1]
        and query.shape[-1] == value.shape[-1]
        and torch.is_grad_enabled()
        and any(part.requires_grad for part in (query, key, value))
        and not (mask is not None and mask.requires_grad)
    )


def _with_float_gradients(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    mask: Tensor | None,
    *,
    causal: bool = False,
    scale: float | None = None,
) -> Tensor:
    bias = mask
    if mask is not None and mask.dtype == torch.bool:
        bias = torch.zeros_like(mask, dtype=query.dtype).masked_fill_(~mask, float("-inf"))
    elif mask is not None:
        bias = mask.to(query.dtype)
    scale = query.shape[-1] ** -0.5 if scale is None else scale
    states: Tensor = _FloatGradients.apply(query, key, value, bias, causal, scale)
    return states


@contextmanager
def _masked_kernels(device: torch.device) -> Iterator[None]:
    """Kernels that are right with a boolean mask.

    cuDNN's gives NaN gradients for some lengths (https://github.com/pytorch/pytorch/issues/196678).
    """
    if device.type != "cuda":
        yield
        return
    with sdpa_kernel([SDPBackend.EFFICIENT_ATTENTION, SDPBackend.MATH]):
        yield


def attend(
    query: Tensor, key: Tensor, value: Tensor, mask: Tensor, *, dropout_prob: float = 0.0
) -> Tensor:
    """Scaled dot-product attention under a boolean mask.

    Args:
        query: ``[batch, n_heads, n, width]``.
        key: the same.
        value: the same.
        mask: true where a row may attend to a column; broadcasts to ``[batch, n_heads, n, n]``.
            Every row must be allowed at least one column.
        dropout_prob: of the weights.

    Returns:
        ``[batch, n_heads, n, width]``.
    """
    if not dropout_prob and _has_slow_gradients(query, key, value, mask):
        return _with_float_gradients(query, key, value, mask)
    with _masked_kernels(query.device):
        return F.scaled_dot_product_attention(
            query, key, value, attn_mask=mask, dropout_p=dropout_prob
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
    """What an encoder of Transformers calls in each layer; its own attention where that is fast."""
    if is_causal is None:
        is_causal = getattr(module, "is_causal", True)
    causal = is_causal and attention_mask is None and query.shape[2] > 1
    # Whoever hands on a bias, a cache or a cap means something that is not done here.
    extras = any(options.get(name) is not None for name in ("position_bias", "cache", "softcap"))
    if (
        not extras
        and not dropout
        and not (causal and query.shape[2] != key.shape[2])
        and _has_slow_gradients(query, key, value, attention_mask)
    ):
        states = _with_float_gradients(
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


AttentionInterface.register(NAME, _encoder_attention)
AttentionMaskInterface.register(NAME, sdpa_mask)


def use_fast_gradients(encoder: nn.Module) -> None:
    """Let an encoder of Transformers attend through this module, where it attends through torch.

    Args:
        encoder: one whose attention is set to ``sdpa``; another is left as it is.
    """
    if getattr(encoder.config, "_attn_implementation", None) == "sdpa":
        encoder.set_attn_implementation(NAME)  # type: ignore[operator]
