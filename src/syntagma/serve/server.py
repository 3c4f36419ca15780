"""Run the application: the socket, signals, and connections that send nothing."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import signal
import socket
import sys
from collections.abc import Iterator
from functools import partial
from typing import Any

import h11
import uvicorn
from uvicorn.protocols.http.h11_impl import H11Protocol

from syntagma.errors import InputError, MachineError
from syntagma.serve.app import Access, make_app
from syntagma.serve.limits import Limits
from syntagma.serve.metrics import Metrics
from syntagma.serve.service import Service
from syntagma.serve.unread import n_unread
from syntagma.serve.worker import WorkerPlan, WorkerProcess

log = logging.getLogger("syntagma.serve")

KEEP_ALIVE_SECONDS = 5
CLOSING_SECONDS = 2.0
"""Time that the last responses may take after the longest request."""
BACKLOG = 512


def bind(host: str, port: int) -> socket.socket:
    """Return a socket that listens.

    Args:
        host: name or address of the interface.
        port: the port; 0 for any that is free.

    Raises:
        MachineError: the address cannot be used.
    """
    try:
        family, kind, protocol, _, address = socket.getaddrinfo(
            host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
        )[0]
        made = socket.socket(family, kind, protocol)
        if sys.platform != "win32":
            made.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        made.bind(address)
        made.listen(BACKLOG)
    except (OSError, UnicodeError) as error:
        why = getattr(error, "strerror", None) or error
        raise MachineError(
            f"--host {host} --port {port}: cannot be listened on ({why}); give "
            f"another --port, or the address of an interface of this machine as --host"
        ) from error
    return made


def run(plan: WorkerPlan, limits: Limits, access: Access, listening: socket.socket) -> None:
    """Serve until a signal comes; then answer the requests that are open, and return.

    Args:
        plan: what the workers load.
        limits: of requests and batches.
        access: who may enter.
        listening: the socket.

    Raises:
        InputError: the models cannot be loaded.
    """
    failures: list[str] = []
    metrics = Metrics()

    def fail(line: str) -> None:
        failures.append(line)
        server.should_exit = True

    service = Service(
        plan.models,
        limits,
        metrics,
        partial(WorkerProcess, plan),
        n_workers=plan.n_workers,
        on_failure=fail,
    )
    config = uvicorn.Config(
        make_app(service, access),
        http=type("Protocol", (PatientProtocol,), {"read_seconds": limits.read_seconds}),
        ws="none",
        lifespan="on",
        # Its messages may quote requests; the gate logs what may be logged.
        log_config=None,
        log_level="critical",
        access_log=False,
        server_header=False,
        timeout_keep_alive=KEEP_ALIVE_SECONDS,
        timeout_graceful_shutdown=round(limits.seconds + CLOSING_SECONDS),
    )
    server = _Server(config, service)
    asyncio.run(server.run_until_signal(listening))
    if failures:
        raise InputError(failures[0])


class _Server(uvicorn.Server):
    """A server that ends in order on a signal, and says when it is ready.

    Args:
        config: of uvicorn.
        service: of the application.
    """

    def __init__(self, config: uvicorn.Config, service: Service) -> None:
        super().__init__(config)
        self._service = service

    async def run_until_signal(self, listening: socket.socket) -> None:
        """Serve on a socket."""
        announcing = asyncio.create_task(self._announce(listening))
        await self.serve(sockets=[listening])
        announcing.cancel()

    async def _announce(self, listening: socket.socket) -> None:
        while not self.started:
            await asyncio.sleep(0.01)
        host, port = listening.getsockname()[:2]
        shown = f"[{host}]" if ":" in host else host
        log.info("http://%s:%s listens; the models are being loaded", shown, port)
        await self._service.pool.became_ready.wait()
        names = ", ".join(model.name for model in self._service.models)
        log.info("http://%s:%s is ready: %s", shown, port, names)

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Handle signals; uvicorn would raise them again at the end, and so end by a signal."""
        before = {each: signal.signal(each, self.handle_exit) for each in _SIGNALS}
        try:
            yield
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)

    def handle_exit(self, sig: int, frame: Any) -> None:
        """Begin to end; a second Ctrl-C does not wait for open requests."""
        if not self.should_exit:
            log.info("stopping: open requests are answered, new ones are not")
        self._service.is_draining = True
        super().handle_exit(sig, frame)


_SIGNALS = (signal.SIGINT, signal.SIGTERM)


class PatientProtocol(H11Protocol):
    """HTTP on a connection that is closed if its client does nothing.

    uvicorn waits for the first request of a connection for ever, and for the rest of its headers.
    It hands over each piece of a response as a whole, and even a connection that is being closed
    keeps what its client has not taken in.

    Attributes:
        read_seconds: the longest time from the beginning of a request to the end of its headers,
            and the longest time in which a client takes in nothing of a response.
    """

    read_seconds = 10.0
    _timer: asyncio.TimerHandle | None = None
    _writing: asyncio.TimerHandle | None = None

    def connection_made(self, transport: Any) -> None:
        """Start the clock."""
        super().connection_made(transport)
        self._start_timer()

    def data_received(self, data: bytes) -> None:
        """Stop the clock when the headers are complete, and start it if they are not."""
        super().data_received(data)
        if self.conn.their_state is not h11.IDLE:
            self._stop_timer()
            if self._writing is None:
                self._watch_writing()
        elif self._timer is None:
            self._start_timer()

    def pause_writing(self) -> None:
        """Watch whether the client takes in what was sent: nothing is added until it has."""
        super().pause_writing()
        self._watch_writing()

    def resume_writing(self) -> None:
        """Measure anew: more may be sent."""
        super().resume_writing()
        self._watch_writing()

    def on_response_complete(self) -> None:
        """Watch whether the client takes in the rest."""
        super().on_response_complete()
        self._watch_writing()

    def connection_lost(self, exc: Exception | None) -> None:
        """Stop the clocks."""
        self._stop_timer()
        if self._writing is not None:
            self._writing.cancel()
        super().connection_lost(exc)

    def _start_timer(self) -> None:
        self._timer = self.loop.call_later(self.read_seconds, self.transport.close)

    def _stop_timer(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    @property
    def _is_answering(self) -> bool:
        return self.cycle is not None and not self.cycle.response_complete

    def _watch_writing(self) -> None:
        """Begin to wait for the client to take in a part of what was sent."""
        if self._writing is not None:
            self._writing.cancel()
        closing = self.transport.is_closing()
        # What may grow meanwhile says nothing about what the client has taken in.
        grows = self._is_answering and not self.flow.write_paused and not closing
        waits = not grows and self.transport.get_write_buffer_size() > 0
        before = n_unread(self.transport) if waits else 0
        if not before and not self._is_answering:
            self._writing = None
            return
        self._writing = self.loop.call_later(
            self.read_seconds, self._check_writing, before, self.cycle
        )

    def _check_writing(self, before: int, cycle: Any) -> None:
        """Cut the connection if nothing was taken in; a new response may have been added to it."""
        if before and self.cycle is cycle and n_unread(self.transport) >= before:
            self.transport.abort()
        else:
            self._writing = None
            self._watch_writing()
