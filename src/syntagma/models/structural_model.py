"""Structural probes: trees in the geometry of frozen states (Hewitt & Manning 2019).

A linear map is learnt under which the squared distance of two words is their distance in the tree,
or the squared length of a word is its depth.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

import torch
from torch import Tensor, nn

from syntagma.encoders.config import SyntagmaConfig
from syntagma.errors import InputError
from syntagma.models.guided_encoder import GuidedEncoder


@dataclass(frozen=True)
class StructuralHead:
    """Settings of a structural probe.

    Args:
        kind: ``distance`` between words, or ``depth`` of words.
        rank: of the linear map.
        states: ``hidden`` ones, or ``embeddings`` of the pieces, which know nothing of the
            sentence: the control.
        layer: of the encoder, from 1, whose hidden states are read; without one they are those that
            a task reads, behind all guides.
        max_length: pieces of a sentence, special ones included. Of longer sentences nothing is
            learnt, and nothing is found in them.
    """

    kind: Literal["distance", "depth"] = "distance"
    rank: int = 128
    states: Literal["hidden", "embeddings"] = "hidden"
    layer: int | None = None
    max_length: int = 256

    def __post_init__(self) -> None:
        if self.rank < 1:
            raise InputError(f"rank must be at least 1, got {self.rank}")
        if self.layer is not None and self.layer < 1:
            raise InputError(f"layer is one of the encoder's, from 1, got {self.layer}")
        if self.layer is not None and self.states == "embeddings":
            raise InputError(
                f"layer {self.layer} leaves hidden states; leave out states: embeddings"
            )


class StructuralScores(NamedTuple):
    """What the probe sees in a batch of sentences.

    Args:
        values: squared distances, ``[batch, n, n]``, or squared lengths, ``[batch, n]``.
        loss: where targets were given: the mean over sentences of the mean absolute error.
    """

    values: Tensor
    loss: Tensor | None


class StructuralModel(GuidedEncoder):
    """A frozen encoder with its guides, and a linear map of the states of its words."""

    head_class = StructuralHead
    head: StructuralHead

    def __init__(self, config: SyntagmaConfig) -> None:
        super().__init__(config)
        self.projection = nn.Linear(config.encoder.hidden_size, self.head.rank, bias=False)
        self.post_init()
        for name, parameter in self.named_parameters():
            parameter.requires_grad_(name.startswith("projection."))

    def piece_states(self, input_ids: Tensor, attention_mask: Tensor, **tensors: Any) -> Tensor:
        """What is probed, ``[batch, n, width]``.

        Args:
            input_ids: ``[batch, n]``.
            attention_mask: ``[batch, n]``.
            tensors: token types and syntax, see :meth:`GuidedEncoder.encode`.
        """
        if self.head.states == "embeddings":
            states: Tensor = self.get_input_embeddings()(input_ids)
            return states
        if self.head.layer is not None:
            return self.states_after(self.head.layer, input_ids, attention_mask, **tensors)
        return self.encode(input_ids, attention_mask, **tensors).last_hidden_state

    def forward(  # type: ignore[override]
        self, words: Tensor, inside: Tensor, targets: Tensor | None = None
    ) -> StructuralScores:
        """Measure words.

        Args:
            words: their states, ``[batch, n, width]``.
            inside: false at padding, ``[batch, n]``.
            targets: tree distances, ``[batch, n, n]``, or depths, ``[batch, n]``.
        """
        places = self.projection(words).float()
        if self.head.kind == "distance":
            values = (places.unsqueeze(2) - places.unsqueeze(1)).pow(2).sum(-1)
            counted = inside.unsqueeze(2) & inside.unsqueeze(1)
        else:
            values, counted = places.pow(2).sum(-1), inside
        loss = None
        if targets is not None:
            errors = torch.where(counted, (values - targets).abs(), 0.0).flatten(1).sum(1)
            loss = (errors / counted.flatten(1).sum(1).clamp(min=1)).mean()
        return StructuralScores(values, loss)
