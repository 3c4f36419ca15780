"""Mixed traffic: nine in ten requests are right, and each right one must get its own answer."""

from __future__ import annotations

import asyncio
import json
import random
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from benchmarks.served import Client, head, receive

NEAR = 1e-5
"""Greatest difference of a number from that of the same request alone."""
COARSER = {"score": 1e-4, "null_odds": 1e-4, "probability": 1.1e-4}
"""The same for scores before the softmax, in float32, and for probabilities of four decimals."""
WRONG_SHARE = 0.1
BUSY = (429, 503)
"""Refusals after which a client tries again."""


class Asked(NamedTuple):
    """A right request.

    Args:
        path: of the route.
        body: of the request.
    """

    path: str
    body: dict[str, Any]


@dataclass
class Tally:
    """What came of the traffic.

    Args:
        statuses: number of responses to right requests by status.
        wrong: number of wrong requests by kind and how they ended.
        problems: what should not have happened.
    """

    statuses: Counter[int] = field(default_factory=Counter)
    wrong: Counter[str] = field(default_factory=Counter)
    problems: list[str] = field(default_factory=list)


WRONG = ("bad JSON", "wrong types", "too long", "binary", "slow", "left early", "left late")
EXPECTED = {
    "bad JSON": {400},
    "wrong types": {422},
    "too long": {413},
    "binary": {400, 415},
    "slow": {408},
    "left early": {0},
    "left late": {0},
}
"""Statuses of each kind of wrong request."""


class Traffic:
    """Clients that ask at the same time.

    Args:
        port: of the server.
        asked: right requests, of which each client takes any.
        longest: of a body; wrong requests are twice as long.
        read_seconds: after which the server gives up on a slow sender.
        seed: of the random choices.
    """

    def __init__(
        self,
        port: int,
        asked: Sequence[Asked],
        *,
        longest: int,
        read_seconds: float,
        seed: int = 0,
    ) -> None:
        self.port = port
        self.asked = asked
        self.longest = longest
        self.read_seconds = read_seconds
        self.random = random.Random(seed)
        self.alone: list[Any] = []
        self.tally = Tally()

    async def ask_alone(self) -> None:
        """Note what each request gets when it is the only one."""
        client = Client(self.port)
        for each in self.asked:
            response = await client.post(each.path, each.body)
            if response.status != 200:
                raise RuntimeError(f"{each.path}: {response.status} {response.body!r:.200}")
            self.alone.append(response.json())
        await client.close()

    async def run(self, n_requests: int, *, n_clients: int = 32, streaming: bool = False) -> None:
        """Send requests from several clients, which all wait for their responses.

        Args:
            n_requests: number of requests.
            n_clients: number of clients.
            streaming: whether some responses are asked for line by line.
        """
        numbers = iter(range(n_requests))

        async def work() -> None:
            client = Client(self.port)
            for _ in numbers:
                if self.random.random() < WRONG_SHARE:
                    await self._do_wrong(self.random.choice(WRONG))
                else:
                    number = self.random.randrange(len(self.asked))
                    await self._ask(client, number, streaming and self.random.random() < 0.2)
            await client.close()

        await asyncio.gather(*(work() for _ in range(n_clients)))

    async def _ask(self, client: Client, number: int, streaming: bool) -> None:
        path, body = self.asked[number]
        expected = self.alone[number]
        headers = {"accept": "application/x-ndjson"} if streaming else {}
        while True:
            response = await client.post(path, body, **headers)
            self.tally.statuses[response.status] += 1
            if response.status not in BUSY:
                break
            await asyncio.sleep(min(1.0, float(response.headers.get("retry-after", 1))))
        if response.status != 200:
            self.tally.problems.append(f"{path}: {response.status} {response.body!r:.200}")
            return
        if streaming:
            found: Any = [json.loads(line) for line in response.body.splitlines()]
            expected = _lines_of(expected)
        else:
            found = response.json()
        if not is_near(found, expected):
            self.tally.problems.append(f"{path}: another answer than alone: {found!r:.300}")

    async def _do_wrong(self, kind: str) -> None:
        path = self.random.choice(self.asked).path
        try:
            status = await asyncio.wait_for(self._wrong(kind, path), 10 * self.read_seconds + 30)
        except (OSError, EOFError):
            status = 0
        self.tally.wrong[f"{kind}: {status or 'closed'}"] += 1
        # A server may close the connection of a client that has sent too much before it reads why.
        allowed = EXPECTED[kind] | ({0} if kind in ("too long", "slow") else set()) | {429}
        if status not in allowed:
            self.tally.problems.append(f"{kind} on {path}: {status}")

    async def _wrong(self, kind: str, path: str) -> int:
        good = json.dumps(self.random.choice(self.asked).body).encode()
        body = {
            "bad JSON": good[: len(good) // 2],
            "wrong types": b'{"text": 5, "questions": "all", "texts": {}}',
            "too long": b'{"text": "' + b"a " * self.longest + b'"}',
            "binary": self.random.randbytes(500),
        }.get(kind, good)
        reader, writer = await asyncio.open_connection("127.0.0.1", self.port)
        try:
            writer.write(head(path, len(body)))
            if kind == "left late":
                writer.write(body)
                await writer.drain()
                return 0
            if kind == "left early":
                writer.write(body[: len(body) // 2])
                await writer.drain()
                return 0
            if kind == "slow":
                writer.write(body[:1])
                await writer.drain()
                return (await receive(reader)).status
            writer.write(body)
            await writer.drain()
            return (await receive(reader)).status
        finally:
            writer.close()


def _lines_of(whole: dict[str, Any]) -> list[Any]:
    """Return the lines of a stream that correspond to a response in one object."""
    if "texts" in whole:
        return [
            {"text": number, **sentence}
            for number, text in enumerate(whole["texts"])
            for sentence in text["sentences"]
        ]
    items = next(value for value in whole.values() if isinstance(value, list))
    return [{"item": number, **item} for number, item in enumerate(items)]


def is_near(found: Any, expected: Any, near: float = NEAR) -> bool:
    """Whether two values of JSON are equal, numbers with a fraction nearly."""
    if isinstance(found, float) and isinstance(expected, int | float):
        return abs(found - expected) <= near
    if isinstance(found, dict) and isinstance(expected, dict):
        return found.keys() == expected.keys() and all(
            is_near(value, expected[key], COARSER.get(key, near)) for key, value in found.items()
        )
    if isinstance(found, list) and isinstance(expected, list):
        pairs = zip(found, expected, strict=False)
        return len(found) == len(expected) and all(is_near(*pair, near) for pair in pairs)
    return bool(found == expected)
