"""Fused attention on CPUs whose backward pass runs in float32, for 16 bits and for learned biases.

On CPUs the backward pass of torch's fused attention is slow in bfloat16: with a few dozen pieces
per sequence it takes 15 times as long as the forward pass, and six times as long as its own
float32 version.  So the forward pass stays torch's, and the backward pass runs in float32 on the
same numbers.  Its gradients are closer to the exact ones, and its memory still grows linearly with
the length (``python -m benchmarks.training``).

For an additive bias with gradients, torch does not use fused attention at all.  Here the forward
pass stays fused, so that a bias of zeros changes no bit, and the weights are computed again in the
backward pass, one sequence at a time.  That is a little faster too (``python -m
benchmarks.guides``).
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
        if context.needs_input_grad[3]:
            found = _with_bias(gradient, *context.saved_tensors, scale=context.scale)
            return (*found, None, None)
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


def _with_bias(
    gradient: Tensor,
    query: Tensor,
    key: Tensor,
    value: Tensor,
    bias: Tensor,
    states: Tensor,
    log_sums: Tensor,
    *,
    scale: float,
) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """Return the gradients of query, key, value and bias."""
    of_query, of_key, of_value = map(torch.empty_like, (query, key, value))
    dense = bias.expand(*query.shape[:-1], key.shape[-2])
    # Summed in float32 if several scores have the same bias.
    of_bias = torch.empty(
        dense.shape, dtype=bias.dtype if bias.shape == dense.shape else torch.float32
    )
    for row, parts in enumerate(zip(query, key, value, states, gradient, strict=True)):
        q, k, v, out, grad = (part.float() for part in parts)  # [n_heads, n, width]
        q = q * scale
        scores = torch.baddbmm(dense[row].float(), q, k.mT)
        weights = scores.sub_(log_sums[row].float().unsqueeze(-1)).exp_()
        of_value[row] = weights.mT @ grad
        # The gradient of the scores: P ∘ (dO·Vᵀ − rowsum(dO ∘ O)).
        through = torch.baddbmm((grad * out).sum(-1, keepdim=True), grad, v.mT, beta=-1)
        of_scores = weights.mul_(through)
        of_query[row] = (of_scores @ k).mul_(scale)
        of_key[row] = of_scores.mT @ q
        of_bias[row] = of_scores
    return of_query, of_key, of_value, of_bias.sum_to_size(bias.shape).to(bias.dtype)


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
        and query.dtype in (torch.float32, torch.bfloat16, torch.float16)
        and query.dtype == key.dtype == value.dtype
        # The operators support neither grouped heads nor values of another width.
        and query.shape[1] == key.shape[1]
        and query.shape[-1] == value.shape[-1]
        and torch.is_grad_enabled()
        and any(part.requires_grad for part in (query, key, value))
        and (query.dtype != torch.float32 or (mask is not None and mask.requires_grad))
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
