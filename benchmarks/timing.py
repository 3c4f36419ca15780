"""Time functions in turn, so that changes in the speed of the machine affect all of them."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Mapping

from benchmarks.quick import size


def timings(
    callables: Mapping[str, Callable[[], object]], *, repeat: int = 5
) -> dict[str, list[float]]:
    """Return the times of each function in seconds, ``[repeat]``, after a warm-up call of each.

    In a quick run, one time without a warm-up.
    """
    for call in size(list(callables.values()), []):
        call()
    repeat = size(repeat, 1)
    seconds: dict[str, list[float]] = {name: [] for name in callables}
    for _ in range(repeat):
        for name, call in callables.items():
            start = time.perf_counter()
            call()
            seconds[name].append(time.perf_counter() - start)
    return seconds


def rounds(callables: Mapping[str, Callable[[], object]], *, repeat: int = 5) -> dict[str, float]:
    """Return the median time of each function in seconds, after a warm-up call of each."""
    found = timings(callables, repeat=repeat)
    return {name: statistics.median(values) for name, values in found.items()}
