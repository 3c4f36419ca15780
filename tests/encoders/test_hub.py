"""The hub is probed briefly or not at all, and failures are explained in one line."""

from __future__ import annotations

import ast
import importlib
import json
import time
from importlib import metadata
from pathlib import Path

import huggingface_hub
import pytest

import syntagma
from syntagma.encoders import hub
from syntagma.encoders.lm_heads import lm_head_weights
from syntagma.encoders.load import load_encoder_config, load_tokenizer
from syntagma.errors import InputError
from syntagma.models.guided_encoder import GuidedEncoder
from tests.encoders.fake_hub import closed, serving, silent
from tests.messages import says
from tests.processes import Child

ROOT = Path(syntagma.__file__).parent
PATIENCE = 10.0
"""Seconds that a busy machine may take over what waits for nothing; what retries takes longer."""
OWN = ("hub.py", "hub_upload.py", "model_card.py")
"""Modules that use the hub's library; only the first two send requests."""


@pytest.fixture(autouse=True)
def _online(monkeypatch):
    monkeypatch.setattr(huggingface_hub.constants, "HF_HUB_OFFLINE", False)
    monkeypatch.setattr(hub, "_asked", {})


def ask(monkeypatch, address: str) -> tuple[bool, float]:
    monkeypatch.setattr(hub, "endpoint", lambda: address)
    begin = time.perf_counter()
    return hub.is_reachable(), time.perf_counter() - begin


def test_a_hub_that_answers_is_reachable_and_probed_once(monkeypatch):
    with serving({}) as fake:
        assert ask(monkeypatch, fake.address)[0]
        assert hub.is_reachable()
        assert fake.requests == ["HEAD /"]
        monkeypatch.setattr(hub, "REMEMBERED", 0)
        assert hub.is_reachable()
        assert len(fake.requests) == 2


@pytest.mark.parametrize(("status", "answers"), [(401, True), (404, True), (503, False)])
def test_any_answer_counts_except_server_errors(monkeypatch, status, answers):
    with serving({}) as fake:
        fake.status = status
        assert ask(monkeypatch, fake.address)[0] is answers


def test_a_probe_without_an_answer_times_out(monkeypatch):
    assert not ask(monkeypatch, closed())[0]
    with silent() as address:
        answers, seconds = ask(monkeypatch, address)
    assert not answers
    assert seconds < hub.SECONDS + PATIENCE


def test_a_hanging_dns_lookup_times_out(monkeypatch):
    monkeypatch.setattr("socket.getaddrinfo", lambda *_, **__: time.sleep(2 * PATIENCE))
    monkeypatch.setattr(hub, "SECONDS", 0.3)
    answers, seconds = ask(monkeypatch, "http://hub.invalid")
    assert not answers
    assert seconds < PATIENCE


def test_offline_mode_sends_no_request(monkeypatch):
    monkeypatch.setattr(huggingface_hub.constants, "HF_HUB_OFFLINE", True)
    with serving({}) as fake:
        assert not ask(monkeypatch, fake.address)[0]
        with hub.access("someone/model"):
            assert hub.why_unreachable() == "HF_HUB_OFFLINE is set"
        assert huggingface_hub.is_offline_mode()
        assert not fake.requests


def test_the_probe_goes_through_the_proxy(monkeypatch):
    with serving({}) as proxy:
        monkeypatch.setenv("http_proxy", proxy.address)
        monkeypatch.setenv("no_proxy", "")
        huggingface_hub.close_session()
        try:
            assert ask(monkeypatch, "http://hub.invalid")[0]
        finally:
            huggingface_hub.close_session()
        assert proxy.requests == ["HEAD http://hub.invalid/"]


@pytest.mark.parametrize("name", ["my models/bert", "a//b", "no/such/place"])
def test_invalid_hub_names_are_not_probed(name, monkeypatch):
    monkeypatch.setattr(hub, "is_reachable", lambda: pytest.fail("the hub was probed"))
    with hub.access(name):
        assert not huggingface_hub.is_offline_mode()
    assert says(hub.reason(name, OSError()), "name hub")


def test_folders_are_not_probed(tmp_path, monkeypatch):
    monkeypatch.setattr(hub, "is_reachable", lambda: pytest.fail("the hub was probed"))
    with hub.access(tmp_path):
        assert not huggingface_hub.is_offline_mode()


def test_the_library_is_offline_while_the_hub_is_unreachable(monkeypatch):
    monkeypatch.setattr(hub, "endpoint", closed)
    with hub.access("someone/model"):
        with hub.access("someone/other"):
            assert huggingface_hub.is_offline_mode()
            assert "is not reachable" in hub.why_unreachable()
        assert huggingface_hub.is_offline_mode()
    assert not huggingface_hub.is_offline_mode()


def load_each(names: tuple[str, ...]) -> None:
    """Print the result of loading each name, and the time it took."""
    # The library reads its environment variables when it is imported.
    importlib.reload(huggingface_hub.constants)
    metadata.files = missing
    for name in names:
        begin = time.perf_counter()
        try:
            GuidedEncoder.from_pretrained(name)
            lm_head_weights(name, load_encoder_config(name))
            load_tokenizer(name)
            result = "loaded"
        except InputError as error:
            result = str(error)
        print(json.dumps([result, time.perf_counter() - begin]))


def missing(_: str) -> None:
    """No package with a model is installed."""
    raise metadata.PackageNotFoundError


NAMES = (
    "someone/encoder",
    "someone/absent",
    "someone/gated",
    "someone/forbidden",
    "default",
    "multilingual",
)


def load(names: tuple[str, ...], address: str, place: Path) -> list[str]:
    """Load each name in a new process and return the results; none may wait for retries."""
    own = {"HF_ENDPOINT": address, "HF_HOME": str(place / "hf"), "SYNTAGMA_HOME": str(place)}
    child = Child(load_each, names, folder=place, environment=own | {"HF_HUB_OFFLINE": "0"})
    child.require_success()
    assert child.err.read_text() == ""
    found = [json.loads(line) for line in child.out.read_text().splitlines()]
    assert max(seconds for _, seconds in found) < PATIENCE
    return [result for result, _ in found]


def test_each_failure_is_explained_in_one_line(tmp_path, tiny_encoder):
    with serving({"someone/encoder": Path(tiny_encoder)}) as fake:
        loaded, absent, gated, forbidden, default, multilingual = load(
            NAMES, fake.address, tmp_path
        )
        assert loaded == "loaded"
        assert says(absent, "someone/absent hub")
        for result in (gated, forbidden):
            assert f"{fake.address}/someone/" in result
        assert says(default, "default hub")
        assert "`syntagma download multilingual`" in multilingual
        assert "intfloat/multilingual-e5-small" in multilingual
    # Without the hub, fetched models come from the cache, and others fail fast.
    cached, absent, _, _, default, _ = load(NAMES, fake.address, tmp_path)
    assert cached == "loaded"
    assert says(absent, f"cache {fake.address}")
    assert "`syntagma download default` (84 MB, once)" in default
    assert fake.address in default


def test_all_access_goes_through_one_module():
    """Each call that may send a request is inside ``hub.access``."""
    for path in ROOT.rglob("*.py"):
        tree = ast.parse(path.read_text(encoding="utf-8"))
        nodes = list(ast.walk(tree))
        imported = [node.module or "" for node in nodes if isinstance(node, ast.ImportFrom)]
        for node in nodes:
            imported += [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
        is_hub = path.parent == ROOT / "encoders" and path.name in OWN
        assert is_hub or not any(name.startswith("huggingface_hub") for name in imported), path
        guarded = {
            inner
            for node in nodes
            if isinstance(node, ast.With)
            and any("hub.access(" in ast.unparse(item) for item in node.items)
            for inner in ast.walk(node)
        }
        for node in nodes:
            called = ast.unparse(node.func) if isinstance(node, ast.Call) else ""
            theirs = called.startswith(("Auto", "auto.", "GenerationConfig."))
            if called == "cached_file" or (theirs and called.endswith(".from_pretrained")):
                assert node in guarded, f"{path}: {ast.unparse(node)}"
