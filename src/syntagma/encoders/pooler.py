"""The pooler of an encoder: a linear map and tanh, over the state of the first piece.

Encoders with a task of sentence pairs in their pre-training have one, such as BERT's.  Models are
built without it, because most of them do not read it.  Encoders without such a task may store one
that was never trained, as the encoders ``default`` and ``accurate`` do.
"""

from __future__ import annotations

import logging
import warnings

import torch
from torch import Tensor, nn
from transformers import AutoModel

from syntagma.encoders import hub
from syntagma.encoders.load import load_encoder_config
from syntagma.encoders.quiet import quiet
from syntagma.encoders.reference import ModelRef
from syntagma.errors import DamagedFileError, InputError

log = logging.getLogger(__name__)


def pooler_weights(ref: ModelRef) -> dict[str, Tensor]:
    """Load the linear map of an encoder's pooler.

    Args:
        ref: a published encoder, whose other weights have been loaded before.

    Returns:
        ``weight``, ``[width, width]``, and ``bias``, ``[width]``.

    Raises:
        InputError: the encoder has no pooler, none with pretrained weights, or one of another kind.
        DamagedFileError: its weights do not fit the configuration.
    """
    kind = load_encoder_config(ref).model_type
    try:
        with quiet(), hub.access(ref.place, ref.options), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            model, found = AutoModel.from_pretrained(
                ref.place,
                output_loading_info=True,
                dtype=torch.float32,
                trust_remote_code=False,
                **ref.hub_arguments,
            )
    except Exception as error:
        raise DamagedFileError(
            f"encoder {ref.name!r}: its pooler cannot be loaded ({error}); download it again"
        ) from error
    pooler = getattr(model, "pooler", None)
    dense, activation = getattr(pooler, "dense", None), getattr(pooler, "activation", None)
    if isinstance(pooler, nn.Linear):
        # ALBERT's and BigBird's is a linear map of the model, next to its activation.
        dense = pooler
        activation = getattr(model, "pooler_activation", getattr(model, "activation", None))
    problem = ""
    if not isinstance(dense, nn.Linear):
        problem = "has none"
    elif any("pooler" in key for key in found["missing_keys"]):
        problem = "has no pretrained weights of one"
    elif not isinstance(activation, nn.Tanh) or dense.out_features != dense.in_features:
        problem = "has another kind"
    if problem or not isinstance(dense, nn.Linear):
        raise InputError(
            f"head: pooling by the encoder's pooler needs a linear map with tanh, and {ref.name!r} "
            f"({kind}) {problem}; set the pooling to first"
        )
    if not dense.bias.any():
        # Its biases start at 0, and training leaves none of them there.
        log.warning(
            "encoder %r: its pooler was never trained (all of its biases are 0); pooling by "
            "it starts from random weights",
            ref.name,
        )
    return {name: weight.clone() for name, weight in dense.state_dict().items()}
