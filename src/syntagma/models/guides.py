"""The registry of guides, and presets that combine them into the papers' systems."""

from __future__ import annotations

import logging
from collections.abc import Collection, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from syntagma.errors import InputError
from syntagma.models.guide import Guide
from syntagma.registry import Registry
from syntagma.settings import build, nearest, with_changes

if TYPE_CHECKING:
    from transformers import PretrainedConfig

log = logging.getLogger(__name__)

GUIDES: Registry[type[Guide]] = Registry(
    "guide",
    {
        "pos_embedding": "syntagma.models.pos_embedding:TagEmbedding",
        "tree_distance": "syntagma.models.distance_layer:DistanceLayers",
        "tree_bias": "syntagma.models.tree_bias:TreeBiasTable",
        "ancestor_heads": "syntagma.models.ancestor_heads:TaughtHeads",
        "ancestor_attention": "syntagma.models.guided_layers:SyntaxGuidedLayers",
        "coattention": "syntagma.models.coattention:CoAttentionGuide",
    },
    group="syntagma.guides",
    base="syntagma.models.guide:Guide",
)
"""The class of each guide, imported on first use.  Guides at the same site act in this order."""

PRESETS: dict[str, dict[str, dict[str, Any]]] = {
    "none": {},
    "sg-net": {"ancestor_attention": {"initialise": "last_layer"}},
    "seprem": {"tree_distance": {}},
    "poi-net": {"pos_embedding": {"initialise": "zero"}, "coattention": {}},
}
PRESETS["all"] = {name: guide for preset in PRESETS.values() for name, guide in preset.items()}
"""The guides of each published system, and of all of them, with the settings that we recommend.

Both start from the pretrained encoder: a guided layer with random weights, or random tag vectors,
would at first make its states worse.  The papers' own settings are the systems of
:mod:`syntagma.reproduce`.
"""

GuideSettings = Mapping[str, Any]
"""The settings dataclass of each guide by its name, in the order in which guides act."""


def register_guide(guide: type[Guide]) -> type[Guide]:
    """Register a guide under its :attr:`Guide.name`; also a class decorator.

    Args:
        guide: class of the guide.

    Raises:
        InputError: another guide has this name.
    """
    GUIDES.register(guide.name, guide)
    return guide


def read_guides(guides: Mapping[str, Any]) -> dict[str, Any]:
    """Build the settings of guides, in the order in which guides act.

    Args:
        guides: a dataclass or a mapping of settings for each guide, by its name.

    Raises:
        InputError: a guide or setting is unknown, a value is invalid, or two guides cannot be
            combined.
    """
    for name in guides:
        GUIDES.find(name, where="guides")
    settings = {
        name: _read(name, guides[name] if guides[name] is not None else {})
        for name in GUIDES.in_order(guides)
    }
    # All guides of a model read the same columns, which follow one rule for pieces.
    modes = {name: mode for name, own in settings.items() if (mode := GUIDES[name].pieces_of(own))}
    if len({*modes.values()}) > 1:
        sharing = [name for name, mode in modes.items() if mode == "share"]
        require_shared_pieces(settings, f"guides: {' and '.join(sharing) or 'a model'}")
    return settings


def _read(name: str, values: Any) -> Any:
    """Build the settings of one guide, unless they are built already."""
    kind = GUIDES[name].settings_class
    return values if isinstance(values, kind) else build(kind, values, where=f"guides.{name}")


def require_shared_pieces(guides: GuideSettings, who: str) -> None:
    """Check that all pieces of a word share its position in the tree.

    Args:
        guides: settings of the model's guides.
        who: what needs this, as the subject of the error message.

    Raises:
        InputError: a guide gives each piece its own position.
    """
    for name, own in guides.items():
        if (mode := GUIDES[name].pieces_of(own)) not in (None, "share"):
            raise InputError(
                f"{who} needs guides.{name}.pieces=share, so that the pieces of a word share its "
                f"position in the tree; got {mode!r}"
            )


def resolve_guides(
    preset: str, guides: Mapping[str, Any], *, others: Sequence[str] = ()
) -> dict[str, Any]:
    """Return the settings of a preset's guides with changes applied.

    Args:
        preset: a name from :data:`PRESETS`.
        guides: changes by the name of the guide; ``false`` removes a guide from the preset.
        others: further values of the setting ``preset``, suggested in the error message.

    Raises:
        InputError: a name is unknown, or a value is invalid.

    >>> resolve_guides("sg-net", {"ancestor_attention": False})
    {}
    """
    if preset not in PRESETS:
        raise InputError(f"unknown preset {preset!r}; {nearest(preset, [*PRESETS, *others])}")
    return change_guides(PRESETS[preset], guides)


def preset_on(
    preset: str, guides: GuideSettings, encoder: PretrainedConfig, *, asked: Collection[str] = ()
) -> dict[str, Any]:
    """Return the settings of a preset's guides on an encoder, which may have no weights to copy.

    Args:
        preset: name of the preset that the settings come from.
        guides: settings of the guides.
        encoder: the encoder's configuration.
        asked: guides whose copy the user asked for, which are not changed: if it is impossible,
            that is an error of :meth:`Guide.start_from`.
    """
    suited = dict(guides)
    for name in PRESETS.get(preset, {}):
        if (
            name not in suited
            or name in asked
            or not (copied := GUIDES[name].copies_pretrained(suited[name]))
        ):
            continue
        suited[name] = GUIDES[name].without_copy(suited[name], encoder)
        if suited[name] != guides[name]:
            log.warning(
                "preset %s: the layers of %r cannot be copied, so guides.%s.%s is %s; give this "
                "setting to omit this warning",
                preset,
                encoder.model_type,
                name,
                copied,
                getattr(suited[name], copied),
            )
    return suited


def check_changes(guides: Mapping[str, Any]) -> None:
    """Check changes of guides as far as that needs no other settings of them.

    Args:
        guides: changes by the name of the guide, as for :func:`change_guides`.

    Raises:
        InputError: a name is unknown, or what it stands for is no change.
    """
    for name, values in guides.items():
        # Of guides that are removed too: a misspelt name would leave the guide in the model.
        kind = GUIDES.find(name, where="guides").settings_class
        if not (values is None or isinstance(values, (bool, Mapping, kind))):
            raise InputError(f"guides.{name}: expected `key: value` lines or false, got {values!r}")


def change_guides(before: Mapping[str, Any], guides: Mapping[str, Any]) -> dict[str, Any]:
    """Return settings of guides with changes applied; other settings are kept.

    Args:
        before: a dataclass or a mapping of settings for each guide, by its name.
        guides: changes by the name of the guide; ``false`` removes a guide.

    Raises:
        InputError: a name is unknown, or a value is invalid.

    >>> change_guides({"coattention": {"integration": "average"}}, {"coattention": {"turns": 2}})
    {'coattention': CoAttention(kind='iterative', turns=2, integration='average')}
    """
    check_changes(guides)
    merged = dict(before)
    for name, values in guides.items():
        if values is False:
            merged.pop(name, None)
        elif values is None or values is True:
            merged.setdefault(name, {})
        elif isinstance(values, Mapping):
            merged[name] = with_changes(merged.get(name, {}), values, where=f"guides.{name}")
        else:
            merged[name] = values
    return read_guides(merged)
