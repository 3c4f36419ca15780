"""Settings of the guides, and the presets that name the papers' systems."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from syntagma.errors import InputError
from syntagma.settings import build, nearest, to_dict
from syntagma.syntax.distances import Direction
from syntagma.syntax.encode import PieceMode

__all__ = [
    "GUIDES",
    "PRESETS",
    "Aggregation",
    "AncestorAttention",
    "CoAttention",
    "Integration",
    "PosEmbedding",
    "TreeDistance",
    "change_guides",
    "read_guides",
    "require_shared_pieces",
    "resolve_guides",
]

Aggregation = Literal[
    "dual", "learned", "concatenation", "bi_attention", "guided_only", "vanilla_only"
]
Integration = Literal["average", "weighted", "forgetting", "intuition"]


@dataclass(frozen=True)
class AncestorAttention:
    """SG-Net: attention restricted to a word's ancestors, after the last layer.

    Args:
        pieces: how a word's place in the tree reaches its pieces (:mod:`syntagma.syntax.encode`).
        aggregation: how the guided states join the encoder's (:mod:`syntagma.models.aggregation`).
        alpha: weight of the encoder's states in ``dual`` (eq. 4: 0.5).
        aggregate_special: whether special pieces are aggregated too, as in the authors' released
            code; in the paper they keep the encoder's states.
        initialise: ``random``, or ``last_layer`` to begin as a copy of the encoder's last layer.
        n_layers: guided layers.
    """

    pieces: PieceMode = "share"
    aggregation: Aggregation = "dual"
    alpha: float = 0.5
    aggregate_special: bool = False
    initialise: Literal["random", "last_layer"] = "random"
    n_layers: int = 1

    def __post_init__(self) -> None:
        if not 0 <= self.alpha <= 1:
            raise InputError(f"alpha is a share from 0 to 1, got {self.alpha}")
        if self.n_layers < 1:
            raise InputError(f"n_layers must be at least 1, got {self.n_layers}")


@dataclass(frozen=True)
class PosEmbedding:
    """POI-Net: a vector for each part of speech, added to the embeddings before their norm.

    Args:
        initialise: ``random`` as the encoder's own tables were, or ``zero`` to begin as the plain
            encoder.
    """

    initialise: Literal["random", "zero"] = "random"


@dataclass(frozen=True)
class TreeDistance:
    """SEPREM: tree distances mixed into the states before every layer.

    Args:
        direction: of the paths that count (:mod:`syntagma.syntax.distances`).
        alpha: α at the beginning, the share of the mixed states.
        learn_alpha: whether α is learnt.
    """

    direction: Direction = "down"
    alpha: float = 0.1
    learn_alpha: bool = True

    def __post_init__(self) -> None:
        if not 0 <= self.alpha <= 1:
            raise InputError(f"alpha is a share from 0 to 1, got {self.alpha}")


@dataclass(frozen=True)
class CoAttention:
    """POI-Net: passage and question weigh each other, after the last layer.

    Args:
        kind: ``iterative``, without parameters; or ``multi_head``, the paper's baseline, in which
            the pieces of each domain attend to those of the other with one layer of the encoder's
            shape.
        turns: how often; 0 leaves the states as they are.
        integration: how the scores of the turns are joined, for ``iterative``.
    """

    kind: Literal["iterative", "multi_head"] = "iterative"
    turns: int = 3
    integration: Integration = "forgetting"

    def __post_init__(self) -> None:
        if self.turns < 0:
            raise InputError(f"turns must be at least 0, got {self.turns}")


GUIDES: dict[str, type] = {
    "pos_embedding": PosEmbedding,
    "tree_distance": TreeDistance,
    "ancestor_attention": AncestorAttention,
    "coattention": CoAttention,
}
"""The settings of each guide, in the order in which they act."""

PRESETS: dict[str, dict[str, dict[str, Any]]] = {
    "none": {},
    "sg-net": {"ancestor_attention": {}},
    "seprem": {"tree_distance": {}},
    "poi-net": {"pos_embedding": {}, "coattention": {}},
}
"""The guides of each published system."""


def read_guides(guides: Mapping[str, Mapping[str, Any]]) -> dict[str, Any]:
    """The settings of each guide as its dataclass.

    Raises:
        InputError: a guide or one of its keys is unknown, a value impossible, or two guides do not
            go together.
    """
    settings: dict[str, Any] = {}
    for name, values in guides.items():
        if name not in GUIDES:
            raise InputError(f"guides: unknown guide {name!r}; {nearest(name, list(GUIDES))}")
        settings[name] = build(GUIDES[name], values or {}, where=f"guides.{name}")
    if "tree_distance" in settings:
        require_shared_pieces(settings, "guides: tree_distance")
    return settings


def require_shared_pieces(guides: Mapping[str, Any], whose: str) -> None:
    """Check that the pieces of a word share its place in the tree.

    Args:
        guides: as :func:`read_guides` gives them.
        whose: what needs it, for the message.

    Raises:
        InputError: they have places of their own.
    """
    attention = guides.get("ancestor_attention")
    if attention is not None and attention.pieces != "share":
        raise InputError(
            f"{whose} needs the pieces of a word to share its place, and "
            f"ancestor_attention.pieces is {attention.pieces!r}; set it to share"
        )


def resolve_guides(
    preset: str, guides: Mapping[str, Any], *, others: Sequence[str] = ()
) -> dict[str, dict[str, Any]]:
    """The complete settings of a preset with changes on top.

    A guide that is set to ``false`` is taken out of the preset.

    Args:
        preset: a name from :data:`PRESETS`.
        guides: settings by guide.
        others: what else might have been meant where the preset is unknown.

    Raises:
        InputError: a name is unknown, or a value impossible.

    >>> resolve_guides("sg-net", {"ancestor_attention": False})
    {}
    """
    if preset not in PRESETS:
        raise InputError(f"unknown preset {preset!r}; {nearest(preset, [*PRESETS, *others])}")
    return change_guides(PRESETS[preset], guides)


def change_guides(
    before: Mapping[str, Mapping[str, Any]], guides: Mapping[str, Any]
) -> dict[str, dict[str, Any]]:
    """The complete settings of guides with changes on top; what is not said stays.

    Args:
        before: settings by guide.
        guides: the changes, ``false`` for a guide that is taken out.

    Raises:
        InputError: a name is unknown, or a value impossible.

    >>> change_guides({"coattention": {"integration": "average"}}, {"coattention": {"turns": 2}})
    {'coattention': {'kind': 'iterative', 'turns': 2, 'integration': 'average'}}
    """
    merged = {name: dict(values) for name, values in before.items()}
    for name, values in guides.items():
        if values is False:
            merged.pop(name, None)
        elif values is None or values is True:
            merged.setdefault(name, {})
        elif isinstance(values, Mapping):
            merged[name] = merged.get(name, {}) | dict(values)
        else:
            raise InputError(f"guides.{name}: expected `key: value` lines or false, got {values!r}")
    settings = read_guides(merged)
    return {name: to_dict(settings[name]) for name in GUIDES if name in settings}
