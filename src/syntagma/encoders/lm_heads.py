"""Masked-language-model heads of pretrained encoders, and the names of their parts.

All of them consist of a dense layer, an activation, a norm, and a product with the piece embeddings
plus a bias; only the names of the parts differ between model types.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import torch
from torch import Tensor
from transformers import AutoModelForMaskedLM, PretrainedConfig

from syntagma.encoders import hub
from syntagma.encoders.load import encoder_weights
from syntagma.encoders.quiet import quiet
from syntagma.encoders.reference import ModelName, find_model
from syntagma.encoders.saved import saved_weights


@dataclass(frozen=True, slots=True)
class HeadNames:
    """Names of the parts of a masked-language-model head.

    Args:
        dense: name of the dense layer.
        norm: name of the norm.
        bias: name of the output bias; empty if there is none.
    """

    dense: str
    norm: str
    bias: str


_BERT = HeadNames(
    "cls.predictions.transform.dense", "cls.predictions.transform.LayerNorm", "cls.predictions.bias"
)
_ROBERTA = HeadNames("lm_head.dense", "lm_head.layer_norm", "lm_head.bias")
_ELECTRA = HeadNames(
    "generator_predictions.dense", "generator_predictions.LayerNorm", "generator_lm_head.bias"
)

LM_HEADS: dict[str, HeadNames] = {
    "albert": HeadNames("predictions.dense", "predictions.LayerNorm", "predictions.bias"),
    "bert": _BERT,
    "big_bird": _BERT,
    "camembert": _ROBERTA,
    "convbert": _ELECTRA,
    "data2vec-text": _ROBERTA,
    "deberta": _BERT,
    "deberta-v2": _BERT,
    "distilbert": HeadNames("vocab_transform", "vocab_layer_norm", "vocab_projector.bias"),
    "electra": _ELECTRA,
    "ernie": _BERT,
    "gte": replace(_ROBERTA, bias="lm_head.decoder.bias"),
    "jina_embeddings_v3": _ROBERTA,
    "longformer": _ROBERTA,
    "megatron-bert": _BERT,
    "modernbert": HeadNames("head.dense", "head.norm", "decoder.bias"),
    "mpnet": _ROBERTA,
    "nomic_bert": replace(_BERT, norm="cls.predictions.transform.layer_norm"),
    "roberta": _ROBERTA,
    "roberta-prelayernorm": _ROBERTA,
    "roformer": _BERT,
    "xlm-roberta": _ROBERTA,
    "xlm-roberta-xl": _ROBERTA,
}


def lm_head_weights(name: ModelName, config: PretrainedConfig) -> dict[str, Tensor]:
    """Return the masked-language-model head of a pretrained encoder.

    Args:
        name: ``default``, a folder, or a hub name.
        config: the encoder's configuration.

    Returns:
        Weights by their names in :class:`syntagma.models.piece_head.PieceHead`; empty for a
        checkpoint without such a head.
    """
    ref = find_model(name)
    if ref.kind == "model":
        saved = saved_weights(ref, encoder_weights=encoder_weights)
        own = "piece_head."
        return {key.removeprefix(own): part for key, part in saved.items() if key.startswith(own)}
    names = LM_HEADS.get(config.model_type)
    if names is None:
        return {}
    with quiet(), hub.access(ref.place, ref.options):
        model, found = AutoModelForMaskedLM.from_pretrained(
            ref.place,
            dtype=torch.float32,
            output_loading_info=True,
            trust_remote_code=False,
            **ref.hub_arguments,
        )
    # Transformers initialises a missing head at random instead of failing.
    missing = {key.rpartition(".")[0] for key in found["missing_keys"]}
    if names.dense in missing or names.norm in missing:
        return {}
    weights: dict[str, Tensor] = model.state_dict()
    parts = {"dense": names.dense, "norm": names.norm}
    head = {
        f"{ours}.{key.removeprefix(theirs + '.')}": weight
        for ours, theirs in parts.items()
        for key, weight in weights.items()
        if key.startswith(theirs + ".")
    }
    if names.bias in weights:
        head["bias"] = weights[names.bias]
    return head
