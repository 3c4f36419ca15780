"""The base classes of guides, which bring syntax into an encoder at one of its sites.

A guide acts on the sum of embeddings before their norm, on the input of every layer, on the scores
of every layer's attention, or on the last hidden states.  Guides at the same site act in the order
of :data:`syntagma.models.guides.GUIDES`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, ClassVar, Literal, NamedTuple, Self

from torch import Tensor, nn
from transformers import PretrainedConfig

from syntagma.errors import InputError
from syntagma.syntax.pieces import PieceMode


class Syntax(NamedTuple):
    """The tensors of a batch that guides read, ``[batch, n]`` unless stated otherwise.

    Args:
        attention_mask: 0 at padding.
        enter: start of each piece's interval, see :class:`syntagma.syntax.pieces.PieceSyntax`.
        exit: end of the interval.
        point: position looked up in the intervals; ``enter`` if ``None``.
        depth: number of arcs to the root of the sentence.
        sentence: number of the sentence.
        word: number of the word, negative for pieces without a word.
        tag: part-of-speech tag, see :mod:`syntagma.syntax.tags`.
        parent: number of the head of the word.
        relation: relation to that head, see :mod:`syntagma.syntax.relations`.
        domain: 0 up to and including the special token that ends the first text, 1 after it,
            negative for padding.
        distances: tree distances that replace those of the tree, ``[batch, n, n]``; see
            :func:`syntagma.models.objectives.hide_distances`.
    """

    attention_mask: Tensor
    enter: Tensor | None = None
    exit: Tensor | None = None
    point: Tensor | None = None
    depth: Tensor | None = None
    sentence: Tensor | None = None
    word: Tensor | None = None
    tag: Tensor | None = None
    parent: Tensor | None = None
    relation: Tensor | None = None
    domain: Tensor | None = None
    distances: Tensor | None = None

    @property
    def n_pieces(self) -> int:
        """Length of the sequences, with padding."""
        return self.attention_mask.shape[1]

    def require(self, name: str) -> Tensor:
        """Return a tensor that a guide needs.

        Args:
            name: name of the tensor.

        Raises:
            InputError: the tensor is missing.
        """
        value: Tensor | None = getattr(self, name)
        if value is None:
            raise InputError(
                f"this model reads syntax, but {name} is missing; encode texts with a parse "
                f"source, or train a model with preset: none"
            )
        return value


class FirstPiece(NamedTuple):
    """Why the state of the first piece cannot represent what a guide does with a sequence.

    Args:
        reason: the guide and the reason, as the end of a sentence that begins with "after".
        pooling: pooling that represents the sequence.
        unguided: whether the states of special tokens depend on no other piece's guided state.
        changed: whether the guide changes the first piece all the same, so that it may be pooled if
            the settings ask for it, as the paper does.
    """

    reason: str
    pooling: Literal["max", "mean"]
    unguided: bool = False
    changed: bool = False


class Guide(nn.Module):
    """Base class of guides; it describes all that the rest of the package needs to know of one.

    A subclass sets the attributes, implements :meth:`build` and the methods of its site
    (:class:`EmbeddingGuide`, :class:`LayerGuide`, :class:`AttentionGuide`, :class:`ScoreGuide` or
    :class:`StateGuide`), and is registered with :func:`syntagma.models.guides.register_guide`.

    Attributes:
        name: name in settings and model folders; also the model's attribute with the guide.
        settings_class: frozen dataclass of the settings.
        settings: settings of this guide.
        columns: names of the tensors of :class:`Syntax` that it reads.
        taught: names of those that it reads only to learn, in training.
        reveals_tree: whether the model sees trees through it that pre-training lets the model
            predict and cannot hide.
        needs_two_texts: whether it compares the two texts of a sequence.
        shares: names of its parameters that are shares or gates, such as α, and may be trained with
            ``training.alpha_learning_rate``.
    """

    name: ClassVar[str] = ""
    settings_class: ClassVar[type]
    settings: Any
    columns: tuple[str, ...] = ()
    taught: tuple[str, ...] = ()
    reveals_tree: ClassVar[bool] = False
    needs_two_texts: ClassVar[bool] = False
    shares: ClassVar[tuple[str, ...]] = ()

    @classmethod
    def build(cls, settings: Any, encoder: PretrainedConfig) -> Self:
        """Build a new guide for an encoder.

        Args:
            settings: an instance of :attr:`settings_class`.
            encoder: the encoder's configuration.

        Raises:
            InputError: the guide needs a site that is unknown for this encoder.
        """
        raise NotImplementedError

    @classmethod
    def columns_of(cls, settings: Any) -> tuple[str, ...]:
        """Return the columns that a guide with these settings reads."""
        return cls.columns

    @classmethod
    def pieces_of(cls, settings: Any) -> PieceMode | None:
        """Return the rule for transferring the tree to pieces; ``None`` if any rule works."""
        return None

    @classmethod
    def stays_in_text(cls, settings: Any) -> bool:
        """Whether the tree of a text changes the states of that text only.

        The tree of a text whose states nobody reads need then not be known.
        """
        return False

    @classmethod
    def first_piece(cls, settings: Any) -> FirstPiece | None:
        """Return why pooling cannot use the first piece after this guide; ``None`` if it can."""
        return None

    @classmethod
    def copies_pretrained(cls, settings: Any) -> str:
        """Return the setting that makes :meth:`start_from` copy weights; empty if none does."""
        return ""

    @classmethod
    def without_copy(cls, settings: Any, encoder: PretrainedConfig | None) -> Any:
        """Return settings without the copy of weights that an encoder does not have.

        Only settings of a preset are changed in this way: a copy that the user asked for and that
        is impossible is an error.

        Args:
            settings: settings of the guide.
            encoder: the encoder's configuration; ``None`` for an encoder without pretrained
                weights.

        Returns:
            The same settings if the weights can be copied, or if none are.
        """
        return settings

    @classmethod
    def on_encoder(cls, settings: Any, encoder: PretrainedConfig) -> Any:
        """Return settings in which defaults that depend on the encoder are written out.

        Args:
            settings: settings of the guide.
            encoder: the encoder's configuration.
        """
        return settings

    @classmethod
    def as_trained(cls, settings: Any, trained: Any) -> Any:
        """Return settings in which what training would choose is what trained weights stand for.

        Args:
            settings: settings of the guide.
            trained: settings that the weights were trained with.
        """
        return settings

    @classmethod
    def learned_numbers(
        cls, settings: Any, weights: Mapping[str, Callable[[], list[float]]]
    ) -> dict[str, float]:
        """Return the single numbers of a trained guide that a report shows.

        Args:
            settings: settings of the guide.
            weights: functions that read the weights, by their names in the guide.

        Returns:
            Numbers by their descriptions.
        """
        return {}

    def start_from(self, encoder: nn.Module, config: PretrainedConfig) -> None:
        """Initialise a new guide from the encoder's pretrained weights; by default, do nothing.

        Args:
            encoder: the encoder with its pretrained weights.
            config: the encoder's configuration.
        """

    def load_trained(self, weights: dict[str, Tensor], trained: Any) -> None:
        """Load the weights of a trained guide.

        Args:
            weights: weights by their names in the guide.
            trained: settings that they were trained with, as :meth:`on_encoder` returns them.

        Raises:
            InputError: with this guide's settings, the weights would have another meaning.
            RuntimeError: the shapes do not fit.
        """
        self.load_state_dict(weights)

    def require_same(self, trained: Any, *names: str) -> None:
        """Check settings that say what the weights mean, for :meth:`load_trained`.

        Args:
            trained: settings that the weights were trained with.
            names: the settings that must be the same.

        Raises:
            InputError: one of them differs.
        """
        for name in names:
            before, now = getattr(trained, name), getattr(self.settings, name)
            if before != now:
                raise InputError(
                    f"guides.{self.name}.{name}: expected {before!r}, with which its weights were "
                    f"trained, got {now!r}; set it to {before}, or start from another encoder"
                )

    def reset(self) -> None:
        """Initialise weights that need other values than the encoder's initialisation gives."""


class EmbeddingGuide(Guide):
    """Adds to the embeddings, before their norm."""

    def forward(self, syntax: Syntax) -> Tensor:
        """Compute the summand.

        Args:
            syntax: tensors of the batch.

        Returns:
            ``[batch, n, embedding_width]``.
        """
        raise NotImplementedError


class LayerGuide(Guide):
    """Changes the input of every layer of the encoder."""

    def prepare(self, syntax: Syntax) -> Tensor:
        """Compute what all layers need of a batch, once per forward pass.

        Args:
            syntax: tensors of the batch.
        """
        raise NotImplementedError

    def before_layer(self, index: int, states: Tensor, prepared: Tensor) -> Tensor:
        """Compute the states that a layer reads.

        Args:
            index: index of the layer in :func:`syntagma.encoders.sites.layers`.
            states: the original input of the layer, ``[batch, n, width]``.
            prepared: result of :meth:`prepare`.

        Returns:
            ``[batch, n, width]``.
        """
        raise NotImplementedError


class Pairs(NamedTuple):
    """The pairs of pieces whose scores a guide changes.

    Args:
        places: place of each pair (i, j) in the flattened ``[batch, n, n]``; each once, and none
            with padding, ``[n_pairs]``.  ``None`` for all pairs in their order.
        kinds: what the guide knows of each pair, ``[n_pairs]``.
    """

    places: Tensor | None
    kinds: Tensor


class AttentionGuide(Guide):
    """Adds a bias to the scores of attention in every layer of the encoder.

    Attributes:
        all_pairs: whether :meth:`prepare` returns all pairs, also those without a bias: a graph for
            another runtime has no sizes that depend on the values of its inputs.
    """

    all_pairs: bool = False

    def prepare(self, syntax: Syntax) -> Pairs:
        """Find the pairs of a batch whose scores change, once per forward pass.

        Args:
            syntax: tensors of the batch.
        """
        raise NotImplementedError

    def bias(self, index: int, kinds: Tensor) -> Tensor:
        """Compute what a layer adds to the scores of these pairs.

        Args:
            index: index of the layer in :func:`syntagma.encoders.sites.layers`.
            kinds: from the result of :meth:`prepare`, ``[n_pairs]``.

        Returns:
            ``[n_heads, n_pairs]``, added to the scores by which piece i weights piece j.
        """
        raise NotImplementedError


class Scores(NamedTuple):
    """What a guide computes from the input of a layer.

    Args:
        bias: added to the scores by which piece i weights piece j, ``[n_heads, batch * n * n]``.
        loss: what the guide learns from trees; ``None`` if it is not being taught.
    """

    bias: Tensor
    loss: Tensor | None


class ScoreGuide(Guide):
    """Adds to the scores of attention in one layer, depending on the states that the layer reads.

    Attributes:
        layer: index of the layer in :func:`syntagma.encoders.sites.layers`.
    """

    layer: int

    def forward(self, states: Tensor, syntax: Syntax, *, teach: bool) -> Scores:
        """Compute the bias and, to teach the guide, its loss.

        Args:
            states: the original input of the layer, ``[batch, n, width]``.
            syntax: tensors of the batch; those of :attr:`Guide.taught` only if ``teach``.
            teach: whether to compute the loss.
        """
        raise NotImplementedError


class StateGuide(Guide):
    """Changes the last hidden states."""

    def forward(
        self, states: Tensor, syntax: Syntax, observed: dict[str, Any] | None = None
    ) -> Tensor:
        """Compute the guided states.

        Args:
            states: the encoder's states, ``[batch, n, width]``.
            syntax: tensors of the batch.
            observed: dictionary to store data for inspection in, under the guide's name; ``None``
                to compute none.

        Returns:
            ``[batch, n, width]``.
        """
        raise NotImplementedError
