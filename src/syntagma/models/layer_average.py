"""A learned average of the layers of an encoder."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor, nn

SCALE = 10.0
"""Logits per unit of a parameter: a learning rate that suits a classifier is slow for a softmax."""


class LayerAverage(nn.Module):
    """Averages the states of all layers, with weights that are learned and add up to 1.

    The top layer of many encoders is made for what they were trained on last, such as the meaning
    of whole sentences; word order and inflection are read more easily below it.

    The source is Peters et al. 2018 ("Deep contextualized word representations", equation 1),
    without its factor γ, since a linear layer follows.

    Args:
        n_layers: number of states, those of the embeddings included.
    """

    def __init__(self, n_layers: int) -> None:
        super().__init__()
        self.logits = nn.Parameter(torch.zeros(n_layers))

    def forward(self, states: Sequence[Tensor]) -> Tensor:
        """Average the states.

        Args:
            states: of each layer, the embeddings first, all of the same shape.
        """
        weights = (SCALE * self.logits.float()).softmax(0).to(states[0].dtype)
        average = states[0] * weights[0]
        for state, weight in zip(states[1:], weights[1:], strict=True):
            average = torch.addcmul(average, state, weight)
        return average
