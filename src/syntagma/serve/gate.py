"""What every request passes: limits, keys, headers, counting.

It is written on ASGI itself, below the framework, because it must act before a body is read, and on
responses of every kind.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Awaitable, Callable, MutableMapping, Sequence
from typing import Any

from syntagma.serve.keys import Keys
from syntagma.serve.limits import Limits
from syntagma.serve.metrics import Metrics
from syntagma.serve.problems import MEDIA_TYPE, Problem, in_log, too_busy

log = logging.getLogger("syntagma.serve")

Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
App = Callable[[Message, Receive, Send], Awaitable[None]]

PREDICT = "/v1/predict/"
PATHS = ("/", "/docs", "/openapi.json", "/health", "/ready", "/metrics")
WORK_PATHS = ("/v1/answer", "/v1/parse", "/v1/passages", "/v1/models")
SECURITY_HEADERS = {
    b"x-content-type-options": b"nosniff",
    b"x-frame-options": b"DENY",
    b"referrer-policy": b"no-referrer",
    b"cross-origin-resource-policy": b"same-origin",
    b"cross-origin-opener-policy": b"same-origin",
    b"cache-control": b"no-store",
    # Pages state a policy of their own. Trees as SVG have a style element.
    b"content-security-policy": b"default-src 'none'; style-src 'unsafe-inline'; sandbox; "
    b"frame-ancestors 'none'",
}
LOGGED_CHARACTERS = 200
CLIENT_LEFT = 499
"""Status in metrics, as nginx has it, of a request whose client did not wait for the response."""
DISCARDED = 4
"""How many times the longest body is read of one that is too long, before the connection is cut: a
client that is still sending would not see the response."""


class _ClientLeftError(Exception):
    """The connection was closed."""


def route_of(path: str) -> str:
    """Return the name of a route for metrics and logs: one of a fixed list."""
    if path.startswith(PREDICT):
        return f"{PREDICT}{{name}}"
    if path in PATHS or path in WORK_PATHS:
        return path
    return "static" if path.startswith("/static/") else "other"


class Gate:
    """An ASGI application around another.

    Args:
        app: the application.
        limits: of requests.
        metrics: counts them.
        keys: of those who may enter.
        hosts: names by which the server may be called, in lower case; empty for any.  A page of
            another site whose name was pointed to 127.0.0.1 calls it by that name.
        log_texts: whether the beginning of each body is logged.
        retry_after: returns the seconds after which to try again when the server is full.
    """

    def __init__(
        self,
        app: App,
        *,
        limits: Limits,
        metrics: Metrics,
        keys: Keys,
        hosts: Sequence[str] = (),
        log_texts: bool = False,
        retry_after: Callable[[], int] = lambda: 1,
    ) -> None:
        self.app = app
        self.limits = limits
        self.metrics = metrics
        self.keys = keys
        self.hosts = frozenset(hosts)
        self.log_texts = log_texts
        self.retry_after = retry_after
        self.n_open = 0

    async def __call__(self, scope: Message, receive: Receive, send: Send) -> None:
        """Handle one connection of ASGI."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        start = time.monotonic()
        route = route_of(scope["path"])
        response = _Response(send, self.limits.read_seconds)
        try:
            await self._admit(scope, receive, response)
        except Problem as problem:
            self.metrics.refused.labels(problem.reason or "other").inc()
            await response.refuse(problem)
        except (_ClientLeftError, OSError, TimeoutError):
            response.status = CLIENT_LEFT
        except Exception as error:
            log.error("internal error: %s", in_log(error))
            await response.refuse(Problem(500, "internal error; the log of the server says more"))
        finally:
            seconds = time.monotonic() - start
            self.metrics.requests.labels(route, str(response.status or CLIENT_LEFT)).inc()
            self.metrics.seconds.labels(route).observe(seconds)
            log.info("%s %s %s %.0f ms", scope["method"], route, response.status, 1000 * seconds)

    async def _admit(self, scope: Message, receive: Receive, response: _Response) -> None:
        headers = {name.lower(): value for name, value in scope["headers"]}
        self._check_host(headers.get(b"host", b""))
        is_work = scope["path"].startswith("/v1/")
        if (is_work or scope["path"] == "/metrics") and not self.keys.admit(_key_of(headers)):
            raise Problem(
                401,
                "expected a key of this server; send it as 'Authorization: Bearer KEY'",
                headers={"WWW-Authenticate": "Bearer"},
                reason="key",
            )
        if not is_work:
            await self._run(scope, b"", response, receive)
            return
        if self.n_open >= self.limits.requests:
            raise too_busy(
                f"{self.n_open} requests are open (--requests)", self.retry_after(), "requests"
            )
        self.n_open += 1
        self.metrics.open.set(self.n_open)
        try:
            body = await self._body(scope, headers, receive)
            if self.log_texts and body:
                log.info("body: %s", body[:LOGGED_CHARACTERS].decode("utf-8", "replace"))
            await self._run(scope, body, response, receive)
        finally:
            self.n_open -= 1
            self.metrics.open.set(self.n_open)

    def _check_host(self, given: bytes) -> None:
        host = given.decode("latin-1").lower()
        name = host if host.endswith("]") else host.rpartition(":")[0] or host
        if self.hosts and name.strip("[]") not in self.hosts:
            raise Problem(
                421,
                f"Host: this server is not called {name:.60}; name it by --allowed-host",
                reason="host",
            )

    async def _body(self, scope: Message, headers: dict[bytes, bytes], receive: Receive) -> bytes:
        """Read the body of a request.

        Raises:
            Problem: it is no JSON by its type, too long, or comes too slowly.
        """
        media_type = headers.get(b"content-type", b"").partition(b";")[0].strip().lower()
        if scope["method"] == "POST" and media_type != b"application/json":
            # Also the guard against forms of other sites, which cannot send this type unasked.
            shown = media_type.decode("latin-1") or "none"
            raise Problem(
                415, f"Content-Type: expected application/json, got {shown:.60}", reason="type"
            )
        try:
            async with asyncio.timeout(self.limits.read_seconds):
                return await self._read(receive)
        except TimeoutError:
            raise Problem(
                408,
                f"the body did not arrive within {self.limits.read_seconds:g} s (--read-seconds)",
                headers={"Connection": "close"},
                reason="read_time",
            ) from None

    async def _read(self, receive: Receive) -> bytes:
        longest = self.limits.body_bytes
        parts: list[bytes] = []
        size = 0
        while True:
            message = await receive()
            if message["type"] == "http.disconnect":
                raise _ClientLeftError
            part = message.get("body", b"")
            size += len(part)
            parts.append(part)
            more = message.get("more_body", False)
            if size > longest:
                parts.clear()
                if not more or size > DISCARDED * longest:
                    raise Problem(
                        413,
                        f"the body is longer than {longest:,} bytes (--body-bytes); send less at "
                        f"a time",
                        reason="body",
                    )
            elif not more:
                return b"".join(parts)

    async def _run(
        self, scope: Message, body: bytes, response: _Response, receive: Receive
    ) -> None:
        """Run the application, and stop it when the client leaves."""
        has_left = asyncio.Event()
        messages = [{"type": "http.request", "body": body, "more_body": False}]

        async def replay() -> Message:
            if messages:
                return messages.pop()
            await has_left.wait()
            return {"type": "http.disconnect"}

        async def watch() -> None:
            while (await receive())["type"] != "http.disconnect":
                pass

        app = asyncio.ensure_future(self.app(scope, replay, response.send))
        watcher = asyncio.ensure_future(watch())
        try:
            await asyncio.wait({app, watcher}, return_when=asyncio.FIRST_COMPLETED)
            # Servers also say so once the response is complete.
            if not app.done() and not response.is_complete:
                has_left.set()
                raise _ClientLeftError
            await app
        finally:
            for task in (app, watcher):
                task.cancel()
            await asyncio.gather(app, watcher, return_exceptions=True)


def _key_of(headers: dict[bytes, bytes]) -> bytes | None:
    scheme, _, key = headers.get(b"authorization", b"").partition(b" ")
    return key.strip() if scheme.lower() == b"bearer" else headers.get(b"x-api-key")


class _Response:
    """The response on its way: adds headers, notes the status, and does not wait for ever.

    Args:
        send: of ASGI.
        seconds: the longest time that a client may take to take in a piece.
    """

    def __init__(self, send: Send, seconds: float) -> None:
        self._send = send
        self._seconds = seconds
        self.status = 0
        self.is_complete = False

    async def send(self, message: Message) -> None:
        """Send a message of ASGI."""
        if message["type"] == "http.response.start":
            self.status = message["status"]
            headers = list(message.get("headers", ()))
            present = {name.lower() for name, _ in headers}
            headers += [pair for pair in SECURITY_HEADERS.items() if pair[0] not in present]
            message = {**message, "headers": headers}
        elif not message.get("more_body", False):
            self.is_complete = True
        async with asyncio.timeout(self._seconds):
            await self._send(message)

    async def refuse(self, problem: Problem) -> None:
        """Send a problem, unless a response has begun."""
        if self.is_complete:
            return
        if self.status:
            # The body ends too early: let the server cut the connection, so that clients notice.
            raise ConnectionAbortedError from None
        body = problem.body()
        headers = {"Content-Type": MEDIA_TYPE, "Content-Length": str(len(body))} | problem.headers
        raw = [(name.lower().encode(), value.encode()) for name, value in headers.items()]
        try:
            await self.send(
                {"type": "http.response.start", "status": problem.status, "headers": raw}
            )
            await self.send({"type": "http.response.body", "body": body})
        except (OSError, TimeoutError):
            pass
