"""Scores of features and edit scripts, on top of the parser's encoder."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain

import torch
from torch import Tensor, nn
from torch.nn import functional as F

INITIAL_STD = 0.02
"""Standard deviation of the first weights of values, as of all linear layers of BERT."""


class FeatureValues(nn.Module):
    """Scores bundles of features by their values, such as ``Case=Dat``, which many bundles share.

    A small treebank shows most bundles once or twice, and each of their values often.

    Args:
        width: width of the word representation.
        bundles: the bundles, in the order of their codes, such as ``Case=Dat|Number=Plur``.
    """

    has: Tensor

    def __init__(self, width: int, bundles: Sequence[str]) -> None:
        super().__init__()
        values = [bundle.split("|") for bundle in bundles]
        rows = {value: row for row, value in enumerate(dict.fromkeys(chain(*values)))}
        has = torch.zeros(len(rows), len(bundles))
        for bundle, parts in enumerate(values):
            has[[rows[part] for part in parts], bundle] = 1
        self.scores = nn.Linear(width, len(rows))
        nn.init.normal_(self.scores.weight, std=INITIAL_STD)
        nn.init.zeros_(self.scores.bias)
        # [n_values, n_bundles]
        self.register_buffer("has", has, persistent=False)

    def forward(self, hidden: Tensor) -> Tensor:
        """Score bundles, ``[..., n_bundles]``.

        Args:
            hidden: word representations, ``[..., width]``.
        """
        scores: Tensor = self.scores(hidden)
        return scores @ self.has.to(scores.dtype)


class MorphologyScorer(nn.Module):
    """Classifies words by their features and by the edit script that makes their lemma.

    Trees and tags read the first piece of a word.  Inflection is at its end, so these classifiers
    read the last piece as well, in a layer of their own choice (``morphology_layer``).

    Args:
        width: width of the word vectors.
        hidden_width: width of the representation that both classifiers share.
        n_feats: number of feature bundles; 0 for a parser that predicts none.
        n_scripts: number of edit scripts; 0 for a parser that predicts none.
    """

    def __init__(self, width: int, hidden_width: int, *, n_feats: int, n_scripts: int) -> None:
        super().__init__()
        self.hidden = nn.Linear(2 * width, hidden_width)
        self.feats = nn.Linear(hidden_width, n_feats) if n_feats else None
        self.scripts = nn.Linear(hidden_width, n_scripts) if n_scripts else None
        self.values: FeatureValues | None = None

    def learn_by_value(self, bundles: Sequence[str]) -> None:
        """Let features learn through their values as well, until :meth:`fold_values`.

        Args:
            bundles: the labels of the features.
        """
        assert self.feats is not None
        self.values = FeatureValues(self.feats.in_features, bundles)
        # What bundles share is learned in the values: at first a bundle is the sum of its own.
        nn.init.zeros_(self.feats.weight)

    @torch.no_grad()
    def fold_values(self) -> None:
        """Add what the values learned to the weights of the bundles; scores stay the same."""
        if self.values is None:
            return
        assert self.feats is not None
        linear, has = self.values.scores, self.values.has
        self.feats.weight.add_(has.T @ linear.weight)
        self.feats.bias.add_(linear.bias @ has)
        self.values = None

    def forward(self, words: Tensor, ends: Tensor) -> tuple[Tensor | None, Tensor | None]:
        """Score the labels of each word.

        Args:
            words: word vectors, ``[batch, n_words, width]``.
            ends: vectors of the words' last pieces, ``[batch, n_words, width]``.

        Returns:
            Scores of features, ``[batch, n_words, n_feats]``, and of edit scripts,
            ``[batch, n_words, n_scripts]``; ``None`` for what the parser does not predict.
        """
        hidden = F.leaky_relu(self.hidden(torch.cat([words, ends], -1)), 0.1)
        feats: Tensor | None = None
        if self.feats is not None:
            feats = self.feats(hidden)
            if self.values is not None:
                feats = self.feats(hidden) + self.values(hidden)
        return feats, None if self.scripts is None else self.scripts(hidden)
