"""Guided encoders that classify mentions by their markers (SEPREM sections 5.1 and 5.3).

Entity typing reads the state of the marker ``@`` before a mention, and scores each type
independently.  Relation classification concatenates the states of ``@`` before the subject and
``#`` before the object, and chooses one relation.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from syntagma.encoders.config import SyntagmaConfig, class_names
from syntagma.encoders.model_card import CardKind, class_usage
from syntagma.errors import InputError
from syntagma.models.guided_encoder import GuidedEncoder
from syntagma.models.guides import GUIDES
from syntagma.models.outputs import LabelScores
from syntagma.settings import require_at_least
from syntagma.syntax.markers import MarkerPlace


@dataclass(frozen=True)
class MentionHead:
    """Settings of mention classification.

    Args:
        max_length: tokens per sequence, with special tokens and markers; of longer texts, the part
            around the mentions is kept.
        markers: position of markers in the tree (:mod:`syntagma.syntax.markers`).
        dropout: dropout probability of the classified vector.
    """

    max_length: int = 256
    markers: MarkerPlace = "head"
    dropout: float = 0.1

    def __post_init__(self) -> None:
        require_at_least(self, 16, "max_length")
        if not 0 <= self.dropout < 1:
            raise InputError(f"dropout must lie in [0, 1), got {self.dropout}")


@dataclass(frozen=True)
class TypingHead(MentionHead):
    """Settings of entity typing.

    Args:
        threshold: lowest probability at which a type is predicted; fitted on dev data after
            training.
        fit_threshold: whether the threshold is fitted; if not, the setting is used (0.5 in ERNIE's
            script).
        at_least_one: whether the most probable type is predicted even below the threshold, as in
            ERNIE's script for FIGER.
    """

    threshold: float = 0.5
    fit_threshold: bool = True
    at_least_one: bool = False

    def __post_init__(self) -> None:
        super().__post_init__()
        if not 0 <= self.threshold <= 1:
            raise InputError(f"threshold must be a probability from 0 to 1, got {self.threshold}")


@dataclass(frozen=True)
class RelationHead(MentionHead):
    """Settings of relation classification.

    Args:
        negative: label of mentions without a relation; if empty, ``no_relation``, ``Other`` or
            ``NA``, whichever is among the labels.
    """

    negative: str = ""


class MentionModel(GuidedEncoder):
    """A guided encoder with a classifier of markers; the labels are ``config.labels["labels"]``.

    Attributes:
        signs: the marker character of each mention.
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
                    f"head.markers: expected head, got special; with {name}, special tokens attend "
                    f"only to themselves, so that classified markers would see no text"
                )
        width = len(self.signs) * config.encoder.hidden_size
        self.dropout = nn.Dropout(self.head.dropout)
        self.label_scores = nn.Linear(width, len(class_names(config)))
        self.post_init()

    def forward(  # type: ignore[override]
        self,
        input_ids: Tensor,
        attention_mask: Tensor,
        markers: Tensor,
        labels: Tensor | None = None,
        **tensors: Any,
    ) -> LabelScores:
        """Score the labels of a batch.

        Args:
            input_ids: ``[batch, n]``.
            attention_mask: 0 at padding, ``[batch, n]``.
            markers: position of the marker before each mention, ``[batch, n_mentions]``.
            labels: gold labels, see :meth:`loss`.
            tensors: token types and syntax, see :meth:`GuidedEncoder.encode`.
        """
        encoded = self.encode(input_ids, attention_mask, **tensors)
        rows = torch.arange(markers.shape[0], device=markers.device).unsqueeze(1)
        marked = encoded.last_hidden_state[rows, markers].flatten(1)  # [batch, n_mentions * width]
        scores = self.label_scores(self.dropout(marked)).float()
        loss = None if labels is None else self.loss(scores, labels)
        return LabelScores(loss=encoded.with_guide_loss(loss), logits=scores, **encoded.inner)

    def loss(self, scores: Tensor, labels: Tensor) -> Tensor:
        """Compute the loss of a batch, a mean over its examples.

        Args:
            scores: logits, ``[batch, n_labels]``.
            labels: gold labels, ``[batch]`` or ``[batch, n_labels]``.
        """
        raise NotImplementedError


class TypingModel(MentionModel):
    """A model that scores the types of a mention independently."""

    default_task = "typing"
    card_kind = CardKind(
        "text-classification", class_usage("EntityTyper", "model.types(text, (start, end)).labels")
    )
    head_class = TypingHead
    signs = ("@",)

    def loss(self, scores: Tensor, labels: Tensor) -> Tensor:
        """Compute the binary cross-entropy.

        Args:
            scores: logits, ``[batch, n_labels]``.
            labels: 1 for each gold type of a mention, else 0, ``[batch, n_labels]``.
        """
        return F.binary_cross_entropy_with_logits(scores, labels)


class RelationModel(MentionModel):
    """A model that chooses the relation between two mentions, of which the subject comes first."""

    default_task = "relations"
    card_kind = CardKind(
        "text-classification",
        class_usage("RelationClassifier", "model.relation(text, subject, object).label"),
    )
    head_class = RelationHead
    signs = ("@", "#")

    def loss(self, scores: Tensor, labels: Tensor) -> Tensor:
        """Compute the cross-entropy.

        Args:
            scores: logits, ``[batch, n_labels]``.
            labels: index of the gold relation, ``[batch]``.
        """
        return F.cross_entropy(scores, labels)
