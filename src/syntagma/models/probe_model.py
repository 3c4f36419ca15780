"""Small classifiers of frozen sentence vectors, tuned on dev data (SentEval).

Conneau & Kiela (2018), Conneau et al. (2018).  In contrast to SentEval, vectors are standardised by
the mean and variance of the training set, so that encoders with states of different scale are
compared fairly.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional as F
from transformers.utils import ModelOutput

from syntagma.encoders.config import SyntagmaConfig
from syntagma.errors import InputError
from syntagma.models.guided_encoder import GuidedEncoder
from syntagma.models.pooling import Pooling, pool_states
from syntagma.settings import require_at_least


@dataclass(frozen=True)
class ProbeHead:
    """Settings of a probe.

    A classifier is trained for every combination of ``hidden``, ``dropout`` and ``l2``, all of them
    together, and the best one on the dev data is kept.

    Args:
        pooling: how a sentence becomes one vector.
        hidden: widths of the hidden layer; 0 for logistic regression.
        dropout: dropout probabilities, before the sigmoid of the hidden layer or, in logistic
            regression, before the linear layer.
        l2: weights of the L2 penalty in the loss.
        chosen: index of the classifier in use; set by training.
        max_length: tokens per sentence, with special tokens; longer sentences are truncated.
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
                raise InputError(f"{name}: expected at least one value, got none")
            if min(values) < 0:
                raise InputError(f"{name} must be at least 0, got {min(values)}")
        if max(self.dropout) >= 1:
            raise InputError(f"dropout must lie in [0, 1), got {max(self.dropout)}")
        require_at_least(self, 4, "max_length")

    @property
    def candidates(self) -> list[tuple[int, float, float]]:
        """Hidden width, dropout and L2 weight of each classifier."""
        return list(product(self.hidden, self.dropout, self.l2))


@dataclass
class ProbeScores(ModelOutput):  # type: ignore[misc]
    """Scores of a batch of sentence vectors.

    Args:
        loss: sum of the losses of all classifiers, if gold labels were given.
        logits: scores of the labels, ``[batch, n_classifiers, n_labels]``; only of the chosen
            classifier, if one is chosen.
    """

    loss: Tensor | None = None
    logits: Tensor = None  # type: ignore[assignment]


class ProbeModel(GuidedEncoder):
    """A frozen guided encoder, and classifiers of its sentence vectors."""

    head_class = ProbeHead
    head: ProbeHead

    def __init__(self, config: SyntagmaConfig) -> None:
        super().__init__(config)
        width, n_labels = config.encoder.hidden_size, len(config.labels["labels"])
        # Buffers for mean and variance, which are saved with the model.
        self.norm = nn.BatchNorm1d(width, affine=False)
        self.classifiers = nn.ModuleList(
            _classifier(width, n_labels, hidden, dropout)
            for hidden, dropout, _ in self.head.candidates
        )
        self.post_init()
        for name, parameter in self.named_parameters():
            parameter.requires_grad_(name.startswith("classifiers."))

    def sentence_vectors(self, input_ids: Tensor, attention_mask: Tensor, **tensors: Any) -> Tensor:
        """Encode sentences and pool their states.

        Args:
            input_ids: ``[batch, n]``.
            attention_mask: 0 at padding, ``[batch, n]``.
            tensors: token types and syntax, see :meth:`GuidedEncoder.encode`.

        Returns:
            ``[batch, width]``.
        """
        states = self.encode(input_ids, attention_mask, **tensors).last_hidden_state
        return pool_states(states.float(), attention_mask, self.head.pooling)

    def standardise_by(self, vectors: Tensor) -> None:
        """Set the mean and variance by which vectors are standardised.

        Args:
            vectors: vectors of the training set, ``[n, width]``.
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
            vectors: vectors from :meth:`sentence_vectors`, ``[batch, width]``.
            labels: gold labels, ``[batch]``.
        """
        # The function, because the module would use batch statistics in training.
        normed = F.batch_norm(vectors, self.norm.running_mean, self.norm.running_var)
        chosen = self.head.chosen
        numbers = range(len(self.classifiers)) if chosen is None else [chosen]
        scores = torch.stack([self.classifiers[number](normed).float() for number in numbers], 1)
        if labels is None:
            return ProbeScores(logits=scores)
        losses = [F.cross_entropy(scores[:, place], labels) for place in range(len(numbers))]
        for number, (_, _, l2) in enumerate(self.head.candidates):
            if l2 and number in numbers:
                weights = (p for p in self.classifiers[number].parameters() if p.ndim > 1)
                losses += [l2 * weight.square().sum() for weight in weights]
        return ProbeScores(loss=torch.stack(losses).sum(), logits=scores)


def _classifier(width: int, n_labels: int, hidden: int, dropout: float) -> nn.Sequential:
    """Build SentEval's network with one hidden layer or none."""
    if not hidden:
        return nn.Sequential(nn.Dropout(dropout), nn.Linear(width, n_labels))
    return nn.Sequential(
        nn.Linear(width, hidden), nn.Dropout(dropout), nn.Sigmoid(), nn.Linear(hidden, n_labels)
    )
