"""Compute in bfloat16 where the device does it fast."""

from __future__ import annotations

import functools
import os
import platform
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Literal

import torch

from syntagma.errors import InputError

Precision = Literal["auto", "bfloat16", "float32"]


@functools.cache
def fast_bfloat16(device_type: str) -> bool:
    """Whether a kind of device multiplies bfloat16 matrices faster than those of float32.

    Processors do with AMX, and with AVX-512 BF16 alone where they are not Intel's: on a Xeon
    whose AMX is hidden from a virtual machine, bfloat16 takes 1.6 times float32's time
    (``python -m benchmarks.precision``).  GPUs do from Ampere on.
    """
    if device_type == "cuda":
        return torch.cuda.is_bf16_supported(including_emulation=False)
    if device_type == "cpu":
        capabilities = torch.backends.cpu.get_cpu_capability()
        if "AVX512" not in capabilities and "AMX" not in capabilities:
            return False
        if torch.cpu._is_amx_tile_supported():
            return True
        return bool(torch.cpu._is_avx512_bf16_supported()) and "GenuineIntel" not in _processor()
    return False


def _processor() -> str:
    """What the system says about the processor, its maker's name among it."""
    described = Path("/proc/cpuinfo")
    return described.read_text() if described.is_file() else platform.processor()


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
