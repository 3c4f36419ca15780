"""SG-Net after the last layer: guided layers, and the aggregation of their states."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from math import exp
from typing import Any, Literal, Self

from torch import Tensor, nn
from transformers import PretrainedConfig

from syntagma.encoders.sites import SITES, find_sites
from syntagma.errors import InputError
from syntagma.models.aggregation import Aggregation, Aggregator
from syntagma.models.ancestor_attention import AncestorAttentionLayer, copy_layer, layer_like
from syntagma.models.guide import FirstPiece, StateGuide, Syntax
from syntagma.syntax.ancestors import ancestor_mask
from syntagma.syntax.encode import PieceMode


@dataclass(frozen=True)
class AncestorAttention:
    """SG-Net: attention restricted to a word's ancestors, after the last layer.

    Args:
        pieces: how the pieces of a word take its place in the tree (:mod:`syntagma.syntax.encode`).
        aggregation: how the guided states join the encoder's (:mod:`syntagma.models.aggregation`).
        alpha: weight of the encoder's states in ``dual`` (eq. 4: 0.5).
        aggregate_special: whether special pieces are aggregated too, as in the authors' released
            code; in the paper they keep the encoder's states.
        initialise: ``random``, or ``last_layer`` to start as a copy of the encoder's last layer.
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
            raise InputError(f"alpha is a share from 0 to 1, got {self.alpha}")
        if self.num_layers < 1:
            raise InputError(f"num_layers must be at least 1, got {self.num_layers}")


class SyntaxGuidedLayers(StateGuide):
    """Layers whose attention sees ancestors only, joined with the encoder's states.

    Args:
        settings: of the guide.
        layers: the guided layers.
        aggregator: joins their states with the encoder's.
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
        """Layers of the encoder's own shape."""
        return cls(
            settings,
            layers=[
                layer_like(encoder, SITES.get(encoder.model_type))
                for _ in range(settings.num_layers)
            ],
            aggregator=Aggregator(
                kind=settings.aggregation, width=encoder.hidden_size, alpha=settings.alpha
            ),
        )

    @classmethod
    def pieces_of(cls, settings: AncestorAttention) -> PieceMode:
        """As the settings say."""
        return settings.pieces

    @classmethod
    def copies_pretrained(cls, settings: AncestorAttention) -> str:
        """``initialise: last_layer`` does."""
        return "initialise" if settings.initialise == "last_layer" else ""

    @classmethod
    def learned_numbers(
        cls, settings: AncestorAttention, weights: Mapping[str, Callable[[], list[float]]]
    ) -> dict[str, float]:
        """α as it is set, or the trained shares of H and H' and their scale γ."""
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
        """Special pieces attend to nothing but themselves, unless there is no mask."""
        if settings.aggregation == "vanilla_only":
            return None
        return FirstPiece(
            "ancestor_attention, where the first piece attends to no other", "mean", unguided=True
        )

    @classmethod
    def columns_of(cls, settings: AncestorAttention) -> tuple[str, ...]:
        """The tensors that the mask is made of; none for the control without a mask."""
        if settings.aggregation == "vanilla_only":
            return ()
        if settings.pieces == "projection":
            return ("enter", "exit", "point", "word")
        return ("enter", "exit", "word")

    @property
    def columns(self) -> tuple[str, ...]:  # type: ignore[override]
        """As :meth:`columns_of`."""
        return self.columns_of(self.settings)

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
