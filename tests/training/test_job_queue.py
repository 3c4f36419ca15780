"""Several processes train a list of runs."""

from __future__ import annotations

import threading
from contextlib import suppress

import pytest

from syntagma.errors import BusyError, InputError
from syntagma.runs.folder import RunFolder
from syntagma.runs.names import METRICS
from syntagma.tasks.experiment import DataSettings, Experiment
from syntagma.training import job_queue
from syntagma.training import run as run_module
from syntagma.training.job_queue import Job, train_all
from syntagma.training.run import train
from tests.messages import naming


@pytest.fixture
def trained(monkeypatch):
    """Record the order in which folders are trained, without training anything."""
    names: list[str] = []

    def train(experiment, folder, *, resume):
        assert resume
        with RunFolder(folder).claimed():
            RunFolder(folder).begin(experiment, resume=True)
            (folder / METRICS).write_text("{}")
            names.append(folder.name)

    monkeypatch.setattr(run_module, "train", train)
    monkeypatch.setattr(job_queue, "PAUSE", 0.01)
    return names


def experiment(**changes):
    return Experiment(task="spans", data=DataSettings(train=["a.json"]), **changes)


def test_runs_are_trained_after_those_that_they_need(trained, tmp_path):
    first, second, third = (tmp_path / name for name in ("first", "second", "third"))
    jobs = [Job(experiment(), second, (first,)), Job(experiment(), third), Job(experiment(), first)]
    lines: list[str] = []
    train_all(jobs, say=lines.append)
    assert trained == ["third", "first", "second"]
    assert lines[0] == f"2/3 to do  {third}"
    train_all(jobs, say=lines.append)
    assert len(trained) == 3
    assert lines[-1] == f"3/3 done   {first}"


def test_missing_requirements_are_named(trained, tmp_path):
    with pytest.raises(InputError, match=naming(f"{tmp_path / 'a'} nowhere")):
        train_all([Job(experiment(), tmp_path / "a", (tmp_path / "nowhere",))])


def test_finished_runs_with_other_settings_are_rejected(trained, tmp_path):
    train_all([Job(experiment(), tmp_path / "a")])
    with pytest.raises(
        InputError, match=naming("guides.ancestor_attention.aggregate_special=False None --out")
    ):
        train_all([Job(experiment(preset="sg-net"), tmp_path / "a")])


def test_a_released_lock_leaves_no_files(tmp_path):
    run = RunFolder(tmp_path / "runs" / "a")
    with run.claimed():
        with (
            pytest.raises(BusyError, match=naming(f"{run.path} another process")),
            run.claimed(),
        ):
            pass
        with pytest.raises(BusyError), run.claimed():
            pass
    with pytest.raises(RuntimeError), run.claimed():
        raise RuntimeError
    assert not any(run.path.parent.iterdir())


def test_only_one_process_holds_a_lock(tmp_path):
    run, inside, most, n_claims = RunFolder(tmp_path / "a"), [], [], []

    def claim():
        for _ in range(100):
            with suppress(BusyError), run.claimed():
                inside.append(1)
                most.append(len(inside))
                n_claims.append(1)
                inside.pop()

    threads = [threading.Thread(target=claim) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert n_claims
    assert set(most) == {1}
    assert not any(tmp_path.iterdir())


def test_folders_that_cannot_be_written_are_rejected(tmp_path):
    (tmp_path / "file").write_text("")
    with (
        pytest.raises(InputError, match=naming(f"{tmp_path / 'file'}/a")),
        RunFolder(tmp_path / "file/a").claimed(),
    ):
        pass


def test_runs_that_other_processes_train_are_waited_for(trained, tmp_path):
    held, free = tmp_path / "held", tmp_path / "free"
    released = threading.Event()

    def say(line):
        if "free" in line:
            released.set()

    claim = RunFolder(held).claimed()
    claim.__enter__()
    thread = threading.Thread(
        target=train_all, args=([Job(experiment(), held), Job(experiment(), free)],),
        kwargs={"say": say},
    )  # fmt: skip
    thread.start()
    assert released.wait(10)
    assert not (held / METRICS).exists()
    claim.__exit__(None, None, None)
    thread.join(10)
    assert trained == ["free", "held"]


def test_two_processes_never_train_in_one_folder(tmp_path):
    folder = tmp_path / "a"
    with (
        RunFolder(folder).claimed(),
        pytest.raises(BusyError, match=naming(f"{folder} another process")),
    ):
        train(experiment(), folder)
    assert not folder.exists()
