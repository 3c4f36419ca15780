"""A small classifier of frozen sentence vectors (SentEval, Conneau & Kiela 2018)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

from torch import Tensor, nn
from torch.nn import functional as F

from syntagma.encoders.model import SyntagmaConfig
from syntagma.errors import InputError
from syntagma.models.guided_encoder import GuidedEncoder
from syntagma.models.pooling import Pooling, pool_states
from syntagma.settings import build

__all__ = ["ProbeHead", "ProbeModel", "ProbeScores"]


@dataclass(frozen=True)
class ProbeHead:
    """Settings of a probe.

    Args:
        pooling: how a sentence becomes one vector.
        hidden: units of the classifier's hidden layer; 0 for logistic regression.
        dropout: before the scores.
        max_length: pieces of a sentence, special ones included; longer ones lose their end.
    """

    pooling: Pooling = "mean"
    hidden: int = 200
    dropout: float = 0.1
    max_length: int = 256

    def __post_init__(self) -> None:
        if self.hidden < 0:
            raise InputError(f"hidden must be at least 0, got {self.hidden}")
        if not 0 <= self.dropout < 1:
            raise InputError(f"dropout must lie in [0, 1), got {self.dropout}")
        if self.max_length < 4:
            raise InputError(f"max_length must be at least 4, got {self.max_length}")


class ProbeScores(NamedTuple):
    """Scores of a batch of sentence vectors.

    Args:
        labels: logits, ``[batch, n_labels]``.
        loss: where gold labels were given.
    """

    labels: Tensor
    loss: Tensor | None


class ProbeModel(GuidedEncoder):
    """A frozen encoder with its guides, and a classifier of its sentence vectors."""

    def __init__(self, config: SyntagmaConfig) -> None:
        super().__init__(config)
        self.head: ProbeHead = build(ProbeHead, config.head, where="head")
        width, n_labels = config.encoder.hidden_size, len(config.labels["labels"])
        # Vectors of different encoders have different scales.
        self.norm = nn.BatchNorm1d(width, affine=False)
        if self.head.hidden:
            self.classifier = nn.Sequential(
                nn.Linear(width, self.head.hidden),
                nn.Tanh(),
                nn.Dropout(self.head.dropout),
                nn.Linear(self.head.hidden, n_labels),
            )
        else:
            self.classifier = nn.Sequential(
                nn.Dropout(self.head.dropout), nn.Linear(width, n_labels)
            )
        self.post_init()
        for name, parameter in self.named_parameters():
            parameter.requires_grad_(name.startswith("classifier."))

    def sentence_vectors(self, input_ids: Tensor, attention_mask: Tensor, **tensors: Any) -> Tensor:
        """The vector of each sentence, ``[batch, width]``.

        Args:
            input_ids: ``[batch, n]``.
            attention_mask: ``[batch, n]``.
            tensors: token types and syntax, see :meth:`GuidedEncoder.encode`.
        """
        states = self.encode(input_ids, attention_mask, **tensors).last_hidden_state
        return pool_states(states.float(), attention_mask, self.head.pooling)

    def forward(  # type: ignore[override]
        self, vectors: Tensor, labels: Tensor | None = None
    ) -> ProbeScores:
        """Score the labels of sentence vectors.

        Args:
            vectors: from :meth:`sentence_vectors`, ``[batch, width]``.
            labels: gold labels, ``[batch]``.
        """
        # One vector has no variance to norm by.
        use_running = not self.training or len(vectors) == 1
        normed = F.batch_norm(
            vectors,
            self.norm.running_mean,
            self.norm.running_var,
            training=not use_running,
            momentum=0.1,
        )
        scores: Tensor = self.classifier(normed).float()
        return ProbeScores(scores, None if labels is None else F.cross_entropy(scores, labels))
