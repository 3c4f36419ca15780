"""Worker processes that end with the process that started them, even if that was killed.

This module imports nothing heavy: a worker must be able to notice the end of its parent before it
has imported torch, which takes seconds.
"""

from __future__ import annotations

import ctypes
import logging
import multiprocessing
import os
import pickle
import signal
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import Any

STARTER = "SYNTAGMA_STARTED_BY"
"""Environment variable with the id of the process that starts workers."""

_PR_SET_PDEATHSIG = 1
"""From ``linux/prctl.h``: the signal that the kernel sends when the parent ends."""
_POLL_SECONDS = 0.2


@contextmanager
def ending_with_parent() -> Iterator[None]:
    """End this process, at any line of the block, when the one that started it has ended.

    The variable :data:`STARTER` names that process; without it nothing is watched.
    """
    starter = int(os.environ.get(STARTER, "0"))
    if not starter:
        yield
        return
    _set_death_signal(signal.SIGKILL)
    ended = threading.Event()
    watcher = threading.Thread(target=watch_parent, args=(starter, ended), daemon=True)
    watcher.start()
    try:
        yield
    finally:
        # A process with threads must not be forked.
        ended.set()
        watcher.join()
        # The signal comes when the thread ends that started this process, which may be early.
        _set_death_signal(0)


def watch_parent(starter: int, ended: threading.Event) -> None:
    """End this process when another one is its parent than the one that started it.

    It notices a parent that ended before the signal was set, and everywhere but on Linux any.

    Args:
        starter: id of the process that started this one.
        ended: set when there is nothing to watch any more.
    """
    while not ended.is_set():
        if os.getppid() != starter:
            os._exit(1)
        ended.wait(_POLL_SECONDS)


def start_worker(packed: bytes, *more: Any) -> None:
    """Set up a worker process, which ends when the process that started it does.

    Args:
        packed: made by :func:`pack_start`.
        more: arguments that cannot be packed (queues); those of light modules only.
    """
    # Where workers are forked from a server, that is the parent, and ends with the main process.
    _set_death_signal(signal.SIGKILL)
    threading.Thread(target=_exit_with_parent, daemon=True).start()
    # Ctrl-C reaches all processes of the terminal; the parent alone handles it.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    function, arguments, level = pickle.loads(packed)
    logging.getLogger("syntagma").setLevel(level)
    function(*arguments, *more)


def pack_start(function: Callable[..., None], *arguments: Any) -> bytes:
    """Pack what a worker calls first, so that nothing is imported before it watches its parent.

    The level of the logger ``syntagma`` is that of this process.
    """
    return pickle.dumps((function, arguments, logging.getLogger("syntagma").level))


def _exit_with_parent() -> None:
    """Wait for the end of the main process: its end of a pipe is closed then."""
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)


def _set_death_signal(number: int) -> None:
    """Let the kernel send a signal when the parent ends; 0 for none.  Linux only."""
    if sys.platform == "linux":
        with suppress(OSError, AttributeError):
            ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, number, 0, 0, 0)
