"""Fused attention in 16 bits whose backward pass runs in float32.

On CPUs the backward pass of torch's fused attention is slow in bfloat16: with a few dozen pieces
per sequence it takes 15 times as long as the forward pass, and six times as long as its own
float32 version.  So the forward pass stays torch's, and the backward pass runs in float32 on the
same numbers.  Its gradients are closer to the exact ones, and its memory still grows linearly with
the length (``python -m benchmarks.training``).
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor
from torch.autograd.function import once_differentiable

# Private operators of torch: the public function does not return the log-sum-exp of each row, which
# the backward operator needs.
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


def has_slow_gradients(query: Tensor, key: Tensor, value: Tensor, mask: Tensor | None) -> bool:
    """Whether torch's backward pass would be slow, and this module's computes the same gradients.

    Args:
        query: ``[batch, n_heads, n_queries, width]``.
        key: ``[batch, n_heads, n_keys, width]``.
        value: ``[batch, n_heads, n_keys, width]``.
        mask: boolean mask or additive bias, broadcastable to
            ``[batch, n_heads, n_queries, n_keys]``.
    """
    return (
        query.device.type == "cpu"
        and query.dtype in (torch.bfloat16, torch.float16)
        and query.dtype == key.dtype == value.dtype
        # The operators support neither grouped heads nor values of another width.
        and query.shape[1] == key.shape[1]
        and query.shape[-1] == value.shape[-1]
        and torch.is_grad_enabled()
        and any(part.requires_grad for part in (query, key, value))
        # The backward operator returns no gradient for the bias.
        and not (mask is not None and mask.requires_grad)
    )


def attend_with_float_gradients(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    mask: Tensor | None,
    *,
    causal: bool = False,
    scale: float | None = None,
) -> Tensor:
    """Compute scaled dot-product attention without dropout, with float32 gradients.

    Args:
        query: ``[batch, n_heads, n_queries, width]``.
        key: ``[batch, n_heads, n_keys, width]``.
        value: ``[batch, n_heads, n_keys, width]``.
        mask: boolean mask or additive bias, broadcastable to
            ``[batch, n_heads, n_queries, n_keys]``.
        causal: whether each position attends only to itself and earlier ones.
        scale: factor of the scores; 1/√width by default.

    Returns:
        ``[batch, n_heads, n_queries, width]``.
    """
    bias = mask
    if mask is not None and mask.dtype == torch.bool:
        # The operators read additive biases only.
        bias = torch.zeros_like(mask, dtype=query.dtype).masked_fill_(~mask, float("-inf"))
    elif mask is not None:
        bias = mask.to(query.dtype)
    scale = query.shape[-1] ** -0.5 if scale is None else scale
    states: Tensor = _FloatGradients.apply(query, key, value, bias, causal, scale)
    return states
