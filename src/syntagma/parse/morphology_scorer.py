"""Scores of features and edit scripts, on top of the parser's encoder."""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.nn import functional as F


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
