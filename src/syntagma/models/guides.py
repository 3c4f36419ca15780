"""The guides by name, and the presets that combine them into the papers' systems."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from syntagma.errors import InputError
from syntagma.models.guide import Guide
from syntagma.registry import Registry
from syntagma.settings import build, nearest, with_changes

GUIDES: Registry[type[Guide]] = Registry(
    "guide",
    {
        "pos_embedding": "syntagma.models.pos_embedding:TagEmbedding",
        "tree_distance": "syntagma.models.distance_layer:DistanceLayers",
        "ancestor_attention": "syntagma.models.guided_layers:SyntaxGuidedLayers",
        "coattention": "syntagma.models.coattention:CoAttentionGuide",
    },
)
"""Each guide's module. Guides at the same site act in this order."""

PRESETS: dict[str, dict[str, dict[str, Any]]] = {
    "none": {},
    "sg-net": {"ancestor_attention": {}},
    "seprem": {"tree_distance": {}},
    "poi-net": {"pos_embedding": {}, "coattention": {}},
}
"""The guides of each published system."""

GuideSettings = Mapping[str, Any]
"""The settings dataclass of each guide by the guide's name, in the order in which guides act."""


def register_guide(guide: type[Guide]) -> type[Guide]:
    """Make a guide available to settings under its :attr:`Guide.name`; also a class decorator.

    Raises:
        InputError: another guide has this name.
    """
    GUIDES.register(guide.name, guide)
    return guide


def read_guides(guides: Mapping[str, Any]) -> dict[str, Any]:
    """The settings of each guide as its dataclass, in the order in which guides act.

    Args:
        guides: by the name of the guide its dataclass, or a mapping of its settings.

    Raises:
        InputError: a guide or one of its keys is unknown, a value impossible, or two guides do not
            go together.
    """
    for name in guides:
        GUIDES.find(name, where="guides")
    settings = {
        name: _read(name, guides[name] if guides[name] is not None else {})
        for name in GUIDES
        if name in guides
    }
    modes = {name: mode for name, own in settings.items() if (mode := GUIDES[name].pieces_of(own))}
    if len({*modes.values()}) > 1:
        sharing = [name for name, mode in modes.items() if mode == "share"]
        require_shared_pieces(settings, f"guides: {' and '.join(sharing) or 'a model'}")
    return settings


def _read(name: str, values: Any) -> Any:
    kind = GUIDES[name].settings_class
    return values if isinstance(values, kind) else build(kind, values, where=f"guides.{name}")


def require_shared_pieces(guides: GuideSettings, who: str) -> None:
    """Check that all pieces of a word take the word's place in the tree.

    Args:
        guides: of the model.
        who: needs it, for the message.

    Raises:
        InputError: a guide gives each piece a place of its own.
    """
    for name, own in guides.items():
        if (mode := GUIDES[name].pieces_of(own)) not in (None, "share"):
            raise InputError(
                f"{who} needs the pieces of a word to share its place in the tree, and "
                f"guides.{name}.pieces is {mode!r}; set it to share"
            )


def resolve_guides(
    preset: str, guides: Mapping[str, Any], *, others: Sequence[str] = ()
) -> dict[str, Any]:
    """The settings of a preset's guides with changes applied.

    Args:
        preset: a name from :data:`PRESETS`.
        guides: changes by the name of the guide; ``false`` removes a guide from the preset.
        others: further names that the setting ``preset`` takes, to suggest where it is unknown.

    Raises:
        InputError: a name is unknown, or a value impossible.

    >>> resolve_guides("sg-net", {"ancestor_attention": False})
    {}
    """
    if preset not in PRESETS:
        raise InputError(f"unknown preset {preset!r}; {nearest(preset, [*PRESETS, *others])}")
    return change_guides(PRESETS[preset], guides)


def change_guides(before: Mapping[str, Any], guides: Mapping[str, Any]) -> dict[str, Any]:
    """The settings of guides with changes applied; what is not named stays.

    Args:
        before: by the name of the guide its dataclass, or a mapping of its settings.
        guides: the changes, ``false`` for a guide that is removed.

    Raises:
        InputError: a name is unknown, or a value impossible.

    >>> change_guides({"coattention": {"integration": "average"}}, {"coattention": {"turns": 2}})
    {'coattention': CoAttention(kind='iterative', turns=2, integration='average')}
    """
    merged = dict(before)
    for name, values in guides.items():
        if values is False:
            merged.pop(name, None)
        elif values is None or values is True:
            merged.setdefault(name, {})
        elif isinstance(values, Mapping):
            merged[name] = with_changes(merged.get(name, {}), values, where=f"guides.{name}")
        elif name in GUIDES and isinstance(values, GUIDES[name].settings_class):
            merged[name] = values
        else:
            raise InputError(f"guides.{name}: expected `key: value` lines or false, got {values!r}")
    return read_guides(merged)
