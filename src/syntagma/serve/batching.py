"""The queue of jobs, and how they become batches.

Two designs were weighed.  In the first, as in Ray Serve's ``@batch``, BentoML and
text-embeddings-inference, the process that speaks HTTP keeps the queue and hands a whole batch to a
worker that is free.  In the second, as in servers whose workers read from one shared queue, each
worker takes what it can.  The second needs no dispatcher, but then only the worker knows which jobs
it has taken: if it is killed, they are lost, and if it held the lock of the queue, so is the
server.  Here the first is built: a job is in the queue or in a batch of a known worker, so that the
death of a worker is seen as the end of its pipe, and its jobs are given to another or refused.

A batch leaves when a worker is free and either the batch is full, or both its oldest job and the
worker have waited ``batch_wait_ms``.  The worker waits too because clients that have just been
answered are about to ask again: without them batches are half as large, and take more padding and
calls for each text.  Batches are limited in jobs and in characters: a batch of
long texts would make all others wait.  Jobs of one kind for one model form a lane; the lane whose
first job is the oldest is served first.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

from syntagma.serve.limits import Limits
from syntagma.serve.metrics import Metrics
from syntagma.serve.problems import too_busy

LONGEST_RETRY = 60
"""Longest value of Retry-After, in seconds."""


class Job(NamedTuple):
    """What a worker does at a time for a request.

    Args:
        operation: name of a method of :class:`syntagma.serve.operations.Operations`.
        model: name of the model.
        payload: what the method takes (:mod:`syntagma.serve.payloads`).
        size: characters that are read.
    """

    operation: str
    model: str
    payload: tuple[Any, ...]
    size: int


class Ticket:
    """A job on its way.

    Args:
        job: what to do.

    Attributes:
        result: gets what the worker answers.
        since: time at which it joined the queue, of ``time.monotonic``.
        deaths: number of workers that died with it.
    """

    __slots__ = ("deaths", "job", "result", "since")

    def __init__(self, job: Job) -> None:
        self.job = job
        self.result: asyncio.Future[Any] = asyncio.get_running_loop().create_future()
        self.since = time.monotonic()
        self.deaths = 0


class _Lane:
    """Jobs that may share a batch, in the order of their arrival."""

    def __init__(self) -> None:
        self.tickets: dict[Ticket, None] = {}
        self.size = 0

    def add(self, tickets: Iterable[Ticket]) -> None:
        for ticket in tickets:
            self.tickets[ticket] = None
            self.size += ticket.job.size

    def put_first(self, ticket: Ticket) -> None:
        self.tickets = {ticket: None, **self.tickets}
        self.size += ticket.job.size

    def remove(self, ticket: Ticket) -> bool:
        if ticket not in self.tickets:
            return False
        del self.tickets[ticket]
        self.size -= ticket.job.size
        return True

    @property
    def first(self) -> Ticket:
        return next(iter(self.tickets))


class Batcher:
    """The bounded queue; all methods are for the thread of the event loop.

    Args:
        limits: of the queue and of batches.
        metrics: records waits and batches.
        n_workers: number of workers, to estimate how long the queue takes.
    """

    def __init__(self, limits: Limits, metrics: Metrics, *, n_workers: int = 1) -> None:
        self.limits = limits
        self.metrics = metrics
        self.n_workers = n_workers
        self._lanes: dict[tuple[str, str], _Lane] = {}
        self._n_waiting = 0
        self._changed = asyncio.Event()
        self._seconds_per_job = 0.05

    def __len__(self) -> int:
        return self._n_waiting

    def submit(self, jobs: Sequence[Job]) -> list[Ticket]:
        """Put the jobs of a request into the queue: all of them, or none.

        Raises:
            Problem: there is no room for them.
        """
        if len(self) + len(jobs) > self.limits.queue:
            detail = f"{len(self)} jobs are waiting, and {len(jobs)} more do not fit (--queue)"
            raise too_busy(detail, self.retry_after(), "queue")
        tickets = list(map(Ticket, jobs))
        for ticket in tickets:
            self._lane(ticket).add([ticket])
        self._count(len(tickets))
        self._wake()
        return tickets

    def put_back(self, tickets: Sequence[Ticket]) -> None:
        """Put jobs of a worker that died first in the queue again."""
        for ticket in reversed(tickets):
            self._lane(ticket).put_first(ticket)
        self._count(len(tickets))
        self._wake()

    def discard(self, tickets: Iterable[Ticket]) -> None:
        """Remove jobs whose results nobody waits for; those that a worker has are not stopped."""
        for ticket in tickets:
            ticket.result.cancel()
            if self._lane(ticket).remove(ticket):
                self._count(-1)

    def retry_after(self) -> int:
        """Estimate the seconds in which the queue of this moment will have been worked off."""
        seconds = len(self) * self._seconds_per_job / self.n_workers
        return max(1, min(LONGEST_RETRY, round(seconds)))

    def finished(self, n_jobs: int, seconds: float) -> None:
        """Learn from a finished batch how long jobs take."""
        self._seconds_per_job += 0.1 * (seconds / n_jobs - self._seconds_per_job)

    async def next_batch(self) -> list[Ticket]:
        """Wait for jobs, and for others to join them; return a batch of one kind and model."""
        free_since = time.monotonic()
        while True:
            lane, seconds = self._oldest(free_since)
            if lane is not None and seconds <= 0:
                return self._take(lane)
            changed = self._changed
            try:
                async with asyncio.timeout(None if lane is None else seconds):
                    await changed.wait()
            except TimeoutError:
                pass

    def _oldest(self, free_since: float) -> tuple[_Lane | None, float]:
        """Return the lane to serve next, and the seconds until its batch may leave.

        Args:
            free_since: time at which the worker became free.
        """
        now, wait = time.monotonic(), self.limits.batch_wait_ms / 1000
        waiting = sorted(
            (lane for lane in self._lanes.values() if lane.tickets),
            key=lambda lane: lane.first.since,
        )
        if not waiting:
            return None, 0.0
        # A batch that is full leaves at once, but not before an older job that has waited enough.
        if any(map(self._is_full, waiting)):
            ready = (
                lane for lane in waiting if self._is_full(lane) or lane.first.since + wait <= now
            )
            return next(ready), 0.0
        return waiting[0], max(waiting[0].first.since, free_since) + wait - now

    def _is_full(self, lane: _Lane) -> bool:
        """Whether a batch of a lane need not wait for further jobs."""
        return (
            len(lane.tickets) >= self.limits.batch_items
            or lane.size >= self.limits.batch_characters
            or lane.first.deaths > 0
        )

    def _take(self, lane: _Lane) -> list[Ticket]:
        batch: list[Ticket] = []
        size = 0
        for ticket in lane.tickets:
            # A job that a worker died of may kill the next one: it takes no other with it.
            alone = ticket.deaths or (batch and batch[0].deaths)
            too_long = size + ticket.job.size > self.limits.batch_characters
            if batch and (alone or too_long or len(batch) >= self.limits.batch_items):
                break
            batch.append(ticket)
            size += ticket.job.size
        now = time.monotonic()
        for ticket in batch:
            lane.remove(ticket)
            self.metrics.waited.observe(now - ticket.since)
        self._count(-len(batch))
        self.metrics.batch_jobs.labels(batch[0].job.operation).observe(len(batch))
        return batch

    def _lane(self, ticket: Ticket) -> _Lane:
        return self._lanes.setdefault((ticket.job.operation, ticket.job.model), _Lane())

    def _count(self, change: int) -> None:
        self._n_waiting += change
        self.metrics.queue.set(self._n_waiting)

    def _wake(self) -> None:
        self._changed.set()
        self._changed = asyncio.Event()
