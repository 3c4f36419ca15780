"""Check the settings of a new model, which are keyword arguments of ``from_pretrained``."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from syntagma.encoders.hub_options import FIELDS as HUB_OPTIONS
from syntagma.encoders.placement import FIELDS as PLACEMENT
from syntagma.errors import InputError
from syntagma.settings import nearest

SETTINGS = (
    *("guides", "head", "labels", "num_labels", "id2label", "task", "parser"),
    *("hidden_dropout", "attention_dropout", "num_hidden_layers"),
)
"""Settings of a new model."""


def require_known(settings: Mapping[str, Any]) -> None:
    """Check the names of settings.

    Args:
        settings: those of a new model.

    Raises:
        InputError: a name is unknown.
    """
    for name in settings:
        if name not in SETTINGS:
            # Experiments have a setting `preset`; here `guides` accepts the name of one.
            known = (*SETTINGS, *HUB_OPTIONS, *PLACEMENT)
            hint = nearest("guides" if name == "preset" else name, known)
            raise InputError(f"unknown setting {name!r}; {hint}")


def with_class_labels(settings: Mapping[str, Any]) -> dict[str, Any]:
    """Return settings of a new model in which ``labels`` are label sets by name.

    Args:
        settings: the classes may also be given as a list of ``labels``, or as ``num_labels`` or
            ``id2label``, as in Transformers.

    Raises:
        InputError: the classes are given twice, or not in one of these forms.

    >>> with_class_labels({"num_labels": 2})
    {'labels': {'labels': ['LABEL_0', 'LABEL_1']}}
    """
    result = dict(settings)
    number, names = result.pop("num_labels", None), result.pop("id2label", None)
    given = [value for value in (number, names, result.get("labels")) if value is not None]
    if len(given) > 1:
        raise InputError("labels: give only one of labels, num_labels and id2label")
    labels = result.get("labels")
    if isinstance(number, int) and number > 0:
        labels = [f"LABEL_{code}" for code in range(number)]
    elif isinstance(names, Mapping) and set(map(str, names)) == set(map(str, range(len(names)))):
        labels = [name for _, name in sorted((int(code), name) for code, name in names.items())]
    elif number is not None or names is not None:
        raise InputError(
            f"labels: expected num_labels from 1, or id2label with the numbers from 0, as in "
            f'{{0: "no", 1: "yes"}}; got {given[0]!r:.80}'
        )
    if isinstance(labels, list | tuple):
        labels = {"labels": [str(label) for label in labels]}
    return result if labels is None else result | {"labels": labels}
