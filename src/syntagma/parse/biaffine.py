"""Biaffine scores of word pairs (deep biaffine attention, Dozat & Manning 2017)."""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from syntagma.encoders.cpu.derived import DerivedLinear
from syntagma.encoders.cpu.linear import missing_rows

PAIRS_PER_STEP = 512
"""Number of pairs that are scored in one step by :meth:`Biaffine.given_pairs`."""


class SharedDropout(nn.Module):
    """Dropout with one mask for all positions of a sequence (Gal & Ghahramani 2016).

    Args:
        probability: probability of dropping a unit.
    """

    def __init__(self, probability: float) -> None:
        super().__init__()
        self.probability = probability

    def forward(self, states: Tensor) -> Tensor:
        """Apply dropout.

        Args:
            states: ``[batch, n, width]``.

        Returns:
            ``[batch, n, width]``.
        """
        if not self.training or self.probability == 0:
            return states
        mask = states.new_ones(states.shape[0], 1, states.shape[2])
        return states * F.dropout(mask, self.probability)


class Biaffine(DerivedLinear):
    """Compute ``score(i, j) = [x_i; 1]ᵀ U [y_j; 1]`` for each of ``n_scores`` matrices U.

    Args:
        width: width of both inputs.
        n_scores: number of matrices.
    """

    def __init__(self, width: int, n_scores: int) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.zeros(n_scores, width + 1, width + 1))

    def matrix(self) -> Tensor:
        """Return the matrix that maps ``[x; 1]`` to ``[x; 1]ᵀ U`` for all of U, one below another.

        Returns:
            ``[n_scores · (width + 1), width + 1]``.
        """
        return self.weight.transpose(1, 2).reshape(-1, self.weight.shape[1])

    def origin(self) -> nn.Parameter:
        """Return the matrices U."""
        return self.weight

    @staticmethod
    def _append_one(states: Tensor) -> Tensor:
        # The constant 1 turns the last row and column of U into bias terms.
        return F.pad(states, (0, 1), value=1.0)

    def all_pairs(self, left: Tensor, right: Tensor) -> Tensor:
        """Score every pair under the first matrix.

        Args:
            left: ``[batch, n, width]``.
            right: ``[batch, m, width]``.

        Returns:
            In float32, ``[batch, n, m]``.
        """
        multiply = self.multiplication(left.dtype)
        mapped = multiply(self._append_one(left))[..., : self.weight.shape[2]]
        # 16 bits would give many scores the same value, and ties decide trees.
        with torch.autocast(left.device.type, enabled=False):
            return mapped.float() @ self._append_one(right.float()).mT

    def given_pairs(self, left: Tensor, right: Tensor) -> Tensor:
        """Score given pairs under every matrix.

        Args:
            left: first member of each pair, ``[n, width]``.
            right: second member of each pair, ``[n, width]``.

        Returns:
            ``[n, n_scores]``.
        """
        n_scores, width, _ = self.weight.shape
        multiply = self.multiplication(left.dtype)
        # One matrix product, then a dot product per row over [pairs, n_scores, width + 1].  In
        # steps, because allocating a tensor of tens of megabytes costs more than the product.
        rows = (0, 1, 0, missing_rows(left))  # The column is that of _append_one.
        scores = [
            multiply(x).view(len(x), n_scores, width) @ y.unsqueeze(-1)
            for x, y in zip(
                F.pad(left, rows, value=1.0).split(PAIRS_PER_STEP),
                F.pad(right, rows, value=1.0).split(PAIRS_PER_STEP),
                strict=True,
            )
        ]
        return torch.cat(scores)[: len(left)].squeeze(-1)
