"""Keeps workers at work: gives them batches, and replaces those that die."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypeVar

from syntagma.errors import InputError
from syntagma.serve.batching import Batcher, Ticket
from syntagma.serve.limits import Limits
from syntagma.serve.metrics import Metrics
from syntagma.serve.problems import Problem, in_log
from syntagma.serve.worker import Outcome, Worker, WorkerDiedError

log = logging.getLogger(__name__)

T = TypeVar("T")
MOST_DEATHS = 2
"""Workers that may die with a job before it is refused: the first may have died of another."""
MOST_STARTS = 3
"""Times that a first worker may die while it loads, before the server gives up."""
LONGEST_PAUSE = 30.0
LOOK_SECONDS = 1.0
"""Time between two looks at a worker that is busy."""


class Pool:
    """Workers, and the tasks that feed them.

    Args:
        make_worker: returns a worker that is not started.
        n_workers: the number of workers.
        batcher: the queue.
        limits: says when a batch takes too long.
        metrics: records batches and deaths.
        on_failure: called with a line if the models cannot be loaded at all.

    Attributes:
        n_ready: workers that have loaded the models.
        described: what the workers say of their models; empty before the first is ready.
    """

    def __init__(
        self,
        make_worker: Callable[[], Worker],
        n_workers: int,
        batcher: Batcher,
        limits: Limits,
        metrics: Metrics,
        on_failure: Callable[[str], None],
    ) -> None:
        self._make_worker = make_worker
        self.batcher = batcher
        self.limits = limits
        self.metrics = metrics
        self._on_failure = on_failure
        self.n_ready = 0
        self.described: dict[str, Any] = {}
        self.became_ready = asyncio.Event()
        # For each worker one thread that waits for its answers, one that waits for its end, and one
        # that ends it.
        self._threads = ThreadPoolExecutor(3 * n_workers, "syntagma-worker")
        self._tasks = [asyncio.create_task(self._keep_one()) for _ in range(n_workers)]

    async def stop(self) -> None:
        """End all workers; jobs that they have, or that wait, are refused."""
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        self._threads.shutdown(wait=False)

    async def _in_thread(self, call: Callable[..., T], *arguments: Any) -> T:
        return await asyncio.get_running_loop().run_in_executor(self._threads, call, *arguments)

    async def _keep_one(self) -> None:
        """Start a worker, feed it, and start another when it has died."""
        n_failed = 0
        while True:
            worker: Worker | None = None
            why = "died while they loaded the models, perhaps because memory ran out"
            try:
                worker = self._make_worker()
                described = await self._in_thread(worker.start)
                self.described = described
                n_failed = 0
                await self._feed(worker)
            except WorkerDiedError:
                self.metrics.deaths.inc()
                log.warning("a worker died; another is started")
            except InputError as error:
                if not self.described:
                    self._on_failure(str(error))
                    return
                log.warning("a worker cannot load its models: %s", error)
            except asyncio.CancelledError:
                if worker is not None:
                    await self._in_thread(worker.stop)
                raise
            except Exception as error:
                # Such as no room for another process: the server must not lose a worker for good.
                self.metrics.deaths.inc()
                why = f"failed, the last with {in_log(error)}"
                log.error("a worker failed; another is started: %s", in_log(error))
            finally:
                if worker is not None:
                    worker.kill()
            n_failed += 1
            if not self.described and n_failed >= MOST_STARTS:
                self._on_failure(f"{n_failed} workers {why}; give fewer --workers or models")
                return
            if n_failed > 1:
                await asyncio.sleep(min(LONGEST_PAUSE, 2.0**n_failed))

    async def _feed(self, worker: Worker) -> None:
        """Give a worker one batch after another.

        Raises:
            WorkerDiedError: always, in the end.
        """
        self._count_ready(1)
        end = asyncio.ensure_future(self._in_thread(worker.wait))
        following: asyncio.Task[list[Ticket]] | None = None
        try:
            while True:
                following = asyncio.create_task(self.batcher.next_batch())
                await asyncio.wait({following, end}, return_when=asyncio.FIRST_COMPLETED)
                if end.done():
                    raise WorkerDiedError
                await self._do(worker, following.result())
        finally:
            self._count_ready(-1)
            if following is not None and not following.cancel() and not following.cancelled():
                # It was taken from the queue at the moment of death. `_do` empties what it took.
                self.batcher.put_back(following.result())

    async def _do(self, worker: Worker, batch: list[Ticket]) -> None:
        """Let a worker do a batch, which is empty afterwards."""
        job = batch[0].job
        start = time.monotonic()
        payloads = [ticket.job.payload for ticket in batch]
        call = asyncio.ensure_future(
            self._in_thread(worker.call, job.operation, job.model, payloads)
        )
        try:
            while not call.done():
                await asyncio.wait({call}, timeout=LOOK_SECONDS)
                late = time.monotonic() - start > self.limits.seconds
                if late and not call.done() and all(ticket.result.done() for ticket in batch):
                    log.warning("a worker is stopped: nobody waits for its batch any longer")
                    worker.kill()
            _deliver(batch, call.result())
        except asyncio.CancelledError:
            _refuse(batch, Problem(503, "the server is being stopped", reason="stopped"))
            raise
        except Exception:
            self._after_death(batch)
            raise
        finally:
            n_jobs = len(batch)
            batch.clear()
        seconds = time.monotonic() - start
        self.batcher.finished(n_jobs, seconds)
        self.metrics.batch_seconds.labels(job.operation).observe(seconds)

    def _after_death(self, batch: Sequence[Ticket]) -> None:
        """Put the jobs of a worker that died back, unless one of them may be the cause."""
        waiting = [ticket for ticket in batch if not ticket.result.done()]
        for ticket in waiting:
            ticket.deaths += 1
        _refuse(
            [ticket for ticket in waiting if ticket.deaths >= MOST_DEATHS],
            Problem(
                503,
                f"{MOST_DEATHS} workers died with this request, perhaps because memory ran out; "
                f"send a shorter text",
                reason="worker_died",
            ),
        )
        self.batcher.put_back([ticket for ticket in waiting if ticket.deaths < MOST_DEATHS])

    def _count_ready(self, change: int) -> None:
        self.n_ready += change
        self.metrics.workers.set(self.n_ready)
        if self.n_ready:
            self.became_ready.set()


def _deliver(batch: Sequence[Ticket], outcomes: Sequence[Outcome]) -> None:
    for ticket, (kind, value) in zip(batch, outcomes, strict=True):
        if ticket.result.done():  # Nobody waits for it any longer.
            continue
        if kind == "done":
            ticket.result.set_result(value)
        else:
            status = 422 if kind == "input" else 500
            ticket.result.set_exception(Problem(status, value, reason=kind))


def _refuse(batch: Sequence[Ticket], problem: Problem) -> None:
    for ticket in batch:
        if not ticket.result.done():
            ticket.result.set_exception(problem)
