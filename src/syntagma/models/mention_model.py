"""A guided encoder that classifies mentions by their markers (SEPREM sections 5.1 and 5.3).

Entity typing reads the state of the marker ``@`` before a mention and scores every type by itself;
relation classification reads those of ``@`` before the subject and ``#`` before the object, joined,
and chooses one relation.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from syntagma.encoders.config import SyntagmaConfig
from syntagma.errors import InputError
from syntagma.models.guided_encoder import GuidedEncoder
from syntagma.models.guides import GUIDES
from syntagma.syntax.markers import MarkerPlace


@dataclass(frozen=True)
class MentionHead:
    """Settings of the classification of mentions.

    Args:
        max_length: pieces of a sequence, special ones and markers included; longer texts keep what
            stands around the mentions.
        markers: where markers stand in the tree (:mod:`syntagma.syntax.markers`).
        dropout: on the vector that is classified.
    """

    max_length: int = 256
    markers: MarkerPlace = "head"
    dropout: float = 0.1

    def __post_init__(self) -> None:
        if self.max_length < 16:
            raise InputError(f"max_length must be at least 16, got {self.max_length}")
        if not 0 <= self.dropout < 1:
            raise InputError(f"dropout must lie in [0, 1), got {self.dropout}")


@dataclass(frozen=True)
class TypingHead(MentionHead):
    """Settings of entity typing.

    Args:
        threshold: a type is given where its probability reaches this; fitted on dev data when
            training ends.
        fit_threshold: whether it is; without, it stays as it is set (0.5 as in ERNIE's script).
        at_least_one: whether the most probable type is given below the threshold too, as ERNIE's
            script does for FIGER.
    """

    threshold: float = 0.5
    fit_threshold: bool = True
    at_least_one: bool = False

    def __post_init__(self) -> None:
        super().__post_init__()
        if not 0 <= self.threshold <= 1:
            raise InputError(f"threshold is a probability from 0 to 1, got {self.threshold}")


@dataclass(frozen=True)
class RelationHead(MentionHead):
    """Settings of relation classification.

    Args:
        negative: the relation that says that there is none; found by its name if not given
            (``no_relation``, ``Other``, ``NA``).
    """

    negative: str = ""


class MentionScores(NamedTuple):
    """Scores of a batch of mentions, or of pairs of mentions.

    Args:
        labels: logits, ``[batch, n_labels]``.
        loss: where gold labels were given.
    """

    labels: Tensor
    loss: Tensor | None


class MentionModel(GuidedEncoder):
    """A guided encoder with a classifier of markers; ``config.labels["labels"]`` are its labels.

    Attributes:
        signs: the characters that mark each mention.
    """

    head_class: ClassVar[type[MentionHead]]
    head: Any
    signs: ClassVar[tuple[str, ...]]

    def __init__(self, config: SyntagmaConfig) -> None:
        super().__init__(config)
        for name, settings in config.guides.items():
            found = GUIDES[name].first_piece(settings)
            if self.head.markers == "special" and found and found.unguided:
                raise InputError(
                    f"head.markers: in {name} special pieces attend to no other, and the markers' "
                    f"states are what is classified; expected head, got special"
                )
        width = len(self.signs) * config.encoder.hidden_size
        self.dropout = nn.Dropout(self.head.dropout)
        self.label_scores = nn.Linear(width, len(config.labels["labels"]))
        self.post_init()

    def forward(  # type: ignore[override]
        self,
        input_ids: Tensor,
        attention_mask: Tensor,
        markers: Tensor,
        labels: Tensor | None = None,
        **tensors: Any,
    ) -> MentionScores:
        """Score the labels of a batch.

        Args:
            input_ids: ``[batch, n]``.
            attention_mask: ``[batch, n]``.
            markers: place of the marker before each mention, ``[batch, n_mentions]``.
            labels: gold labels, see :meth:`loss`.
            tensors: token types and syntax, see :meth:`GuidedEncoder.encode`.
        """
        states = self.encode(input_ids, attention_mask, **tensors).last_hidden_state
        rows = torch.arange(len(markers), device=markers.device).unsqueeze(1)
        marked = states[rows, markers].flatten(1)  # [batch, n_mentions * width]
        scores = self.label_scores(self.dropout(marked)).float()
        return MentionScores(scores, None if labels is None else self.loss(scores, labels))

    def loss(self, scores: Tensor, labels: Tensor) -> Tensor:
        """The loss of a batch, a mean over its examples.

        Args:
            scores: logits, ``[batch, n_labels]``.
            labels: gold labels, ``[batch]`` or ``[batch, n_labels]``.
        """
        raise NotImplementedError


class TypingModel(MentionModel):
    """The types of a mention, each scored by itself."""

    head_class = TypingHead
    signs = ("@",)

    def loss(self, scores: Tensor, labels: Tensor) -> Tensor:
        """Binary cross-entropy.

        Args:
            scores: logits, ``[batch, n_labels]``.
            labels: 1 for each type that a mention has, ``[batch, n_labels]``.
        """
        return F.binary_cross_entropy_with_logits(scores, labels)


class RelationModel(MentionModel):
    """The one relation between two mentions, subject first."""

    head_class = RelationHead
    signs = ("@", "#")

    def loss(self, scores: Tensor, labels: Tensor) -> Tensor:
        """Cross-entropy.

        Args:
            scores: logits, ``[batch, n_labels]``.
            labels: code of the relation, ``[batch]``.
        """
        return F.cross_entropy(scores, labels)
