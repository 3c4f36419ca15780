"""How much memory is left: on the machine, and in the control groups of this process (Linux)."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from syntagma.control_groups import control_groups, read_lines, read_words

UNLIMITED = 2**60
"""A limit in bytes above this is none: version 1 writes a number near 2^63."""


def free_share(root: Path = Path("/")) -> float:
    """Return the share of memory that this process can still take.

    Args:
        root: the folder that has ``proc`` and ``sys``.

    Returns:
        From 0 to 1: the least of that of the machine and those of all control groups with a limit;
        1 where nothing is known.
    """
    return min((free / total for free, total in _places(root)), default=1.0)


def _places(root: Path) -> Iterator[tuple[int, int]]:
    """Yield free bytes and all bytes of the machine, and of each control group with a limit."""
    machine = _numbers(root / "proc/meminfo")
    total, free = machine.get("MemTotal:", 0), machine.get("MemAvailable:")
    if total and free is not None:
        yield free, total
    for group in control_groups("memory", root):
        # Version 2, or version 1.
        limit = _number(group / "memory.max") or _number(group / "memory.limit_in_bytes")
        used = _number(group / "memory.current") or _number(group / "memory.usage_in_bytes")
        if limit and used and limit < UNLIMITED:
            counts = _numbers(group / "memory.stat")
            # Pages of files that were not used lately are given up before anything is refused.
            files = counts.get("total_inactive_file", counts.get("inactive_file", 0))
            yield min(limit, max(0, limit - used + files)), limit


def _number(path: Path) -> int | None:
    """Return the number in a file; none in one that says ``max``, or that does not exist."""
    words = read_words(path)
    return int(words[0]) if len(words) == 1 and words[0].isdigit() else None


def _numbers(path: Path) -> dict[str, int]:
    """Return the first number of each line, by the word before it."""
    lines = (line.split() for line in read_lines(path))
    return {words[0]: int(words[1]) for words in lines if len(words) > 1 and words[1].isdigit()}
