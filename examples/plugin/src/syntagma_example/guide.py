"""A guide: a vector for the relation of each word to its head."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

from torch import Tensor, nn
from transformers import PretrainedConfig

from syntagma import InputError
from syntagma.models.guide import EmbeddingGuide, Syntax
from syntagma.syntax.relations import N_RELATIONS


@dataclass(frozen=True)
class RelationSettings:
    """Settings of the guide.

    Args:
        deviation: standard deviation of the vectors before training; 0 for a model that at first
            computes what the plain encoder does.
    """

    deviation: float = 0.0

    def __post_init__(self) -> None:
        if self.deviation < 0:
            raise InputError(f"deviation must be at least 0, got {self.deviation}")


class RelationEmbedding(EmbeddingGuide):
    """Adds to each piece a vector for the relation of its word to its head (nsubj, obj, …)."""

    name = "relation_embedding"
    settings_class = RelationSettings
    columns = ("relation", "word")

    def __init__(self, settings: RelationSettings, width: int) -> None:
        super().__init__()
        self.settings = settings
        # One row more, for pieces without a word: special tokens and padding.
        self.table = nn.Embedding(N_RELATIONS + 1, width)
        self.reset()

    @classmethod
    def build(cls, settings: RelationSettings, encoder: PretrainedConfig) -> Self:
        """Build the guide for an encoder."""
        return cls(settings, encoder.hidden_size)

    def reset(self) -> None:
        """Initialise the vectors."""
        nn.init.normal_(self.table.weight, std=self.settings.deviation)

    def forward(self, syntax: Syntax) -> Tensor:
        """Look up the vectors, ``[batch, n, width]``."""
        relations = syntax.require("relation") + 1
        vectors: Tensor = self.table(relations.where(syntax.require("word") >= 0, 0))
        return vectors
