"""Settings of the parser's head."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from syntagma.encoders.precision import Precision, require_precision
from syntagma.errors import InputError
from syntagma.parse.span_scorer import PhraseDecoding
from syntagma.settings import require_at_least

MorphologyLabel = Literal["feats", "lemmas", "auto"]
"""What a parser may predict of each word besides its tags."""


@dataclass(frozen=True)
class ParserHead:
    """Settings of the parser's head.

    Args:
        pooling: how the vectors of a word's pieces are pooled into one.
        layers: the states that words are read from: those of the ``top`` layer, or a ``weighted``
            average of all layers, with weights that are learned.
        arc_width: width of the arc representations.
        relation_width: width of the relation representations.
        dropout: dropout probability for word states and representations; a unit is dropped for
            the whole sentence.
        word_dropout: probability of replacing a piece by ``mask_token_id`` during training.
        mask_token_id: id of the tokenizer's mask piece; taken from the tokenizer, not to be set.
        span_width: width of the phrase representations.
        decoding: ``joint`` trains and decodes phrases and dependencies as one tree, ``separate``
            independently; only for parsers that are trained on phrases.
        span_share: λ, the weight of span scores against arc scores in joint decoding.
        span_weight: weight of the phrase loss relative to the other losses.
        views: what to train on if the treebank has both phrases and dependencies.
        morphology: what to predict of each word besides its tags: ``feats``, ``lemmas`` or both, or
            ``auto``: those that the treebank has.
        morphology_width: width of the representation from which these are predicted.
        morphology_layer: where the states of words' last pieces are taken for it: ``top`` or
            ``middle`` layer.  Inflection is easier to read in the middle.
        spaced_words: whether words with spaces inside, such as ``10 000``, are read as one word
            rather than as their parts; taken from the treebank, not to be set.
        segmentation: how raw text is segmented: as in the treebank (``learned``), by the rules for
            ``english``, or ``auto`` by what is better on a tenth of the treebank.
        sentence_ends: what decides where a sentence of raw text ends: the ``words`` around, or
            where these leave it in doubt the ``encoder``, which learns it after the trees.
        precision: in which the trained parser computes by default; ``int8`` only where the device
            can do it.  Training and its scores go by ``training.precision``.
    """

    pooling: Literal["first", "mean"] = "first"
    layers: Literal["top", "weighted"] = "top"
    arc_width: int = 400
    relation_width: int = 100
    dropout: float = 0.33
    word_dropout: float = 0.0
    mask_token_id: int = 0
    span_width: int = 250
    decoding: PhraseDecoding = "joint"
    span_share: float = 0.5
    span_weight: float = 1.0
    views: Literal["both", "dependencies", "constituents"] = "both"
    morphology: tuple[MorphologyLabel, ...] = ()
    morphology_width: int = 256
    morphology_layer: Literal["top", "middle"] = "top"
    spaced_words: bool = False
    segmentation: Literal["auto", "learned", "english"] = "auto"
    sentence_ends: Literal["words", "encoder"] = "words"
    precision: Precision = "float32"

    def __post_init__(self) -> None:
        require_at_least(self, 1, "arc_width", "relation_width", "span_width", "morphology_width")
        if not 0 < self.span_share < 1:
            raise InputError(f"span_share must lie between 0 and 1, got {self.span_share}")
        require_precision(self.precision)
        if not 0 <= self.dropout < 1:
            raise InputError(f"dropout must lie in [0, 1), got {self.dropout}")
