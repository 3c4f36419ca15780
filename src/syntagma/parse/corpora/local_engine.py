"""Annotate on one machine: in this process, or in one a core or device."""

from __future__ import annotations

import functools
import multiprocessing
import os
import signal
import threading
from collections.abc import Callable
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from functools import partial
from pathlib import Path
from typing import Any

import torch

from syntagma.errors import InputError
from syntagma.parse.corpora.annotator import AnnotationSettings, Annotator
from syntagma.parse.corpora.chunks import Block
from syntagma.parse.corpora.manifest import ShardEntry
from syntagma.parse.corpora.plan import Done, Work

__all__ = ["run_in_pool", "run_in_process"]

NUMPY_THREADS = "OPENBLAS_NUM_THREADS"


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


_load_annotator: Callable[[], Annotator]


def _shard(block: Block) -> ShardEntry:
    return _load_annotator().shard(block)


def _start_worker(settings: AnnotationSettings, folder: Path, places: Any) -> None:
    """Load the parser once a process; leave when the parent is gone."""
    global _load_annotator
    torch.set_num_threads(1)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_leave_with_parent, daemon=True).start()
    # The parser is loaded with the first block: an error in here would reach the parent as a
    # broken pool, without its message.
    _load_annotator = functools.cache(partial(Annotator, settings, folder, places.get()))


def _leave_with_parent() -> None:
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)
