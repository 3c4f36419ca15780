"""Train a list of runs, with any number of processes sharing the work."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from syntagma.errors import BusyError, InputError
from syntagma.runs.folder import RunFolder
from syntagma.training.processes import require_one_process

if TYPE_CHECKING:
    from syntagma.tasks.experiment import Experiment

PAUSE = 5.0
"""Seconds to wait if other processes are training all remaining runs."""


class Job(NamedTuple):
    """A run to train.

    Args:
        experiment: the settings of the run.
        folder: path of the run folder.
        needs: run folders that must be finished first.
    """

    experiment: Experiment
    folder: Path
    needs: tuple[Path, ...] = ()


def train_all(jobs: Sequence[Job], *, say: Callable[[str], None] = lambda line: None) -> None:
    """Train all unfinished runs in the given order.

    Several processes may call this at the same time, also on machines that share the folders.  Each
    takes the first run that no other process is training, and resumes runs whose process was
    killed.

    Args:
        jobs: the runs, each after the runs that it needs.
        say: called with a line of progress for each run.

    Raises:
        InputError: data cannot be used, the folder of a finished run has other settings, or this is
            one of several processes of ``torchrun``.
    """
    require_one_process()
    waiting = list(enumerate(jobs, start=1))
    while waiting:
        left, busy = [], False
        for number, job in waiting:
            try:
                if not _finish(job, f"{number}/{len(jobs)}", say):
                    left.append((number, job))
            except BusyError:
                left.append((number, job))
                busy = True
        if len(left) == len(waiting):
            if not busy:
                _, job = left[0]
                lacking = ", ".join(str(folder) for folder in job.needs)
                raise InputError(f"{job.folder}: starts from {lacking}; train that first")
            time.sleep(PAUSE)
        waiting = left


def _finish(job: Job, position: str, say: Callable[[str], None]) -> bool:
    """Train a run unless it is finished; return False if the runs that it needs are not."""
    run = RunFolder(job.folder)
    line = f"{position} {run.state:<6} {job.folder}"
    if run.state == "done":
        # Raises an error if the settings of the folder differ.
        run.begin(job.experiment, resume=True)
        say(line)
        return True
    if any(RunFolder(folder).state != "done" for folder in job.needs):
        return False
    # Import before locking: the import takes seconds, in which another process may take the run.
    from syntagma.training.run import train

    with run.claimed():
        say(line)
    train(job.experiment, job.folder, resume=True)
    return True
