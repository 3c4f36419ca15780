"""A local HTTP server that answers like the Hugging Face hub, and takes uploads."""

from __future__ import annotations

import base64
import hashlib
import json
import socket
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import unquote, urlsplit

import huggingface_hub
import pytest
from huggingface_hub import constants
from transformers.utils import hub as transformers_hub

from syntagma.encoders import hub
from tests.ports import free_port

COMMIT = "0123456789abcdef0123456789abcdef01234567"
REFUSALS = {
    "someone/absent": (404, "RepoNotFound"),
    "someone/gated": (403, "GatedRepo"),
    "someone/forbidden": (403, ""),
}
READ, WRITE = "hf_read", "hf_write"
"""The tokens that it knows."""
INVALID = "Invalid credentials in Authorization header"


class FakeHub(ThreadingHTTPServer):
    """Serves the files of folders, each under a hub name, and records the requests.

    Args:
        models: folders by hub name, or by ``NAME@REVISION``.
        store: folder for repositories that are uploaded.

    Attributes:
        private: names of models that are served only with a token.
        messages: messages of the commits that were uploaded.
    """

    daemon_threads = True

    def __init__(self, models: Mapping[str, Path], store: Path | None = None) -> None:
        super().__init__(("127.0.0.1", 0), _Answer)
        self.models = dict(models)
        self.store = store
        self.private: set[str] = set()
        self.status = 200
        self.requests: list[str] = []
        self.messages: list[str] = []

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}"

    def find(self, name: str, revision: str) -> tuple[Path | None, str]:
        """The folder of a revision, and its commit; ``None`` for an unknown one."""
        for key, folder in self.models.items():
            own, _, branch = key.partition("@")
            commit = hashlib.sha1(key.encode()).hexdigest() if branch else COMMIT
            if own == name and revision in (branch or "main", commit):
                return folder, commit
        return None, ""


class _Answer(BaseHTTPRequestHandler):
    server: FakeHub

    def do_GET(self) -> None:
        self.answer()

    def do_HEAD(self) -> None:
        self.answer()

    def do_POST(self) -> None:
        self.body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        self.answer()

    def log_message(self, *_: object) -> None:
        pass

    def answer(self) -> None:
        self.server.requests.append(f"{self.command} {self.path}")
        path = unquote(urlsplit(self.path).path)
        token = (self.headers.get("Authorization") or "").removeprefix("Bearer ")
        if self.server.status != 200:
            return self.send(self.server.status)
        if token and token not in (READ, WRITE):
            return self.send(401, headers={"X-Error-Message": INVALID})
        if self.command == "POST":
            return self.post(path, token)
        path = path.removeprefix("/api/models").strip("/")
        name, rest = "/".join(path.split("/")[:2]), path.split("/")[2:]
        if not path:
            return self.send(200)
        if name in REFUSALS:
            status, code = REFUSALS[name]
            return self.send(status, headers={"X-Error-Code": code} if code else {})
        known = {key.partition("@")[0] for key in self.server.models}
        if name not in known or (name in self.server.private and not token):
            # As the real one: without a token it does not say which of the two it is.
            private = name in self.server.private
            return self.send(401 if private else 404, headers={"X-Error-Code": "RepoNotFound"})
        folder, commit = self.server.find(name, rest[1] if len(rest) > 1 else "main")
        if folder is None:
            return self.send(404, headers={"X-Error-Code": "RevisionNotFound"})
        if rest[:1] == ["resolve"]:
            return self.send_file(folder.joinpath(*rest[2:]), commit)
        files = sorted(file for file in folder.rglob("*") if file.is_file())
        if rest[:1] == ["tree"]:
            rows = [
                {
                    "type": "file",
                    "path": file.relative_to(folder).as_posix(),
                    "oid": "0" * 40,
                    "size": file.stat().st_size,
                }
                for file in files
            ]
            return self.reply(rows)
        siblings = [{"rfilename": file.relative_to(folder).as_posix()} for file in files]
        return self.send(
            200, json.dumps({"id": name, "sha": commit, "siblings": siblings}).encode()
        )

    def send_file(self, file: Path, commit: str) -> None:
        if not file.is_file():
            return self.send(
                404, headers={"X-Error-Code": "EntryNotFound", "X-Repo-Commit": commit}
            )
        body = file.read_bytes()
        etag = {"ETag": f'"{hashlib.sha1(body).hexdigest()}"', "X-Repo-Commit": commit}
        return self.send(200, body, etag)

    def post(self, path: str, token: str) -> None:
        if path == "/api/validate-yaml":
            wrong = (
                [{"message": '"license" must be one of […]'}]
                if b"license: ours" in self.body
                else []
            )
            return self.reply({"errors": wrong, "warnings": []}, 400 if wrong else 200)
        if token != WRITE:
            return self.send(403 if token else 401)
        if path == "/api/repos/create":
            asked = json.loads(self.body)
            name = f"{asked.get('organization') or 'ada'}/{asked['name']}"
            assert self.server.store is not None
            folder = self.server.models.setdefault(name, self.server.store / name)
            folder.mkdir(parents=True, exist_ok=True)
            if asked.get("private") or asked.get("visibility") == "private":
                self.server.private.add(name)
            return self.reply({"url": f"{self.server.address}/{name}", "name": name})
        name, _, rest = path.removeprefix("/api/models/").partition("/preupload/")
        if rest:
            asked = json.loads(self.body)["files"]
            files = [
                {"path": file["path"], "uploadMode": "regular", "shouldIgnore": False}
                for file in asked
            ]
            return self.reply({"files": files, "commitOid": COMMIT})
        name, _, branch = path.removeprefix("/api/models/").partition("/branch/")
        if branch:
            folder = self.server.models[f"{name}@{branch}"] = self.server.store / branch
            folder.mkdir()
            return self.reply({})
        name, _, branch = path.removeprefix("/api/models/").partition("/commit/")
        folder = self.server.models[name if branch == "main" else f"{name}@{branch}"]
        for line in self.body.splitlines():
            row = json.loads(line)
            if row["key"] == "header":
                self.server.messages.append(row["value"]["summary"])
            if row["key"] == "file":
                target = folder / row["value"]["path"]
                target.parent.mkdir(parents=True, exist_ok=True)
                target.write_bytes(base64.b64decode(row["value"]["content"]))
        address = f"{self.server.address}/{name}/commit/{COMMIT}"
        return self.reply({"commitUrl": address, "commitOid": COMMIT, "success": True})

    def reply(self, value: object, status: int = 200) -> None:
        self.send(status, json.dumps(value).encode())

    def send(self, status: int, body: bytes = b"", headers: dict[str, str] | None = None) -> None:
        self.send_response(status)
        for key, value in (headers or {}).items():
            self.send_header(key, value)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)


@contextmanager
def serving(models: Mapping[str, Path], store: Path | None = None) -> Iterator[FakeHub]:
    """Serve models inside a ``with`` block."""
    with FakeHub(models, store) as hub:
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
    return f"http://127.0.0.1:{free_port()}"


def use(monkeypatch: pytest.MonkeyPatch, address: str, cache: Path) -> None:
    """Make an address the hub of this process, with a cache of its own and nobody logged in.

    Args:
        monkeypatch: undoes it.
        address: address of a fake hub.
        cache: folder of the cache; it need not exist.
    """
    template = address + "/{repo_id}/resolve/{revision}/{filename}"
    for name, value in (
        ("ENDPOINT", address),
        ("HUGGINGFACE_CO_URL_TEMPLATE", template),
        ("HF_HUB_CACHE", str(cache)),
        ("HF_TOKEN_PATH", str(cache / "no-token")),
        ("HF_HUB_OFFLINE", False),
    ):
        monkeypatch.setattr(constants, name, value)
    # Both libraries keep an object that knows the address.
    monkeypatch.setattr(huggingface_hub.hf_api.api, "endpoint", address)
    # Newer versions of Transformers keep a client too.
    monkeypatch.setattr(transformers_hub, "_hf_api", None, raising=False)
    monkeypatch.delenv("HF_TOKEN", raising=False)
    monkeypatch.setattr(hub, "_asked", {})
