"""Any encoder with guides: mechanisms that bring syntax in, at the places where they act."""

from __future__ import annotations

import inspect
from typing import Any, NamedTuple

from torch import Tensor, nn

from syntagma.encoders.model import SyntagmaConfig, SyntagmaModel
from syntagma.encoders.sites import SITES, find_sites
from syntagma.errors import InputError
from syntagma.models.aggregation import Aggregator
from syntagma.models.ancestor_attention import AncestorAttentionLayer, copy_layer, layer_like
from syntagma.models.config import AncestorAttention, read_guides
from syntagma.syntax.ancestors import ancestor_mask

__all__ = ["GuidedEncoder", "GuidedStates", "SyntaxGuidedLayers"]


class GuidedStates(NamedTuple):
    """What a guided encoder gives.

    Args:
        last_hidden_state: the states that a task reads, ``[batch, n, width]``.
        attentions: of each guided layer, ``[batch, n_heads, n, n]``, where asked for.
    """

    last_hidden_state: Tensor
    attentions: tuple[Tensor, ...] = ()


class SyntaxGuidedLayers(nn.Module):
    """SG-Net after the last layer: guided layers and the aggregation.

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

    def forward(
        self,
        states: Tensor,
        attention_mask: Tensor,
        *,
        enter: Tensor | None,
        exit: Tensor | None,
        point: Tensor | None,
        word: Tensor | None,
        output_attentions: bool = False,
    ) -> GuidedStates:
        """Guide the encoder's states.

        Args:
            states: H, ``[batch, n, width]``.
            attention_mask: 0 at padding, ``[batch, n]``.
            enter: ``[batch, n]``, see :class:`syntagma.syntax.encode.PieceSyntax`.
            exit: ``[batch, n]``.
            point: ``[batch, n]``.
            word: ``[batch, n]``, negative for pieces without a word.
            output_attentions: whether to compute the attention weights as well.

        Raises:
            InputError: the syntax tensors are missing.
        """
        plain_layer = self.settings.aggregation == "vanilla_only"
        if enter is None or exit is None or word is None:
            raise InputError(
                "this model reads syntax: pass enter, exit and word (encode with a parse source), "
                "or train it with preset: none"
            )
        if plain_layer:
            mask = attention_mask.bool().unsqueeze(1)
        else:
            mask = ancestor_mask(enter, exit, point)
        guided = states
        attentions = []
        for layer in self.layers:
            assert isinstance(layer, AncestorAttentionLayer)
            if output_attentions:
                attentions.append(layer.weights(guided, mask))
            guided = layer(guided, mask)
        joined = self.aggregator(states, guided, attention_mask)
        if not (self.settings.aggregate_special or plain_layer):
            joined = joined.where((word >= 0).unsqueeze(-1), states.to(joined.dtype))
        return GuidedStates(joined, tuple(attentions))


class GuidedEncoder(SyntagmaModel):
    """An encoder with the guides of its configuration; without any it is the plain encoder."""

    def __init__(self, config: SyntagmaConfig) -> None:
        super().__init__(config)
        settings = read_guides(config.guides)
        self.ancestor_attention: SyntaxGuidedLayers | None = None
        if "ancestor_attention" in settings:
            self.ancestor_attention = self._build_ancestor_attention(settings["ancestor_attention"])
        self.reads_token_types = "token_type_ids" in _forward_parameters(self.encoder)

    def _build_ancestor_attention(self, settings: AncestorAttention) -> SyntaxGuidedLayers:
        encoder = self.config.encoder
        sites = SITES.get(encoder.model_type)
        return SyntaxGuidedLayers(
            settings,
            layers=[layer_like(encoder, sites) for _ in range(settings.n_layers)],
            aggregator=Aggregator(
                kind=settings.aggregation, width=encoder.hidden_size, alpha=settings.alpha
            ),
        )

    def post_init(self) -> None:
        """Give fresh weights their first values.

        Transformers passes over modules without parameters of their own, so guides come after it.
        """
        super().post_init()
        if self.ancestor_attention is not None:
            self.ancestor_attention.aggregator.reset()

    def after_encoder_loaded(self) -> None:
        """Copy the last layer into the guided ones where the settings ask for it."""
        guide = self.ancestor_attention
        if guide is None or guide.settings.initialise != "last_layer":
            return
        sites = find_sites(
            self.config.encoder.model_type, purpose="copying the encoder's last layer"
        )
        for layer in guide.layers:
            assert isinstance(layer, AncestorAttentionLayer)
            copy_layer(layer, self.encoder, sites)

    @property
    def syntax_columns(self) -> tuple[str, ...]:
        """Names of the syntax tensors that the guides read; empty without guides."""
        if self.ancestor_attention is None:
            return ()
        if self.ancestor_attention.settings.pieces == "projection":
            return ("enter", "exit", "point", "word")
        return ("enter", "exit", "word")

    @property
    def reads_syntax(self) -> bool:
        """Whether a guide needs the syntax tensors."""
        return bool(self.syntax_columns)

    def encode(
        self,
        input_ids: Tensor,
        attention_mask: Tensor,
        token_type_ids: Tensor | None = None,
        *,
        enter: Tensor | None = None,
        exit: Tensor | None = None,
        point: Tensor | None = None,
        depth: Tensor | None = None,
        sentence: Tensor | None = None,
        word: Tensor | None = None,
        tag: Tensor | None = None,
        output_attentions: bool = False,
    ) -> GuidedStates:
        """Run the encoder and its guides.

        Args:
            input_ids: ``[batch, n]``.
            attention_mask: 0 at padding, ``[batch, n]``.
            token_type_ids: ``[batch, n]``; left out where the encoder has none.
            enter: start of each piece's interval, ``[batch, n]``, and so the others; see
                :class:`syntagma.syntax.encode.PieceSyntax`.
            exit: end of the interval.
            point: what is looked up in the intervals; ``enter`` if not given.
            depth: arcs to the root of the sentence.
            sentence: number of the sentence.
            word: number of the word, negative for pieces without one.
            tag: see :mod:`syntagma.syntax.tags`.
            output_attentions: whether to give the guided layers' attention weights.

        Raises:
            InputError: a guide needs syntax tensors that are missing.
        """
        extra: dict[str, Any] = {}
        if token_type_ids is not None and self.reads_token_types:
            extra["token_type_ids"] = token_type_ids
        states = self.encoder(
            input_ids=input_ids, attention_mask=attention_mask, **extra
        ).last_hidden_state
        if self.ancestor_attention is None:
            return GuidedStates(states)
        guided: GuidedStates = self.ancestor_attention(
            states,
            attention_mask,
            enter=enter,
            exit=exit,
            point=point,
            word=word,
            output_attentions=output_attentions,
        )
        return guided

    def forward(self, input_ids: Tensor, attention_mask: Tensor, **tensors: Any) -> GuidedStates:
        """As :meth:`encode`."""
        return self.encode(input_ids, attention_mask, **tensors)


def _forward_parameters(encoder: nn.Module) -> set[str]:

    return set(inspect.signature(encoder.forward).parameters)
