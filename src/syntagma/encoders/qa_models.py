"""Extractive question-answering models that Transformers saved, read as models of this package.

Transformers calls such a model ``BertForQuestionAnswering`` or the like: an encoder, and a linear
layer ``qa_outputs`` that gives each piece a start and an end score.  That is what
:class:`syntagma.models.span_model.SpanModel` computes as well, so that only names differ.  The
models were trained with the question before the passage, which becomes a setting of the head.
"""

from __future__ import annotations

from functools import partial
from typing import Any

from torch import Tensor
from transformers import AutoModel, AutoModelForQuestionAnswering

from syntagma.encoders.default import CONFIG
from syntagma.encoders.load import PREFIX, encoder_weights, load_encoder_config, max_pieces
from syntagma.encoders.reference import ModelRef, full_name
from syntagma.encoders.saved import saved_weights
from syntagma.errors import InputError

LINEAR_HEADS = {
    "albert": "AlbertForQuestionAnswering",
    "bert": "BertForQuestionAnswering",
    "camembert": "CamembertForQuestionAnswering",
    "convbert": "ConvBertForQuestionAnswering",
    "data2vec-text": "Data2VecTextForQuestionAnswering",
    "deberta": "DebertaForQuestionAnswering",
    "deberta-v2": "DebertaV2ForQuestionAnswering",
    "distilbert": "DistilBertForQuestionAnswering",
    "electra": "ElectraForQuestionAnswering",
    "ernie": "ErnieForQuestionAnswering",
    "luke": "LukeForQuestionAnswering",
    "megatron-bert": "MegatronBertForQuestionAnswering",
    "mobilebert": "MobileBertForQuestionAnswering",
    "mpnet": "MPNetForQuestionAnswering",
    "rembert": "RemBertForQuestionAnswering",
    "roberta": "RobertaForQuestionAnswering",
    "roberta-prelayernorm": "RobertaPreLayerNormForQuestionAnswering",
    "roformer": "RoFormerForQuestionAnswering",
    "xlm-roberta": "XLMRobertaForQuestionAnswering",
    "xlm-roberta-xl": "XLMRobertaXLForQuestionAnswering",
}
"""For each type of encoder, the class whose scores are linear in the encoder's last states.

Not listed are classes with further layers (BigBird, ModernBERT, Splinter), with attention that
depends on where the question ends (Longformer), or on a decoder.
"""

BEAM_SEARCH = {
    "FlaubertForQuestionAnswering",
    "XLMForQuestionAnswering",
    "XLNetForQuestionAnswering",
}
"""Classes whose end scores depend on the start."""

HEAD = "qa_outputs."
"""Prefix of the head's weights in Transformers."""

MAX_LENGTH, MAX_QUESTION_LENGTH, DOC_STRIDE = 384, 64, 128
"""The lengths with which Transformers' own script trains such models."""


def qa_settings(ref: ModelRef) -> dict[str, Any]:
    """Return the settings of a question-answering model, as if this package had saved it.

    Its threshold of abstention is unknown: it keeps the default of the head's settings.

    Args:
        ref: a model of the kind ``qa_model``.

    Raises:
        InputError: its head is of a kind that cannot be read, or its configuration is damaged.
    """
    if ref.architecture not in LINEAR_HEADS.values():
        raise _other_head(ref)
    config = load_encoder_config(ref)
    if ref.architecture != LINEAR_HEADS.get(config.model_type):
        raise _other_head(ref, config.model_type)
    if config.num_labels != 2:
        raise InputError(
            f"{ref.name}: expected a head with 2 scores, for the start and the end of an answer, "
            f"got num_labels {config.num_labels} in {CONFIG}; use a model for extractive question "
            f"answering"
        )
    return {
        "encoder": config,
        "base": full_name(ref),
        "task": "spans",
        "head": {"question_first": True, **window_lengths(max_pieces(config))},
    }


def window_lengths(longest: int) -> dict[str, int]:
    """Return the lengths of windows, shorter than usual for an encoder that reads less.

    Args:
        longest: number of pieces that the encoder reads.

    >>> window_lengths(512)
    {'max_length': 384, 'max_question_length': 64, 'doc_stride': 128}
    """
    length = min(MAX_LENGTH, longest)
    question = min(MAX_QUESTION_LENGTH, length // 4)
    # Neighbouring windows share at least half of the passage's pieces.
    stride = min(DOC_STRIDE, (length - question - 8) // 2)
    return {"max_length": length, "max_question_length": question, "doc_stride": stride}


def qa_weights(ref: ModelRef) -> dict[str, Tensor]:
    """Return the weights of a question-answering model, by their names in a span model.

    Args:
        ref: a model whose settings :func:`qa_settings` accepts.

    Raises:
        InputError: the weights cannot be loaded.
        DamagedFileError: weights are missing, for example those of the head.
    """
    found = encoder_weights(ref, AutoModelForQuestionAnswering)
    return {_own_name(name): weight for name, weight in found.items()}


def weights_of(ref: ModelRef, auto: Any = AutoModel) -> dict[str, Tensor]:
    """Return all weights of a model that has more than an encoder.

    Args:
        ref: a saved model, or a question-answering model.
        auto: the class of Transformers that loads the encoder on which a saved model was built.

    Raises:
        InputError: as for :func:`syntagma.encoders.saved.saved_weights` and :func:`qa_weights`.
    """
    if ref.kind == "qa_model":
        return qa_weights(ref)
    return saved_weights(ref, encoder_weights=partial(encoder_weights, auto=auto))


def _own_name(name: str) -> str:
    """Translate ``qa_outputs.bias``, and ``bert.embeddings…`` with any name for the encoder."""
    if name.startswith(HEAD):
        return "span_scores." + name.removeprefix(HEAD)
    return PREFIX + name.partition(".")[2]


def _other_head(ref: ModelRef, model_type: str = "") -> InputError:
    """Return the error for a head that cannot be read, or not on an encoder of this type."""
    problem = "computes scores in another way"
    if ref.architecture in BEAM_SEARCH:
        problem = "finds answers by beam search"
    elif model_type:
        problem = f"is no head for an encoder of type {model_type!r}"
    return InputError(
        f"{ref.name}: {ref.architecture} {problem}; expected a question-answering model whose "
        f"start and end scores are a linear layer on an encoder of type {', '.join(LINEAR_HEADS)}"
    )
