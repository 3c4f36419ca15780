"""The queue, batches, and workers that die."""

from __future__ import annotations

import asyncio
import os
import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

from syntagma.errors import InputError
from syntagma.serve.batching import Batcher, Job
from syntagma.serve.limits import Limits
from syntagma.serve.metrics import Metrics
from syntagma.serve.pool import Pool
from syntagma.serve.problems import Problem
from syntagma.serve.worker import Outcome, WorkerDiedError, WorkerPlan, WorkerProcess
from tests.conftest import SENTENCES
from tests.messages import naming, says

TEXT = " ".join(SENTENCES)


def job(number, *, operation="answer", model="m", size=10):
    return Job(operation, model, (number,), size)


def numbers(batch):
    return [ticket.job.payload[0] for ticket in batch]


def batcher(**limits):
    return Batcher(Limits(**({"batch_wait_ms": 20} | limits)), Metrics())


def run(coroutine):
    return asyncio.run(asyncio.wait_for(coroutine, 20))


def test_jobs_wait_for_others_to_join_them():
    async def main():
        queue = batcher(batch_wait_ms=500)
        queue.submit([job(1)])
        taking = asyncio.create_task(queue.next_batch())
        await asyncio.sleep(0.005)
        queue.submit([job(2), job(3)])
        assert numbers(await taking) == [1, 2, 3]
        assert len(queue) == 0

    run(main())


def test_a_full_batch_does_not_wait():
    async def main():
        queue = batcher(batch_items=3, batch_wait_ms=10_000)
        queue.submit([job(number) for number in range(7)])
        assert numbers(await queue.next_batch()) == [0, 1, 2]
        assert numbers(await queue.next_batch()) == [3, 4, 5]
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(queue.next_batch(), 0.05)

    run(main())


def test_batches_are_limited_in_characters():
    async def main():
        queue = batcher(batch_characters=100)
        queue.submit([job(0, size=60), job(1, size=60), job(2, size=500), job(3, size=40)])
        batches = [numbers(await queue.next_batch()) for _ in range(4)]
        assert batches == [[0], [1], [2], [3]]

    run(main())


def test_operations_and_models_are_apart_and_the_oldest_goes_first():
    async def main():
        queue = batcher(batch_wait_ms=0)
        queue.submit([job(0)])
        queue.submit([job(1, operation="parse"), job(2, model="other")])
        queue.submit([job(3)])
        batches = [numbers(await queue.next_batch()) for _ in range(3)]
        assert batches == [[0, 3], [1], [2]]

    run(main())


def test_the_queue_is_bounded_and_takes_a_request_whole_or_not():
    async def main():
        queue = batcher(queue=256)
        queue.submit([job(number) for number in range(250)])
        with pytest.raises(Problem, match=naming("250 7 --queue")) as caught:
            queue.submit([job(number) for number in range(7)])
        assert caught.value.status == 429
        assert len(queue) == 250
        queue.submit([job(number) for number in range(6)])

    run(main())


def test_discarded_jobs_leave_the_queue():
    async def main():
        queue = batcher()
        tickets = queue.submit([job(1), job(2), job(3)])
        queue.discard(tickets[:2])
        assert len(queue) == 1
        queue.discard(tickets[:2])
        assert len(queue) == 1
        assert numbers(await queue.next_batch()) == [3]
        queue.discard(tickets)
        assert len(queue) == 0

    run(main())


class FakeWorker:
    """A worker that doubles numbers; it dies of those in ``deadly``."""

    def __init__(self, deadly=(), made=None, starts=None):
        self.deadly = deadly
        self.ended = threading.Event()
        self.batches = []
        self.starts = starts
        if made is not None:
            made.append(self)

    def start(self):
        if self.starts:
            raise self.starts
        return {"m": {}}

    def call(self, operation, model, payloads):
        self.batches.append([number for (number,) in payloads])
        if any(number in self.deadly for (number,) in payloads):
            self.kill()
        while any(number == "slow" for (number,) in payloads) and not self.ended.wait(0.01):
            pass
        if self.ended.is_set():
            raise WorkerDiedError
        return [Outcome("done", number * 2) for (number,) in payloads]

    def wait(self):
        self.ended.wait()

    def kill(self):
        self.ended.set()

    stop = kill


async def until(condition):
    """Wait for what another thread does; `run` bounds the time."""
    while not condition():
        await asyncio.sleep(0.01)


async def with_pool(make, use, failures=None, **limits):
    metrics, failures = Metrics(), [] if failures is None else failures
    chosen = Limits(**({"batch_wait_ms": 5} | limits))
    queue = Batcher(chosen, metrics)
    pool = Pool(make, 1, queue, chosen, metrics, failures.append)
    try:
        await use(queue, pool)
    finally:
        await pool.stop()
    return metrics.text().decode(), failures


def test_a_worker_that_dies_is_replaced_and_only_the_job_at_fault_is_refused():
    made = []

    async def use(queue, pool):
        tickets = queue.submit([job(number) for number in range(5)])
        done = await asyncio.gather(*(each.result for each in tickets), return_exceptions=True)
        assert [done[number] for number in (0, 1, 2, 4)] == [0, 2, 4, 8]
        assert (done[3].status, says(done[3].detail, "2 workers died")) == (503, True)

    shown, failures = run(with_pool(lambda: FakeWorker(deadly=(3,), made=made), use))
    assert "syntagma_worker_deaths_total 2.0" in shown
    assert not failures
    # After the first death each job goes alone, so that the others are safe.
    assert made[0].batches == [[0, 1, 2, 3, 4]]
    assert [3] in made[1].batches


def test_an_idle_worker_that_dies_is_replaced_and_costs_no_job():
    made = []

    async def use(queue, pool):
        await pool.became_ready.wait()
        made[0].kill()
        await until(lambda: len(made) == 2 and pool.n_ready)
        (ticket,) = queue.submit([job(21)])
        assert await ticket.result == 42
        assert ticket.deaths == 0

    run(with_pool(lambda: FakeWorker(made=made), use))


def test_a_batch_that_nobody_waits_for_does_not_hold_its_worker():
    made = []

    async def use(queue, pool):
        tickets = queue.submit([job("slow")])
        await until(lambda: made and made[0].batches)
        queue.discard(tickets)
        (ticket,) = queue.submit([job(4)])
        assert await ticket.result == 8

    run(with_pool(lambda: FakeWorker(made=made), use, seconds=1))
    assert len(made) == 2


def test_models_that_cannot_be_loaded_end_the_server():
    failures = []

    async def use(queue, pool):
        await until(lambda: failures)

    wrong = InputError("runs/a: is damaged")
    run(with_pool(lambda: FakeWorker(starts=wrong), use, failures))
    assert failures == ["runs/a: is damaged"]


def test_workers_that_die_while_loading_end_the_server(monkeypatch):
    monkeypatch.setattr("syntagma.serve.pool.MOST_STARTS", 2)

    failures = []

    async def use(queue, pool):
        await until(lambda: failures)

    run(with_pool(lambda: FakeWorker(starts=WorkerDiedError()), use, failures))
    assert len(failures) == 1
    assert says(failures[0], "2 memory --workers")


@pytest.mark.parametrize("place", ["make", "start"])
def test_a_worker_for_which_there_is_no_room_is_started_again(place, caplog):
    full, made = OSError(12, "Cannot allocate memory"), []

    def make():
        if place == "make" and not made:
            made.append(None)
            raise full
        return FakeWorker(made=made, starts=None if made else full)

    async def use(queue, pool):
        (ticket,) = queue.submit([job(21)])
        assert await ticket.result == 42

    shown, failures = run(with_pool(make, use))
    assert "syntagma_worker_deaths_total 1.0" in shown
    assert not failures
    assert says(caplog.text, "worker failed OSError (Cannot allocate memory)")


def test_workers_that_never_find_room_end_the_server(monkeypatch):
    monkeypatch.setattr("syntagma.serve.pool.MOST_STARTS", 2)
    failures = []

    async def use(queue, pool):
        await until(lambda: failures)

    run(with_pool(lambda: FakeWorker(starts=OSError(12, "no room")), use, failures))
    assert says(failures[0], "2 failed OSError (no room) --workers")


def test_jobs_that_break_the_pipe_to_their_worker_are_refused_and_others_done(caplog):
    class Fragile(FakeWorker):
        def call(self, operation, model, payloads):
            if ("secret",) in payloads:
                raise TypeError("cannot pickle secret")
            return super().call(operation, model, payloads)

    async def use(queue, pool):
        bad, good = queue.submit([job("secret"), job(4)])
        with pytest.raises(Problem, match=naming("2 workers died")):
            await bad.result
        assert await good.result == 8

    run(with_pool(Fragile, use))
    assert says(caplog.text, "worker failed TypeError")
    assert "secret" not in caplog.text, "a log must not quote what was sent"


@pytest.mark.parametrize("before", [None, "5"])
def test_workers_that_start_at_once_all_get_their_share_of_the_cores(before, monkeypatch):
    name, shares = "OMP_NUM_THREADS", []
    monkeypatch.setattr("syntagma.serve.worker.available_cores", lambda: 12)
    monkeypatch.setenv(name, before or "")
    if before is None:
        monkeypatch.delenv(name)
    second_is_in, first_is_out = threading.Event(), threading.Event()

    def begin():
        shares.append(os.environ[name])
        # If the second can come before the first has left, it does, and leaves after it.
        if len(shares) == 1:
            second_is_in.wait(0.2)
        else:
            second_is_in.set()
            first_is_out.wait(5)

    def start(worker):
        worker._far.send(("ready", {}))
        described = worker.start()
        first_is_out.set()
        return described

    workers = [WorkerProcess(WorkerPlan((), n_workers=3)) for _ in range(2)]
    for worker in workers:
        monkeypatch.setattr(worker.process, "start", begin)
    with ThreadPoolExecutor(2) as threads:
        assert list(threads.map(start, workers)) == [{}, {}]
    assert shares == ["4", "4"]
    assert os.environ.get(name) == before


def test_stopping_refuses_what_is_not_done():
    waiting, made = [], []

    async def use(queue, pool):
        await pool.became_ready.wait()
        waiting.extend(queue.submit([job("slow")]))
        await until(lambda: made[0].batches)

    run(with_pool(lambda: FakeWorker(made=made), use))
    assert waiting[0].result.exception().status == 503


def test_answers_of_many_clients_at_once_are_those_of_direct_calls(serving, operations):
    """None is lost, none is mixed up, and sharing a batch changes no score by more than 1e-5."""
    client = serving(batch_wait_ms=30)
    reader = operations.loaded.readers["spans"]
    twice = SENTENCES * 2
    asked = [
        (" ".join(twice[first % 8 : first % 8 + 1 + first % 5]), f"Who was seen {first} times?")
        for first in range(24)
    ]

    def ask(pair):
        return client.post("/v1/answer", json={"text": pair[0], "question": pair[1]})

    with ThreadPoolExecutor(24) as threads:
        found = [response.json()["answers"][0] for response in threads.map(ask, asked)]
    shared = client.get("/metrics").text
    count = float(shared.partition('syntagma_batch_jobs_count{operation="answer"} ')[2].split()[0])
    assert count < 20  # They did share batches.
    for (text, question), answer in zip(asked, found, strict=True):
        direct = reader.answer(text, question).to_dict()
        assert answer["question"] == question
        assert answer["text"] == direct["text"]
        assert answer["confidence"] == pytest.approx(direct["confidence"], abs=1e-5)
        assert answer["null_odds"] == pytest.approx(direct["null_odds"], abs=1e-5)
        scores = [each["score"] for each in direct["candidates"][:5]]
        assert [each["score"] for each in answer["candidates"]] == pytest.approx(scores, abs=1e-5)
