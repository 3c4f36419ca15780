"""Which processor this machine has, as far as it decides how to compute."""

from __future__ import annotations

import functools
import platform
from pathlib import Path


@functools.cache
def described() -> str:
    """Return the system's description of the processor, which includes its vendor."""
    path = Path("/proc/cpuinfo")
    if path.is_file():
        return path.read_text(encoding="utf-8", errors="replace")
    return platform.processor()


def is_intel() -> bool:
    """Whether the processor is one of Intel's."""
    return "GenuineIntel" in described()


def is_amd() -> bool:
    """Whether the processor is one of AMD's."""
    return "AuthenticAMD" in described()
