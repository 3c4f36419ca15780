"""Turns requests into jobs, and waits for their results."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import suppress
from itertools import islice
from typing import Any

from syntagma.errors import InputError
from syntagma.serve.batching import Batcher, Job, Ticket
from syntagma.serve.limits import Limits
from syntagma.serve.metrics import Metrics
from syntagma.serve.named_models import Kind, NamedModel, choose
from syntagma.serve.payloads import ParsePartPayload
from syntagma.serve.pool import Pool
from syntagma.serve.problems import Problem
from syntagma.serve.worker import Worker

PART_SENTENCES = 64
"""Sentences of a long text that are parsed as one job, and sent as soon as they are done."""


class Service:
    """The models as the routes see them.

    Args:
        models: what is served.
        limits: of requests and batches.
        metrics: records requests, waits, batches and deaths.
        make_worker: returns a worker that is not started.
        n_workers: the number of workers.
        on_failure: called with a line if the models cannot be loaded.
    """

    def __init__(
        self,
        models: Sequence[NamedModel],
        limits: Limits,
        metrics: Metrics,
        make_worker: Callable[[], Worker],
        *,
        n_workers: int = 1,
        on_failure: Callable[[str], None],
    ) -> None:
        self.models = tuple(models)
        self.limits = limits
        self.metrics = metrics
        self._make_worker = make_worker
        self._n_workers = n_workers
        self._on_failure = on_failure
        self.is_draining = False
        self._running: tuple[Batcher, Pool] | None = None

    async def start(self) -> None:
        """Start the workers, and return before they have loaded the models."""
        batcher = Batcher(self.limits, self.metrics, n_workers=self._n_workers)
        pool = Pool(
            self._make_worker, self._n_workers, batcher, self.limits, self.metrics, self._on_failure
        )
        self._running = batcher, pool

    async def stop(self) -> None:
        """End the workers."""
        await self.pool.stop()

    @property
    def batcher(self) -> Batcher:
        """The queue."""
        assert self._running is not None, "the service was not started"
        return self._running[0]

    @property
    def pool(self) -> Pool:
        """The workers."""
        assert self._running is not None, "the service was not started"
        return self._running[1]

    @property
    def is_ready(self) -> bool:
        """Whether a worker has loaded the models, and the server is not being stopped."""
        return bool(self.pool.n_ready) and not self.is_draining

    def find(self, kind: Kind, name: str | None) -> NamedModel:
        """Return the model that a request asks for.

        Raises:
            Problem: there is none.
        """
        try:
            return choose(self.models, kind, name)
        except InputError as error:
            raise Problem(422, str(error), reason="model") from error

    async def run(self, jobs: Sequence[Job], names: Sequence[str] = ()) -> list[Any]:
        """Do the jobs of a request, and return their results in order.

        Args:
            jobs: the jobs.
            names: what the request calls each, to say which of them is wrong; by default nothing.

        Raises:
            Problem: the queue is full, the time is up, or a job failed.
        """
        tickets = self.batcher.submit(jobs)
        try:
            async with asyncio.timeout(self.limits.seconds):
                return [
                    await _result(ticket, names[number] if names else "")
                    for number, ticket in enumerate(tickets)
                ]
        except TimeoutError:
            raise self._too_late() from None
        finally:
            # Also where the client has left, or one of several jobs has failed.
            self.batcher.discard(tickets)
            for ticket in tickets:
                if ticket.result.done() and not ticket.result.cancelled():
                    ticket.result.exception()  # Asked for, so that asyncio does not log it.

    async def stream(self, jobs: Sequence[Job]) -> AsyncIterator[Any | Problem]:
        """Do jobs, and yield the result of each, or its problem, in order.

        Few of them are in the queue at a time, so that others get their turn.
        """
        source = iter(jobs)
        running = [self._start(job) for job in islice(source, self.limits.batch_items)]
        try:
            while running:
                task = running.pop(0)
                try:
                    yield await task
                except Problem as problem:
                    yield problem
                running += [self._start(job) for job in islice(source, 1)]
        finally:
            for task in running:
                task.cancel()
            await asyncio.gather(*running, return_exceptions=True)

    def _start(self, job: Job) -> asyncio.Task[Any]:
        async def run() -> Any:
            return (await self.run([job]))[0]

        return asyncio.create_task(run())

    async def stream_parts(
        self, model: str, text: str, phrases: bool, lang: str
    ) -> AsyncIterator[bytes | Problem]:
        """Parse a long text, and yield its sentences as they are done."""
        first, n_sentences = 0, 1
        following: asyncio.Task[Any] | None = None
        try:
            while first < n_sentences:
                task = following or self._start(_part(model, text, phrases, lang, first))
                # The next part waits in the queue while the client takes in this one.
                first += PART_SENTENCES
                following = None
                if first < n_sentences:
                    following = self._start(_part(model, text, phrases, lang, first))
                try:
                    n_sentences, lines = await task
                except Problem as problem:
                    yield problem
                    return
                for line in lines:
                    yield line
        finally:
            if following is not None:
                following.cancel()
                with suppress(asyncio.CancelledError, Problem):
                    await following

    def _too_late(self) -> Problem:
        return Problem(
            504,
            f"not done within {self.limits.seconds:g} s (--seconds); send less text, or ask for "
            f"application/x-ndjson, which is sent as it is done",
            reason="time",
        )


async def _result(ticket: Ticket, name: str) -> Any:
    """Wait for the result of a job; a problem with the job itself says which one it was."""
    try:
        return await ticket.result
    except Problem as problem:
        if not name or problem.status != 422:
            raise
        raise Problem(422, f"{name}: {problem.detail}", reason=problem.reason) from problem


def _part(model: str, text: str, phrases: bool, lang: str, first: int) -> Job:
    # The worker keeps the sentences of recent texts, so that only the first part is segmented.
    size = min(len(text), 200 * PART_SENTENCES)
    payload = ParsePartPayload(text, phrases, lang, first, PART_SENTENCES)
    return Job("parse_part", model, payload, size)
