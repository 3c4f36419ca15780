"""A guided encoder that classifies the relation of two texts (SG-Net section 3.4.2)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

from torch import Tensor, nn
from torch.nn import functional as F

from syntagma.encoders.config import SyntagmaConfig
from syntagma.errors import InputError
from syntagma.models.pooled_model import PooledModel
from syntagma.models.pooling import AnyPooling


@dataclass(frozen=True)
class PairHead:
    """Settings of sentence-pair classification.

    Args:
        max_length: tokens per sequence, with special tokens; the longer text is truncated first.
        pooling: how a sequence becomes one vector; ``pooler`` is the first piece through the
            encoder's own pooler (a linear map and tanh), as in the papers; ``auto`` is ``first``,
            except ``max`` after iterative co-attention, which may set the first piece to 0, and
            ``mean`` after ancestor attention, whose trees do not reach it.
        dropout: dropout probability of that vector.
    """

    max_length: int = 128
    pooling: AnyPooling = "auto"
    dropout: float = 0.1

    def __post_init__(self) -> None:
        if self.max_length < 8:
            raise InputError(f"max_length must be at least 8, got {self.max_length}")
        if not 0 <= self.dropout < 1:
            raise InputError(f"dropout must lie in [0, 1), got {self.dropout}")


class PairScores(NamedTuple):
    """Scores of a batch of pairs.

    Args:
        labels: logits, ``[batch, n_labels]``.
        loss: cross-entropy, if gold labels were given.
    """

    labels: Tensor
    loss: Tensor | None


class PairModel(PooledModel):
    """A guided encoder with a classifier of pairs; the labels are ``config.labels["labels"]``."""

    head_class = PairHead
    head: PairHead

    def __init__(self, config: SyntagmaConfig) -> None:
        super().__init__(config)
        self.set_pooling(self.head.pooling, config)
        self.dropout = nn.Dropout(self.head.dropout)
        self.label_scores = nn.Linear(config.encoder.hidden_size, len(config.labels["labels"]))
        self.post_init()

    def forward(  # type: ignore[override]
        self,
        input_ids: Tensor,
        attention_mask: Tensor,
        labels: Tensor | None = None,
        **tensors: Any,
    ) -> PairScores:
        """Score the labels of a batch of pairs.

        Args:
            input_ids: ``[batch, n]``.
            attention_mask: 0 at padding, ``[batch, n]``.
            labels: gold labels, ``[batch]``.
            tensors: token types and syntax, see :meth:`GuidedEncoder.encode`.
        """
        states = self.encode(input_ids, attention_mask, **tensors).last_hidden_state
        pooled = self.pool(states, attention_mask)
        scores = self.label_scores(self.dropout(pooled)).float()
        return PairScores(scores, None if labels is None else F.cross_entropy(scores, labels))
