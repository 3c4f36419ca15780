"""Annotation by several processes writes the same shards, whichever of them is killed."""

from __future__ import annotations

import multiprocessing
import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path
from types import ModuleType, SimpleNamespace

import pytest

pytest.importorskip("pyarrow")

from syntagma.errors import InputError, MissingExtraError
from syntagma.parse.corpora import runner
from tests.corpora import annotate, contents, settings, text_file
from tests.messages import naming
from tests.processes import Child


@pytest.fixture(scope="module")
def large(tmp_path_factory):
    """A text file and the shards that one process makes of it."""
    folder = tmp_path_factory.mktemp("processes")
    path = text_file(folder / "a.txt", copies=300)
    annotate([path], folder / "whole", settings(shard_characters=2000))
    return path, contents(folder / "whole")


def run(path, out, workers, engine="local"):
    """Start an annotation, or resume it."""
    chosen = settings(shard_characters=2000)
    runner.annotate([path], out, chosen, workers=workers, resume=True, engine=engine)


def run_on_ray(path, out):
    import ray

    ray.init(num_cpus=2, log_to_driver=False, include_dashboard=False)
    try:
        run(path, out, 2, "ray")
    finally:
        ray.shutdown()


def n_shards(out):
    return len(list(out.glob("0*.parquet")))


@pytest.mark.slow
def test_a_run_killed_at_any_moment_can_be_resumed(large, tmp_path):
    path, whole = large
    out = tmp_path / "out"
    for workers, count in ((1, 3), (2, 20), (1, 45)):
        process = Child(run, path, out, workers, folder=tmp_path, has_children=True)
        deadline = time.monotonic() + 240
        while n_shards(out) < count:
            assert process.is_running, process.err.read_text()
            assert time.monotonic() < deadline
            time.sleep(0.01)
        process.kill()
    assert n_shards(out) < len(whole) - 2
    annotate([path], out, settings(shard_characters=2000), resume=True)
    assert contents(out) == whole


@pytest.mark.slow
def test_a_killed_worker_stops_the_run_without_losses(large, tmp_path):
    path, whole = large
    out = tmp_path / "out"
    workers: list[int] = []

    def kill():
        deadline = time.monotonic() + 240
        while n_shards(out) < 3 and time.monotonic() < deadline:
            time.sleep(0.01)
        workers.extend(each.pid for each in multiprocessing.active_children())
        os.kill(workers[-1], signal.SIGKILL)

    killer = threading.Thread(target=kill)
    killer.start()
    with pytest.raises(InputError, match=naming("worker killed --resume --workers")):
        run(path, out, 2)
    killer.join()
    assert len(workers) == 2
    for pid in workers:
        # No worker outlives the run.
        deadline = time.monotonic() + 60
        while Path(f"/proc/{pid}").exists() and time.monotonic() < deadline:
            time.sleep(0.05)
        assert not Path(f"/proc/{pid}").exists()
    annotate([path], out, settings(shard_characters=2000), resume=True)
    assert contents(out) == whole


@pytest.mark.slow
def test_processes_of_the_caller_are_left_alone(tmp_path):
    process = Child(time.sleep, 600, folder=tmp_path)
    annotate([text_file(tmp_path / "a.txt")], tmp_path / "out", settings(), workers=2)
    assert process.join(1) is None  # The time that a signal takes.
    process.kill()


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="looks processes up in /proc")
def test_runs_killed_at_random_moments_leave_no_process_and_lose_nothing():
    """A short version of scripts/kill_annotation.py, which kills a hundred times."""
    path = Path(__file__).parents[2] / "scripts" / "kill_annotation.py"
    command = [sys.executable, str(path), "--kills", "5", "--seed", "2"]
    found = subprocess.run(command, capture_output=True, text=True, timeout=600)
    assert found.returncode == 0, found.stdout + found.stderr[-2000:]
    assert "5 kills: all resumed, no process left" in found.stdout


class Rows:
    """A stand-in for a Ray dataset that computes in this process."""

    def __init__(self, rows):
        self.rows = rows

    def flat_map(self, function, **_):
        return Rows([found for row in self.rows for found in function(row)])

    def map(self, worker, *, fn_constructor_args, **_):
        return Rows(map(worker(*fn_constructor_args), self.rows))

    def iter_rows(self):
        return iter(self.rows)


@pytest.fixture
def fake_ray(monkeypatch):
    """A stand-in for the part of Ray that is used, without a cluster."""
    ray, data = ModuleType("ray"), ModuleType("ray.data")
    ray.data, ray.is_initialized = data, lambda: True
    data.DataContext = SimpleNamespace(get_current=SimpleNamespace)
    data.ActorPoolStrategy = SimpleNamespace
    data.from_items = lambda rows, **_: Rows(rows)
    for module in (ray, data):
        monkeypatch.setitem(sys.modules, module.__name__, module)


def test_workers_of_a_cluster_write_the_same_shards(fake_ray, tmp_path):
    path = text_file(tmp_path / "a.txt")
    annotate([path], tmp_path / "whole", settings())
    annotate([path], tmp_path / "out", settings(), engine="ray")
    assert contents(tmp_path / "out") == contents(tmp_path / "whole")
    (tmp_path / "out" / "00000-000001.parquet").unlink()
    annotate([path], tmp_path / "out", settings(), engine="ray", resume=True)
    assert contents(tmp_path / "out") == contents(tmp_path / "whole")


def test_a_run_that_skips_records_can_be_resumed_on_a_cluster(fake_ray, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("a.jsonl").write_text('{"text": "A gull."}\n{"body": "x"}\n{\n')
    chosen, out = settings(kind="jsonl", skip_bad=True), tmp_path / "out"
    annotate(["a.jsonl"], out, chosen)
    before = contents(out)
    next(out.glob("*.parquet")).unlink()
    annotate(["a.jsonl"], out, chosen, engine="ray", resume=True)
    assert contents(out) == before


def test_errors_on_a_cluster_are_reported(fake_ray, tmp_path, monkeypatch):
    (tmp_path / "a.jsonl").write_text('{"text": "A gull."}\n{"body": "x"}\n')
    chosen = settings(kind="jsonl")
    with pytest.raises(InputError, match=naming("a.jsonl line 2 --skip-bad")):
        annotate([str(tmp_path / "a.jsonl")], tmp_path / "out", chosen, engine="ray")
    with pytest.raises(InputError, match=naming("--engine ray input")):
        annotate(["-"], tmp_path / "other", settings(), engine="ray")
    monkeypatch.setitem(sys.modules, "ray", None)
    with pytest.raises(MissingExtraError, match=naming("'.[cluster]'")):
        annotate([text_file(tmp_path / "a.txt")], tmp_path / "third", settings(), engine="ray")


@pytest.mark.slow
def test_a_ray_cluster_with_a_worker_on_every_core_writes_the_same_shards(large, tmp_path):
    pytest.importorskip("ray")
    process = Child(run_on_ray, large[0], tmp_path / "out", folder=tmp_path, has_children=True)
    try:
        process.require_success(300)
    finally:
        process.kill()
    assert contents(tmp_path / "out") == large[1]
