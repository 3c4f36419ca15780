"""Annotate a corpus: on one machine or a cluster, nothing lost when it is killed."""

from __future__ import annotations

import os
import time
from collections.abc import Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import Literal, get_args

import torch

from syntagma.errors import InputError
from syntagma.files import STANDARD_INPUT
from syntagma.outputs import hold_folder
from syntagma.parse.corpora.annotator import AnnotationSettings, source_fingerprint
from syntagma.parse.corpora.chunks import Block
from syntagma.parse.corpora.local_engine import run_in_pool, run_in_process
from syntagma.parse.corpora.manifest import CorpusFolder, Manifest, ShardEntry
from syntagma.parse.corpora.plan import Work
from syntagma.parse.corpora.records import Reader, expand, kind_of_all, reader_of
from syntagma.parse.corpora.shards import SCHEMA_VERSION, arrow
from syntagma.progress import progress_bar

__all__ = ["Engine", "annotate"]

Engine = Literal["local", "ray"]


def annotate(
    inputs: Sequence[str],
    out: str | Path,
    settings: AnnotationSettings | None = None,
    *,
    reader: Reader | None = None,
    workers: int | None = None,
    device: str = "cpu",
    resume: bool = False,
    engine: Engine = "local",
) -> Manifest:
    """Parse a corpus into a folder of Parquet shards.

    The shards depend on input and settings alone: not on the number of workers, the engine, or how
    often the run was stopped.

    Args:
        inputs: files, ``.gz`` of files, glob patterns, or ``-`` for standard input.
        out: the folder; it must not exist, unless ``resume``.
        settings: what shards depend on.
        reader: reads records from a path; by the kind in ``settings`` if not given.
        workers: processes, each on one core or device; if not given as many as there are, or one
            for a device that is named by its number.
        device: ``cpu``, or ``cuda`` for all devices of the machine.
        resume: go on where a run was stopped.
        engine: ``local``, or ``ray`` for a Ray cluster.

    Returns:
        What the folder holds.

    Raises:
        InputError: a record cannot be used and is not to be skipped, the disk is full, a worker was
            killed, or the folder holds something else.
        BusyError: another process annotates into the folder.
    """
    arrow()
    settings = settings or AnnotationSettings()
    if engine not in get_args(Engine):
        raise InputError(f"--engine must be one of {', '.join(get_args(Engine))}; got {engine!r}")
    if workers is not None and workers < 1:
        raise InputError(f"--workers must be at least 1, got {workers}")
    paths = expand(list(inputs))
    settings = replace(settings, kind=settings.kind or kind_of_all(paths))
    devices = _devices(device, workers)
    reader = reader or reader_of(settings.kind, field=settings.field)
    fingerprint = source_fingerprint(settings)
    folder = CorpusFolder(out)
    described = {
        **asdict(settings), "fingerprint": fingerprint, "inputs": paths, "schema": SCHEMA_VERSION,
    }  # fmt: skip
    # No finished shard depends on it: who meets a bad record may go on without such ones.
    del described["skip_bad"]
    if engine == "ray":
        from syntagma.parse.corpora.ray_engine import run_on_ray as run
    else:
        run = run_in_process if len(devices) == 1 else run_in_pool
    entries: dict[str, ShardEntry] = {}
    with hold_folder(folder.path), _Progress(paths) as progress:
        done = folder.begin(described, resume=resume)
        for block, entry in run(Work(paths, reader, settings, folder.path, done), devices):
            if entry.name not in done:
                folder.add(entry)
            entries[entry.name] = entry
            progress.update(block, entry, new=entry.name not in done)
        return folder.finish(entries, paths)


def _devices(device: str, workers: int | None) -> list[str]:
    """Where each worker computes."""
    if device == "cuda":
        count = torch.cuda.device_count()
        if not count:
            raise InputError("--device cuda: there is no such device; use cpu")
        return [f"cuda:{index % count}" for index in range(workers or count)]
    return [device] * (workers or (len(os.sched_getaffinity(0)) if device == "cpu" else 1))


class _Progress:
    """A bar over the bytes of the input, with sentences a second."""

    def __init__(self, paths: list[str]) -> None:
        known = [path for path in paths if path != STANDARD_INPUT]
        self.bar = progress_bar(
            total=sum(Path(path).stat().st_size for path in known) or None,
            unit="B",
            unit_scale=True,
            desc="annotating",
        )
        self.begin = time.perf_counter()
        self.sentences = 0

    def __enter__(self) -> _Progress:
        return self

    def update(self, block: Block, entry: ShardEntry, *, new: bool) -> None:
        """A block is done."""
        if new:
            self.sentences += entry.counts.sentences
        seconds = time.perf_counter() - self.begin
        self.bar.set_postfix_str(f"{self.sentences / seconds:,.0f} sentences/s", refresh=False)
        # Blocks come back in another order than they were read in.
        self.bar.update(max(0, block.position - self.bar.n))

    def __exit__(self, *_: object) -> None:
        self.bar.close()
