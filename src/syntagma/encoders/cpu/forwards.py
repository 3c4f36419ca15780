"""Replace the ``forward`` of single modules, which keep their class and the names of their weights.

Transformers' layers offer no other place to act around a whole computation: hooks run before and
after it, and a wrapping module would rename the weights and hide the layer's attributes.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from types import MethodType
from typing import Any

from torch import nn


class ForwardWrapper:
    """Computes a module in another way, in place of its ``forward``.

    It is an object that holds the module, neither a closure nor a bound method: ``deepcopy`` then
    makes the wrapper of a copied module compute the copy, and ``pickle`` can store it.

    Args:
        module: the wrapped module.
    """

    def __init__(self, module: nn.Module) -> None:
        self.module = module

    @property
    def original(self) -> Callable[..., Any]:
        """The ``forward`` of the module's class."""
        return MethodType(type(self.module).forward, self.module)

    @property
    def __signature__(self) -> inspect.Signature:
        # `generate` of Transformers checks its arguments against the signature of `forward`.
        return inspect.signature(self.original)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Compute the module."""
        return self.original(*args, **kwargs)


def wrap_forward(module: nn.Module, wrapper: type[ForwardWrapper]) -> None:
    """Wrap the ``forward`` of a module, unless it is wrapped already."""
    if not isinstance(module.forward, wrapper):
        # An attribute of the instance, which takes precedence over the method of the class.
        module.forward = wrapper(module)


def unwrap_forward(module: nn.Module, wrapper: type[ForwardWrapper]) -> None:
    """Undo :func:`wrap_forward`."""
    if isinstance(module.forward, wrapper):
        del module.forward
