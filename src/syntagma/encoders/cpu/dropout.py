"""Dropout that is fast on processors.

torch draws its mask number by number, which takes an eighth of a training step; here one draw of 64
bits decides about four states (``python -m benchmarks.training``).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager, nullcontext
from contextvars import ContextVar
from typing import Any

import torch
from torch import Tensor, nn
from torch.autograd.function import once_differentiable
from torch.nn import functional as F
from torch.overrides import TorchFunctionMode

__all__ = ["fast_functional_dropout", "same_functional_dropout", "use_fast_dropout"]

_is_fast: ContextVar[bool] = ContextVar("_is_fast", default=False)

_STEPS = 1 << 16
"""Values of the 16 random bits that decide about a state."""


class _DropoutByBits(torch.autograd.Function):
    """Dropout whose mask is drawn 64 bits at a time."""

    @staticmethod
    def forward(context: Any, states: Tensor, probability: float) -> Tensor:
        dropped = min(round(probability * _STEPS), _STEPS - 1)
        bits = torch.empty(-(-states.numel() // 4), dtype=torch.int64).random_(-(1 << 63), None)
        drawn = bits.view(torch.int16)[: states.numel()].view(states.shape)
        scale = (drawn >= dropped - _STEPS // 2).to(states.dtype)
        scale *= _STEPS / (_STEPS - dropped)
        context.save_for_backward(scale)
        return states * scale

    @staticmethod
    @once_differentiable
    def backward(context: Any, gradient: Tensor) -> tuple[Tensor, None]:
        (scale,) = context.saved_tensors
        return gradient * scale, None


class _Dropout(nn.Dropout):
    def forward(self, input: Tensor) -> Tensor:
        return _dropped(input, self.p, training=self.training)


class _FunctionalDropout(TorchFunctionMode):
    """Within it calls of torch's function are those of this module, too."""

    def __enter__(self) -> Any:
        self._token = _is_fast.set(True)
        return super().__enter__()

    def __exit__(self, *error: Any) -> None:
        super().__exit__(*error)
        _is_fast.reset(self._token)

    def __torch_function__(
        self,
        function: Callable[..., Any],
        types: Any,
        arguments: tuple[Any, ...] = (),
        options: Mapping[str, Any] | None = None,
    ) -> Any:
        found = (_dropped if function is F.dropout else function)(*arguments, **(options or {}))
        return found


def _dropped(input: Tensor, p: float = 0.5, training: bool = True, inplace: bool = False) -> Tensor:
    """As :func:`torch.nn.functional.dropout`, by bits on processors."""
    if not training or not 0 < p < 1 or input.device.type != "cpu" or inplace:
        return F.dropout(input, p, training, inplace)
    states: Tensor = _DropoutByBits.apply(input, p)
    return states


def fast_functional_dropout(*, active: bool) -> AbstractContextManager[Any]:
    """Within it :func:`torch.nn.functional.dropout` is that of this module.

    For models whose layers call it instead of holding a module (BART and its kin).

    Args:
        active: in training on a processor; else nothing changes.
    """
    return _FunctionalDropout() if active else nullcontext()


def same_functional_dropout() -> AbstractContextManager[Any]:
    """What functional dropout is where this is called, to be entered later."""
    return fast_functional_dropout(active=_is_fast.get())


def use_fast_dropout(model: nn.Module) -> None:
    """Let the dropout modules of a model be those of this module.

    Probabilities are rounded to multiples of 2⁻¹⁶.

    Args:
        model: any; its weights and their names stay as they are.
    """
    for part in model.modules():
        if type(part) is nn.Dropout:
            part.__class__ = _Dropout
