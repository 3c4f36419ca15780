"""Choose devices, and compute in bfloat16 on devices where it is fast."""

from __future__ import annotations

import functools
import os
from contextlib import AbstractContextManager
from typing import Literal

import torch
from torch import nn

from syntagma.encoders.cpu import float32
from syntagma.encoders.cpu.int8 import use_int8
from syntagma.encoders.cpu.packed import pack_linear_layers
from syntagma.encoders.cpu.processor import is_intel
from syntagma.errors import InputError

Precision = Literal["auto", "bfloat16", "float32", "int8"]
PRECISIONS: tuple[Precision, ...] = ("auto", "bfloat16", "float32", "int8")


@functools.cache
def fast_bfloat16(device_type: str) -> bool:
    """Whether a type of device multiplies bfloat16 matrices faster than float32 matrices.

    GPUs do from Ampere on.  CPUs do with AMX; with AVX-512 BF16 alone only AMD's do: on a Xeon
    whose AMX is hidden from a virtual machine, bfloat16 takes 1.6 times as long as float32
    (``python -m benchmarks.precision``).

    Args:
        device_type: type of a torch device, such as ``cpu``.
    """
    if device_type == "cuda":
        return torch.cuda.is_bf16_supported(including_emulation=False)
    if device_type == "cpu":
        capabilities = torch.backends.cpu.get_cpu_capability()
        if "AVX512" not in capabilities and "AMX" not in capabilities:
            return False
        # Private functions: torch has no public ones for these instruction sets.
        if torch.cpu._is_amx_tile_supported():
            return True
        return bool(torch.cpu._is_avx512_bf16_supported()) and not is_intel()
    return False


def best_device() -> str:
    """Return the fastest device of this process: its GPU, or the CPU."""
    if not torch.cuda.is_available():
        return "cpu"
    # In DDP training each rank has its own GPU, also before it is made the current device.
    own = int(os.environ.get("LOCAL_RANK", torch.cuda.current_device()))
    return f"cuda:{own % torch.cuda.device_count()}"


def require_device(device: str | torch.device) -> None:
    """Check that a device exists.

    Args:
        device: a device as torch writes it, such as ``cuda:0``.

    Raises:
        InputError: the device does not exist.
    """
    name, here = str(device), ["cpu"]
    if torch.accelerator.is_available():
        kind = torch.accelerator.current_accelerator()
        here += (f"{kind}:{number}" for number in range(torch.accelerator.device_count()))
    if name not in here and not any(found.startswith(f"{name}:") for found in here):
        raise InputError(
            f"device {name}: expected cpu, cuda, cuda:N or mps; this machine has {', '.join(here)}"
        )


def require_precision(precision: str) -> None:
    """Check the name of a precision.

    Raises:
        InputError: there is no such precision.
    """
    if precision not in PRECISIONS:
        raise InputError(f"precision must be {', '.join(PRECISIONS)}; got {precision!r}")


def set_precision(
    model: nn.Module, precision: Precision, *, fast_float32: bool = False
) -> Precision:
    """Prepare a model to compute in a precision, for inference.

    A model whose weights are not in float32, as the option ``dtype`` loads them, computes in their
    type.

    Args:
        model: on its device.
        precision: what :func:`autocast` is called with later; ``int8`` changes the model, and in
            bfloat16 on CPUs it keeps a copy of its weights (:mod:`syntagma.encoders.cpu.packed`).
        fast_float32: let products in float32 differ from torch's in the last digits where that is
            faster (:mod:`syntagma.encoders.cpu.float32`).

    Returns:
        The precision to call :func:`autocast` with.

    Raises:
        InputError: the precision is unknown, or the device or the type of the weights does not
            allow it.
    """
    require_precision(precision)
    weight = next(model.parameters())
    can_round = weight.dtype in (torch.float32, torch.bfloat16)
    if precision == "auto" and not can_round:
        precision = "float32"
    if (precision == "int8" and weight.dtype != torch.float32) or (
        precision == "bfloat16" and not can_round
    ):
        raise InputError(
            f"precision {precision} is for weights in float32, and dtype gave this model "
            f"{str(weight.dtype).removeprefix('torch.')}; omit one of the two"
        )
    if precision == "int8":
        use_int8(model)
    elif weight.device.type == "cpu":
        if uses_bfloat16(weight.device, precision):
            pack_linear_layers(model)
        elif fast_float32 and float32.is_faster():
            float32.use_onednn(model)
    return precision


def uses_bfloat16(device: torch.device, precision: Precision) -> bool:
    """Whether a precision means bfloat16 on a device."""
    return precision == "bfloat16" or (precision == "auto" and fast_bfloat16(device.type))


def autocast(device: torch.device, precision: Precision = "auto") -> AbstractContextManager[None]:
    """Return a context in which matrix products use the chosen precision.

    Args:
        device: device that computes.
        precision: ``auto`` for bfloat16 where it is fast, else float32; ``int8`` leaves all but
            linear layers in float32 (:mod:`syntagma.encoders.cpu.int8`).

    Raises:
        InputError: the precision is unknown.
    """
    require_precision(precision)
    return torch.autocast(device.type, torch.bfloat16, enabled=uses_bfloat16(device, precision))
