"""The command itself: signals, killed workers, and clients that do wrong."""

from __future__ import annotations

import asyncio
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from benchmarks.serve_traffic import Asked, Traffic
from benchmarks.served import Client, Server, head, receive
from tests.conftest import SENTENCES
from tests.messages import one_line, says

FORMATS = Path(__file__).parents[1] / "data" / "formats" / "0.1"
MODELS = [f"--model={task}={FORMATS / task}" for task in ("spans", "parsing", "pairs")]
TEXT = " ".join(SENTENCES)
READ_SECONDS, LONGEST = 2, 300_000
on_linux = pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")


@pytest.fixture(scope="module")
def server(tmp_path_factory) -> Iterator[Server]:
    log = tmp_path_factory.mktemp("server") / "log"
    limits = [
        f"--read-seconds={READ_SECONDS}",
        f"--body-bytes={LONGEST}",
        "--requests=200",
        "--seconds=300",
    ]
    with Server(*MODELS, *limits, log=log) as started:
        started.wait_until()
        yield started


def command(*arguments):
    words = [sys.executable, "-m", "syntagma", "serve", *map(str, arguments)]
    return subprocess.run(words, capture_output=True, text=True, timeout=120)


@pytest.mark.slow
def test_a_port_that_is_taken_ends_it_with_one_line():
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        done = command(MODELS[0], "--port", port)
    assert done.returncode == 2
    assert says(one_line(done.stderr), f"--port {port} another")


@pytest.mark.slow
def test_a_model_that_is_damaged_ends_it_with_one_line(tmp_path):
    folder = tmp_path / "damaged"
    folder.mkdir()
    for path in (FORMATS / "spans").iterdir():
        (folder / path.name).write_bytes(path.read_bytes())
    (folder / "model.safetensors").write_bytes(b"")
    done = command(f"--model={folder}", "--port", "0")
    assert done.returncode == 2
    assert says(one_line(done.stderr), "model.safetensors")


@pytest.mark.slow
def test_sigterm_answers_what_is_open(tmp_path):
    text = TEXT * (150_000 // len(TEXT))

    async def ask(port, server):
        client = Client(port)
        asking = asyncio.create_task(client.post("/v1/parse", {"text": text}))
        await asyncio.sleep(0.3)
        assert not asking.done()
        server.process.send_signal(signal.SIGTERM)
        response = await asking
        assert response.status == 200
        assert len(response.json()["texts"][0]["sentences"]) > 100

    with Server(*MODELS, "--seconds=60", log=tmp_path / "log") as server:
        port = server.wait_until()
        asyncio.run(ask(port, server))
        assert server.process.wait(30) == 0
        with pytest.raises(OSError, match="refused"):
            socket.create_connection(("127.0.0.1", port), 1)
        assert "Traceback" not in server.log.read_text()


@pytest.mark.slow
@on_linux
def test_the_workers_of_a_killed_server_end(tmp_path):
    with Server(*MODELS, log=tmp_path / "log") as server:
        server.wait_until()
        (worker,) = server.workers()
        server.process.kill()
        server.process.wait()
        end = time.monotonic() + 60
        while Path(f"/proc/{worker}/cmdline").exists() and time.monotonic() < end:
            time.sleep(0.05)
        assert not Path(f"/proc/{worker}/cmdline").exists()


@pytest.mark.slow
@on_linux
def test_requests_survive_the_death_of_their_worker(server):
    async def ask():
        port = server.wait_until()
        clients = [Client(port) for _ in range(8)]
        bodies = [{"text": f"{number} gulls cried. " * 300} for number in range(8)]
        asking = [
            asyncio.create_task(client.post("/v1/parse", body))
            for client, body in zip(clients, bodies, strict=True)
        ]
        await asyncio.sleep(0.2)
        (worker,) = server.workers()
        os.kill(worker, signal.SIGKILL)
        for number, task in enumerate(asking):
            response = await task
            assert response.status == 200, response.body
            word = response.json()["texts"][0]["sentences"][0]["words"][0]
            assert word["form"] == str(number)
        assert server.workers() != [worker]

    asyncio.run(ask())
    assert "a worker died" in server.log.read_text()


@pytest.mark.slow
def test_connections_that_send_too_slowly_are_closed(server):
    async def connect(beginning):
        reader, writer = await asyncio.open_connection("127.0.0.1", server.wait_until())
        writer.write(beginning)
        await writer.drain()
        start = time.monotonic()
        try:
            found = (await asyncio.wait_for(receive(reader), 20)).status
        except EOFError:
            found = 0
        writer.close()
        return found, time.monotonic() - start

    async def main():
        whole = head("/v1/parse", 100)
        cases = [(b"", 0), (whole[:20], 0), (whole, 408), (whole + b'{"te', 408)]
        for (_, status), (found, seconds) in zip(
            cases, await asyncio.gather(*(connect(first) for first, _ in cases)), strict=True
        ):
            assert found == status
            assert seconds < READ_SECONDS + 5

    asyncio.run(main())


@pytest.mark.slow
@on_linux
def test_a_thousand_mixed_requests(server):
    """None is lost or mixed up, whatever other clients do, and memory does not grow."""
    rows = [
        Asked(
            "/v1/answer", {"text": " ".join(SENTENCES[n % 5 : n % 5 + 3]), "question": f"Who {n}?"}
        )
        for n in range(20)
    ]
    rows += [Asked("/v1/parse", {"text": " ".join(SENTENCES[n : n + 2])}) for n in range(6)]
    pairs = [{"first": SENTENCES[n], "second": SENTENCES[n + 1]} for n in range(4)]
    rows += [Asked("/v1/predict/pairs", {"inputs": pairs[n:]}) for n in range(3)]
    traffic = Traffic(server.wait_until(), rows, longest=LONGEST, read_seconds=READ_SECONDS)

    async def main():
        await traffic.ask_alone()
        await traffic.run(300, streaming=True)
        before = server.megabytes()
        await traffic.run(1000, streaming=True)
        return before, server.megabytes()

    before, after = asyncio.run(main())
    assert traffic.tally.problems == []
    assert traffic.tally.statuses[200] > 1000
    assert len(traffic.tally.wrong) >= 7
    assert after < 1.05 * before + 15
    metrics = server.log.read_text()
    assert "Traceback" not in metrics
    assert "internal error" not in metrics
