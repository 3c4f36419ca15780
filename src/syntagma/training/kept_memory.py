"""Keep the memory that a training step frees for the next step.

glibc gives blocks of over 32 MiB back to the kernel as soon as they are freed, and the kernel
clears their pages when the next step asks for them again.  In a training of an encoder of 110M
parameters on two cores that was a quarter of the processor time.  Keeping them costs memory: free
blocks do not always fit what is asked for next, so a process holds more and more of them.  When
memory becomes short, they are given back.
"""

from __future__ import annotations

import ctypes
import os
import platform
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager

from syntagma.free_memory import free_share

M_TRIM_THRESHOLD, M_MMAP_THRESHOLD, M_MMAP_MAX = -1, -3, -4
"""Numbers of options of ``mallopt`` (``malloc.h``)."""
KEEP = {M_MMAP_MAX: 0, M_TRIM_THRESHOLD: -1}
"""No block is a mapping of its own, and free memory stays in the heap."""
SHORT = 1 / 8
"""Share of memory below which it is short.  A step may ask for much more than the one before."""
VARIABLES = ("MALLOC_MMAP_MAX_", "MALLOC_MMAP_THRESHOLD_", "MALLOC_TRIM_THRESHOLD_")
"""Variables by which users set the same options."""
USUAL = {M_MMAP_MAX: 65_536, M_TRIM_THRESHOLD: 2**26, M_MMAP_THRESHOLD: 2**25}
"""What glibc reaches by itself in a process that has freed large blocks."""


@contextmanager
def kept_memory(
    environment: Mapping[str, str] = os.environ, share: Callable[[], float] = free_share
) -> Iterator[Callable[[], None]]:
    """Keep freed memory in this process, and give it back at the end.

    Nothing is changed on other systems, with another C library, or where the user has set one of
    these options (:data:`VARIABLES`, or ``glibc.malloc`` in ``GLIBC_TUNABLES``).

    Args:
        environment: environment variables of the process.
        share: returns the share of memory that is left, see
            :func:`syntagma.free_memory.free_share`.

    Yields:
        A function to call after each step: it gives the freed memory back if less than an eighth
        of the memory is left.
    """
    set_option = _mallopt() if not _is_chosen(environment) else None
    if set_option is None:
        yield lambda: None
        return
    for option, value in KEEP.items():
        set_option(option, value)
    try:
        yield lambda: _give_back() if share() < SHORT else None
    finally:
        for option, value in USUAL.items():
            set_option(option, value)
        _give_back()


def _give_back() -> None:
    """Give the pages of freed blocks back to the kernel."""
    ctypes.CDLL(None).malloc_trim(0)


def _is_chosen(environment: Mapping[str, str]) -> bool:
    """Whether the user has set how ``malloc`` works."""
    return "glibc.malloc" in environment.get("GLIBC_TUNABLES", "") or any(
        name in environment for name in VARIABLES
    )


def _mallopt() -> Callable[[int, int], int] | None:
    """Return glibc's function that sets an option, or none if this is not glibc."""
    if sys.platform != "linux" or platform.libc_ver()[0] != "glibc":
        return None
    function: Callable[[int, int], int] = ctypes.CDLL(None).mallopt
    return function
