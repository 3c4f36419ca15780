"""Cross-entropy over many classes with little memory and few passes over the scores.

For the gradients torch keeps the log-probabilities in float32, as large as a vocabulary times the
batch.  Here the scores themselves are kept, and one number per row; they are read twice in place of
six times.  Blocks of rows that fit into a CPU's cache make it fast; it works on any device.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor
from torch.autograd.function import once_differentiable

CPU_BLOCK = 2**18
OTHER_BLOCK = 2**26
"""Number of scores computed at once: as many as stay in a CPU's cache, or as fill a GPU."""


def cross_entropy(scores: Tensor, targets: Tensor, *, smoothing: float = 0.0) -> Tensor:
    """Compute the mean cross-entropy in float32, as :func:`torch.nn.functional.cross_entropy` does.

    Args:
        scores: logits in any precision, ``[n, n_classes]``, with n of at least 1.
        targets: gold classes, ``[n]``.
        smoothing: share of the probability that is spread over all classes (label smoothing).

    Returns:
        The loss, a scalar.
    """
    loss: Tensor = _CrossEntropy.apply(scores, targets, smoothing)  # type: ignore[no-untyped-call]
    return loss


class _CrossEntropy(torch.autograd.Function):
    """Cross-entropy whose gradients are computed from the scores and their log-sum-exp."""

    @staticmethod
    def forward(ctx: Any, scores: Tensor, targets: Tensor, smoothing: float) -> Tensor:
        rows = _block_rows(scores)
        totals, losses = [], []
        for block, gold in zip(scores.split(rows), targets.split(rows), strict=True):
            values = block.float()
            totals.append(values.logsumexp(-1))
            loss = totals[-1] - (1 - smoothing) * values.gather(1, gold.unsqueeze(1)).squeeze(1)
            # Without smoothing, scores of minus infinity would make 0 · mean not a number.
            losses.append(loss - smoothing * values.mean(-1) if smoothing else loss)
        ctx.save_for_backward(scores, targets, torch.cat(totals))
        ctx.smoothing = smoothing
        return torch.cat(losses).mean()

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor, None, None]:
        scores, targets, totals = ctx.saved_tensors
        gradients = torch.empty_like(scores)
        rows, (n, n_classes) = _block_rows(scores), scores.shape
        parts = (part.split(rows) for part in (scores, targets, totals, gradients))
        for block, gold, total, place in zip(*parts, strict=True):
            # Softmax minus the (smoothed) target distribution.
            values = (block.float() - total.unsqueeze(1)).exp_()
            if ctx.smoothing:
                values -= ctx.smoothing / n_classes
            values[torch.arange(len(gold), device=gold.device), gold] -= 1 - ctx.smoothing
            place.copy_(values.mul_(gradient / n))
        return gradients, None, None


def _block_rows(scores: Tensor) -> int:
    """Return how many rows are computed at once."""
    size = CPU_BLOCK if scores.device.type == "cpu" else OTHER_BLOCK
    return max(1, size // scores.shape[1])
