"""Run an annotation on one machine: in this process, or in one process per core or device."""

from __future__ import annotations

import copy
import functools
import multiprocessing
import os
from collections.abc import Callable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from functools import partial
from multiprocessing.process import BaseProcess
from pathlib import Path
from typing import Any

import torch

from syntagma.cpu_threads import N_THREADS, NUMPY_THREADS
from syntagma.errors import InputError
from syntagma.lifeline import STARTER, pack_start, start_worker
from syntagma.parse.corpora.annotator import AnnotationSettings, Annotator
from syntagma.parse.corpora.chunks import Chunk
from syntagma.parse.corpora.manifest import ShardEntry
from syntagma.parse.corpora.plan import AnnotationPlan, FinishedChunks

PRELOAD = "syntagma.parse.corpora.preload"


def run_in_process(plan: AnnotationPlan, devices: list[str]) -> FinishedChunks:
    """Annotate in this process.

    Args:
        plan: the plan of the run.
        devices: the one device to compute on.
    """
    threads = torch.get_num_threads()
    # The same as in a worker: results are bit-equal, whatever the number of workers.
    torch.set_num_threads(1)
    annotator = Annotator(plan.settings, plan.folder, devices[0])
    try:
        for chunk, entry in plan.all_chunks():
            yield chunk, entry or annotator.write_shard(chunk)
    finally:
        torch.set_num_threads(threads)


def run_in_pool(plan: AnnotationPlan, devices: list[str]) -> FinishedChunks:
    """Annotate in several processes.

    Args:
        plan: the plan of the run.
        devices: the device of each process.
    """
    context, children = _context()
    free_devices = context.Queue()
    for device in devices:
        free_devices.put(device)
    pool = ProcessPoolExecutor(
        len(devices),
        context,
        start_worker,
        (pack_start(_prepare, plan.settings, plan.folder), free_devices),
    )
    pending: dict[Future[ShardEntry], Chunk] = {}
    try:
        with _variables_of_workers():
            for chunk, entry in plan.all_chunks():
                if entry is not None:
                    yield chunk, entry
                    continue
                # Two chunks per worker keep all of them busy, and memory constant.
                while len(pending) >= 2 * len(devices):
                    yield from _collect(pending)
                pending[pool.submit(_write_shard, chunk)] = chunk
            while pending:
                yield from _collect(pending)
            pool.shutdown()
    except BrokenProcessPool as error:
        raise InputError(
            f"{plan.folder}: a worker was killed, perhaps because memory ran out; finished shards "
            f"are kept: continue with --resume, and with fewer --workers if memory is short"
        ) from error
    finally:
        # A chunk takes minutes: after an error or Ctrl-C, do not wait for those in progress.
        pool.shutdown(wait=False, cancel_futures=True)
        for child in children:
            if child.is_alive():
                child.terminate()


@contextmanager
def _variables_of_workers() -> Iterator[None]:
    """Set environment variables, which workers inherit, until the block ends."""
    # By default NumPy and torch start as many threads as there are cores in every worker, and idle
    # ones spin.
    wanted = {NUMPY_THREADS: "1", N_THREADS: "1", STARTER: str(os.getpid())}
    before = {name: os.environ.get(name) for name in wanted}
    os.environ.update(wanted)
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                os.environ.pop(name, None)
            else:
                os.environ[name] = value


def _context() -> tuple[Any, list[BaseProcess]]:
    """Return a start method that does not fork this process, with its threads and locks.

    Returns:
        The start method, and a list to which each process that is made with it is added: the
        process of the caller may have others.
    """
    if "forkserver" in multiprocessing.get_all_start_methods():
        # The fork server imports the packages once, and workers are forked from it.
        context: Any = multiprocessing.get_context("forkserver")
        context.set_forkserver_preload([PRELOAD])
    else:
        context = multiprocessing.get_context("spawn")
    children: list[BaseProcess] = []
    make = context.Process

    def noted(*args: Any, **kwargs: Any) -> BaseProcess:
        child: BaseProcess = make(*args, **kwargs)
        children.append(child)
        return child

    # The context itself is shared by the whole process.
    context = copy.copy(context)
    context.Process = noted
    return context, children


def _collect(pending: dict[Future[ShardEntry], Chunk]) -> FinishedChunks:
    """Wait until at least one chunk is finished, and yield all that are."""
    ready, _ = wait(pending, return_when=FIRST_COMPLETED)
    for future in ready:
        yield pending.pop(future), future.result()


# Set in worker processes only.
_load_annotator: Callable[[], Annotator]


def _write_shard(chunk: Chunk) -> ShardEntry:
    return _load_annotator().write_shard(chunk)


def _prepare(settings: AnnotationSettings, folder: Path, free_devices: Any) -> None:
    """Set up a worker process, which then loads the parser with its first chunk.

    An error here would reach the parent as a broken pool, without its message.
    """
    global _load_annotator
    torch.set_num_threads(1)
    _load_annotator = functools.cache(partial(Annotator, settings, folder, free_devices.get()))
