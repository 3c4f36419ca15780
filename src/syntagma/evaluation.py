"""Open any saved model, score it, let it predict."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from syntagma.encoders.config import read_config
from syntagma.encoders.precision import Precision
from syntagma.encoders.shipped import SHIPPED, shipped
from syntagma.errors import InputError, how_to_skip
from syntagma.files import write_folder
from syntagma.tasks import find_task
from syntagma.tasks.task import Task, distinct

__all__ = ["evaluate", "open_model", "pack", "predict"]


def open_model(
    name: str | Path,
    *,
    task: str = "",
    parser: str = "",
    device: str = "cpu",
    precision: Precision | None = None,
) -> Task[Any, Any]:
    """The task around a saved model.

    Args:
        name: ``default-parser``, ``default-reader``, or the folder of a model or run.
        task: another one than the model was made for: a model for ``spans`` can do ``open_qa``.
        parser: where parses come from (:func:`syntagma.parse.load.load_source`), if not from
            where they came in training: to see what other or worse trees do.
        device: where to compute.
        precision: of the computation: ``training.precision`` of a run gives its own scores again;
            if not given float32 for parsers, ``auto`` for other models.

    Raises:
        InputError: there is no such model, it cannot do the task, or it reads no parses.
    """
    folder = shipped(str(name)) if str(name) in SHIPPED else Path(name)
    if not folder.is_dir():
        raise InputError(f"{folder}: no such model folder; give one, or {' or '.join(SHIPPED)}")
    task_class = find_task(task or read_config(folder).task)
    return task_class.from_folder(folder, device=device, parser=parser, precision=precision)


def _read(task: Task[Any, Any], data: Sequence[str | Path], skip_bad: bool) -> list[Any]:
    with how_to_skip("--skip-bad"):
        parts = {str(path): task.read(path, skip_bad=skip_bad) for path in data}
    return [example for part in distinct(parts).values() for example in part]


def evaluate(
    name: str | Path,
    data: Sequence[str | Path],
    *,
    task: str = "",
    parser: str = "",
    by: Sequence[str] = (),
    device: str = "cpu",
    precision: Precision | None = None,
    skip_bad: bool = False,
) -> dict[str, Any]:
    """The official metrics of a model's task on some files, numbers by their names.

    Where tools differ in how they compute a metric, ``signature`` says how this one was.

    Args:
        name: of the model, see :func:`open_model`.
        data: files in a format of the task.
        task: another one than the model's own, see :func:`open_model`.
        parser: another one than in training, see :func:`open_model`.
        by: also score groups, see :meth:`syntagma.tasks.task.Task.evaluate`.
        device: where to compute.
        precision: of the computation, see :func:`open_model`.
        skip_bad: leave out bad examples and count them.

    Raises:
        InputError: model or data cannot be used.
    """
    opened = open_model(name, task=task, parser=parser, device=device, precision=precision)
    values: dict[str, Any] = opened.evaluate(_read(opened, data, skip_bad), by=by)
    return values | ({"signature": opened.signature} if opened.signature else {})


def predict(
    name: str | Path,
    data: Sequence[str | Path],
    out: Path,
    *,
    task: str = "",
    parser: str = "",
    device: str = "cpu",
    precision: Precision | None = None,
    skip_bad: bool = False,
) -> int:
    """Write a model's predictions in the task's official format.

    Args:
        name: of the model, see :func:`open_model`.
        data: files in a format of the task.
        out: the file to write.
        task: another one than the model's own, see :func:`open_model`.
        parser: another one than in training, see :func:`open_model`.
        device: where to compute.
        precision: of the computation, see :func:`open_model`.
        skip_bad: leave out bad examples and count them.

    Returns:
        How many examples there were.

    Raises:
        InputError: model or data cannot be used, or the file cannot be written.
    """
    opened = open_model(name, task=task, parser=parser, device=device, precision=precision)
    examples = _read(opened, data, skip_bad)
    opened.write_predictions(examples, opened.predict(examples), out)
    return len(examples)


def pack(name: str | Path, out: str | Path, *, bits: int = 4) -> int:
    """Write a small copy of a model: only what differs from its published encoder.

    Args:
        name: of the model, see :func:`open_model`.
        out: the folder to write; it must not exist.
        bits: 4 or 8 for each weight that moved.

    Returns:
        Size of the weights in bytes.

    Raises:
        InputError: there is no such model, or the folder exists.
    """
    if bits not in (4, 8):
        raise InputError(f"--bits must be 4 or 8, got {bits}")
    task = open_model(name)
    with write_folder(out) as draft:
        task.save(draft, bits=bits)
        return sum(path.stat().st_size for path in draft.rglob("*.safetensors"))
