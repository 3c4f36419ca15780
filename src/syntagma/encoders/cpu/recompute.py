"""Recompute layers in the backward pass: only their inputs are kept from the forward pass.

Chen et al. 2016, *Training Deep Nets with Sublinear Memory Cost* ("gradient checkpointing").
Transformers has its own.  Whether the hooks on a layer, through which guides act before it, then
run once or twice differs between its versions; here they always run once.
"""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import AbstractContextManager, nullcontext
from typing import Any

import torch
from torch import nn
from torch.utils.checkpoint import checkpoint

from syntagma.encoders.cpu.dropout import current_functional_dropout
from syntagma.encoders.cpu.forwards import ForwardWrapper, unwrap_forward, wrap_forward


def recompute_layers(layers: Iterable[nn.Module]) -> None:
    """Recompute each layer on its own when its gradients are computed.

    Outputs and gradients stay the same bit for bit, including dropout; evaluation is unaffected.

    Args:
        layers: layers of an encoder; their weights and the names of these do not change.
    """
    for layer in layers:
        wrap_forward(layer, _RecomputedForward)


def keep_layers(layers: Iterable[nn.Module]) -> None:
    """Undo :func:`recompute_layers`."""
    for layer in layers:
        unwrap_forward(layer, _RecomputedForward)


class _RecomputedForward(ForwardWrapper):
    """Keeps the inputs of a layer for the backward pass, and recomputes the rest."""

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        if not self.module.training or not torch.is_grad_enabled():
            return self.original(*args, **kwargs)
        return checkpoint(self.original, *args, use_reentrant=False, context_fn=_contexts, **kwargs)


def _contexts() -> tuple[AbstractContextManager[Any], AbstractContextManager[Any]]:
    """The contexts of the first computation and of the second.

    The second runs in the backward pass, outside the model's own ``forward`` and thus outside the
    dropout that it turns on, so that it has to be turned on again.
    """
    return nullcontext(), current_functional_dropout()
