"""How much of the models' speed a server passes on, and how long its clients wait.

    python -m benchmarks.serve
    python -m benchmarks.serve --soak 15    # minutes of mixed traffic, with a worker killed halfway

Direct calls (`Reader.stream`, `parse_texts`) and 32 clients of a server take turns on the same
passages of `examples/questions`; each turn has texts that neither has seen.  Then single calls, and
clients that come at random at half the rate that the server can keep up with.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import random
import signal
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from statistics import median, quantiles
from typing import Any, NamedTuple

from benchmarks.quick import size
from benchmarks.serve_traffic import Asked, Traffic
from benchmarks.served import Client, Server
from benchmarks.tables import Measured, show
from syntagma.parse.sources.load import load_parser
from syntagma.tasks.spans.reader import Reader
from syntagma.tasks.spans.squad import read_squad

QUESTIONS = Path(__file__).parents[1] / "examples" / "questions" / "everyday-dev.json"
CLIENTS = 32
RATE_BAR, WAIT_BAR = 0.85, 2.0
"""Lowest throughput relative to direct calls; longest 95th percentile at half load, relative to
that of single calls."""
LONGEST, READ_SECONDS = 500_000, 2.0
"""Of the server that is soaked."""


class Work(NamedTuple):
    """A kind of work that can be done both ways.

    Args:
        name: of the kind.
        asked: the request for an item.
        direct: does items without a server.
    """

    name: str
    asked: Callable[[Any], Asked]
    direct: Callable[[Sequence[Any]], object]


def pairs_of(n_items: int, turn: int) -> list[tuple[str, str]]:
    """Return passages with a question each, which no other turn has."""
    examples = read_squad(QUESTIONS)[0]
    found = []
    for number in range(n_items):
        example = examples[number * 7 % len(examples)]
        found.append((f"Note {turn}, {number}. {example.passage}", example.question))
    return found


async def all_at_once(port: int, asked: Sequence[Asked]) -> float:
    """Send requests from 32 clients; return the seconds until all are answered."""
    waiting = iter(asked)

    async def work() -> None:
        client = Client(port)
        for each in waiting:
            response = await client.post(each.path, each.body)
            if response.status != 200:
                raise RuntimeError(f"{response.status} {response.body!r:.200}")
        await client.close()

    start = time.perf_counter()
    await asyncio.gather(*(work() for _ in range(CLIENTS)))
    return time.perf_counter() - start


async def at_random(port: int, asked: Sequence[Asked], rate: float) -> list[float]:
    """Send requests at random times, some a second on average; return the seconds of each."""
    gaps = random.Random(0)

    async def send(each: Asked) -> float:
        client = Client(port)
        start = time.perf_counter()
        response = await client.post(each.path, each.body)
        if response.status != 200:
            raise RuntimeError(f"{response.status} {response.body!r:.200}")
        await client.close()
        return time.perf_counter() - start

    tasks = []
    for each in asked:
        tasks.append(asyncio.create_task(send(each)))
        await asyncio.sleep(gaps.expovariate(rate))
    return list(await asyncio.gather(*tasks))


def seconds(call: Callable[[], object]) -> float:
    """Return how long a call takes."""
    start = time.perf_counter()
    call()
    return time.perf_counter() - start


def p95(values: Sequence[float]) -> float:
    """Return the 95th percentile."""
    return quantiles(values, n=20)[-1]


def measure(work: Work, port: int, *, n_items: int, repeat: int, first: int) -> dict[str, object]:
    """Measure one kind of work; return its row."""

    def items(turn: int, number: int = n_items) -> list[tuple[str, str]]:
        return pairs_of(number, first + turn)

    work.direct(items(0, CLIENTS))
    asyncio.run(all_at_once(port, list(map(work.asked, items(0, CLIENTS)))))
    direct, served = [], []
    for turn in range(1, repeat + 1):
        given = items(turn)
        direct.append(seconds(lambda given=given: work.direct(given)))  # type: ignore[misc]
        served.append(asyncio.run(all_at_once(port, list(map(work.asked, given)))))
    # Neighbours were measured in the same state of the machine.
    ratio = median(one / other for one, other in zip(direct, served, strict=True))
    single = [
        seconds(lambda item=item: work.direct([item]))  # type: ignore[misc]
        for item in items(repeat + 1)
    ]
    rate = n_items / median(served)
    asked = list(map(work.asked, items(repeat + 2)))
    waited = asyncio.run(at_random(port, asked, rate / 2))
    return {
        "": work.name,
        "direct, a second": n_items / median(direct),
        "served": rate,
        "÷ direct": Measured(ratio, at_least=RATE_BAR),
        "single call p95, ms": 1000 * p95(single),
        "half load p95, ms": 1000 * p95(waited),
        "÷ single p95": Measured(p95(waited) / p95(single), at_most=WAIT_BAR),
        "÷ single median": p95(waited) / median(single),
    }


def compare(n_items: int, repeat: int, options: Sequence[str], log: Path) -> None:
    """Print the table of all kinds of work."""
    reader = Reader.from_pretrained("default", precision="float32")
    parser = load_parser("default-parser")
    kinds = [
        Work(
            "answer",
            lambda pair: Asked("/v1/answer", {"text": pair[0], "question": pair[1]}),
            lambda pairs: list(reader.stream(pairs)),
        ),
        Work(
            "parse",
            lambda pair: Asked("/v1/parse", {"text": pair[0]}),
            lambda pairs: list(parser.parse_texts(text for text, _ in pairs)),
        ),
    ]
    with Server(*options, "--seconds=600", log=log) as server:
        port = server.wait_until()
        rows = [
            measure(work, port, n_items=n_items, repeat=repeat, first=1000 * number)
            for number, work in enumerate(kinds)
        ]
    show("serving", rows)


async def soak(minutes: float, server: Server, port: int) -> None:
    """Send mixed traffic, kill a worker halfway, and print what came of it."""
    pairs = pairs_of(40, 0)
    asked = [Asked("/v1/answer", {"text": text, "question": question}) for text, question in pairs]
    asked += [Asked("/v1/parse", {"text": text}) for text, _ in pairs[:10]]
    traffic = Traffic(port, asked, longest=LONGEST, read_seconds=READ_SECONDS)
    await traffic.ask_alone()
    await traffic.run(300, streaming=True)
    before = server.megabytes()
    start, is_killed = time.monotonic(), False
    while (passed := time.monotonic() - start) < 60 * minutes:
        if passed > 30 * minutes and not is_killed:
            is_killed = True
            os.kill(server.workers()[0], signal.SIGKILL)
        await traffic.run(200, streaming=True)
        print(f"{passed:6.0f} s  {sum(traffic.tally.statuses.values()):6} right requests  "
              f"{server.megabytes():6.0f} MB", flush=True)  # fmt: skip
    print(f"statuses {dict(traffic.tally.statuses)}")
    print(f"wrong requests {dict(sorted(traffic.tally.wrong.items()))}")
    print(f"memory {before:.0f} MB at first, {server.megabytes():.0f} MB at last")
    print(f"problems {len(traffic.tally.problems)}", *traffic.tally.problems[:10], sep="\n")


def main(arguments: Sequence[str] | None = ()) -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--items", type=int, default=size(96, 32), help="requests of a turn")
    parser.add_argument("--repeat", type=int, default=size(5, 1))
    parser.add_argument("--soak", type=float, help="minutes of mixed traffic instead")
    parser.add_argument("--option", action="append", default=[], help="of the server; repeatable")
    given = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory() as folder:
        log = Path(folder) / "log"
        if given.soak is None:
            compare(given.items, given.repeat, given.option, log)
            return
        limits = [f"--body-bytes={LONGEST}", f"--read-seconds={READ_SECONDS}", "--seconds=300"]
        with Server(*limits, *given.option, log=log) as server:
            asyncio.run(soak(given.soak, server, server.wait_until()))


if __name__ == "__main__":
    main(None)
