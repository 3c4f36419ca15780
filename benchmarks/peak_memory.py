"""The memory that this process has, and the most that it had."""

from __future__ import annotations

import resource
import sys
from pathlib import Path


def peak_memory() -> int:
    """Return the most bytes that this process had in memory so far.

    On Linux ``ru_maxrss`` counts the process that started this one, so its status file is read.
    """
    found = _status("VmHWM")
    if found is not None:
        return found
    unit = 1 if sys.platform == "darwin" else 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit


def memory() -> int | None:
    """Return the bytes that this process has in memory; ``None`` where that is not known."""
    return _status("VmRSS")


def _status(key: str) -> int | None:
    path = Path("/proc/self/status")
    if path.is_file():
        for line in path.read_text(encoding="utf-8").splitlines():
            if line.startswith(f"{key}:"):
                return int(line.split()[1]) * 1024
    return None
