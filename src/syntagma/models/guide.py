"""The base classes of guides: mechanisms that bring syntax into an encoder, at one of its sites.

A guide acts on the sum of embeddings before their norm, on the input of every layer, or on the last
hidden states. Guides at the same site act in the order of :data:`syntagma.models.guides.GUIDES`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, ClassVar, Literal, NamedTuple, Self

from torch import Tensor, nn
from transformers import PretrainedConfig

from syntagma.errors import InputError
from syntagma.syntax.encode import PieceMode


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


class FirstPiece(NamedTuple):
    """Why the state of the first piece cannot stand for the whole sequence behind a guide.

    Args:
        reason: as the end of a sentence that begins with "behind".
        pooling: what represents the sequence instead.
        unguided: special pieces keep the encoder's own state: nothing of the guide reaches them.
    """

    reason: str
    pooling: Literal["max", "mean"]
    unguided: bool = False


class Guide(nn.Module):
    """A guide. Everything that the rest of the package must know about it is said here.

    A subclass sets the attributes, implements :meth:`build` and the methods of its site
    (:class:`EmbeddingGuide`, :class:`LayerGuide` or :class:`StateGuide`), and is made available
    with :func:`syntagma.models.guides.register_guide`.

    Attributes:
        name: as written in settings and model folders; the model's attribute of the same name
            holds the guide.
        settings_class: a frozen dataclass of its settings.
        settings: this guide's.
        columns: the tensors of :class:`Syntax` that it reads.
        reveals_tree: whether it shows the model trees that pre-training asks it to predict and
            cannot hide from it.
        needs_two_texts: whether it compares the two texts of a sequence.
    """

    name: ClassVar[str] = ""
    settings_class: ClassVar[type]
    settings: Any
    columns: tuple[str, ...] = ()
    reveals_tree: ClassVar[bool] = False
    needs_two_texts: ClassVar[bool] = False

    @classmethod
    def build(cls, settings: Any, encoder: PretrainedConfig) -> Self:
        """A new guide for an encoder.

        Args:
            settings: an instance of :attr:`settings_class`.
            encoder: the encoder's configuration.

        Raises:
            InputError: the guide needs a site that is not known for this encoder.
        """
        raise NotImplementedError

    @classmethod
    def columns_of(cls, settings: Any) -> tuple[str, ...]:
        """The columns that a guide with these settings reads."""
        return cls.columns

    @classmethod
    def pieces_of(cls, settings: Any) -> PieceMode | None:
        """How the pieces of a word take its place in the tree; ``None`` if any way will do."""
        return None

    @classmethod
    def first_piece(cls, settings: Any) -> FirstPiece | None:
        """Why pooling cannot take the first piece's state behind this guide, if it cannot."""
        return None

    @classmethod
    def copies_pretrained(cls, settings: Any) -> str:
        """The setting by which :meth:`start_from` copies pretrained weights; empty if none does."""
        return ""

    @classmethod
    def learned_numbers(
        cls, settings: Any, weights: Mapping[str, Callable[[], list[float]]]
    ) -> dict[str, float]:
        """The few single numbers of a trained guide that a report shows, by what they are.

        Args:
            settings: of the guide.
            weights: by their names in the guide, functions that read them.
        """
        return {}

    def start_from(self, encoder: nn.Module, config: PretrainedConfig) -> None:
        """Initialise a new guide from the encoder's pretrained weights, where it wants to."""

    def load_trained(self, weights: dict[str, Tensor], trained: Any) -> None:
        """Take over the weights of a trained guide.

        Args:
            weights: by their names in the guide.
            trained: the settings that it was trained with.

        Raises:
            InputError: under this guide's own settings the weights mean something else.
            RuntimeError: their shapes do not fit.
        """
        self.load_state_dict(weights)

    def reset(self) -> None:
        """Initialise weights for which the encoder's own initialisation does not do."""


class EmbeddingGuide(Guide):
    """Adds to the embeddings, before their norm."""

    def forward(self, syntax: Syntax) -> Tensor:
        """What is added, ``[batch, n, embedding_width]``."""
        raise NotImplementedError


class LayerGuide(Guide):
    """Changes the input of every layer of the encoder."""

    def prepare(self, syntax: Syntax) -> Tensor:
        """What every layer needs of a batch, computed once per forward pass."""
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
            observed: a dictionary to add inspection data to, under the guide's name; with ``None``
                none is computed.

        Returns:
            ``[batch, n, width]``.
        """
        raise NotImplementedError
