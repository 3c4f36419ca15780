"""Choose how many threads compute, and how long idle ones spin, before torch is imported.

torch computes with the threads of libgomp (the OpenMP library of GCC).  After each parallel loop
they spin, waiting for the next one, for 300,000 turns by default.  Nothing is faster on an idle
machine; but beside another busy process a spinning thread holds the core that the thread it waits
for needs, and one text takes forty times as long.

libgomp reads its environment variables when it is loaded, together with torch.  So the command line
calls :func:`choose_threads` first.  Importing this module changes nothing.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from pathlib import Path

from syntagma.control_groups import control_groups, read_words
from syntagma.errors import InputError

SETTING = "SYNTAGMA_THREADS"
"""Environment variable with the name of a setting."""

SPINS = {"shared": 10_000, "throughput": None}
"""Turns that an idle thread spins in each setting; ``None`` leaves it to libgomp."""

DEFAULT = "shared"

N_THREADS = "OMP_NUM_THREADS"
SPIN_COUNT = "GOMP_SPINCOUNT"
NUMPY_THREADS = "OPENBLAS_NUM_THREADS"

_COUNTS = (N_THREADS, "MKL_NUM_THREADS")
"""Variables that set the number of torch's threads."""

_WAITING = (SPIN_COUNT, "OMP_WAIT_POLICY")
"""Variables that set how libgomp's threads wait."""

chosen: dict[str, str] = {}
"""The variables that :func:`choose_threads` has set in this process."""


def setting(environment: Mapping[str, str] = os.environ) -> str:
    """Return the name of the setting in force.

    Raises:
        InputError: ``SYNTAGMA_THREADS`` is not the name of a setting.
    """
    name = environment.get(SETTING) or DEFAULT
    if name not in SPINS:
        raise InputError(
            f"{SETTING}: expected {' or '.join(SPINS)}, got {name!r}; for a number of threads set "
            f"{N_THREADS}"
        )
    return name


def variables(environment: Mapping[str, str] = os.environ) -> dict[str, str]:
    """Return the variables that the setting adds to those that the user has set.

    Args:
        environment: environment variables of the process.

    Raises:
        InputError: ``SYNTAGMA_THREADS`` is not the name of a setting.
    """
    found = {}
    spins = SPINS[setting(environment)]
    # On other systems torch comes with another OpenMP library, which does not read the variable.
    if spins and sys.platform == "linux" and not any(name in environment for name in _WAITING):
        found[SPIN_COUNT] = str(spins)
    # Without a quota torch itself counts well: the physical cores that this process may use.
    quota = cpu_quota()
    if quota is not None and not any(name in environment for name in _COUNTS):
        found[N_THREADS] = str(min(_whole_cores(quota), _physical_cores()))
    # NumPy multiplies almost nothing here, and its threads would compete with those of torch.
    if NUMPY_THREADS not in environment:
        found[NUMPY_THREADS] = "1"
    return found


def choose_threads() -> None:
    """Set the environment variables of the setting; call it before torch is imported.

    Raises:
        InputError: ``SYNTAGMA_THREADS`` is not the name of a setting, or torch has been imported.
    """
    added = variables()
    if "torch" in sys.modules:
        raise InputError(
            "choose_threads: expected a call before torch is imported, which reads the variables; "
            "move the call to the top of the program, or export the variables that `syntagma "
            "doctor` names"
        )
    os.environ.update(added)
    chosen.update(added)


def available_cores() -> int:
    """Return the number of cores that this process may use; all cores where that is unknown."""
    cores = _cores()
    quota = cpu_quota()
    return cores if quota is None else min(cores, _whole_cores(quota))


def cpu_quota(root: Path = Path("/")) -> float | None:
    """Return how many cores' time the control groups of this process allow, as in a container.

    Args:
        root: the folder that has ``proc`` and ``sys``.

    Returns:
        A number of cores, perhaps with a fraction, or ``None`` if there is no limit.
    """
    found = []
    for group in control_groups("cpu", root):
        # Version 2: "QUOTA PERIOD" in microseconds, or "max PERIOD".
        words = read_words(group / "cpu.max")
        # Version 1: two files; a quota of -1 is no limit.
        words = words or [
            *read_words(group / "cpu.cfs_quota_us"), *read_words(group / "cpu.cfs_period_us")
        ]  # fmt: skip
        if len(words) == 2 and words[0].isdigit() and words[1].isdigit() and int(words[1]):
            found.append(int(words[0]) / int(words[1]))
    return min((quota for quota in found if quota > 0), default=None)


def _whole_cores(quota: float) -> int:
    """Round a quota to whole cores.

    Threads that have used it up all stop until the next period.  Measured on two cores: at a quota
    of 1.5, two threads save a fifth of the time of a batch; at 1.25, they take longer for one text.
    """
    return max(1, int(quota + 0.5))


def _cores() -> int:
    """Return the number of cores, hyperthreads included, on which this process may run."""
    if hasattr(os, "process_cpu_count"):  # From Python 3.13.
        return os.process_cpu_count() or 1
    if hasattr(os, "sched_getaffinity"):  # Neither macOS nor Windows has it.
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def _physical_cores(root: Path = Path("/")) -> int:
    """Return the number of cores on which this process may run, hyperthreads of one as one."""
    if not hasattr(os, "sched_getaffinity"):
        return _cores()
    topology = "sys/devices/system/cpu/cpu{}/topology/thread_siblings_list"
    siblings = {
        tuple(read_words(root / topology.format(number))) or (str(number),)
        for number in os.sched_getaffinity(0)
    }
    return len(siblings)
