"""Annotate a corpus, on one machine or a cluster, so that a killed run can be resumed."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import Literal, get_args

import torch

from syntagma.cpu_threads import available_cores
from syntagma.errors import InputError
from syntagma.files import STANDARD_INPUT
from syntagma.outputs import hold_folder
from syntagma.parse.corpora.annotator import AnnotationSettings, source_fingerprint
from syntagma.parse.corpora.chunks import Chunk
from syntagma.parse.corpora.local_engine import run_in_pool, run_in_process
from syntagma.parse.corpora.manifest import FINGERPRINT, CorpusFolder, Manifest, ShardEntry
from syntagma.parse.corpora.parquet import arrow
from syntagma.parse.corpora.plan import AnnotationPlan
from syntagma.parse.corpora.records import Reader, expand_paths, kind_of_all, reader_of
from syntagma.parse.corpora.shards import SCHEMA_VERSION
from syntagma.progress import progress_bar

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

    The shards depend only on the input and the settings, not on the number of workers, the engine,
    or how often the run was interrupted.

    Args:
        inputs: files, perhaps compressed as ``.gz``, glob patterns, or ``-`` for standard input.
        out: output folder; it must not exist, unless ``resume`` is true.
        settings: settings that the shards depend on.
        reader: reads the records of a file; chosen by ``settings.kind`` by default.
        workers: number of processes, each on one core or device.  By default, one for each core, or
            for each device if ``device`` is ``cuda``.
        device: ``cpu``, ``cuda`` for all GPUs of the machine, or one device such as ``cuda:1``.
        resume: whether to continue an interrupted run, or repair a finished corpus.
        engine: ``local``, or ``ray`` for a Ray cluster.

    Returns:
        The manifest of the corpus.

    Raises:
        InputError: an option is out of range, a record is invalid and not to be skipped, the disk
            is full, a worker was killed, or the folder contains something else.
        BusyError: another process is writing to the folder.
    """
    # Fails early if pyarrow is not installed.
    arrow()
    settings = settings or AnnotationSettings()
    if engine not in get_args(Engine):
        raise InputError(f"--engine must be one of {', '.join(get_args(Engine))}; got {engine!r}")
    if workers is not None and workers < 1:
        raise InputError(f"--workers must be at least 1, got {workers}")
    paths = expand_paths(list(inputs))
    settings = replace(settings, kind=settings.kind or kind_of_all(paths))
    if settings.field != AnnotationSettings().field and settings.kind != "jsonl":
        raise InputError(
            f"--field names the text of JSON objects, but the input is read as {settings.kind}; "
            f"omit it, or add --from jsonl"
        )
    devices = _devices(device, workers)
    reader = reader or reader_of(settings.kind, field=settings.field)
    fingerprint = source_fingerprint(settings)
    folder = CorpusFolder(out)
    recorded = {
        **asdict(settings), FINGERPRINT: fingerprint, "inputs": paths, "schema": SCHEMA_VERSION,
    }  # fmt: skip
    # No finished shard depends on it: a run that stopped at an invalid record can be resumed with
    # --skip-bad.
    del recorded["skip_bad"]
    if engine == "ray":
        from syntagma.parse.corpora.ray_engine import run_on_ray as run
    else:
        run = run_in_process if len(devices) == 1 else run_in_pool
    entries: dict[str, ShardEntry] = {}
    with hold_folder(folder.path), _ProgressBar(paths) as progress:
        finished = folder.begin(recorded, resume=resume)
        plan = AnnotationPlan(paths, reader, settings, folder.path, finished)
        for chunk, entry in run(plan, devices):
            if entry.name not in finished:
                folder.add(entry)
            entries[entry.name] = entry
            progress.update(chunk, entry, is_new=entry.name not in finished)
        return folder.finish(entries, paths)


def _devices(device: str, workers: int | None) -> list[str]:
    """Return the device of each worker."""
    if device == "cuda":
        count = torch.cuda.device_count()
        if not count:
            raise InputError("--device cuda: there is no such device; use cpu")
        return [f"cuda:{index % count}" for index in range(workers or count)]
    return [device] * (workers or (available_cores() if device == "cpu" else 1))


class _ProgressBar:
    """A progress bar over the bytes of the input that shows sentences per second."""

    def __init__(self, paths: list[str]) -> None:
        known = [path for path in paths if path != STANDARD_INPUT]
        self.bar = progress_bar(
            total=sum(Path(path).stat().st_size for path in known) or None,
            unit="B",
            unit_scale=True,
            desc="annotating",
        )
        self.start = time.perf_counter()
        self.sentences = 0

    def __enter__(self) -> _ProgressBar:
        return self

    def update(self, chunk: Chunk, entry: ShardEntry, *, is_new: bool) -> None:
        """Count a finished chunk; one from an earlier run does not count towards the speed."""
        if is_new:
            self.sentences += entry.counts.sentences
        seconds = time.perf_counter() - self.start
        self.bar.set_postfix_str(f"{self.sentences / seconds:,.0f} sentences/s", refresh=False)
        # Chunks do not finish in the order in which they were read.
        self.bar.update(max(0, chunk.position - self.bar.n))

    def __exit__(self, *_: object) -> None:
        self.bar.close()
