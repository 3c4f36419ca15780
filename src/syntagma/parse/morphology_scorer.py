"""Scores of features and edit scripts, on top of the parser's encoder."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional as F

INITIAL_STD = 0.02
"""Standard deviation of the first weights of values, as of all linear layers of BERT."""


class BundleScorer(nn.Linear):
    """A linear layer that scores bundles of features, such as ``Case=Dat|Number=Plur``.

    A small treebank shows most bundles once or twice, and each of their values, such as
    ``Case=Dat``, often.  So what bundles share can be learned by value: the weights of a bundle are
    then the sum of its own and those of its values.  They are saved and loaded as one.

    Args:
        width: width of the word representation.
        n_bundles: number of bundles.
    """

    has: Tensor

    def __init__(self, width: int, n_bundles: int) -> None:
        super().__init__(width, n_bundles)
        self.value_weight: nn.Parameter | None = None
        self.value_bias: nn.Parameter | None = None

    def learn_by_value(self, bundles: Sequence[str]) -> None:
        """Let the values learn as well.

        Args:
            bundles: the bundles, in the order of their scores.
        """
        values = [bundle.split("|") for bundle in bundles]
        rows = {value: row for row, value in enumerate(dict.fromkeys(chain(*values)))}
        has = torch.zeros(len(bundles), len(rows))
        for bundle, parts in enumerate(values):
            has[bundle, [rows[part] for part in parts]] = 1
        # [n_bundles, n_values]
        self.register_buffer("has", has, persistent=False)
        self.value_weight = nn.Parameter(torch.randn(len(rows), self.in_features) * INITIAL_STD)
        self.value_bias = nn.Parameter(torch.zeros(len(rows)))
        # What bundles share is learned in the values: at first a bundle is the sum of its own.
        nn.init.zeros_(self.weight)

    def forward(self, words: Tensor) -> Tensor:
        """Score bundles, ``[..., n_bundles]``.

        Args:
            words: word representations, ``[..., width]``.
        """
        return F.linear(words, *self._summed())

    def _summed(self) -> tuple[Tensor, Tensor]:
        """The weights and the bias of each bundle, those of its values included."""
        if self.value_weight is None or self.value_bias is None:
            return self.weight, self.bias
        return self.weight + self.has @ self.value_weight, self.bias + self.has @ self.value_bias

    def _save_to_state_dict(
        self, destination: dict[str, Any], prefix: str, keep_vars: bool
    ) -> None:
        if self.value_weight is None:
            super()._save_to_state_dict(destination, prefix, keep_vars)
            return
        weight, bias = self._summed()
        destination[prefix + "weight"] = weight if keep_vars else weight.detach()
        destination[prefix + "bias"] = bias if keep_vars else bias.detach()

    def _load_from_state_dict(
        self, state_dict: dict[str, Any], prefix: str, *args: Any, **kwargs: Any
    ) -> None:
        if self.value_weight is not None and self.value_bias is not None:
            # Given back unchanged where nothing is loaded.
            state_dict = {
                prefix + "value_weight": self.value_weight,
                prefix + "value_bias": self.value_bias,
            } | state_dict
            if prefix + "weight" in state_dict:
                nn.init.zeros_(self.value_weight)
                nn.init.zeros_(self.value_bias)
        super()._load_from_state_dict(state_dict, prefix, *args, **kwargs)


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
        self.feats = BundleScorer(hidden_width, n_feats) if n_feats else None
        self.scripts = nn.Linear(hidden_width, n_scripts) if n_scripts else None

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
        return (
            None if self.feats is None else self.feats(hidden),
            None if self.scripts is None else self.scripts(hidden),
        )
