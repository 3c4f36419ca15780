"""The guided layer of SG-Net: a Transformer layer in which words attend only to their ancestors.

Zhang et al. 2020, section 3.1, eqs. 1–3: the layer has the same shape as the encoder's layers and
reads its last hidden states.  The papers write ``softmax(M · QKᵀ/√d)``.  Taken literally, masked
pairs would keep some weight (the exponential of 0), but in the papers' figures and released code
they have none.  Here, too, masked pairs get the weight 0.
"""

from __future__ import annotations

import torch
from torch import Tensor, nn
from transformers import PretrainedConfig, PreTrainedModel
from transformers.activations import ACT2FN

from syntagma.encoders.attention import attend
from syntagma.encoders.sites import SITES, LayerParts, Sites, last_layer
from syntagma.errors import InputError
from syntagma.models.relative_positions import RelativePositions, positions_like


class AncestorAttentionLayer(nn.Module):
    """A post-norm Transformer layer whose attention mask is an argument.

    Args:
        width: width of the hidden states.
        n_heads: number of attention heads.
        inner_width: inner width of the feed-forward part.
        activation: Transformers' name of the activation.
        norm_eps: epsilon of both norms.
        dropout_prob: dropout probability of the outputs of both parts.
        attention_dropout_prob: dropout probability of attention weights.
        positions: relative positions of a layer that is copied from an encoder with them.

    Raises:
        InputError: the number of heads does not divide the width.
    """

    def __init__(
        self,
        *,
        width: int,
        n_heads: int,
        inner_width: int,
        activation: str = "gelu",
        norm_eps: float = 1e-12,
        dropout_prob: float = 0.1,
        attention_dropout_prob: float = 0.1,
        positions: RelativePositions | None = None,
    ) -> None:
        super().__init__()
        if width % n_heads:
            raise InputError(f"n_heads: expected a divisor of the width {width}, got {n_heads}")
        self.n_heads = n_heads
        self.attention_dropout_prob = attention_dropout_prob
        self.query = nn.Linear(width, width)
        self.key = nn.Linear(width, width)
        self.value = nn.Linear(width, width)
        self.attention_output = nn.Linear(width, width)
        self.attention_norm = nn.LayerNorm(width, eps=norm_eps)
        self.feed_forward_in = nn.Linear(width, inner_width)
        self.feed_forward_out = nn.Linear(inner_width, width)
        self.output_norm = nn.LayerNorm(width, eps=norm_eps)
        self.activation = ACT2FN[activation]
        self.dropout = nn.Dropout(dropout_prob)
        self.positions = positions

    def _heads(self, states: Tensor) -> Tensor:
        return states.unflatten(-1, (self.n_heads, -1)).transpose(1, 2)  # [batch, heads, n, width]

    def _attended(self, states: Tensor) -> tuple[Tensor, Tensor, Tensor, Tensor | None, float]:
        """Return what attention reads: query, key, value, bias of the scores, and their scale."""
        query, key, value = (
            self._heads(part(states)) for part in (self.query, self.key, self.value)
        )
        if self.positions is None:
            return query, key, value, None, query.shape[-1] ** -0.5
        query, key, value = self.positions.rotate(query, key, value)
        scale = (query.shape[-1] * self.positions.scale_factor) ** -0.5
        return query, key, value, self.positions.bias(query, key), scale

    def forward(self, states: Tensor, mask: Tensor) -> Tensor:
        """Compute the guided states.

        Args:
            states: the encoder's states H, ``[batch, n, width]``.
            mask: true where a row may attend to a column, ``[batch, n, n]`` or ``[batch, 1, n]``.

        Returns:
            The guided states H', ``[batch, n, width]``.
        """
        dropout = self.attention_dropout_prob if self.training else 0.0
        query, key, value, bias, scale = self._attended(states)
        attended = attend(
            query, key, value, mask.unsqueeze(1), bias=bias, scale=scale, dropout_prob=dropout
        )
        attended = self.attention_output(attended.transpose(1, 2).flatten(2))
        states = self.attention_norm(states + self.dropout(attended))
        inner = self.feed_forward_out(self.activation(self.feed_forward_in(states)))
        normed: Tensor = self.output_norm(states + self.dropout(inner))
        return normed

    def weights(self, states: Tensor, mask: Tensor) -> Tensor:
        """Compute the attention weights A' (eq. 2) for inspection; :meth:`forward` does not.

        Args:
            states: the encoder's states H, ``[batch, n, width]``.
            mask: true where a row may attend to a column, ``[batch, n, n]`` or ``[batch, 1, n]``.

        Returns:
            ``[batch, n_heads, n, n]``; rows sum to 1, masked pairs are 0.
        """
        query, key, _, bias, scale = self._attended(states)
        scores = (query @ key.mT).float() * scale
        if bias is not None:
            scores = scores + bias
        return scores.masked_fill(~mask.unsqueeze(1), -torch.inf).softmax(-1)


INNER_WIDTHS = ("intermediate_size", "hidden_dim", "encoder_ffn_dim", "d_ff")
"""Configuration keys of the inner width of a layer."""
ACTIVATIONS = (
    "hidden_act",
    "hidden_activation",
    "activation",
    "activation_function",
    "dense_act_fn",
)
"""Configuration keys of the activation."""


def layer_like(
    encoder: PretrainedConfig, sites: Sites | None, *, copied: bool = False
) -> AncestorAttentionLayer:
    """Build a new layer of the same shape as an encoder's layers.

    Args:
        encoder: the encoder's configuration.
        sites: the encoder's row in the table, which names its dropout settings; with ``None``, all
            dropout probabilities are 0.1.
        copied: whether :func:`copy_layer` gives it the weights of the encoder, so that it needs the
            encoder's relative positions.

    Raises:
        InputError: the encoder's relative positions cannot be copied.
    """

    def setting(*names: str, default: object) -> object:
        # Configurations may have a key with the value None, so `getattr` alone is not enough.
        for name in names:
            value = getattr(encoder, name, None)
            if value is not None:
                return value
        return default

    # FNet has no attention heads; those of some T5 models do not divide the width.
    n_heads = getattr(encoder, "num_attention_heads", None) or max(encoder.hidden_size // 64, 1)
    while encoder.hidden_size % n_heads:
        n_heads -= 1
    hidden, attention = 0.1, 0.1
    if sites is not None:
        hidden = 0.0
        for key in sites.hidden_dropout:
            hidden = float(getattr(encoder, key, hidden))
        attention = float(getattr(encoder, sites.attention_dropout, attention))
    return AncestorAttentionLayer(
        width=encoder.hidden_size,
        n_heads=n_heads,
        inner_width=int(
            setting(*INNER_WIDTHS, default=4 * encoder.hidden_size)  # type: ignore[call-overload]
        ),
        activation=str(setting(*ACTIVATIONS, default="gelu")),
        norm_eps=float(setting("layer_norm_eps", "norm_eps", default=1e-12)),  # type: ignore[arg-type]
        dropout_prob=hidden,
        attention_dropout_prob=attention,
        positions=positions_like(encoder, sites) if copied else None,
    )


def can_copy(encoder: PretrainedConfig) -> bool:
    """Whether :func:`copy_layer` can copy the layers of an encoder.

    Args:
        encoder: the encoder's configuration.
    """
    sites = SITES.get(encoder.model_type)
    if sites is None or sites.layer_parts is None:
        return False
    try:
        positions_like(encoder, sites)
    except InputError:
        return False
    return True


@torch.no_grad()
def copy_layer(layer: AncestorAttentionLayer, encoder: PreTrainedModel, sites: Sites) -> None:
    """Copy the weights of the encoder's last layer, and its relative positions.

    With a mask that allows every pair, the copy computes the same as the original.

    Args:
        layer: layer that receives the weights.
        encoder: the encoder.
        sites: the encoder's row in the table.

    Raises:
        InputError: the encoder's layers have another structure (pre-norm, gated, another width of
            the heads), or relative positions that cannot be copied.
    """
    if sites.layer_parts is None:
        raise InputError(
            f"the layers of {encoder.config.model_type!r} are not plain post-norm layers and "
            f"cannot be copied; set guides.ancestor_attention.initialise=random"
        )
    source = last_layer(encoder, sites)
    parts = sites.layer_parts
    try:
        if parts.query == parts.key:
            _split_projection(layer, source, parts)
        for name in parts.__slots__:
            if parts.query != parts.key or name not in ("query", "key", "value"):
                weights = source.get_submodule(getattr(parts, name)).state_dict()
                layer.get_submodule(name).load_state_dict(weights)
    except RuntimeError as error:
        raise InputError(
            f"the layers of this {encoder.config.model_type!r} have other widths than its states "
            f"and cannot be copied; set guides.ancestor_attention.initialise=random"
        ) from error
    if layer.positions is None:
        layer.positions = positions_like(encoder.config, sites)
    if layer.positions is not None:
        layer.positions.copy_from(encoder, source)
        layer.positions.to(layer.query.weight).train(layer.training)


def _split_projection(layer: AncestorAttentionLayer, source: nn.Module, parts: LayerParts) -> None:
    """Copy a linear map that computes query, key and value of each head (DeBERTa)."""
    fused = source.get_submodule(parts.query)
    beside = source.get_submodule(parts.query.rpartition(".")[0])
    # [heads, 3, width of a head, width]
    weights = fused.weight.unflatten(0, (layer.n_heads, 3, -1))  # type: ignore[operator]
    for place, (name, bias) in enumerate((("query", "q_bias"), ("key", ""), ("value", "v_bias"))):
        linear = layer.get_submodule(name)
        numbers = weights[:, place].flatten(0, 1)
        offset = beside.get_parameter(bias) if bias else numbers.new_zeros(len(numbers))
        linear.load_state_dict({"weight": numbers, "bias": offset})
