"""Part-of-speech embedding of POI-Net (section 2.1): a vector for each tag, before the norm."""

from __future__ import annotations

from dataclasses import dataclass
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
        initialise: ``random`` like the encoder's own embedding tables, or ``zero``, so that the
            model starts as the plain encoder.
    """

    initialise: Literal["random", "zero"] = "random"


class TagEmbedding(EmbeddingGuide):
    """Adds a vector for the tag of each piece's word to the sum of embeddings.

    Args:
        settings: of the guide.
        width: of the embeddings.
        deviation: of the first values.
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
        """A table as wide as the encoder's embeddings, which may be narrower than its states."""
        sites = find_sites(encoder.model_type, purpose="a part-of-speech embedding")
        width = encoder.hidden_size if sites.widened else embedding_width(encoder)
        return cls(settings, width=width, deviation=getattr(encoder, "initializer_range", 0.02))

    @torch.no_grad()
    def reset(self) -> None:
        """Begin at zero, as the plain encoder, or at random."""
        if self.settings.initialise == "zero":
            self.table.weight.zero_()
        else:
            self.table.weight.normal_(std=self.deviation)

    def forward(self, syntax: Syntax) -> Tensor:
        """The vectors of the tags.

        Raises:
            InputError: the tags are missing.
        """
        vectors: Tensor = self.table(syntax.require("tag"))
        return vectors
