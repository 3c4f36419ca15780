"""Annotate a corpus: one process a core or device, nothing lost when it is killed."""

from __future__ import annotations

import multiprocessing
import os
import signal
import threading
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from dataclasses import asdict
from pathlib import Path
from typing import Any, Literal, get_args

import torch

from syntagma.errors import InputError
from syntagma.files import STANDARD_INPUT
from syntagma.parse.corpora.annotator import AnnotationSettings, Annotator, open_source
from syntagma.parse.corpora.blocks import Block, blocks, units
from syntagma.parse.corpora.documents import Reader, expand, reader_of
from syntagma.parse.corpora.ledger import CorpusFolder, Manifest, ShardEntry
from syntagma.parse.corpora.shards import SCHEMA_VERSION, arrow
from syntagma.progress import progress_bar

__all__ = ["Engine", "annotate"]

Engine = Literal["local", "ray"]
NUMPY_THREADS = "OPENBLAS_NUM_THREADS"
Todo = Iterator[tuple[Block, ShardEntry | None]]
Done = Iterator[tuple[Block, ShardEntry]]


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
        workers: processes, each on one core or device; as many as there are if not given.
        device: ``cpu``, or ``cuda`` for all devices of the machine.
        resume: go on where a run was stopped.
        engine: ``local``, or ``ray`` for a Ray cluster.

    Returns:
        What the folder holds.

    Raises:
        InputError: a record cannot be used and is not to be skipped, the disk is full, a worker was
            killed, or the folder holds something else.
    """
    arrow()
    settings = settings or AnnotationSettings()
    if engine not in get_args(Engine):
        raise InputError(f"--engine must be one of {', '.join(get_args(Engine))}; got {engine!r}")
    if workers is not None and workers < 1:
        raise InputError(f"--workers must be at least 1, got {workers}")
    paths = expand(list(inputs))
    devices = _devices(device, workers)
    reader = reader or reader_of(settings.kind, field=settings.field)
    fingerprint = open_source(settings, "cpu").fingerprint
    folder = CorpusFolder(out)
    described = {
        **asdict(settings), "fingerprint": fingerprint, "inputs": paths, "schema": SCHEMA_VERSION,
    }  # fmt: skip
    done = folder.begin(described, resume=resume)
    work = Work(paths, reader, settings, folder.path, done)
    if engine == "ray":
        from syntagma.parse.corpora.ray_engine import run_on_ray as run
    else:
        run = run_in_process if len(devices) == 1 else run_in_pool
    entries: dict[str, ShardEntry] = {}
    with _Progress(paths) as progress:
        for block, entry in run(work, devices):
            if entry.name not in done:
                folder.add(entry)
            entries[entry.name] = entry
            progress.update(block, entry, new=entry.name not in done)
    return folder.finish(entries, paths)


class Work:
    """The blocks of a corpus, and which of them are done."""

    def __init__(
        self,
        paths: list[str],
        reader: Reader,
        settings: AnnotationSettings,
        folder: Path,
        done: dict[str, ShardEntry],
    ) -> None:
        self.paths = paths
        self.reader = reader
        self.settings = settings
        self.folder = folder
        self.done = done

    def units(self) -> list[list[int]]:
        """Files that are read one after another."""
        return units(self.paths)

    def blocks(self, unit: int, numbers: Sequence[int]) -> Todo:
        """The blocks of a unit, with the shard of each that is done.

        Raises:
            InputError: the input is no longer what a finished shard was made from.
        """
        for block in blocks(
            self.paths,
            numbers,
            self.reader,
            unit=unit,
            characters=self.settings.shard_characters,
            skip_bad=self.settings.skip_bad,
        ):
            entry = self.done.get(f"{block.name}.parquet")
            if entry is not None and entry.input != block.digest:
                raise InputError(
                    f"{self.folder}: the input has changed since {entry.name} was made; name a new "
                    f"folder"
                )
            yield block, entry

    def all_blocks(self) -> Todo:
        """The blocks of all units, positions counted over all."""
        before = 0
        for unit, numbers in enumerate(self.units()):
            position = 0
            for block, entry in self.blocks(unit, numbers):
                position = block.position
                block.position += before
                yield block, entry
            before += position


def _devices(device: str, workers: int | None) -> list[str]:
    """Where each worker computes."""
    if device == "cuda":
        count = torch.cuda.device_count()
        if not count:
            raise InputError("--device cuda: there is no such device; use cpu")
        return [f"cuda:{index % count}" for index in range(workers or count)]
    return [device] * (workers or len(os.sched_getaffinity(0)))


def run_in_process(work: Work, devices: list[str]) -> Done:
    """Work in this process."""
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    annotator = Annotator(work.settings, work.folder, devices[0])
    try:
        for block, entry in work.all_blocks():
            yield block, entry or annotator.shard(block)
    finally:
        torch.set_num_threads(threads)


def run_in_pool(work: Work, devices: list[str]) -> Done:
    """Work in as many processes as there are devices."""
    context = _context()
    places = context.Queue()
    for device in devices:
        places.put(device)
    pool = ProcessPoolExecutor(
        len(devices), context, _start_worker, (work.settings, work.folder, places)
    )
    pending: dict[Future[ShardEntry], Block] = {}
    # NumPy's threads, as many as cores in each worker, would wait for one another by spinning.
    threads = os.environ.get(NUMPY_THREADS)
    os.environ[NUMPY_THREADS] = "1"
    try:
        for block, entry in work.all_blocks():
            if entry is not None:
                yield block, entry
                continue
            while len(pending) >= 2 * len(devices):
                yield from _finished(pending)
            pending[pool.submit(_shard, block)] = block
        while pending:
            yield from _finished(pending)
        pool.shutdown()
    except BrokenProcessPool as error:
        raise InputError(
            f"{work.folder}: a worker was killed, perhaps for want of memory; what was finished is "
            f"kept: go on with --resume, and fewer --workers if memory is short"
        ) from error
    finally:
        if threads is None:
            del os.environ[NUMPY_THREADS]
        else:
            os.environ[NUMPY_THREADS] = threads
        # Blocks take minutes: after an error or Ctrl-C nobody waits for them.
        pool.shutdown(wait=False, cancel_futures=True)
        for child in multiprocessing.active_children():
            child.terminate()


def _context() -> Any:
    """Processes that begin clean; where it can be, the packages are imported once for all."""
    if "forkserver" not in multiprocessing.get_all_start_methods():
        return multiprocessing.get_context("spawn")
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload([Annotator.__module__])
    return context


def _finished(pending: dict[Future[ShardEntry], Block]) -> Done:
    ready, _ = wait(pending, return_when=FIRST_COMPLETED)
    for future in ready:
        yield pending.pop(future), future.result()


_annotator: Annotator | None = None


def _shard(block: Block) -> ShardEntry:
    assert _annotator is not None
    return _annotator.shard(block)


def _start_worker(settings: AnnotationSettings, folder: Path, places: Any) -> None:
    """Load the parser once a process; leave when the parent is gone."""
    global _annotator
    torch.set_num_threads(1)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_leave_with_parent, daemon=True).start()
    _annotator = Annotator(settings, folder, places.get())


def _leave_with_parent() -> None:
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)


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
