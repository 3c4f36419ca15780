"""Layers that keep only what they read, and are computed again for the gradients.

Chen et al. 2016, *Training Deep Nets with Sublinear Memory Cost* ("gradient checkpointing").
Transformers has its own; between its versions it changes whether the hooks on a layer, with which
guides act before it, run once or twice.  Here they always run once.
"""

from __future__ import annotations

import functools
from collections.abc import Iterable
from contextlib import AbstractContextManager, nullcontext
from typing import Any

import torch
from torch import nn
from torch.utils.checkpoint import checkpoint

from syntagma.encoders.cpu.dropout import same_functional_dropout

__all__ = ["keep_states", "recompute_states"]


class _Recomputed:
    """What the classes of layers that are computed again have in common."""

    def __reduce__(self) -> tuple[Any, ...]:
        # Such a class has no name to be found by.
        return _rebuild, (type(self).__bases__[1],), vars(self)


def recompute_states(layers: Iterable[nn.Module]) -> None:
    """Let layers be computed again when their gradients are, each by itself.

    Outputs and gradients stay what they are to the last bit, dropout among them; reading is not
    changed.

    Args:
        layers: of an encoder; their weights and the names of these stay as they are.
    """
    for layer in layers:
        kind: Any = type(layer)
        if not issubclass(kind, _Recomputed):
            layer.__class__ = _recomputed(kind)


def keep_states(layers: Iterable[nn.Module]) -> None:
    """Undo :func:`recompute_states`."""
    for layer in layers:
        if isinstance(layer, _Recomputed):
            layer.__class__ = type(layer).__bases__[1]


def _rebuild(kind: Any) -> Any:
    """A layer of a kind that is computed again, without anything in it."""
    own = _recomputed(kind)
    return own.__new__(own)


def _contexts() -> tuple[AbstractContextManager[Any], AbstractContextManager[Any]]:
    """What a layer is computed in, and what in addition when that is done again."""
    return nullcontext(), same_functional_dropout()


@functools.cache
def _recomputed(kind: Any) -> Any:
    """The class of layers of a kind that are computed again.

    A class, not a function on the layer: of a copied model it would compute the original.
    """

    def forward(self: nn.Module, *args: Any, **kwargs: Any) -> Any:
        compute = functools.partial(kind.forward, self)
        if not self.training or not torch.is_grad_enabled():
            return compute(*args, **kwargs)
        return checkpoint(compute, *args, use_reentrant=False, context_fn=_contexts, **kwargs)

    return type(kind.__name__, (_Recomputed, kind), {"forward": forward})
