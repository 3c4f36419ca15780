"""A local HTTP server that answers like the Hugging Face hub."""

from __future__ import annotations

import hashlib
import json
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

COMMIT = "0123456789abcdef0123456789abcdef01234567"
REFUSALS = {
    "someone/absent": (404, "RepoNotFound"),
    "someone/gated": (403, "GatedRepo"),
    "someone/forbidden": (403, ""),
}


class FakeHub(ThreadingHTTPServer):
    """Serves the files of folders, each under a hub name, and records the requests.

    Args:
        models: folders by hub name.
    """

    daemon_threads = True

    def __init__(self, models: dict[str, Path]) -> None:
        super().__init__(("127.0.0.1", 0), _Answer)
        self.models = models
        self.status = 200
        self.requests: list[str] = []

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}"


class _Answer(BaseHTTPRequestHandler):
    server: FakeHub

    def do_GET(self) -> None:
        self.answer()

    def do_HEAD(self) -> None:
        self.answer()

    def log_message(self, *_: object) -> None:
        pass

    def answer(self) -> None:
        self.server.requests.append(f"{self.command} {self.path}")
        path = self.path.partition("?")[0].removeprefix("/api/models").strip("/")
        name, rest = "/".join(path.split("/")[:2]), path.split("/")[2:]
        if not path or self.server.status != 200:
            return self.send(self.server.status)
        if name in REFUSALS:
            status, code = REFUSALS[name]
            return self.send(status, headers={"X-Error-Code": code} if code else {})
        folder = self.server.models.get(name)
        if folder is None:
            return self.send(404, headers={"X-Error-Code": "RepoNotFound"})
        if rest[:1] == ["resolve"]:
            file = folder / rest[-1]
            if not file.is_file():
                return self.send(404, headers={"X-Error-Code": "EntryNotFound"})
            body = file.read_bytes()
            etag = {"ETag": f'"{hashlib.sha1(body).hexdigest()}"', "X-Repo-Commit": COMMIT}
            return self.send(200, body, etag)
        files = sorted(file for file in folder.iterdir() if file.is_file())
        if rest[:1] == ["tree"]:
            rows = [
                {"type": "file", "path": file.name, "oid": "0" * 40, "size": file.stat().st_size}
                for file in files
            ]
            return self.send(200, json.dumps(rows).encode())
        info = {"id": name, "sha": COMMIT, "siblings": [{"rfilename": f.name} for f in files]}
        return self.send(200, json.dumps(info).encode())

    def send(self, status: int, body: bytes = b"", headers: dict[str, str] | None = None) -> None:
        self.send_response(status)
        for key, value in (headers or {}).items():
            self.send_header(key, value)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        if self.command == "GET":
            self.wfile.write(body)


@contextmanager
def serving(models: dict[str, Path]) -> Iterator[FakeHub]:
    """Serve models inside a ``with`` block."""
    with FakeHub(models) as hub:
        thread = threading.Thread(target=hub.serve_forever, kwargs={"poll_interval": 0.05})
        thread.start()
        try:
            yield hub
        finally:
            hub.shutdown()
            thread.join()


@contextmanager
def silent() -> Iterator[str]:
    """Yield an address that accepts connections and never answers."""
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        listener.listen(5)
        yield f"http://127.0.0.1:{listener.getsockname()[1]}"


def closed() -> str:
    """Return an address that refuses connections."""
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return f"http://127.0.0.1:{listener.getsockname()[1]}"
