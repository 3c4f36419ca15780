"""Train the classifier of :class:`syntagma.text.segmentation.learned.classifier.Classifier`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn
from torch.nn.functional import binary_cross_entropy_with_logits, cross_entropy

from syntagma.text.segmentation.learned.hashes import Hashes, Integers, position

PEAK_LEARNING_RATE = 5e-3
MIN_STEPS = 100
MAX_FEATURES = 20_000
"""Features that are kept, the most frequent ones."""


class SumClassifier(nn.Module):
    """Adds the vectors of features; one hidden layer and a linear one follow.

    Args:
        features: hashes of the known features, ascending.
        width: of a vector.
        n_classes: number of scores.
        rule: weight at first of a decision by rule, 1 or −1, which is added; ``None`` for none.
    """

    def __init__(
        self, features: Hashes, *, width: int, n_classes: int, rule: float | None = None
    ) -> None:
        super().__init__()
        self.features = features
        self.vectors = nn.EmbeddingBag(len(features) + 1, width, mode="sum", padding_idx=0)
        # Small, so that what is hardly trained has little effect.
        nn.init.normal_(self.vectors.weight, std=0.03)
        nn.init.zeros_(self.vectors.weight[0])
        self.bias = nn.Parameter(torch.zeros(width))
        self.output = nn.Linear(width, n_classes)
        self.rule = None if rule is None else nn.Parameter(torch.tensor([rule]))

    def forward(self, rows: Tensor, rule: Tensor | None = None) -> Tensor:
        """Return the scores.

        Args:
            rows: row of each feature, 0 if it is not known, ``[n, n_templates]``.
            rule: decisions by rule, ``[n]``.
        """
        scores: Tensor = self.output(torch.relu(self.vectors(rows) + self.bias))
        if self.rule is not None and rule is not None:
            scores = scores + self.rule * rule.unsqueeze(1)
        return scores

    def weights(self) -> dict[str, NDArray[Any]]:
        """The arrays for :class:`syntagma.text.segmentation.learned.classifier.Classifier`."""
        tensors = {
            "vectors": self.vectors.weight,
            "bias": self.bias,
            "output": self.output.weight,
            "output_bias": self.output.bias,
        } | ({} if self.rule is None else {"rule": self.rule})
        arrays = {
            name: tensor.detach().numpy().astype(np.float16) for name, tensor in tensors.items()
        }
        return {**arrays, "features": self.features}


def frequent(features: Hashes, min_count: int) -> Hashes:
    """Return the features that occur often, ascending; at most about :data:`MAX_FEATURES`."""
    found, counts = np.unique(features, return_counts=True)
    if (counts >= min_count).sum() > MAX_FEATURES:
        min_count = int(np.sort(counts)[-MAX_FEATURES])
    return found[counts >= min_count]


def _trust(rule: Integers, labels: Integers) -> float:
    """Return the weight with which a rule is as sure as it is often right, at most 4."""
    is_right = (rule > 0) == (labels > 0)
    right = float(np.clip(is_right.mean(), 0.5, 0.98)) if len(labels) else 0.98
    return float(np.log(right / (1 - right)))


def train(
    features: Hashes,
    labels: Integers,
    *,
    n_classes: int,
    epochs: int,
    batch_size: int,
    min_count: int,
    dropout: float,
    width: int,
    importance: NDArray[np.float32] | None = None,
    rule: Integers | None = None,
    kept: Sequence[int] = (),
) -> SumClassifier:
    """Minimise cross-entropy with Adam; the learning rate falls to zero.

    Args:
        features: hashes of the features of each item, ``[n_items, n_templates]``.
        labels: class of each item, ``[n_items]``; with one class, whether it applies (1 or 0).
        n_classes: number of scores of an item.
        epochs: passes over the items.
        batch_size: items of a step.
        min_count: how often a feature must occur to be known.
        dropout: share of the features that are left out, at random.
        width: of a vector.
        importance: weight of each item, ``[n_items]``.
        rule: decision of a rule for each item, 1 or −1, ``[n_items]``.
        kept: templates that are left alone, without all others, in a quarter of the items: the
            others are mostly unknown in new words, and the model must do without them there.
    """
    model = SumClassifier(
        frequent(features, min_count),
        width=width,
        n_classes=n_classes,
        rule=None if rule is None else _trust(rule, labels),
    )
    rows = torch.from_numpy(position(model.features, features))
    goal = torch.from_numpy(labels)
    weight = torch.ones(len(goal)) if importance is None else torch.from_numpy(importance)
    decided = None if rule is None else torch.from_numpy(rule.astype(np.float32))
    others = torch.ones(rows.shape[1], dtype=torch.bool)
    others[list(kept)] = False
    optimizer = torch.optim.Adam(model.parameters(), lr=PEAK_LEARNING_RATE)
    per_epoch = -(-len(goal) // batch_size)
    # A small treebank is read more often.
    epochs = max(epochs, -(-MIN_STEPS // per_epoch)) if per_epoch else 0
    n_steps, step = epochs * per_epoch, 0
    for _ in range(epochs):
        for batch in torch.randperm(len(goal)).split(batch_size):
            known = rows[batch] * (torch.rand(len(batch), rows.shape[1]) >= dropout)
            if kept:
                alone = torch.rand(len(batch), 1) < 0.25
                known = torch.where(alone & others, 0, known)
            scores = model(known, None if decided is None else decided[batch])
            if n_classes == 1:
                target = goal[batch].float()
                losses = binary_cross_entropy_with_logits(scores[:, 0], target, reduction="none")
            else:
                losses = cross_entropy(scores, goal[batch], reduction="none")
            loss = (losses * weight[batch]).sum() / weight[batch].sum()
            optimizer.zero_grad()
            loss.backward()
            for group in optimizer.param_groups:
                group["lr"] = PEAK_LEARNING_RATE * (1 - step / n_steps)
            optimizer.step()
            step += 1
    return model
