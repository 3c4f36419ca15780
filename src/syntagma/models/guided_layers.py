"""SG-Net after the last layer: guided layers, and the aggregation of their states."""

from __future__ import annotations

from typing import Any, Self

from torch import Tensor, nn
from transformers import PretrainedConfig

from syntagma.encoders.sites import SITES, find_sites
from syntagma.models.aggregation import Aggregator
from syntagma.models.ancestor_attention import AncestorAttentionLayer, copy_layer, layer_like
from syntagma.models.config import AncestorAttention
from syntagma.models.guide import StateGuide, Syntax
from syntagma.syntax.ancestors import ancestor_mask

__all__ = ["SyntaxGuidedLayers"]


class SyntaxGuidedLayers(StateGuide):
    """Layers whose attention sees ancestors only, joined with the encoder's states.

    Args:
        settings: of the guide.
        layers: the guided layers.
        aggregator: joins their states with the encoder's.
    """

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
        """Layers of the encoder's own shape."""
        return cls(
            settings,
            layers=[
                layer_like(encoder, SITES.get(encoder.model_type)) for _ in range(settings.n_layers)
            ],
            aggregator=Aggregator(
                kind=settings.aggregation, width=encoder.hidden_size, alpha=settings.alpha
            ),
        )

    @property
    def columns(self) -> tuple[str, ...]:  # type: ignore[override]
        """The tensors that the mask is made of; none for the control without one."""
        if self.settings.aggregation == "vanilla_only":
            return ()
        if self.settings.pieces == "projection":
            return ("enter", "exit", "point", "word")
        return ("enter", "exit", "word")

    def start_from(self, encoder: nn.Module, config: PretrainedConfig) -> None:
        """Begin as copies of the last layer where the settings ask for it.

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
        """Start from the mean of both states."""
        self.aggregator.reset()

    def forward(
        self, states: Tensor, syntax: Syntax, observed: dict[str, Any] | None = None
    ) -> Tensor:
        """Guide the encoder's states; ``observed["ancestor_attention"]`` has the weights.

        Args:
            states: H, ``[batch, n, width]``.
            syntax: ``enter``, ``exit`` and ``word`` are read.
            observed: gets the attention weights of each layer, ``[batch, n_heads, n, n]``.

        Raises:
            InputError: the syntax tensors are missing.
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
        is_word = syntax.require("word") >= 0
        return joined.where(is_word.unsqueeze(-1), states.to(joined.dtype))
