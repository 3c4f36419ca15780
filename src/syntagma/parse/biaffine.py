"""Score pairs of words (Dozat & Manning 2017, deep biaffine attention)."""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.nn import functional as F

__all__ = ["Biaffine", "SharedDropout"]

PAIRS = 512
"""Pairs that are scored together under many matrices."""


class SharedDropout(nn.Module):
    """Drop whole units: one mask for all positions of a sequence (Gal & Ghahramani 2016)."""

    def __init__(self, probability: float) -> None:
        super().__init__()
        self.probability = probability

    def forward(self, states: Tensor) -> Tensor:
        """``[batch, n, width]`` to the same."""
        if not self.training or self.probability == 0:
            return states
        mask = states.new_ones(states.shape[0], 1, states.shape[2])
        return states * F.dropout(mask, self.probability)


class Biaffine(nn.Module):
    """``score(i, j) = [x_i; 1]ᵀ U [y_j; 1]`` for each of ``n_scores`` matrices U.

    Args:
        width: of both inputs.
        n_scores: matrices.
    """

    def __init__(self, width: int, n_scores: int) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.zeros(n_scores, width + 1, width + 1))

    @staticmethod
    def _with_one(states: Tensor) -> Tensor:
        return F.pad(states, (0, 1), value=1.0)

    def all_pairs(self, left: Tensor, right: Tensor) -> Tensor:
        """Scores of every pair under the first matrix.

        Args:
            left: ``[batch, n, width]``.
            right: ``[batch, m, width]``.

        Returns:
            ``[batch, n, m]``.
        """
        return self._with_one(left) @ self.weight[0] @ self._with_one(right).mT

    def given_pairs(self, left: Tensor, right: Tensor) -> Tensor:
        """Scores of given pairs under every matrix.

        Args:
            left: ``[n, width]``.
            right: ``[n, width]``, the partner of each.

        Returns:
            ``[n, n_scores]``.
        """
        n_scores, width, _ = self.weight.shape
        table = self.weight.to(left.dtype).permute(1, 0, 2).reshape(width, -1)
        # A product, then a row-wise dot over [PAIRS, n_scores, width + 1].  In parts, because a
        # tensor of tens of megabytes costs more in fresh memory than the product itself.
        scores = [
            (part @ table).view(-1, n_scores, width) @ partner.unsqueeze(-1)
            for part, partner in zip(
                self._with_one(left).split(PAIRS), self._with_one(right).split(PAIRS), strict=True
            )
        ]
        return torch.cat(scores).squeeze(-1)
