"""Prepare inputs once for layers that read the same ones, such as those of query, key and value."""

from __future__ import annotations

import threading
import weakref
from collections.abc import Callable
from typing import Any, Generic, TypeVar

from torch import Tensor, nn

from syntagma.encoders.cpu.forwards import ForwardWrapper

TOGETHER = (
    ("query", "key", "value"),
    ("q_lin", "k_lin", "v_lin"),
    ("q_proj", "k_proj", "v_proj"),
    ("q", "k", "v"),
)
"""Names of layers, of one module, that read the same inputs one after the other."""

Prepared = TypeVar("Prepared")


class SharedInputs(threading.local, Generic[Prepared]):
    """The inputs that layers which read the same ones have prepared last, in each thread.

    Only for layers that are called one after the other with nothing in between: a tensor may be
    changed in place, which inference mode does not record.  After the last of them the prepared
    inputs are dropped.

    Args:
        n_layers: how many layers read the same inputs.
    """

    def __init__(self, n_layers: int) -> None:
        self.n_layers = n_layers
        self.n_left = 0
        self.states: weakref.ref[Tensor] | None = None
        self.inputs: Prepared | None = None

    def prepared(self, states: Tensor, prepare: Callable[[Tensor], Prepared]) -> Prepared:
        """Prepare inputs, once for all layers that get the same tensor.

        Args:
            states: inputs of a layer.
            prepare: what is done to them.
        """
        inputs = self.inputs
        if inputs is None or self.states is None or self.states() is not states:
            inputs = prepare(states)
            self.states, self.n_left = weakref.ref(states), self.n_layers
        self.n_left -= 1
        self.inputs = inputs if self.n_left else None
        return inputs


def share_inputs(model: nn.Module, kind: type[ForwardWrapper]) -> None:
    """Let layers that read the same inputs prepare them once.

    Args:
        model: any module.
        kind: how the layers are computed; such a wrapper takes the inputs from its ``shared``.
    """
    for layers in layers_together(model):
        wrappers: list[Any] = [layer.forward for layer in layers]
        if all(isinstance(wrapper, kind) for wrapper in wrappers):
            shared = SharedInputs[Any](len(layers))
            for wrapper in wrappers:
                wrapper.shared = shared


def layers_together(model: nn.Module) -> list[list[nn.Module]]:
    """Return the layers of a model that read the same inputs, group by group.

    Args:
        model: any module.
    """
    groups = []
    for module in model.modules():
        children = dict(module.named_children())
        groups += [
            [children[name] for name in names]
            for names in TOGETHER
            if all(name in children for name in names)
        ]
    return groups
