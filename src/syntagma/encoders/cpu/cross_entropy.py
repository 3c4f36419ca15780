"""Cross-entropy over many classes: little memory, and few passes over the scores."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor
from torch.autograd.function import once_differentiable

__all__ = ["cross_entropy"]

ON_PROCESSOR = 2**18
ELSEWHERE = 2**26
"""Scores that are computed with at once: what stays in a processor's cache, or fills a GPU."""


def cross_entropy(scores: Tensor, targets: Tensor, *, smoothing: float = 0.0) -> Tensor:
    """The mean of what :func:`torch.nn.functional.cross_entropy` gives, computed in float32.

    It keeps the scores as they are and a number a row for the gradients, where torch keeps their
    logarithms in float32 too, and goes through them twice instead of six times.

    Args:
        scores: of any precision, ``[n, n_classes]``, n at least 1.
        targets: the right classes, ``[n]``.
        smoothing: the share that is spread over all classes.
    """
    loss: Tensor = _CrossEntropy.apply(scores, targets, smoothing)  # type: ignore[no-untyped-call]
    return loss


class _CrossEntropy(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, scores: Tensor, targets: Tensor, smoothing: float) -> Tensor:
        rows = _rows_at_once(scores)
        totals, losses = [], []
        for some, right in zip(scores.split(rows), targets.split(rows), strict=True):
            values = some.float()
            totals.append(values.logsumexp(-1))
            loss = totals[-1] - (1 - smoothing) * values.gather(1, right.unsqueeze(1)).squeeze(1)
            losses.append(loss - smoothing * values.mean(-1) if smoothing else loss)
        ctx.save_for_backward(scores, targets, torch.cat(totals))
        ctx.smoothing = smoothing
        return torch.cat(losses).mean()

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor, None, None]:
        scores, targets, totals = ctx.saved_tensors
        found = torch.empty_like(scores)
        rows, (n, n_classes) = _rows_at_once(scores), scores.shape
        parts = (part.split(rows) for part in (scores, targets, totals, found))
        for some, right, total, place in zip(*parts, strict=True):
            values = (some.float() - total.unsqueeze(1)).exp_()
            if ctx.smoothing:
                values -= ctx.smoothing / n_classes
            values[torch.arange(len(right), device=right.device), right] -= 1 - ctx.smoothing
            place.copy_(values.mul_(gradient / n))
        return found, None, None


def _rows_at_once(scores: Tensor) -> int:
    room = ON_PROCESSOR if scores.device.type == "cpu" else ELSEWHERE
    return max(1, room // scores.shape[1])
