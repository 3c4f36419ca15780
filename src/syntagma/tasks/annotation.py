"""Annotate corpora with parses: text files, treebanks, and the data files of tasks."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path

from syntagma.errors import InputError, how_to_skip
from syntagma.parse.corpora.annotator import AnnotationSettings
from syntagma.parse.corpora.manifest import Manifest
from syntagma.parse.corpora.records import KINDS, Record
from syntagma.parse.corpora.runner import Engine, annotate
from syntagma.tasks import TASKS, find_task


def annotate_files(
    inputs: Sequence[str],
    out: str | Path,
    settings: AnnotationSettings,
    *,
    workers: int | None = None,
    device: str = "cpu",
    resume: bool = False,
    engine: Engine = "local",
) -> Manifest:
    """Annotate text, JSON lines, treebanks or the data files of a task.

    Args:
        inputs: files or glob patterns.
        out: the folder to write.
        settings: their ``kind`` may also be the name of a task; if it is empty, the kind of input
            follows from the file names.
        workers: number of processes.
        device: where to compute.
        resume: continue an interrupted run.
        engine: ``local`` or ``ray``.

    Raises:
        InputError: the kind of input is unknown, or
            :func:`syntagma.parse.corpora.runner.annotate` raises it.
    """
    kind, reader = settings.kind, None
    if kind and kind not in KINDS:
        if kind not in TASKS:
            raise InputError(f"--from must be one of {', '.join((*KINDS, *TASKS))}; got {kind!r}")
        reader = partial(_task_records, task=kind, skip_bad=settings.skip_bad)
    return annotate(
        inputs,
        out,
        settings,
        reader=reader,
        workers=workers,
        device=device,
        resume=resume,
        engine=engine,
    )


def _task_records(path: str, task: str, *, skip_bad: bool) -> Iterator[Record]:
    """Yield the texts in a task's data file; the task's reader handles invalid examples."""
    task_class = find_task(task)
    with how_to_skip("--skip-bad"):
        examples = task_class.read(path, skip_bad=skip_bad)
    for number, text in enumerate(task_class.texts(examples), start=1):
        # A blank text still needs a record, so that records and texts correspond.
        yield Record(number, text if text.strip() else "")
