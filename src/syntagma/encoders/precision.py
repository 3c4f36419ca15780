"""Choose devices, and compute in bfloat16 on devices where it is fast."""

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
        return bool(torch.cpu._is_avx512_bf16_supported()) and "GenuineIntel" not in _processor()
    return False


def _processor() -> str:
    """Return the system's description of the CPU, which includes its vendor."""
    described = Path("/proc/cpuinfo")
    if described.is_file():
        return described.read_text(encoding="utf-8", errors="replace")
    return platform.processor()


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


def autocast(device: torch.device, precision: Precision = "auto") -> AbstractContextManager[None]:
    """Return a context in which matrix products use the chosen precision.

    Args:
        device: device that computes.
        precision: ``auto`` for bfloat16 where it is fast, else float32.

    Raises:
        InputError: the precision is unknown.
    """
    if precision not in ("auto", "bfloat16", "float32"):
        raise InputError(f"precision must be auto, bfloat16 or float32, got {precision!r}")
    enabled = precision == "bfloat16" or (precision == "auto" and fast_bfloat16(device.type))
    return torch.autocast(device.type, torch.bfloat16, enabled=enabled)
