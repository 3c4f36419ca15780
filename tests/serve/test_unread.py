"""Clients that do not read their responses are cut off, and slow ones are not."""

from __future__ import annotations

import asyncio
import socket
import sys
import time

import pytest
import uvicorn

from syntagma.serve.server import PatientProtocol

READ_SECONDS = 0.4
BODY = bytes(1 << 20)
N_PARTS = 12


async def whole(send) -> None:
    await send({"type": "http.response.body", "body": BODY * N_PARTS})


async def parts(send) -> None:
    for number in range(N_PARTS):
        more = number + 1 < N_PARTS
        await send({"type": "http.response.body", "body": BODY, "more_body": more})


async def broken(send) -> None:
    """Less than is buffered, and then an error."""
    await send({"type": "http.response.body", "body": BODY, "more_body": True})
    raise ConnectionAbortedError


ANSWERS = {"/whole": whole, "/parts": parts, "/broken": broken}


async def app(scope, receive, send) -> None:
    await send({"type": "http.response.start", "status": 200, "headers": []})
    await ANSWERS[scope["path"]](send)


class Serving:
    """A server, and a client whose buffers are small.

    Args:
        n_sent_ahead: the buffer of the server.
        read_seconds: of the server.
    """

    def __init__(self, n_sent_ahead: int = 1 << 16, read_seconds: float = READ_SECONDS) -> None:
        self.n_sent_ahead = n_sent_ahead
        self.read_seconds = read_seconds

    async def __aenter__(self) -> Serving:
        listening = socket.create_server(("127.0.0.1", 0))
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, self.n_sent_ahead)
        protocol = type("Protocol", (PatientProtocol,), {"read_seconds": self.read_seconds})
        config = uvicorn.Config(
            app, http=protocol, lifespan="off", log_config=None, timeout_keep_alive=1
        )
        self.server = uvicorn.Server(config)
        self.task = asyncio.create_task(self.server.serve(sockets=[listening]))
        while not self.server.started:
            await asyncio.sleep(0.005)
        self.client = socket.socket()
        self.client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1 << 16)
        # As on a network: the window opens in steps of a few packets.
        self.client.setsockopt(socket.IPPROTO_TCP, socket.TCP_MAXSEG, 1400)
        self.client.setblocking(False)
        await asyncio.get_running_loop().sock_connect(self.client, listening.getsockname())
        return self

    async def __aexit__(self, *raised: object) -> None:
        self.client.close()
        self.server.should_exit = True
        await self.task

    async def ask(self, path: str) -> None:
        request = f"GET {path} HTTP/1.1\r\nHost: a\r\n\r\n".encode()
        await asyncio.get_running_loop().sock_sendall(self.client, request)
        while not self.server.server_state.connections:
            await asyncio.sleep(0.005)

    async def is_cut_off(self, within: float) -> bool:
        until = time.monotonic() + within
        while self.server.server_state.connections and time.monotonic() < until:
            await asyncio.sleep(0.01)
        return not self.server.server_state.connections


@pytest.mark.parametrize("path", ANSWERS)
def test_a_client_that_does_not_read_is_cut_off(path):
    async def leave_unread() -> bool:
        async with Serving() as serving:
            await serving.ask(path)
            return await serving.is_cut_off(within=4 * READ_SECONDS)

    assert asyncio.run(leave_unread())


@pytest.mark.parametrize("path", ["/whole", "/parts"])
def test_a_client_that_reads_slowly_gets_everything(path):
    async def read_slowly() -> tuple[int, float]:
        begun, size = time.monotonic(), 0
        async with Serving() as serving:
            await serving.ask(path)
            loop = asyncio.get_running_loop()
            while size < N_PARTS * len(BODY):
                wanted = max(1 << 20, size // 4)
                got = 0
                while got < wanted and size < N_PARTS * len(BODY):
                    part = await loop.sock_recv(serving.client, 1 << 16)
                    if not part:
                        return size, 0.0
                    got += len(part)
                    size += len(part)
                await asyncio.sleep(READ_SECONDS / 4)
        return size, time.monotonic() - begun

    size, seconds = asyncio.run(read_slowly())
    assert size >= N_PARTS * len(BODY)
    assert seconds > 2 * READ_SECONDS


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux says what its buffers hold")
def test_a_client_that_reads_steadily_is_not_cut_off():
    """The system takes more bytes only when a third of its buffer, here much, is free."""

    async def read_steadily() -> bool:
        async with Serving(n_sent_ahead=1 << 22, read_seconds=1.0) as serving:
            await serving.ask("/whole")
            until = time.monotonic() + 3
            while time.monotonic() < until and serving.server.server_state.connections:
                await asyncio.get_running_loop().sock_recv(serving.client, 1 << 14)
                await asyncio.sleep(0.025)
            return bool(serving.server.server_state.connections)

    assert asyncio.run(read_steadily())
