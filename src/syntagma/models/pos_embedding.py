"""Part-of-speech embedding of POI-Net (section 2.1), added before the norm over the embeddings."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal, Self

import torch
from torch import Tensor, nn
from transformers import PretrainedConfig

from syntagma.encoders.sites import embedding_width, find_sites
from syntagma.models.guide import EmbeddingGuide, Syntax
from syntagma.syntax.tags import N_TAGS


@dataclass(frozen=True)
class PosEmbedding:
    """POI-Net: a vector for each part of speech, added to the embeddings before their norm.

    Args:
        initialise: ``random`` like the encoder's embeddings, or ``zero``, so that the guide changes
            nothing before training (the preset ``poi-net``).
        tags: ``penn`` for Penn tags (XPOS), ``upos`` for universal tags, or ``auto``: training
            takes Penn's unless most words have other tags, and the saved model has what it took.
    """

    initialise: Literal["random", "zero"] = "random"
    tags: Literal["auto", "penn", "upos"] = "auto"


class TagEmbedding(EmbeddingGuide):
    """Adds an embedding of the tag of each piece's word to the sum of embeddings.

    Args:
        settings: settings of the guide.
        width: width of the embeddings.
        deviation: standard deviation of random initial values.
    """

    name = "pos_embedding"
    settings_class = PosEmbedding
    columns = ("tag",)

    def __init__(self, settings: PosEmbedding, *, width: int, deviation: float = 0.02) -> None:
        super().__init__()
        self.settings = settings
        self.deviation = deviation
        self.table = nn.Embedding(N_TAGS, width)
        self.reset()

    @classmethod
    def build(cls, settings: PosEmbedding, encoder: PretrainedConfig) -> Self:
        """Build a table as wide as the encoder's embeddings, which may be narrower than states."""
        sites = find_sites(encoder.model_type, purpose="a part-of-speech embedding")
        width = encoder.hidden_size if sites.widened else embedding_width(encoder)
        return cls(settings, width=width, deviation=getattr(encoder, "initializer_range", 0.02))

    @classmethod
    def as_trained(cls, settings: PosEmbedding, trained: PosEmbedding) -> PosEmbedding:
        """Return settings with the tag set of the trained table, unless they name one."""
        return replace(settings, tags=trained.tags) if settings.tags == "auto" else settings

    def load_trained(self, weights: dict[str, Tensor], trained: PosEmbedding) -> None:
        """Load a trained table; another tag set would number its rows in another way."""
        if "auto" not in (trained.tags, self.settings.tags):
            self.require_same(trained, "tags")
        super().load_trained(weights, trained)

    @torch.no_grad()
    def reset(self) -> None:
        """Initialise the table with zeros or at random."""
        if self.settings.initialise == "zero":
            self.table.weight.zero_()
        else:
            self.table.weight.normal_(std=self.deviation)

    def forward(self, syntax: Syntax) -> Tensor:
        """Look up the embeddings of tags.

        Args:
            syntax: tensors of the batch; ``tag`` is read.

        Returns:
            ``[batch, n, width]``.

        Raises:
            InputError: ``tag`` is missing.
        """
        vectors: Tensor = self.table(syntax.require("tag"))
        return vectors
