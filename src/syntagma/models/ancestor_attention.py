"""The guided layer of SG-Net: a Transformer layer in which words attend only to their ancestors.

Zhang et al. 2020, section 3.1, eqs. 1–3: the layer has the same shape as the encoder's layers and
reads its last hidden states.  The papers write ``softmax(M · QKᵀ/√d)``.  Taken literally, masked
pairs would keep some weight (the exponential of 0), but in the papers' figures and released code
they have none.  Here, too, masked pairs get the weight 0.
"""

from __future__ import annotations

import torch
from torch import Tensor, nn
from transformers import PretrainedConfig
from transformers.activations import ACT2FN

from syntagma.encoders.attention import attend
from syntagma.encoders.sites import Sites, last_layer
from syntagma.errors import InputError


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

    def _heads(self, states: Tensor) -> Tensor:
        return states.unflatten(-1, (self.n_heads, -1)).transpose(1, 2)  # [batch, heads, n, width]

    def forward(self, states: Tensor, mask: Tensor) -> Tensor:
        """Compute the guided states.

        Args:
            states: the encoder's states H, ``[batch, n, width]``.
            mask: true where a row may attend to a column, ``[batch, n, n]`` or ``[batch, 1, n]``.

        Returns:
            The guided states H', ``[batch, n, width]``.
        """
        dropout = self.attention_dropout_prob if self.training else 0.0
        attended = attend(
            self._heads(self.query(states)),
            self._heads(self.key(states)),
            self._heads(self.value(states)),
            mask.unsqueeze(1),
            dropout_prob=dropout,
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
        query, key = self._heads(self.query(states)), self._heads(self.key(states))
        scores = (query @ key.mT).float() / query.shape[-1] ** 0.5
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


def layer_like(encoder: PretrainedConfig, sites: Sites | None) -> AncestorAttentionLayer:
    """Build a new layer of the same shape as an encoder's layers.

    Args:
        encoder: the encoder's configuration.
        sites: the encoder's row in the table, which names its dropout settings; with ``None``, all
            dropout probabilities are 0.1.
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
    )


@torch.no_grad()
def copy_layer(layer: AncestorAttentionLayer, encoder: nn.Module, sites: Sites) -> None:
    """Copy the weights of the encoder's last layer.

    Args:
        layer: layer that receives the weights.
        encoder: the encoder.
        sites: the encoder's row in the table.

    Raises:
        InputError: the encoder's layers have another structure (pre-norm, gated).
    """
    if sites.layer_parts is None:
        raise InputError(
            "this encoder's layers are not plain post-norm layers and cannot be copied; set "
            "guides.ancestor_attention.initialise=random"
        )
    source = last_layer(encoder, sites)
    for name, place in (
        (name, getattr(sites.layer_parts, name)) for name in sites.layer_parts.__slots__
    ):
        layer.get_submodule(name).load_state_dict(source.get_submodule(place).state_dict())
