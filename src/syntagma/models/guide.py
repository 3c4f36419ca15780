"""What a guide is: a mechanism that brings syntax into an encoder, at one of its sites.

A guide acts on the sum of embeddings before their norm, on the input of every layer, or on the last
hidden states; the last ones act in the order of :data:`syntagma.models.config.GUIDES`.
"""

from __future__ import annotations

from typing import Any, NamedTuple, Self

from torch import Tensor, nn
from transformers import PretrainedConfig

from syntagma.errors import InputError

__all__ = ["EmbeddingGuide", "Guide", "LayerGuide", "StateGuide", "Syntax"]


class Syntax(NamedTuple):
    """The tensors of a batch that guides read, ``[batch, n]`` each.

    Args:
        attention_mask: 0 at padding.
        enter: start of each piece's interval; see :class:`syntagma.syntax.encode.PieceSyntax`.
        exit: end of the interval.
        point: what is looked up in the intervals; ``enter`` if not given.
        depth: arcs to the root of the sentence.
        sentence: number of the sentence.
        word: number of the word, negative for pieces without one.
        tag: see :mod:`syntagma.syntax.tags`.
        domain: 0 for pieces of the first text and the special ones up to its end, 1 for those
            after, negative for padding.
        distances: tree distances that are read in place of those of the tree, ``[batch, n, n]``;
            see :func:`syntagma.models.objectives.hide_distances`.
    """

    attention_mask: Tensor
    enter: Tensor | None = None
    exit: Tensor | None = None
    point: Tensor | None = None
    depth: Tensor | None = None
    sentence: Tensor | None = None
    word: Tensor | None = None
    tag: Tensor | None = None
    domain: Tensor | None = None
    distances: Tensor | None = None

    @property
    def n_pieces(self) -> int:
        """Pieces of a sequence, padding to the longest one included."""
        return self.attention_mask.shape[1]

    def require(self, name: str) -> Tensor:
        """A tensor that a guide cannot do without.

        Raises:
            InputError: it is missing.
        """
        value: Tensor | None = getattr(self, name)
        if value is None:
            raise InputError(
                f"this model reads syntax: pass {name} (encode with a parse source), or train it "
                f"with preset: none"
            )
        return value


class Guide(nn.Module):
    """A guide.

    Attributes:
        columns: the tensors of :class:`Syntax` that it reads.
    """

    columns: tuple[str, ...] = ()

    @classmethod
    def build(cls, settings: Any, encoder: PretrainedConfig) -> Self:
        """A fresh guide for an encoder.

        Args:
            settings: the guide's dataclass of :mod:`syntagma.models.config`.
            encoder: its configuration.

        Raises:
            InputError: the guide needs a site that is not known in this encoder.
        """
        raise NotImplementedError

    def start_from(self, encoder: nn.Module, config: PretrainedConfig) -> None:
        """Take over what a fresh guide begins with from the encoder's pretrained weights."""

    def go_on_from(self, weights: dict[str, Tensor], trained: Any) -> None:
        """Take over the weights of a trained guide.

        Args:
            weights: by their names in the guide.
            trained: the settings that it was trained with.

        Raises:
            InputError: they mean something else under this guide's own settings.
            RuntimeError: they do not fit.
        """
        self.load_state_dict(weights)

    def reset(self) -> None:
        """Give weights their first values where those of the encoder's kind do not do."""


class EmbeddingGuide(Guide):
    """Adds to the embeddings, before their norm."""

    def forward(self, syntax: Syntax) -> Tensor:
        """What is added, ``[batch, n, embedding_width]``."""
        raise NotImplementedError


class LayerGuide(Guide):
    """Changes the input of every layer of the encoder."""

    def prepare(self, syntax: Syntax) -> Tensor:
        """What all layers need of a batch, computed once."""
        raise NotImplementedError

    def before_layer(self, index: int, states: Tensor, prepared: Tensor) -> Tensor:
        """The states that a layer reads.

        Args:
            index: of the layer, in the order of :func:`syntagma.encoders.sites.layers`.
            states: what it would read, ``[batch, n, width]``.
            prepared: from :meth:`prepare`.
        """
        raise NotImplementedError


class StateGuide(Guide):
    """Changes the last hidden states."""

    def forward(
        self, states: Tensor, syntax: Syntax, observed: dict[str, Any] | None = None
    ) -> Tensor:
        """The guided states.

        Args:
            states: ``[batch, n, width]``.
            syntax: of the pieces.
            observed: where to leave what there is to look at; nothing is computed for it if
                ``None``.

        Returns:
            ``[batch, n, width]``.
        """
        raise NotImplementedError
