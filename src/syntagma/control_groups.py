"""Read the limits that Linux sets to this process by control groups, as in a container."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path, PurePosixPath


def control_groups(controller: str, root: Path = Path("/")) -> Iterator[Path]:
    """Yield the folders of the control groups of this process, and of all that contain them.

    Args:
        controller: what they limit, such as ``cpu`` or ``memory``.
        root: the folder that has ``proc`` and ``sys``.
    """
    mounts = root / "sys/fs/cgroup"
    for line in read_lines(root / "proc/self/cgroup"):
        _, _, rest = line.partition(":")
        controllers, _, path = rest.partition(":")
        # Version 2 has one line, without controllers.
        if controllers and controller not in controllers.split(","):
            continue
        names = ("", "unified") if not controllers else (controllers, controller)
        inside = PurePosixPath(path.lstrip("/"))
        for mount in dict.fromkeys(mounts / name for name in names):
            # In a container the path may be that of the host, of which only the end is mounted:
            # the container's own group is then the mount itself.
            yield from (mount / place for place in (inside, *inside.parents))


def read_lines(path: Path) -> list[str]:
    """Return the lines of a file of the kernel; none if it does not exist or cannot be read."""
    try:
        return path.read_text(encoding="utf-8").splitlines()
    except (OSError, ValueError):
        return []


def read_words(path: Path) -> list[str]:
    """Return the words of a file of the kernel; none if it does not exist or cannot be read."""
    return " ".join(read_lines(path)).split()
