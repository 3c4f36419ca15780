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
from syntagma.settings import require_at_least
from syntagma.syntax.ancestors import ancestor_mask
from syntagma.syntax.control_masks import (
    all_pieces_mask,
    open_special_rows,
    random_mask,
    same_word_mask,
)
from syntagma.syntax.pieces import PieceMode

Mask = Literal["ancestors", "self", "all", "random"]


@dataclass(frozen=True)
class AncestorAttention:
    """SG-Net: attention restricted to a word's ancestors, after the last layer.

    Args:
        pieces: rule for transferring the tree to pieces (:mod:`syntagma.syntax.pieces`).
        aggregation: how guided states are aggregated with the encoder's
            (:mod:`syntagma.models.aggregation`).
        alpha: weight of the encoder's states in ``dual`` (0.5 in eq. 4).
        mask: pieces that a piece attends to, special tokens apart: those of its word and of the
            word's ``ancestors``; of its word alone (``self``); ``all`` except padding; or in its
            word and its sentence as many as with ``ancestors``, drawn at ``random``.
        mask_seed: random seed of ``mask: random``.
        aggregate_special: whether special tokens are aggregated too; in the paper they keep the
            encoder's states. They attend to themselves only, or, with ``released``, to everything
            except padding, as in the authors' released code.
        initialise: ``random``, or ``last_layer`` to start as a copy of the encoder's last layer,
            with its relative positions (the preset ``sg-net``).
        num_layers: number of guided layers.
    """

    pieces: PieceMode = "share"
    aggregation: Aggregation = "dual"
    alpha: float = 0.5
    mask: Mask = "ancestors"
    mask_seed: int = 0
    aggregate_special: bool | Literal["released"] = False
    initialise: Literal["random", "last_layer"] = "random"
    num_layers: int = 1

    def __post_init__(self) -> None:
        if not 0 <= self.alpha <= 1:
            raise InputError(f"alpha must be a share from 0 to 1, got {self.alpha}")
        require_at_least(self, 1, "num_layers")
        require_at_least(self, 0, "mask_seed")
        if self.mask_seed and self.mask != "random":
            raise InputError(
                f"mask_seed: expected 0 with mask: {self.mask}, which draws nothing, got "
                f"{self.mask_seed}; set mask: random"
            )
        if self.aggregation == "vanilla_only" and self.mask != "ancestors":
            raise InputError(
                f"mask: {self.mask} has no effect with aggregation: vanilla_only, which has no "
                f"mask; set aggregation: dual or guided_only, or leave out mask"
            )


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
        """Return a reason: no tree reaches special tokens, unless there is no mask."""
        if settings.aggregation == "vanilla_only":
            return None
        if settings.aggregate_special == "released":
            return FirstPiece(
                "ancestor_attention, in which the first piece attends to everything",
                "mean",
                changed=True,
            )
        return FirstPiece(
            "ancestor_attention, in which the first piece attends only to itself",
            "mean",
            unguided=True,
            changed=bool(settings.aggregate_special),
        )

    @classmethod
    def stays_in_text(cls, settings: AncestorAttention) -> bool:
        """Return true: the layers follow the last one, and attention does not leave the sentence.

        The exceptions are bi-attention, which compares the guided states of all pieces; attention
        to all pieces; and special tokens that attend to everything, in a second layer to guided
        states.
        """
        leaves = settings.mask == "all" or (
            settings.aggregate_special == "released" and settings.num_layers > 1
        )
        return settings.aggregation != "bi_attention" and not leaves

    @classmethod
    def columns_of(cls, settings: AncestorAttention) -> tuple[str, ...]:
        """Return the tensors that the mask needs; none for the control without a mask."""
        if settings.aggregation == "vanilla_only":
            return ()
        if settings.mask in ("self", "all"):
            return ("word",)
        point = ("point",) if settings.pieces == "projection" else ()
        sentence = ("sentence",) if settings.mask == "random" else ()
        return ("enter", "exit", *point, "word", *sentence)

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
        mask = self.mask(syntax)
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
        if self.settings.aggregate_special or self.settings.aggregation == "vanilla_only":
            return joined
        # In the paper special tokens keep the encoder's states.
        is_word = syntax.require("word") >= 0
        return joined.where(is_word.unsqueeze(-1), states.to(joined.dtype))

    def mask(self, syntax: Syntax) -> Tensor:
        """Compute what each piece attends to.

        Args:
            syntax: tensors of the batch; :meth:`columns_of` names those that are read.

        Returns:
            Boolean mask, true where a row may attend to a column, ``[batch, n, n]`` or
            ``[batch, 1, n]``.

        Raises:
            InputError: syntax tensors are missing.
        """
        settings, inside = self.settings, syntax.attention_mask
        if settings.aggregation == "vanilla_only":
            return inside.bool().unsqueeze(1)
        word = syntax.require("word")
        if settings.mask == "self":
            mask = same_word_mask(word)
        elif settings.mask == "all":
            mask = all_pieces_mask(word, inside)
        else:
            enter = syntax.require("enter")
            mask = ancestor_mask(enter, syntax.require("exit"), syntax.point)
            if settings.mask == "random":
                sentence = syntax.require("sentence")
                mask = random_mask(mask, enter, word, sentence, seed=settings.mask_seed)
        if settings.aggregate_special == "released":
            mask = open_special_rows(mask, word, inside)
        return mask
