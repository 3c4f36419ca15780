"""Aggregate guided states H' with the encoder's states H (SG-Net section 3.3 and its ablations).

``dual``           ``αH + (1 − α)H'`` (eq. 4/9)
``learned``        ``γ(s₁H + s₂H')``; s is a softmax over two trained numbers, γ a trained scale
``concatenation``  linear map of ``[H; H']`` to the width of H
``bi_attention``   attention flow from H to H' and back (Seo et al. 2017), then such a linear map
``guided_only``    ``H'``
``vanilla_only``   ``H'`` of a layer without the ancestor mask: a control for its parameters

The linear maps are initialised to a mean: of H and H', or, for ``bi_attention``, of H and the
states of H' that it attends to.
"""

from __future__ import annotations

from typing import Literal

import torch
from torch import Tensor, nn

Aggregation = Literal[
    "dual", "learned", "concatenation", "bi_attention", "guided_only", "vanilla_only"
]


class Aggregator(nn.Module):
    """Aggregates two sequences of states.

    Args:
        kind: kind of aggregation, see the module docstring.
        width: width of the states.
        alpha: share of H in ``dual``.
    """

    def __init__(self, *, kind: Aggregation, width: int, alpha: float = 0.5) -> None:
        super().__init__()
        self.kind = kind
        self.alpha = alpha
        if kind == "learned":
            self.scalars = nn.Parameter(torch.zeros(2))
            self.scale = nn.Parameter(torch.ones(()))
        elif kind == "concatenation":
            self.project = nn.Linear(2 * width, width)
        elif kind == "bi_attention":
            self.similarity = nn.Linear(3 * width, 1, bias=False)
            self.project = nn.Linear(4 * width, width)
        self.reset()

    @torch.no_grad()
    def reset(self) -> None:
        """Initialise the linear map to the mean of its first two inputs."""
        if not hasattr(self, "project"):
            return
        width = self.project.out_features
        self.project.weight.zero_()
        self.project.weight[:, : 2 * width] = torch.eye(width).repeat(1, 2) / 2
        self.project.bias.zero_()

    def forward(self, plain: Tensor, guided: Tensor, attention_mask: Tensor) -> Tensor:
        """Aggregate both states.

        Args:
            plain: H, ``[batch, n, width]``.
            guided: H', ``[batch, n, width]``.
            attention_mask: 0 at padding, ``[batch, n]``.

        Returns:
            The states that the task reads, ``[batch, n, width]``.
        """
        if self.kind in ("guided_only", "vanilla_only"):
            return guided
        if self.kind == "dual":
            return self.alpha * plain + (1 - self.alpha) * guided
        if self.kind == "learned":
            share = self.scalars.softmax(0)
            return self.scale * (share[0] * plain + share[1] * guided)
        if self.kind == "concatenation":
            joined: Tensor = self.project(torch.cat([plain, guided], -1))
            return joined
        return self._bi_attention(plain, guided, attention_mask)

    def _bi_attention(self, plain: Tensor, guided: Tensor, attention_mask: Tensor) -> Tensor:
        """Let H and H' attend to each other (Seo et al. 2017, section 2, attention flow)."""
        width = plain.shape[-1]
        on_plain, on_guided, on_product = self.similarity.weight[0].split(width)
        # w·[h; h'; h∘h'] without building the n×n×3·width tensor: [batch, n, n]
        scores = (plain * on_product) @ guided.mT
        scores = scores + (plain @ on_plain).unsqueeze(2) + (guided @ on_guided).unsqueeze(1)
        padding = attention_mask == 0
        # The softmax is in float32, as in torch's fused attention.
        scores = scores.float().masked_fill(padding.unsqueeze(1), -torch.inf)
        to_guided = scores.softmax(-1).to(guided.dtype) @ guided
        best = scores.amax(-1).masked_fill(padding, -torch.inf).softmax(-1)
        to_plain = (best.unsqueeze(1).to(plain.dtype) @ plain).expand_as(plain)
        flow = torch.cat([plain, to_guided, plain * to_guided, plain * to_plain], -1)
        joined: Tensor = self.project(flow)
        return joined
