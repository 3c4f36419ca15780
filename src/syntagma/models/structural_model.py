"""Structural probes, which find trees in the geometry of frozen states (Hewitt & Manning 2019).

A linear map is trained so that the squared distance of two words approximates their distance in the
tree, or the squared norm of a word its depth.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import torch
from torch import Tensor, nn
from transformers.utils import ModelOutput

from syntagma.encoders.config import SyntagmaConfig
from syntagma.errors import InputError
from syntagma.models.guided_encoder import GuidedEncoder
from syntagma.settings import require_at_least


@dataclass(frozen=True)
class StructuralHead:
    """Settings of a structural probe.

    Args:
        kind: ``distance`` between words, or ``depth`` of words.
        rank: rank of the linear map.
        states: ``hidden`` states, or ``embeddings`` of the pieces, a control without context.
        layer: number of the encoder's layer whose states are read, from 1; by default the states
            that a task reads, after all guides.
        max_length: tokens per sentence, with special tokens; longer sentences are skipped in
            training, and no tree is found for them.
    """

    kind: Literal["distance", "depth"] = "distance"
    rank: int = 128
    states: Literal["hidden", "embeddings"] = "hidden"
    layer: int | None = None
    max_length: int = 256

    def __post_init__(self) -> None:
        require_at_least(self, 1, "rank", "layer")
        require_at_least(self, 4, "max_length")
        if self.layer is not None and self.states == "embeddings":
            raise InputError(
                f"states: expected hidden with layer {self.layer}, got embeddings; omit one of them"
            )


@dataclass
class StructuralScores(ModelOutput):  # type: ignore[misc]
    """Output of the probe for a batch of sentences.

    Args:
        loss: mean over sentences of the mean absolute error, if targets were given.
        values: squared distances, ``[batch, n, n]``, or squared norms, ``[batch, n]``.
    """

    loss: Tensor | None = None
    values: Tensor = None  # type: ignore[assignment]


class StructuralModel(GuidedEncoder):
    """A frozen guided encoder, and a linear map of its word states."""

    head_class = StructuralHead
    head: StructuralHead

    def __init__(self, config: SyntagmaConfig) -> None:
        super().__init__(config)
        self.projection = nn.Linear(config.encoder.hidden_size, self.head.rank, bias=False)
        self.post_init()
        for name, parameter in self.named_parameters():
            parameter.requires_grad_(name.startswith("projection."))

    def piece_states(self, input_ids: Tensor, attention_mask: Tensor, **tensors: Any) -> Tensor:
        """Compute the states that are probed.

        Args:
            input_ids: ``[batch, n]``.
            attention_mask: 0 at padding, ``[batch, n]``.
            tensors: token types and syntax, see :meth:`GuidedEncoder.encode`.

        Returns:
            ``[batch, n, width]``.
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
        """Compute squared distances or norms of words.

        Args:
            words: states of words, ``[batch, n, width]``.
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
        return StructuralScores(loss=loss, values=values)
