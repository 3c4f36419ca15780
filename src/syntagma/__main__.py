"""The program: ``syntagma`` and ``python -m syntagma``."""

from __future__ import annotations

import atexit
import gc
from typing import Any

from syntagma.cli import main

OBJECTS_AT_START = 700_000
"""Objects, more than deleted ones, after which garbage is collected first: about as many as the
imports of a command that parses or answers create.  Nearly all of them stay."""


def program() -> None:
    """Run the command line as a process of its own, and exit with its code.

    A process that parses one sentence would spend a quarter of its time on collecting garbage:
    while modules are imported, which leaves hardly any, and when the interpreter ends.
    """
    _collect_later()
    # Handlers that were registered first are called last.  The operating system takes the memory
    # back faster than Python, which would delete half a million objects one by one.
    atexit.register(gc.freeze)
    main()


def _collect_later() -> None:
    """Let the first collection wait until the imports are done, and exempt what they created."""
    usual = gc.get_threshold()

    def after_the_first(phase: str, info: dict[str, Any]) -> None:
        if phase == "stop" and gc.get_threshold() != usual:
            gc.set_threshold(*usual)
            gc.freeze()

    gc.callbacks.append(after_the_first)
    gc.set_threshold(OBJECTS_AT_START, *usual[1:])


if __name__ == "__main__":
    program()
