"""`examples/ray_serve.py` on a local cluster, of which a replica is killed under load."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

from benchmarks.served import Client, Response
from syntagma import Reader
from tests.conftest import SENTENCES
from tests.messages import says
from tests.ports import free_port

pytest.importorskip("ray.serve", reason="needs ray[serve]", exc_type=ImportError)
pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(sys.platform != "linux", reason="finds replicas in /proc"),
]
ROOT = Path(__file__).parents[2]
FORMATS = ROOT / "tests" / "data" / "formats" / "0.1"
REPLICA = b"ray::ServeReplica:default:Models"
CLIENTS, START_SECONDS, LOAD_SECONDS = 8, 300, 8


class Cluster(NamedTuple):
    """A running example.

    Args:
        process: of the command.
        port: on which it answers.
    """

    process: subprocess.Popen[bytes]
    port: int

    def replicas(self) -> set[int]:
        """The process ids of the replicas, which are in the session of the command."""
        found = set()
        for folder in Path("/proc").glob("[0-9]*"):
            try:
                number, words = int(folder.name), (folder / "cmdline").read_bytes()
                if words.startswith(REPLICA) and os.getsid(number) == self.process.pid:
                    found.add(number)
            except OSError:
                continue
        return found


@pytest.fixture(scope="module")
def cluster(tmp_path_factory) -> Iterator[Cluster]:
    port, log = free_port(), tmp_path_factory.mktemp("ray") / "log"
    words = ["--replicas=2", f"--port={port}", f"--reader={FORMATS / 'spans'}"]
    with log.open("w") as file:
        process = subprocess.Popen(
            [sys.executable, "examples/ray_serve.py", *words, f"--parser={FORMATS / 'parsing'}"],
            cwd=ROOT,
            stdout=file,
            stderr=subprocess.STDOUT,
            env=os.environ | {"RAY_ADDRESS": "local", "RAY_USAGE_STATS_ENABLED": "0"},
            # There may be other clusters on the machine.
            start_new_session=True,
        )
    started = Cluster(process, port)
    try:
        end = time.monotonic() + START_SECONDS
        while time.monotonic() < end and not is_up(port):
            assert process.poll() is None, log.read_text()
            time.sleep(1)
        assert is_up(port), log.read_text()
        yield started
    finally:
        process.send_signal(signal.SIGINT)
        try:
            process.wait(60)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def ask(port: int, path: str, body: object) -> Response:
    async def main() -> Response:
        client = Client(port)
        async with asyncio.timeout(60):
            response = await client.post(path, body)
        await client.close()
        return response

    return asyncio.run(main())


def is_up(port: int) -> bool:
    try:
        response = ask(port, "/v1/parse", {"text": "It rained."})
    except (OSError, EOFError, TimeoutError):
        return False
    assert response.status != 500, response.body
    return response.status == 200


def pair(number: int) -> tuple[str, str]:
    text = " ".join(SENTENCES[number % 5 : number % 5 + 3])
    return text, f"Who saw {number}?"


def test_it_answers_as_the_reader_does_and_says_what_is_wrong(cluster):
    reader = Reader.from_pretrained(FORMATS / "spans", precision="float32")
    text, question = pair(3)
    response = ask(cluster.port, "/v1/answer", {"text": text, "questions": [question, "When?"]})
    assert response.status == 200
    assert response.json()["model"] == "spans"
    first, second = response.json()["answers"]
    direct = reader.answer(text, question)
    assert (first["text"], first["start"]) == (direct.text, direct.start)
    assert first["confidence"] == pytest.approx(direct.confidence, abs=1e-5)
    assert second["question"] == "When?"
    for path, body, status, words in (
        ("/v1/answer", {"txt": "A gull.", "question": "Who?"}, 422, "txt text"),
        ("/v1/answer", {"index": "notes", "question": "Who?"}, 422, "index text"),
        ("/v1/answer", b"{", 400, "JSON"),
        ("/v1/parse", {"text": "a " * 150_000}, 413, "200,000 300,000"),
        ("/v1/parse", {"texts": ["It rained."] * 65}, 422, "64 65"),
    ):
        wrong = ask(cluster.port, path, body)
        assert wrong.status == status, wrong.body
        assert wrong.headers["content-type"] == "application/problem+json"
        assert says(wrong.json()["detail"], words)


def test_every_request_is_answered_or_fails_clearly_when_a_replica_is_killed(cluster):
    before = cluster.replicas()
    assert len(before) == 2
    statuses: Counter[int] = Counter()
    end = time.monotonic() + LOAD_SECONDS

    async def load(start: int) -> None:
        client, number = Client(cluster.port), start
        while time.monotonic() < end:
            text, question = pair(number)
            async with asyncio.timeout(90):
                response = await client.post("/v1/answer", {"text": text, "question": question})
            statuses[response.status] += 1
            if response.status == 200:
                (answer,) = response.json()["answers"]
                assert answer["question"] == question
            else:
                assert response.status in (429, 503, 504), response.body
                assert response.headers["content-type"] == "application/problem+json"
                assert says(response.json()["detail"], "try again")
            number += CLIENTS
        await client.close()

    async def kill() -> None:
        await asyncio.sleep(LOAD_SECONDS / 4)
        os.kill(min(before), signal.SIGKILL)

    async def main() -> None:
        await asyncio.gather(kill(), *map(load, range(CLIENTS)))

    asyncio.run(main())
    print(f"\n{dict(statuses)}")
    assert statuses[200] > 0.9 * statuses.total()
    assert statuses.total() > 2 * CLIENTS
    # Another takes its place.
    end = time.monotonic() + START_SECONDS
    while len(cluster.replicas()) < 2 and time.monotonic() < end:
        time.sleep(0.5)
    assert len(cluster.replicas() - before) == 1
