"""Threads and their spinning are chosen before torch is imported, where the user has not chosen."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from syntagma import cpu_threads
from syntagma.cli.doctor import report
from syntagma.errors import InputError
from syntagma.parse.corpora import local_engine
from tests.messages import naming

LINUX = pytest.mark.skipif(sys.platform != "linux", reason="control groups and libgomp")
USERS = [*cpu_threads._COUNTS, *cpu_threads._WAITING, "OPENBLAS_NUM_THREADS", "SYNTAGMA_THREADS"]


@pytest.fixture
def machine(monkeypatch):
    """A Linux machine with eight cores and no quota; returns a function that sets one."""
    monkeypatch.setattr(sys, "platform", "linux")
    monkeypatch.setattr(cpu_threads, "_cores", lambda: 8)
    monkeypatch.setattr(cpu_threads, "_physical_cores", lambda: 4)

    def limit(quota):
        monkeypatch.setattr(cpu_threads, "cpu_quota", lambda: quota)

    limit(None)
    return limit


def write(root, **files):
    """Write files whose paths have ``__`` for ``/`` and ``_dot_`` for ``.``."""
    for name, text in files.items():
        path = root / name.replace("__", "/").replace("_dot_", ".")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)


def test_short_spinning_is_the_default(machine):
    assert cpu_threads.variables({})["GOMP_SPINCOUNT"] == "10000"
    assert "GOMP_SPINCOUNT" not in cpu_threads.variables({"SYNTAGMA_THREADS": "throughput"})


@pytest.mark.parametrize("name", ["GOMP_SPINCOUNT", "OMP_WAIT_POLICY"])
def test_the_users_way_of_waiting_is_kept(machine, name):
    assert "GOMP_SPINCOUNT" not in cpu_threads.variables({name: "x"})


@pytest.mark.parametrize("name", ["OMP_NUM_THREADS", "MKL_NUM_THREADS"])
def test_the_users_number_of_threads_is_kept(machine, name):
    machine(2.0)
    assert "OMP_NUM_THREADS" not in cpu_threads.variables({name: "3"})


@pytest.mark.parametrize("platform", ["darwin", "win32"])
def test_other_systems_have_another_openmp(machine, monkeypatch, platform):
    monkeypatch.setattr(sys, "platform", platform)
    assert "GOMP_SPINCOUNT" not in cpu_threads.variables({})


@pytest.mark.parametrize(
    ("quota", "threads"),
    [(None, None), (0.2, "1"), (1.0, "1"), (1.25, "1"), (1.5, "2"), (6.0, "4")],
)
def test_threads_fit_the_quota_and_the_physical_cores(machine, quota, threads):
    machine(quota)
    for setting in cpu_threads.SPINS:
        found = cpu_threads.variables({"SYNTAGMA_THREADS": setting})
        assert found.get("OMP_NUM_THREADS") == threads


def test_workers_fit_the_quota(machine):
    assert cpu_threads.available_cores() == 8
    machine(2.7)
    assert cpu_threads.available_cores() == 3
    machine(64.0)
    assert cpu_threads.available_cores() == 8


def test_an_unknown_setting_is_an_error():
    with pytest.raises(InputError, match=naming("SYNTAGMA_THREADS shared throughput fast")):
        cpu_threads.variables({"SYNTAGMA_THREADS": "fast"})


def test_a_call_after_torch_is_an_error():
    with pytest.raises(InputError, match=naming("before torch doctor")):
        cpu_threads.choose_threads()


def test_quota_of_version_2_is_the_least_of_all_groups(tmp_path):
    assert cpu_threads.cpu_quota(tmp_path) is None
    write(tmp_path, proc__self__cgroup="0::/jobs/one\n")
    write(tmp_path, sys__fs__cgroup__jobs__one__cpu_dot_max="max 100000\n")
    assert cpu_threads.cpu_quota(tmp_path) is None
    write(tmp_path, sys__fs__cgroup__jobs__cpu_dot_max="150000 100000\n")
    assert cpu_threads.cpu_quota(tmp_path) == 1.5
    write(tmp_path, sys__fs__cgroup__cpu_dot_max="400000 100000\n")
    assert cpu_threads.cpu_quota(tmp_path) == 1.5


def test_quota_of_version_1_in_a_container_with_the_path_of_the_host(tmp_path):
    write(tmp_path, proc__self__cgroup="4:memory:/docker/a\n3:cpu,cpuacct:/docker/a\n")
    mount = tmp_path / "sys/fs/cgroup/cpu,cpuacct"
    mount.mkdir(parents=True)
    (mount / "cpu.cfs_period_us").write_text("100000\n")
    (mount / "cpu.cfs_quota_us").write_text("-1\n")
    assert cpu_threads.cpu_quota(tmp_path) is None
    (mount / "cpu.cfs_quota_us").write_text("250000\n")
    assert cpu_threads.cpu_quota(tmp_path) == 2.5


@pytest.mark.parametrize("text", ["", "0 100000", "100000 0", "many few", "1 2 3"])
def test_an_unreadable_quota_is_none(tmp_path, text):
    write(tmp_path, proc__self__cgroup="0::/\n", sys__fs__cgroup__cpu_dot_max=text)
    assert cpu_threads.cpu_quota(tmp_path) is None


@LINUX
def test_hyperthreads_of_a_core_count_once(tmp_path, monkeypatch):
    monkeypatch.setattr(os, "sched_getaffinity", lambda process: {0, 1, 2, 7})
    for number, siblings in {0: "0,4", 1: "1", 2: "2,7", 7: "2,7"}.items():
        folder = tmp_path / f"sys/devices/system/cpu/cpu{number}/topology"
        folder.mkdir(parents=True)
        (folder / "thread_siblings_list").write_text(f"{siblings}\n")
    assert cpu_threads._physical_cores(tmp_path) == 3


def run_python(code, **variables):
    """Run code in a process in which the user has set these variables only."""
    users = {name: value for name, value in os.environ.items() if name not in USERS}
    return subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, env=users | variables
    )


@LINUX
def test_libgomp_reads_what_was_chosen():
    code = "from syntagma.cpu_threads import choose_threads; choose_threads(); import torch"
    shown = run_python(code, OMP_DISPLAY_ENV="verbose").stderr
    assert "GOMP_SPINCOUNT = '10000'" in shown
    shown = run_python(code, OMP_DISPLAY_ENV="verbose", GOMP_SPINCOUNT="77").stderr
    assert "GOMP_SPINCOUNT = '77'" in shown


@LINUX
def test_the_command_line_chooses_first():
    code = (
        "import os, sys; from syntagma.cli import main\n"
        "try: main(['--version'])\n"
        "finally: print(os.environ.get('GOMP_SPINCOUNT'), 'torch' in sys.modules)"
    )
    assert run_python(code).stdout.split()[-2:] == ["10000", "False"]
    done = run_python(code, SYNTAGMA_THREADS="fast")
    assert done.returncode == 2
    assert len(done.stderr.splitlines()) == 1
    assert "SYNTAGMA_THREADS" in done.stderr


def test_workers_have_one_thread_each(monkeypatch):
    monkeypatch.setenv("OMP_NUM_THREADS", "5")
    monkeypatch.delenv("OPENBLAS_NUM_THREADS", raising=False)
    with local_engine._variables_of_workers():
        assert os.environ["OMP_NUM_THREADS"] == os.environ["OPENBLAS_NUM_THREADS"] == "1"
    assert os.environ["OMP_NUM_THREADS"] == "5"
    assert "OPENBLAS_NUM_THREADS" not in os.environ


def test_doctor_says_what_to_export(monkeypatch):
    for name in USERS:
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(cpu_threads, "chosen", {"GOMP_SPINCOUNT": "10000"})
    monkeypatch.setenv("GOMP_SPINCOUNT", "10000")
    monkeypatch.setenv("OMP_NUM_THREADS", "3")
    text = "\n".join(report())
    assert "SYNTAGMA_THREADS=shared (the default)" in text
    assert "GOMP_SPINCOUNT=10000 (set by syntagma)" in text
    assert "OMP_NUM_THREADS=3 (yours)" in text
    assert "export GOMP_SPINCOUNT=10000" in text


def test_the_collector_is_as_usual_after_its_first_run():
    code = (
        "import gc; from syntagma.__main__ import _collect_later\n"
        "usual = gc.get_threshold(); _collect_later()\n"
        "assert gc.get_threshold()[0] > 100_000\n"
        "gc.collect(); assert gc.get_threshold() == usual\n"
        "frozen = gc.get_freeze_count(); assert frozen > 1000\n"
        "kept = [[] for _ in range(5000)]; gc.collect(); assert gc.get_freeze_count() == frozen"
    )
    done = run_python(code)
    assert done.returncode == 0, done.stderr
