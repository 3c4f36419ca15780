"""A server in a process of its own, and a client that can also do wrong."""

from __future__ import annotations

import asyncio
import json
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path
from types import TracebackType
from typing import Any, NamedTuple, Self

LOADING_SECONDS = 600.0
ADDRESS = re.compile(r"http://127\.0\.0\.1:(\d+) (listens|is ready)")


class Response(NamedTuple):
    """A response.

    Args:
        status: of HTTP; 0 if the connection was closed without one.
        headers: by their names in lower case.
        body: the body.
    """

    status: int
    headers: dict[str, str]
    body: bytes

    def json(self) -> Any:
        """Return the body as JSON."""
        return json.loads(self.body)


class Server:
    """``syntagma serve`` on a free port; a context manager.

    Args:
        options: of the command.
        log: file for its messages.
    """

    def __init__(self, *options: str, log: Path) -> None:
        self.log = log
        with log.open("w") as file:
            self.process = subprocess.Popen(
                [sys.executable, "-m", "syntagma", "serve", "--port", "0", *options],
                stdout=file,
                stderr=subprocess.STDOUT,
                env=os.environ | {"HF_HUB_OFFLINE": "1"},
            )

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()

    def wait_until(self, state: str = "is ready") -> int:
        """Wait until the server says that it ``listens`` or ``is ready``; return its port."""
        end = time.monotonic() + LOADING_SECONDS
        while time.monotonic() < end and self.process.poll() is None:
            for port, said in ADDRESS.findall(self.log.read_text()):
                if said == state:
                    return int(port)
            time.sleep(0.05)
        raise RuntimeError(f"the server did not start:\n{self.log.read_text()}")

    def stop(self) -> int:
        """Send SIGTERM; return the exit code."""
        self.process.send_signal(signal.SIGTERM)
        return self.process.wait(60)

    def workers(self) -> list[int]:
        """Return the process ids of the workers (Linux only)."""
        found = []
        for path in Path(f"/proc/{self.process.pid}/task").glob("*/children"):
            for child in map(int, path.read_text().split()):
                if b"spawn_main" in Path(f"/proc/{child}/cmdline").read_bytes():
                    found.append(child)
        return sorted(found)

    def megabytes(self) -> float:
        """Return the memory of the server and its workers (Linux only)."""
        return sum(map(_megabytes, [self.process.pid, *self.workers()]))


def _megabytes(process: int) -> float:
    status = Path(f"/proc/{process}/status").read_text()
    match = re.search(r"VmRSS:\s+(\d+)", status)
    return int(match[1]) / 1024 if match else 0.0


class Client:
    """A connection that is kept, and opened again when the server has closed it.

    Args:
        port: of the server.
    """

    def __init__(self, port: int) -> None:
        self.port = port
        self._streams: tuple[asyncio.StreamReader, asyncio.StreamWriter] | None = None

    async def post(self, path: str, body: Any, **headers: str) -> Response:
        """Send a request and return the response.

        Args:
            path: the path.
            body: sent as JSON; bytes are sent as they are.
            headers: further headers; an underscore stands for a hyphen.
        """
        content = body if isinstance(body, bytes) else json.dumps(body).encode()
        message = head(path, len(content), **headers) + content
        for attempt in range(2):
            reader, writer = await self._open()
            try:
                writer.write(message)
                await writer.drain()
                return await self._receive(reader)
            except (OSError, EOFError):
                # A kept connection may be closed at the moment at which it is used.
                await self.close()
                if attempt:
                    raise
        raise AssertionError

    async def _open(self) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        if self._streams is None:
            self._streams = await asyncio.open_connection("127.0.0.1", self.port, limit=2**24)
        return self._streams

    async def _receive(self, reader: asyncio.StreamReader) -> Response:
        response = await receive(reader)
        if response.headers.get("connection") == "close":
            await self.close()
        return response

    async def close(self) -> None:
        """Close the connection."""
        if self._streams is not None:
            self._streams[1].close()
            self._streams = None


def head(path: str, length: int, **headers: str) -> bytes:
    """Return the first lines of a request with JSON."""
    lines = [f"POST {path} HTTP/1.1", "Host: 127.0.0.1", f"Content-Length: {length}"]
    given = {"content_type": "application/json"} | headers
    lines += [f"{name.replace('_', '-')}: {value}" for name, value in given.items()]
    return "\r\n".join([*lines, "", ""]).encode()


async def receive(reader: asyncio.StreamReader) -> Response:
    """Read a response with a length or in chunks."""
    first, *lines = (await reader.readuntil(b"\r\n\r\n")).decode().strip().split("\r\n")
    headers = {}
    for line in lines:
        name, _, value = line.partition(":")
        headers[name.lower()] = value.strip()
    if headers.get("transfer-encoding") == "chunked":
        body = b""
        while size := int(await reader.readline(), 16):
            body += await reader.readexactly(size)
            await reader.readline()
        await reader.readline()
    else:
        body = await reader.readexactly(int(headers.get("content-length", 0)))
    return Response(int(first.split()[1]), headers, body)
