"""Dropout that is fast on CPUs.

torch draws one random number per state, which takes an eighth of a training step.  Here one draw of
64 bits decides about four states (``python -m benchmarks.training``).  The two draw different
states to drop from the same seed.
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

from syntagma.encoders.cpu.forwards import ForwardWrapper, wrap_forward

_is_active: ContextVar[bool] = ContextVar("_is_active", default=False)
"""Whether calls of torch's function are intercepted; a context variable is local to a thread."""

_STEPS = 1 << 16
"""Number of values of the 16 random bits that decide about a state."""


class _BitDropout(torch.autograd.Function):
    """Dropout whose mask is drawn 64 bits at a time."""

    @staticmethod
    def forward(context: Any, states: Tensor, probability: float) -> Tensor:
        # At least one value keeps a state: the scale below must stay finite.
        dropped = min(round(probability * _STEPS), _STEPS - 1)
        bits = torch.empty(-(-states.numel() // 4), dtype=torch.int64).random_(-(1 << 63), None)
        drawn = bits.view(torch.int16)[: states.numel()].view(states.shape)
        # The bits are signed, so the lowest of their values is −2¹⁵.
        scale = (drawn >= dropped - _STEPS // 2).to(states.dtype)
        scale *= _STEPS / (_STEPS - dropped)
        context.save_for_backward(scale)
        return states * scale

    @staticmethod
    @once_differentiable
    def backward(context: Any, gradient: Tensor) -> tuple[Tensor, None]:
        (scale,) = context.saved_tensors
        return gradient * scale, None


def _dropout(input: Tensor, p: float = 0.5, training: bool = True, inplace: bool = False) -> Tensor:
    """Fast dropout on CPUs; arguments as for :func:`torch.nn.functional.dropout`."""
    if not training or not 0 < p < 1 or input.device.type != "cpu" or inplace:
        return F.dropout(input, p, training, inplace)
    states: Tensor = _BitDropout.apply(input, p)
    return states


class FastDropout(nn.Dropout):
    """Dropout module that is fast on CPUs; probabilities are rounded to multiples of 2⁻¹⁶."""

    def forward(self, input: Tensor) -> Tensor:
        """Drop states in training; the mask depends on torch's random state."""
        return _dropout(input, self.p, training=self.training)


def replace_dropout(model: nn.Module) -> None:
    """Replace the dropout modules inside a model with :class:`FastDropout`.

    Args:
        model: any module; dropout has no weights, so that the names of weights do not change.
    """
    # A module that appears in several places stays one module.
    fast: dict[nn.Module, nn.Module] = {}
    for path, part in list(model.named_modules(remove_duplicate=False)):
        # Not subclasses, which may do something else.
        if type(part) is nn.Dropout and path:
            parent, _, name = path.rpartition(".")
            if part not in fast:
                fast[part] = FastDropout(part.p).train(part.training)
            setattr(model.get_submodule(parent), name, fast[part])


class _FunctionalDropout(TorchFunctionMode):
    """Context in which :func:`torch.nn.functional.dropout` is fast."""

    def __enter__(self) -> Any:
        self._token = _is_active.set(True)
        return super().__enter__()

    def __exit__(self, *error: Any) -> None:
        super().__exit__(*error)
        _is_active.reset(self._token)

    def __torch_function__(
        self,
        function: Callable[..., Any],
        types: Any,
        arguments: tuple[Any, ...] = (),
        options: Mapping[str, Any] | None = None,
    ) -> Any:
        # torch suspends the mode meanwhile, so that `_dropout` may call torch's own function.
        own = _dropout if function is F.dropout else function
        return own(*arguments, **(options or {}))


def _functional_dropout(*, active: bool) -> AbstractContextManager[Any]:
    return _FunctionalDropout() if active else nullcontext()


def current_functional_dropout() -> AbstractContextManager[Any]:
    """Return a context with the functional dropout of the caller, to be entered later."""
    return _functional_dropout(active=_is_active.get())


class _FastDropoutForward(ForwardWrapper):
    """Computes a module with fast functional dropout, in training on a CPU."""

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        # Elsewhere the mode would change nothing, and cost a Python call per operation.
        active = self.module.training and next(self.module.parameters()).device.type == "cpu"
        with _functional_dropout(active=active):
            return self.original(*args, **kwargs)


def replace_functional_dropout(module: nn.Module) -> None:
    """Make :func:`torch.nn.functional.dropout` fast in the ``forward`` of a module.

    Args:
        module: a model whose layers call the function in place of a module (BART and similar).
    """
    wrap_forward(module, _FastDropoutForward)
