"""The sites where guides attach: names of embeddings and layers for each ``model_type``.

This table is all that guides know about encoders.  Of encoder-decoders it describes the encoder.
An encoder without a row still supports guides that act after the last layer.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any, Literal

import torch
from torch import Tensor, nn
from torch.utils.hooks import RemovableHandle
from transformers import PretrainedConfig

from syntagma.errors import InputError

RelativeKind = Literal["", "bias", "disentangled", "rotary_pairs", "rotary_halves"]
"""How layers add relative positions, see :mod:`syntagma.models.relative_positions`."""


@dataclass(frozen=True, slots=True)
class LayerParts:
    """Names of the parts of a post-norm layer, relative to the layer.

    ``query``, ``key`` and ``value`` have one name if one linear map computes all three for each
    head, without a bias; the biases of queries and values are then parameters beside it.
    """

    query: str
    key: str
    value: str
    attention_output: str
    attention_norm: str
    feed_forward_in: str
    feed_forward_out: str
    output_norm: str


@dataclass(frozen=True, slots=True)
class Sites:
    """Names inside an encoder, relative to it.

    Args:
        word_embeddings: table of piece embeddings.
        embedding_norm: norm over the sum of embeddings, to whose input guides may add; empty for an
            encoder whose first layer reads the sum itself.
        layers: list of layers; a layer used several times is listed once.
        layer_parts: parts of a layer; ``None`` unless it is a plain post-norm Transformer layer.
        relative_positions: how such a layer adds relative positions; empty if it does not.
        hidden_dropout: configuration keys of dropout on hidden states.
        attention_dropout: configuration key of dropout on attention weights.
        widened: whether embeddings narrower than the states are projected to the width of the
            states before the norm, not after it.
        float32: whether the encoder must compute in float32, because its code in Transformers fails
            under autocast.
    """

    word_embeddings: str = "embeddings.word_embeddings"
    embedding_norm: str = "embeddings.LayerNorm"
    layers: str = "encoder.layer"
    layer_parts: LayerParts | None = None
    relative_positions: RelativeKind = ""
    hidden_dropout: tuple[str, ...] = ("hidden_dropout_prob",)
    attention_dropout: str = "attention_probs_dropout_prob"
    widened: bool = False
    float32: bool = False


_BERT_OUTPUTS = {
    "attention_output": "attention.output.dense",
    "attention_norm": "attention.output.LayerNorm",
    "feed_forward_in": "intermediate.dense",
    "feed_forward_out": "output.dense",
    "output_norm": "output.LayerNorm",
}
_BERT = Sites(
    layer_parts=LayerParts(
        query="attention.self.query",
        key="attention.self.key",
        value="attention.self.value",
        **_BERT_OUTPUTS,
    )
)

# Norms before attention and before the feed-forward part, and none over the embeddings.
_PRE_NORM = Sites(embedding_norm="")

# Rotary positions and a gated feed-forward part: not a layer that can be copied.
_ROTARY = Sites(layers="layers")

_EUROBERT = Sites(
    word_embeddings="embed_tokens",
    embedding_norm="",
    layers="layers",
    hidden_dropout=(),
    attention_dropout="attention_dropout",
)

_T5 = Sites(
    word_embeddings="embed_tokens",
    embedding_norm="",
    layers="block",
    hidden_dropout=("dropout_rate",),
    attention_dropout="dropout_rate",
)

_BART = Sites(
    word_embeddings="embed_tokens",
    embedding_norm="layernorm_embedding",
    layers="layers",
    layer_parts=LayerParts(
        query="self_attn.q_proj",
        key="self_attn.k_proj",
        value="self_attn.v_proj",
        attention_output="self_attn.out_proj",
        attention_norm="self_attn_layer_norm",
        feed_forward_in="fc1",
        feed_forward_out="fc2",
        output_norm="final_layer_norm",
    ),
    hidden_dropout=("dropout",),
    attention_dropout="attention_dropout",
)

SITES: dict[str, Sites] = {
    "albert": Sites(
        layers="encoder.albert_layer_groups",
        layer_parts=LayerParts(
            query="albert_layers.0.attention.query",
            key="albert_layers.0.attention.key",
            value="albert_layers.0.attention.value",
            attention_output="albert_layers.0.attention.dense",
            attention_norm="albert_layers.0.attention.LayerNorm",
            feed_forward_in="albert_layers.0.ffn",
            feed_forward_out="albert_layers.0.ffn_output",
            output_norm="albert_layers.0.full_layer_layer_norm",
        ),
    ),
    "bart": _BART,
    "bert": _BERT,
    "bert-generation": _BERT,
    "big_bird": _BERT,
    "camembert": _BERT,
    "convbert": Sites(),
    "data2vec-text": _BERT,
    "deberta": Sites(
        widened=True,
        float32=True,
        relative_positions="disentangled",
        layer_parts=LayerParts(
            query="attention.self.in_proj",
            key="attention.self.in_proj",
            value="attention.self.in_proj",
            **_BERT_OUTPUTS,
        ),
    ),
    "deberta-v2": Sites(
        widened=True,
        relative_positions="disentangled",
        layer_parts=LayerParts(
            query="attention.self.query_proj",
            key="attention.self.key_proj",
            value="attention.self.value_proj",
            **_BERT_OUTPUTS,
        ),
    ),
    "distilbert": Sites(
        layers="transformer.layer",
        layer_parts=LayerParts(
            query="attention.q_lin",
            key="attention.k_lin",
            value="attention.v_lin",
            attention_output="attention.out_lin",
            attention_norm="sa_layer_norm",
            feed_forward_in="ffn.lin1",
            feed_forward_out="ffn.lin2",
            output_norm="output_layer_norm",
        ),
        hidden_dropout=("dropout",),
        attention_dropout="attention_dropout",
    ),
    "electra": _BERT,
    "ernie": _BERT,
    "eurobert": _EUROBERT,
    "gte": _ROTARY,
    "jina_embeddings_v3": replace(
        _ROTARY,
        relative_positions="rotary_halves",
        layer_parts=LayerParts(
            query="self_attn.q_proj",
            key="self_attn.k_proj",
            value="self_attn.v_proj",
            attention_output="self_attn.o_proj",
            attention_norm="post_attention_layernorm",
            feed_forward_in="mlp.fc1",
            feed_forward_out="mlp.fc2",
            output_norm="post_mlp_layernorm",
        ),
    ),
    "longformer": _BERT,
    "luke": _BERT,
    "m2m_100": replace(_BART, embedding_norm="", layer_parts=None),
    "marian": replace(_BART, embedding_norm=""),
    "mbart": replace(_BART, layer_parts=None),
    "megatron-bert": _PRE_NORM,
    "mobilebert": Sites(widened=True),
    "modernbert": Sites(
        word_embeddings="embeddings.tok_embeddings",
        embedding_norm="embeddings.norm",
        layers="layers",
        hidden_dropout=("embedding_dropout", "mlp_dropout"),
        attention_dropout="attention_dropout",
    ),
    "mpnet": Sites(
        layer_parts=LayerParts(
            query="attention.attn.q",
            key="attention.attn.k",
            value="attention.attn.v",
            attention_output="attention.attn.o",
            attention_norm="attention.LayerNorm",
            feed_forward_in="intermediate.dense",
            feed_forward_out="output.dense",
            output_norm="output.LayerNorm",
        ),
        relative_positions="bias",
    ),
    "mt5": _T5,
    "mvp": _BART,
    "nomic_bert": _ROTARY,
    "pegasus": replace(_BART, embedding_norm="", layer_parts=None),
    "plbart": _BART,
    "rembert": _BERT,
    "roberta": _BERT,
    "roberta-prelayernorm": Sites(),
    "roformer": replace(_BERT, relative_positions="rotary_pairs"),
    "splinter": _BERT,
    "t5": _T5,
    "ultrabert": _EUROBERT,
    "umt5": _T5,
    "xlm-roberta": _BERT,
    "xlm-roberta-xl": _PRE_NORM,
}


def find_sites(model_type: str, *, purpose: str) -> Sites:
    """Return the row of an encoder.

    Args:
        model_type: model type in the encoder's configuration.
        purpose: what needs the sites, as the subject of the error message.

    Raises:
        InputError: the table has no such row.
    """
    if model_type not in SITES:
        raise InputError(
            f"{purpose} needs to know the layers of the encoder, and {model_type!r} is not in the "
            f"table; use one of {', '.join(sorted(SITES))}, or a guide that acts after the last "
            f"layer, or add a row to syntagma.encoders.sites.SITES"
        )
    return SITES[model_type]


def embedding_width(config: PretrainedConfig) -> int:
    """Return the width of the embeddings, which may be narrower than the states."""
    for key in ("embedding_size", "input_embedding_size"):
        if width := getattr(config, key, None):
            return int(width)
    return int(config.hidden_size)


def n_layers_of(config: PretrainedConfig) -> int:
    """Return the number of an encoder's different layers; ALBERT uses each several times."""
    return int(getattr(config, "num_hidden_groups", None) or config.num_hidden_layers)


def layers(encoder: nn.Module, sites: Sites) -> nn.ModuleList:
    """Return the encoder's layers in the order of their first use."""
    found = encoder.get_submodule(sites.layers)
    assert isinstance(found, nn.ModuleList)
    return found


def last_layer(encoder: nn.Module, sites: Sites) -> nn.Module:
    """Return the layer that computes the last hidden states."""
    return layers(encoder, sites)[-1]


def change_input(
    module: nn.Module, change: Callable[[Tensor], Tensor], *, n_pieces: int | None = None
) -> RemovableHandle:
    """Change the input of a layer or norm with a hook.

    A hook works for every encoder of Transformers, and leaves its code and the names of its weights
    unchanged.

    Args:
        module: layer or norm whose first input is the states, ``[batch, n, width]``.
        change: computes the new input from the original one.
        n_pieces: length of the sequences; padding that the encoder itself appended (Longformer,
            BigBird) is not changed.

    Returns:
        A handle that removes the hook.
    """

    def changed(states: Tensor) -> Tensor:
        if n_pieces is None or states.shape[1] == n_pieces:
            return change(states)
        return torch.cat([change(states[:, :n_pieces]), states[:, n_pieces:]], dim=1)

    def hook(
        _: nn.Module, inputs: tuple[Any, ...], options: dict[str, Any]
    ) -> tuple[tuple[Any, ...], dict[str, Any]]:
        if inputs:
            return (changed(inputs[0]), *inputs[1:]), options
        # Some encoders call their layers with keyword arguments only.
        return inputs, {**options, "hidden_states": changed(options["hidden_states"])}

    return module.register_forward_pre_hook(hook, with_kwargs=True)


def keep_lowest_layers(
    config: PretrainedConfig, weights: Mapping[str, Tensor], n_layers: int
) -> dict[str, Tensor]:
    """Reduce an encoder to its lowest layers.

    Args:
        config: the encoder's configuration, which is changed.
        weights: the encoder's weights by name.
        n_layers: number of layers to keep.

    Returns:
        The weights of the smaller encoder.

    Raises:
        InputError: the encoder has fewer layers, or the table has no row for it.
    """
    find_sites(config.model_type, purpose="num_hidden_layers")
    if not 1 <= n_layers <= config.num_hidden_layers:
        raise InputError(
            f"num_hidden_layers: expected 1 to {config.num_hidden_layers}, the number of layers of "
            f"the encoder, got {n_layers}"
        )
    config.num_hidden_layers = n_layers
    kinds = getattr(config, "layer_types", None)
    if kinds:
        config.layer_types = kinds[:n_layers]
    return without_higher_layers(config, weights)


def without_higher_layers(
    config: PretrainedConfig, weights: Mapping[str, Tensor], *, prefix: str = ""
) -> dict[str, Tensor]:
    """Return the weights without those of layers that an encoder does not have.

    Args:
        config: the encoder's configuration.
        weights: weights of an encoder of the same kind, perhaps with more layers, by name.
        prefix: beginning of the names of the encoder's weights.
    """
    sites = SITES.get(config.model_type)
    if sites is None:
        return dict(weights)
    layer = re.compile(rf"{re.escape(prefix + sites.layers)}\.(\d+)\.")
    numbers = {name: found for name in weights if (found := layer.match(name))}
    n_layers = config.num_hidden_layers
    return {
        name: weight
        for name, weight in weights.items()
        if name not in numbers or int(numbers[name][1]) < n_layers
    }
