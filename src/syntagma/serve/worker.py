"""A worker process: it holds the models, and answers one batch after another.

Processes, not threads: torch computes without Python's lock, but much else of a request (cutting
texts into words, decoding trees) holds it, and would stop the event loop.  And a process that runs
out of memory, or into an error of a native library, takes only its batch with it.
"""

from __future__ import annotations

import multiprocessing
import os
import signal
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from multiprocessing.connection import Connection
from typing import Any, Literal, NamedTuple, Protocol

from syntagma.cpu_threads import N_THREADS, available_cores
from syntagma.errors import InputError
from syntagma.lifeline import pack_start, start_worker
from syntagma.serve.named_models import NamedModel

STOP_SECONDS = 3.0
"""Seconds that a worker has to end after it was asked to."""
_starting = threading.Lock()
"""Held while a process starts: it inherits variables that are set for it alone."""


@dataclass(frozen=True, slots=True)
class WorkerPlan:
    """What a worker loads.

    Args:
        models: the models and indexes.
        device: where to compute.
        precision: of everything but parsers, see :class:`syntagma.tasks.predictor.TextPredictor`.
        n_workers: number of workers, which share the cores.
    """

    models: tuple[NamedModel, ...]
    device: str = "cpu"
    precision: str = "float32"
    n_workers: int = 1


class Outcome(NamedTuple):
    """What a worker answers to one job.

    Args:
        kind: ``done``; ``input``, where the job itself is wrong; or ``error``.
        value: the result; otherwise a line that says what is wrong.
    """

    kind: Literal["done", "input", "error"]
    value: Any


class WorkerDiedError(Exception):
    """The process ended, at its own will or killed."""


class Worker(Protocol):
    """The near end of a worker; its methods may be called by several threads, and block."""

    def start(self) -> dict[str, Any]:
        """Load the models; return what :meth:`Operations.describe` says of them.

        Raises:
            InputError: a model cannot be loaded.
            WorkerDiedError: the process ended before it was ready.
        """

    def call(self, operation: str, model: str, payloads: Sequence[Any]) -> list[Outcome]:
        """Do a batch.

        Raises:
            WorkerDiedError: the process ended.
        """

    def wait(self) -> None:
        """Wait until the process has ended."""

    def kill(self) -> None:
        """End the process at once."""

    def stop(self) -> None:
        """End the process after its batch, or at once if that takes long."""


class WorkerProcess:
    """A :class:`Worker` in a process of its own.

    Args:
        plan: what it loads.
    """

    def __init__(self, plan: WorkerPlan) -> None:
        self.plan = plan
        # A fork would copy the event loop with its sockets.
        context = multiprocessing.get_context("spawn")
        self._pipe, far = context.Pipe()
        self._far = far
        self.process = context.Process(
            target=start_worker, args=(pack_start(work, plan), far), daemon=True
        )

    def start(self) -> dict[str, Any]:
        """As :meth:`Worker.start`."""
        with _own_threads(self.plan.n_workers):
            self.process.start()
        # Otherwise the pipe would stay open when the process ends.
        self._far.close()
        kind, value = self._receive()
        if kind == "failed":
            raise InputError(value)
        described: dict[str, Any] = value
        return described

    def call(self, operation: str, model: str, payloads: Sequence[Any]) -> list[Outcome]:
        """As :meth:`Worker.call`."""
        try:
            self._pipe.send((operation, model, payloads))
        except OSError as error:
            raise WorkerDiedError from error
        outcomes: list[Outcome] = self._receive()
        return outcomes

    def _receive(self) -> Any:
        try:
            return self._pipe.recv()
        except (EOFError, OSError) as error:
            raise WorkerDiedError from error

    def wait(self) -> None:
        """As :meth:`Worker.wait`."""
        self.process.join()

    def kill(self) -> None:
        """As :meth:`Worker.kill`."""
        if self.process.pid is not None:
            self.process.kill()

    def stop(self) -> None:
        """As :meth:`Worker.stop`."""
        if self.process.pid is None:
            return
        with suppress(OSError):
            self._pipe.send(None)
        self.process.join(STOP_SECONDS)
        self.process.kill()


@contextmanager
def _own_threads(n_workers: int) -> Iterator[None]:
    """Let a process that starts in the block compute with its share of the cores."""
    if n_workers == 1:
        yield
        return
    # Workers are started by several threads at once, which share the environment.
    with _starting:
        before = os.environ.get(N_THREADS)
        os.environ[N_THREADS] = str(max(1, available_cores() // n_workers))
        try:
            yield
        finally:
            if before is None:
                del os.environ[N_THREADS]
            else:
                os.environ[N_THREADS] = before


def work(plan: WorkerPlan, pipe: Connection) -> None:
    """Load models and answer batches until the pipe is closed; runs in the worker process.

    Args:
        plan: what to load.
        pipe: to the process that speaks HTTP.
    """
    # A service manager sends the signal to all processes; the server then waits for its requests,
    # which need their workers, and ends these itself.
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    from syntagma.serve.operations import Operations

    try:
        operations = Operations(plan)
    except InputError as error:
        pipe.send(("failed", str(error)))
        return
    pipe.send(("ready", operations.describe()))
    while True:
        try:
            batch = pipe.recv()
        except EOFError:
            return
        if batch is None:
            return
        pipe.send(operations.run(*batch))
