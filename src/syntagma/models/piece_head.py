"""The head of a masked language model, which scores the pieces of the vocabulary."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Self

import torch
from torch import Tensor, nn
from torch.nn import functional as F
from transformers import PretrainedConfig
from transformers.activations import ACT2FN

from syntagma.encoders.sites import embedding_width
from syntagma.models.ancestor_attention import ACTIVATIONS

NORM_EPS = ("layer_norm_eps", "norm_eps", "layer_norm_epsilon")
"""Configuration keys of the epsilon of norms."""


class PieceHead(nn.Module):
    """A dense layer, an activation, a norm, and a product with the encoder's embeddings.

    Args:
        width: width of the states.
        embedding_width: width of the embeddings.
        n_pieces: size of the vocabulary.
        activation: Transformers' name of the activation.
        norm_eps: epsilon of the norm.
    """

    def __init__(
        self,
        *,
        width: int,
        embedding_width: int,
        n_pieces: int,
        activation: str = "gelu",
        norm_eps: float = 1e-12,
    ) -> None:
        super().__init__()
        self.dense = nn.Linear(width, embedding_width)
        self.activation = ACT2FN[activation]
        self.norm = nn.LayerNorm(embedding_width, eps=norm_eps)
        self.bias = nn.Parameter(torch.zeros(n_pieces))

    @classmethod
    def build(cls, encoder: PretrainedConfig) -> Self:
        """Build a head for an encoder.

        Args:
            encoder: the encoder's configuration.
        """
        names = ("classifier_activation", *ACTIVATIONS)
        named = (getattr(encoder, name, None) for name in names)
        eps = (getattr(encoder, name, None) for name in NORM_EPS)
        return cls(
            width=encoder.hidden_size,
            embedding_width=embedding_width(encoder),
            n_pieces=encoder.vocab_size,
            activation=next((str(name) for name in named if name), "gelu"),
            norm_eps=next((float(value) for value in eps if value), 1e-12),
        )

    def start_from(self, weights: Mapping[str, Tensor]) -> None:
        """Load a pretrained head; biases that it lacks become zero.

        Args:
            weights: weights from :func:`syntagma.encoders.lm_heads.lm_head_weights`, or none.
        """
        if weights:
            nn.init.zeros_(self.dense.bias)
            nn.init.zeros_(self.norm.bias)
        self.load_state_dict(weights, strict=False)

    def forward(self, states: Tensor, piece_vectors: Tensor) -> Tensor:
        """Score all pieces of the vocabulary.

        Args:
            states: ``[n_states, width]``.
            piece_vectors: the encoder's embeddings, ``[n_pieces, embedding_width]``.

        Returns:
            Logits, ``[n_states, n_pieces]``.
        """
        hidden = self.norm(self.activation(self.dense(states)))
        return F.linear(hidden, piece_vectors, self.bias)
