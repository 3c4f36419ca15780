"""Small classifiers of frozen sentence vectors, tuned on dev files (SentEval).

Conneau & Kiela (2018), Conneau et al. (2018).

Unlike SentEval's, they read vectors that are standardised by the mean and variance of the training
set, so that encoders whose states differ in size are asked alike.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product
from typing import Any, NamedTuple

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from syntagma.encoders.config import SyntagmaConfig
from syntagma.errors import InputError
from syntagma.models.guided_encoder import GuidedEncoder
from syntagma.models.pooling import Pooling, pool_states


@dataclass(frozen=True)
class ProbeHead:
    """Settings of a probe.

    A classifier is trained for every combination of ``hidden``, ``dropout`` and ``l2``, all at
    once, and the one that is best on the dev files is kept.

    Args:
        pooling: how a sentence becomes one vector.
        hidden: units of a classifier's hidden layer; 0 for logistic regression.
        dropout: before the hidden layer's sigmoid, or before the scores of logistic regression.
        l2: weight of the squared weights in the loss.
        chosen: number of the classifier that is used; training chooses it.
        max_length: pieces of a sentence, special ones included; longer ones lose their end.
    """

    pooling: Pooling = "mean"
    hidden: tuple[int, ...] = (50, 100, 200)
    dropout: tuple[float, ...] = (0.0, 0.1, 0.2)
    l2: tuple[float, ...] = (0.0,)
    chosen: int | None = None
    max_length: int = 256

    def __post_init__(self) -> None:
        for name in ("hidden", "dropout", "l2"):
            values = getattr(self, name)
            if not values:
                raise InputError(f"{name} needs a value")
            if min(values) < 0:
                raise InputError(f"{name} must be at least 0, got {min(values)}")
        if max(self.dropout) >= 1:
            raise InputError(f"dropout must lie in [0, 1), got {max(self.dropout)}")
        if self.max_length < 4:
            raise InputError(f"max_length must be at least 4, got {self.max_length}")

    @property
    def candidates(self) -> list[tuple[int, float, float]]:
        """Units, dropout and L2 of each classifier."""
        return list(product(self.hidden, self.dropout, self.l2))


class ProbeScores(NamedTuple):
    """Scores of a batch of sentence vectors.

    Args:
        labels: logits, ``[batch, n_classifiers, n_labels]``; of the chosen classifier alone, where
            there is one.
        loss: where gold labels were given, summed over classifiers.
    """

    labels: Tensor
    loss: Tensor | None


class ProbeModel(GuidedEncoder):
    """A frozen encoder with its guides, and classifiers of its sentence vectors."""

    head_class = ProbeHead
    head: ProbeHead

    def __init__(self, config: SyntagmaConfig) -> None:
        super().__init__(config)
        width, n_labels = config.encoder.hidden_size, len(config.labels["labels"])
        # Vectors of different encoders have different scales.
        self.norm = nn.BatchNorm1d(width, affine=False)
        self.classifiers = nn.ModuleList(
            _classifier(width, n_labels, hidden, dropout)
            for hidden, dropout, _ in self.head.candidates
        )
        self.post_init()
        for name, parameter in self.named_parameters():
            parameter.requires_grad_(name.startswith("classifiers."))

    def sentence_vectors(self, input_ids: Tensor, attention_mask: Tensor, **tensors: Any) -> Tensor:
        """The vector of each sentence, ``[batch, width]``.

        Args:
            input_ids: ``[batch, n]``.
            attention_mask: ``[batch, n]``.
            tensors: token types and syntax, see :meth:`GuidedEncoder.encode`.
        """
        states = self.encode(input_ids, attention_mask, **tensors).last_hidden_state
        return pool_states(states.float(), attention_mask, self.head.pooling)

    def standardise_by(self, vectors: Tensor) -> None:
        """Standardise all vectors by the mean and variance of some.

        Args:
            vectors: of the training set, ``[n, width]``.
        """
        assert self.norm.running_mean is not None
        assert self.norm.running_var is not None
        self.norm.running_mean.copy_(vectors.mean(0))
        self.norm.running_var.copy_(vectors.var(0, correction=0))

    def forward(  # type: ignore[override]
        self, vectors: Tensor, labels: Tensor | None = None
    ) -> ProbeScores:
        """Score the labels of sentence vectors.

        Args:
            vectors: from :meth:`sentence_vectors`, ``[batch, width]``.
            labels: gold labels, ``[batch]``.
        """
        normed = F.batch_norm(vectors, self.norm.running_mean, self.norm.running_var)
        chosen = self.head.chosen
        numbers = range(len(self.classifiers)) if chosen is None else [chosen]
        scores = torch.stack([self.classifiers[number](normed).float() for number in numbers], 1)
        if labels is None:
            return ProbeScores(scores, None)
        losses = [F.cross_entropy(scores[:, place], labels) for place in range(len(numbers))]
        for number, (_, _, l2) in enumerate(self.head.candidates):
            if l2 and number in numbers:
                weights = (p for p in self.classifiers[number].parameters() if p.ndim > 1)
                losses += [l2 * weight.square().sum() for weight in weights]
        return ProbeScores(scores, torch.stack(losses).sum())


def _classifier(width: int, n_labels: int, hidden: int, dropout: float) -> nn.Sequential:
    """SentEval's network with one hidden layer, or none."""
    if not hidden:
        return nn.Sequential(nn.Dropout(dropout), nn.Linear(width, n_labels))
    return nn.Sequential(
        nn.Linear(width, hidden), nn.Dropout(dropout), nn.Sigmoid(), nn.Linear(hidden, n_labels)
    )
