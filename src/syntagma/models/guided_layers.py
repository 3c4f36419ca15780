"""SG-Net as a guide after the last layer: guided layers, and the aggregation of their states."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from math import exp
from typing import Any, Literal, Self

from torch import Tensor, nn
from transformers import PretrainedConfig

from syntagma.encoders.sites import SITES, find_sites
from syntagma.errors import InputError
from syntagma.models.aggregation import Aggregation, Aggregator
from syntagma.models.ancestor_attention import (
    AncestorAttentionLayer,
    can_copy,
    copy_layer,
    layer_like,
)
from syntagma.models.guide import FirstPiece, StateGuide, Syntax
from syntagma.syntax.ancestors import ancestor_mask
from syntagma.syntax.pieces import PieceMode


@dataclass(frozen=True)
class AncestorAttention:
    """SG-Net: attention restricted to a word's ancestors, after the last layer.

    Args:
        pieces: rule for transferring the tree to pieces (:mod:`syntagma.syntax.pieces`).
        aggregation: how guided states are aggregated with the encoder's
            (:mod:`syntagma.models.aggregation`).
        alpha: weight of the encoder's states in ``dual`` (0.5 in eq. 4).
        aggregate_special: whether special tokens are aggregated too, as in the authors' released
            code; in the paper they keep the encoder's states.
        initialise: ``random``, or ``last_layer`` to start as a copy of the encoder's last layer,
            with its relative positions (the preset ``sg-net``).
        num_layers: number of guided layers.
    """

    pieces: PieceMode = "share"
    aggregation: Aggregation = "dual"
    alpha: float = 0.5
    aggregate_special: bool = False
    initialise: Literal["random", "last_layer"] = "random"
    num_layers: int = 1

    def __post_init__(self) -> None:
        if not 0 <= self.alpha <= 1:
            raise InputError(f"alpha must be a share from 0 to 1, got {self.alpha}")
        if self.num_layers < 1:
            raise InputError(f"num_layers must be at least 1, got {self.num_layers}")


class SyntaxGuidedLayers(StateGuide):
    """Layers with attention to ancestors only, aggregated with the encoder's states.

    Args:
        settings: settings of the guide.
        layers: the guided layers.
        aggregator: aggregates their states with the encoder's.
    """

    name = "ancestor_attention"
    settings_class = AncestorAttention
    reveals_tree = True

    def __init__(
        self,
        settings: AncestorAttention,
        *,
        layers: list[AncestorAttentionLayer],
        aggregator: Aggregator,
    ) -> None:
        super().__init__()
        self.settings = settings
        self.layers = nn.ModuleList(layers)
        self.aggregator = aggregator

    @classmethod
    def build(cls, settings: AncestorAttention, encoder: PretrainedConfig) -> Self:
        """Build layers of the same shape as the encoder's."""
        return cls(
            settings,
            layers=[
                layer_like(
                    encoder,
                    SITES.get(encoder.model_type),
                    copied=settings.initialise == "last_layer",
                )
                for _ in range(settings.num_layers)
            ],
            aggregator=Aggregator(
                kind=settings.aggregation, width=encoder.hidden_size, alpha=settings.alpha
            ),
        )

    @classmethod
    def pieces_of(cls, settings: AncestorAttention) -> PieceMode:
        """Return the rule that the settings name."""
        return settings.pieces

    @classmethod
    def copies_pretrained(cls, settings: AncestorAttention) -> str:
        """Return ``initialise`` if it is ``last_layer``."""
        return "initialise" if settings.initialise == "last_layer" else ""

    @classmethod
    def without_copy(
        cls, settings: AncestorAttention, encoder: PretrainedConfig | None
    ) -> AncestorAttention:
        """Return settings with random weights if the encoder has no layer that can be copied."""
        if settings.initialise != "last_layer" or (encoder is not None and can_copy(encoder)):
            return settings
        return replace(settings, initialise="random")

    @classmethod
    def learned_numbers(
        cls, settings: AncestorAttention, weights: Mapping[str, Callable[[], list[float]]]
    ) -> dict[str, float]:
        """Return the configured α, or the trained shares of H and H' and their scale γ."""
        if settings.aggregation == "dual":
            return {"α, share of H, set (ancestor_attention)": settings.alpha}
        if "aggregator.scalars" not in weights:
            return {}
        plain, guided = weights["aggregator.scalars"]()
        return {
            "share of H, trained (ancestor_attention)": 1 / (1 + exp(guided - plain)),
            "share of H′, trained (ancestor_attention)": 1 / (1 + exp(plain - guided)),
            "γ, scale of both (ancestor_attention)": weights["aggregator.scale"]()[0],
        }

    @classmethod
    def first_piece(cls, settings: AncestorAttention) -> FirstPiece | None:
        """Return a reason: special tokens attend only to themselves, unless there is no mask."""
        if settings.aggregation == "vanilla_only":
            return None
        return FirstPiece(
            "ancestor_attention, in which the first piece attends only to itself",
            "mean",
            unguided=True,
        )

    @classmethod
    def stays_in_text(cls, settings: AncestorAttention) -> bool:
        """Return true: the layers follow the last one, and attention does not leave the sentence.

        Bi-attention is the exception: it compares the guided states of all pieces.
        """
        return settings.aggregation != "bi_attention"

    @classmethod
    def columns_of(cls, settings: AncestorAttention) -> tuple[str, ...]:
        """Return the tensors that the mask needs; none for the control without a mask."""
        if settings.aggregation == "vanilla_only":
            return ()
        if settings.pieces == "projection":
            return ("enter", "exit", "point", "word")
        return ("enter", "exit", "word")

    @property
    def columns(self) -> tuple[str, ...]:  # type: ignore[override]
        """Names of the tensors that this guide reads, which depend on its settings."""
        return self.columns_of(self.settings)

    def start_from(self, encoder: nn.Module, config: PretrainedConfig) -> None:
        """Copy the encoder's last layer into each guided layer, if the settings say so.

        Args:
            encoder: the encoder with its pretrained weights.
            config: the encoder's configuration.

        Raises:
            InputError: the encoder's layers cannot be copied.
        """
        if self.settings.initialise != "last_layer":
            return
        sites = find_sites(config.model_type, purpose="copying the encoder's last layer")
        for layer in self.layers:
            assert isinstance(layer, AncestorAttentionLayer)
            copy_layer(layer, encoder, sites)

    def reset(self) -> None:
        """Initialise the aggregation; the encoder's initialisation would make it random."""
        self.aggregator.reset()

    def forward(
        self, states: Tensor, syntax: Syntax, observed: dict[str, Any] | None = None
    ) -> Tensor:
        """Compute the guided states and aggregate them with the encoder's.

        Args:
            states: the encoder's states H, ``[batch, n, width]``.
            syntax: tensors of the batch; :meth:`columns_of` names those that are read.
            observed: if given, the attention weights of each layer are stored under
                ``ancestor_attention``, ``[batch, n_heads, n, n]`` each.

        Returns:
            ``[batch, n, width]``.

        Raises:
            InputError: syntax tensors are missing.
        """
        plain_layer = self.settings.aggregation == "vanilla_only"
        if plain_layer:
            mask = syntax.attention_mask.bool().unsqueeze(1)
        else:
            mask = ancestor_mask(syntax.require("enter"), syntax.require("exit"), syntax.point)
        guided = states
        weights = []
        for layer in self.layers:
            assert isinstance(layer, AncestorAttentionLayer)
            if observed is not None:
                weights.append(layer.weights(guided, mask))
            guided = layer(guided, mask)
        if observed is not None:
            observed["ancestor_attention"] = tuple(weights)
        joined: Tensor = self.aggregator(states, guided, syntax.attention_mask)
        if self.settings.aggregate_special or plain_layer:
            return joined
        # In the paper special tokens keep the encoder's states.
        is_word = syntax.require("word") >= 0
        return joined.where(is_word.unsqueeze(-1), states.to(joined.dtype))
