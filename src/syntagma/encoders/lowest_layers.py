"""An encoder up to one of its layers, where the states of the others are not needed."""

from __future__ import annotations

import copy
from typing import Any

from torch import nn

from syntagma.encoders.sites import SITES, layers


def lowest_layers(encoder: Any, n_layers: int) -> Any:
    """Return a module that computes an encoder up to one of its layers, with the same weights.

    Args:
        encoder: the encoder.  If the table has no row for it, it is returned as it is.
        n_layers: number of layers.
    """
    sites = SITES.get(encoder.config.model_type)
    if sites is None:
        return encoder
    lower = part = _shallow(encoder)
    *parents, name = sites.layers.split(".")
    for parent in parents:
        part._modules[parent] = part = _shallow(part._modules[parent])
    part._modules[name] = nn.ModuleList(layers(encoder, sites)[:n_layers])
    return lower


def _shallow(module: Any) -> Any:
    """Return a module with the same parts, which can be exchanged one by one."""
    copied = copy.copy(module)
    copied._modules = dict(module._modules)
    return copied
