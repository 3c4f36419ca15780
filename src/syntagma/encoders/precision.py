"""Compute in bfloat16 where the device does it fast."""

from __future__ import annotations

import functools
import os
from contextlib import AbstractContextManager
from typing import Literal

import torch

from syntagma.errors import InputError

__all__ = ["Precision", "autocast", "best_device", "fast_bfloat16", "require_device"]

Precision = Literal["auto", "bfloat16", "float32"]


@functools.cache
def fast_bfloat16(device_type: str) -> bool:
    """Whether a kind of device multiplies bfloat16 matrices in hardware.

    On processors that means the AMX or AVX-512 BF16 instructions, on GPUs those from Ampere on:
    without them bfloat16 is slower than float32.
    """
    if device_type == "cuda":
        return torch.cuda.is_bf16_supported(including_emulation=False)
    if device_type == "cpu":
        capabilities = torch.backends.cpu.get_cpu_capability()
        if "AVX512" not in capabilities and "AMX" not in capabilities:
            return False
        return bool(torch.cpu._is_amx_tile_supported() or torch.cpu._is_avx512_bf16_supported())
    return False


def best_device() -> str:
    """The fastest device of this process: its GPU where there is one."""
    if not torch.cuda.is_available():
        return "cpu"
    # Of several processes of one training each has its own, also before it was made the current.
    own = int(os.environ.get("LOCAL_RANK", torch.cuda.current_device()))
    return f"cuda:{own % torch.cuda.device_count()}"


def require_device(device: str | torch.device) -> None:
    """Check that a device is there.

    Args:
        device: as torch writes it.

    Raises:
        InputError: it is not.
    """
    name, here = str(device), ["cpu"]
    if torch.accelerator.is_available():
        kind = torch.accelerator.current_accelerator()
        here += (f"{kind}:{number}" for number in range(torch.accelerator.device_count()))
    if name not in here and not any(found.startswith(f"{name}:") for found in here):
        raise InputError(
            f"device {name}: expected cpu, cuda, cuda:N or mps; here there is {', '.join(here)}"
        )


def autocast(device: torch.device, precision: Precision = "auto") -> AbstractContextManager[None]:
    """A context in which matrix products use the chosen precision.

    Raises:
        InputError: the precision is unknown.
    """
    if precision not in ("auto", "bfloat16", "float32"):
        raise InputError(f"precision must be auto, bfloat16 or float32, got {precision!r}")
    enabled = precision == "bfloat16" or (precision == "auto" and fast_bfloat16(device.type))
    return torch.autocast(device.type, torch.bfloat16, enabled=enabled)
