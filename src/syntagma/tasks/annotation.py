"""Annotate corpora, the files of tasks among them, with parses."""

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

__all__ = ["annotate_files"]


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
    """Annotate text, JSON lines, treebanks or the files of a task.

    Args:
        inputs: files or patterns.
        out: the folder to write.
        settings: with the kind of the input, which may be the name of a task; by the names of the
            files if it is empty.
        workers: processes.
        device: where to compute.
        resume: go on where a run was stopped.
        engine: ``local`` or ``ray``.

    Raises:
        InputError: as :func:`syntagma.parse.corpora.runner.annotate`.
    """
    kind, reader = settings.kind, None
    if kind in TASKS:
        reader = partial(_task_records, task=kind, skip_bad=settings.skip_bad)
    elif kind and kind not in KINDS:
        raise InputError(f"--from must be one of {', '.join((*KINDS, *TASKS))}; got {kind!r}")
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
    """The texts of a task's file; its reader counts what is bad in a warning, or stops there."""
    task_class = find_task(task)
    with how_to_skip("--skip-bad"):
        examples = task_class.read(path, skip_bad=skip_bad)
    for number, text in enumerate(task_class.texts(examples), start=1):
        yield Record(number, text if text.strip() else "")
