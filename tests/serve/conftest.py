"""A service whose workers are threads of this process, with tiny models of every kind."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient

from syntagma.serve.app import Access, make_app
from syntagma.serve.limits import Limits
from syntagma.serve.metrics import Metrics
from syntagma.serve.named_models import read_names
from syntagma.serve.operations import Operations
from syntagma.serve.service import Service
from syntagma.serve.worker import Outcome, WorkerDiedError, WorkerPlan
from tests.serve.documents import save_index

FORMATS = Path(__file__).parents[1] / "data" / "formats" / "0.1"
TASKS = ("spans", "parsing", "choice", "pairs", "relations", "typing", "translation")


class InlineWorker:
    """A worker in this process, around operations that are loaded once.

    Args:
        operations: does the work.
        before: called with the payloads of each batch; may block, or raise ``WorkerDiedError``.
    """

    def __init__(self, operations: Operations, before: Callable[[Sequence[Any]], None]) -> None:
        self.operations = operations
        self.before = before
        self.ended = threading.Event()

    def start(self) -> dict[str, Any]:
        return self.operations.describe()

    def call(self, operation: str, model: str, payloads: Sequence[Any]) -> list[Outcome]:
        try:
            self.before(payloads)
        except WorkerDiedError:
            self.ended.set()
            raise
        return self.operations.run(operation, model, payloads)

    def wait(self) -> None:
        self.ended.wait()

    def kill(self) -> None:
        self.ended.set()

    stop = kill


@pytest.fixture(scope="session")
def served(tmp_path_factory: pytest.TempPathFactory, tiny_encoder: str):
    """The models of every task, and an index."""
    index = save_index(tmp_path_factory.mktemp("served"), tiny_encoder)
    return read_names([*(f"{task}={FORMATS / task}" for task in TASKS), f"notes={index}"])


@pytest.fixture(scope="session")
def operations(served) -> Operations:
    return Operations(WorkerPlan(served))


@pytest.fixture
def serving(served, operations) -> Iterator[Callable[..., TestClient]]:
    """Start an application; return a client of it."""
    clients: list[TestClient] = []

    def start(
        *,
        before: Callable[[Sequence[Any]], None] = lambda payloads: None,
        access: Access | None = None,
        n_workers: int = 1,
        **limits: Any,
    ) -> TestClient:
        service = Service(
            served,
            Limits(**limits),
            Metrics(),
            partial(InlineWorker, operations, before),
            n_workers=n_workers,
            on_failure=lambda line: None,
        )
        client = TestClient(make_app(service, access), raise_server_exceptions=False)
        client.__enter__()
        clients.append(client)
        return client

    yield start
    for client in clients:
        client.__exit__(None, None, None)


@pytest.fixture
def client(serving) -> TestClient:
    return serving()
