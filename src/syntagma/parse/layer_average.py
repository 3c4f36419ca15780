"""The layers of an encoder, and a learned average of them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor, nn

from syntagma.errors import InputError

SCALE = 10.0
"""Logits per unit of a parameter: a learning rate that suits a classifier is slow for a softmax."""


class LayerAverage(nn.Module):
    """Averages the states of all layers, with weights that are learned and add up to 1.

    The top layer of many encoders is made for what they were trained on last, such as the meaning
    of whole sentences; syntax is often easier to read in the layers below it.

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


def layers_of(encoder: Any, output: Any) -> tuple[Tensor, ...]:
    """Return the states of all layers of an encoder, the embeddings first.

    Args:
        encoder: the encoder.
        output: of its forward pass with ``output_hidden_states``.

    Raises:
        InputError: it does not return them, or not one of each piece and layer.
    """
    layers: tuple[Tensor, ...] = getattr(output, "hidden_states", None) or ()
    complete = len(layers) == 1 + int(encoder.config.num_hidden_layers)
    # Comparing lengths while torch records an export would fix them in it.
    if complete and not torch.compiler.is_compiling():
        complete = len({states.shape for states in layers}) == 1
    if not complete:
        raise InputError(
            f"an encoder of type {encoder.config.model_type!r} does not give the states of each "
            f"piece in each layer; set head.layers and head.morphology_layer to top"
        )
    return layers
