"""A learned bias on attention by the relation of two words in the tree, in every layer.

``softmax(QKᵀ/√d + b[layer, type(i, j), head])``, with the types of
:mod:`syntagma.syntax.pair_types`.  All weights begin at zero, so that a new model computes what the
encoder alone does, bit for bit.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

import torch
from torch import Tensor, nn
from torch.nn import functional as F
from transformers import PretrainedConfig

from syntagma.encoders.score_bias import heads_of, require_additive_mask
from syntagma.encoders.sites import find_sites, n_layers_of
from syntagma.models.guide import AttentionGuide, Pairs, Syntax
from syntagma.syntax.pair_types import n_types, pair_types
from syntagma.syntax.pieces import PieceMode


@dataclass(frozen=True)
class TreeBias:
    """A bias on the attention of every head in every layer, by the relation of two words.

    Args:
        labels: whether parents and children have a bias for each universal relation.
        share_layers: whether all layers have the same bias.
    """

    labels: bool = False
    share_layers: bool = False


class TreeBiasTable(AttentionGuide):
    """The biases of all types of pairs, for each layer and head.

    If an encoder uses a layer several times (ALBERT), its bias is reused too.

    Args:
        settings: settings of the guide.
        n_layers: number of different layers in the encoder.
        n_heads: number of attention heads in a layer.
    """

    name = "tree_bias"
    settings_class = TreeBias
    reveals_tree = True

    def __init__(self, settings: TreeBias, *, n_layers: int, n_heads: int) -> None:
        super().__init__()
        self.settings = settings
        self.columns = self.columns_of(settings)
        # Without unrelated pairs, which have no bias.
        kinds = n_types(labels=settings.labels) - 1
        self.table = nn.Parameter(
            torch.zeros(1 if settings.share_layers else n_layers, kinds, n_heads)
        )

    @classmethod
    def build(cls, settings: TreeBias, encoder: PretrainedConfig) -> Self:
        """Build the table for the layers and heads of an encoder."""
        find_sites(encoder.model_type, purpose="guides.tree_bias")
        require_additive_mask(encoder, purpose="guides.tree_bias")
        return cls(settings, n_layers=n_layers_of(encoder), n_heads=heads_of(encoder))

    @classmethod
    def columns_of(cls, settings: TreeBias) -> tuple[str, ...]:
        """Return the columns of the tree; relations too if the settings ask for labels."""
        tree = ("enter", "exit", "depth", "sentence", "word", "parent")
        return (*tree, "relation") if settings.labels else tree

    @classmethod
    def pieces_of(cls, settings: TreeBias) -> PieceMode:
        """Return ``share``: the types are those of words, the same for all of their pieces."""
        return "share"

    @torch.no_grad()
    def reset(self) -> None:
        """Set all biases to 0."""
        self.table.zero_()

    def prepare(self, syntax: Syntax) -> Pairs:
        """Find all pairs of words of the same sentence, and their types.

        Args:
            syntax: tensors of the batch; the columns of the tree are read.

        Raises:
            InputError: syntax tensors are missing.
        """
        types = pair_types(*(syntax.require(name) for name in self.columns)).flatten()
        if self.all_pairs:
            return Pairs(None, types.long())
        places = types.nonzero().squeeze(1)
        return Pairs(places, types[places].int() - 1)

    def bias(self, index: int, kinds: Tensor) -> Tensor:
        """Look up the bias of pairs in a layer.

        Args:
            index: index of the layer.
            kinds: type of each pair, as :meth:`prepare` returns it, ``[n_pairs]``.

        Returns:
            ``[n_heads, n_pairs]``.
        """
        table = self.table[0 if self.settings.share_layers else index]
        if self.all_pairs:  # Then type 0 is among them, which has no bias.
            table = F.pad(table, (0, 0, 1, 0))
        return F.embedding(kinds, table).T
