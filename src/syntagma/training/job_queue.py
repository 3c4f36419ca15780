"""Train many runs, in as many processes as are started."""

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

__all__ = ["Job", "train_all"]

PAUSE = 5.0


class Job(NamedTuple):
    """A run that is to be there.

    Args:
        experiment: what is trained.
        folder: of the run.
        needs: folders of runs that must be finished before.
    """

    experiment: Experiment
    folder: Path
    needs: tuple[Path, ...] = ()


def train_all(jobs: Sequence[Job], *, say: Callable[[str], None] = lambda line: None) -> None:
    """Train what is not finished, in the order given.

    Any number of processes, on machines that share the folders too, may do this at the same time:
    each takes the first run that no other is at, and what a killed one leaves behind is gone on
    with by another.

    Args:
        jobs: each after those that it needs.
        say: called with a line for each finished step.

    Raises:
        InputError: data cannot be used, a finished run of the same folder has other settings, or
            this is one of several processes of one training.
    """
    require_one_process()
    waiting = list(enumerate(jobs, start=1))
    while waiting:
        left, busy = [], False
        for number, job in waiting:
            try:
                if not _done(job, f"{number}/{len(jobs)}", say):
                    left.append((number, job))
            except BusyError:
                left.append((number, job))
                busy = True
        if len(left) == len(waiting):
            if not busy:
                _, job = left[0]
                lacking = ", ".join(str(folder) for folder in job.needs)
                raise InputError(f"{job.folder}: begins from {lacking}; train that first")
            time.sleep(PAUSE)
        waiting = left


def _done(job: Job, place: str, say: Callable[[str], None]) -> bool:
    """Whether a job is finished now; not so if it has to wait for others."""
    run = RunFolder(job.folder)
    line = f"{place} {run.state:<6} {job.folder}"
    if run.state == "done":
        # Says so if the folder belongs to other settings.
        run.begin(job.experiment, resume=True)
        say(line)
        return True
    if any(RunFolder(folder).state != "done" for folder in job.needs):
        return False
    # Imported first: it takes seconds, in which another process might come.
    from syntagma.training.run import train

    with run.claimed():
        say(line)
    train(job.experiment, job.folder, resume=True)
    return True
