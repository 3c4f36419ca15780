"""The next write removes unfinished output of killed processes, but not of running ones."""

from __future__ import annotations

import errno
import os
import threading
import time
from contextlib import ExitStack
from pathlib import Path

import pytest
from filelock import FileLock

from syntagma import outputs
from syntagma.drafts import new_draft, remove_abandoned, remove_free_locks
from syntagma.errors import BusyError
from syntagma.outputs import hold_folder, write_file, write_folder, write_text
from syntagma.parse.sources.cache import ParseCache
from syntagma.parse.sources.load import load_source
from tests.messages import naming
from tests.processes import Child


def write_slowly(place: Path, kind: str) -> None:
    """Write a file or a folder, and finish once there is a file named ``go``."""
    write = {"file": write_file, "folder": write_folder}[kind]
    with write(place / "result.json") as draft:
        (draft / "part" if kind == "folder" else draft).write_text("half")
        (place / "begun").touch()
        while not (place / "go").exists():
            time.sleep(0.01)
    (place / "written").touch()


def hold_forever(place: Path) -> None:
    with hold_folder(place / "run"):
        (place / "begun").touch()
        time.sleep(600)


def start(function, place, *arguments, folder):
    place.mkdir(exist_ok=True)
    process = Child(function, place, *arguments, folder=folder)
    deadline = time.monotonic() + 60
    while not (place / "begun").exists():
        assert process.is_running, process.err.read_text()
        assert time.monotonic() < deadline
        time.sleep(0.01)
    (place / "begun").unlink()
    return process


def hidden_files(folder):
    return sorted(path.name for path in folder.glob(".*"))


@pytest.mark.parametrize("kind", ["file", "folder"])
@pytest.mark.parametrize("next_write", ["same", "other", "folder"])
def test_files_left_by_a_killed_process_are_removed_by_the_next_write(tmp_path, kind, next_write):
    place = tmp_path / "place"
    start(write_slowly, place, kind, folder=tmp_path).kill()
    assert len(hidden_files(place)) == 2, "the draft and its lock"
    if next_write == "folder":
        with write_folder(place / "made") as draft:
            (draft / "x").touch()
    else:
        write_text(place / ("result.json" if next_write == "same" else "other.txt"), "new")
    assert hidden_files(place) == []


@pytest.mark.parametrize("kind", ["file", "folder"])
def test_the_draft_of_a_running_process_is_kept(tmp_path, kind):
    place = tmp_path / "place"
    process = start(write_slowly, place, kind, folder=tmp_path)
    before = hidden_files(place)
    for number in range(3):
        write_text(place / f"{number}.txt", "other")
        remove_abandoned(place)
    assert hidden_files(place) == before
    (place / "go").touch()
    process.require_success(60)
    result = place / "result.json"
    assert (result / "part" if kind == "folder" else result).read_text() == "half"
    assert hidden_files(place) == []


def test_threads_do_not_remove_the_drafts_of_other_threads(tmp_path):
    errors = []

    def write_often(number):
        try:
            for turn in range(20):
                write_text(tmp_path / "shared.txt", f"{number} {turn}")
                with write_folder(tmp_path / f"{number}-{turn}") as draft:
                    (draft / "x").write_text("x")
        except BaseException as error:
            errors.append(error)

    threads = [threading.Thread(target=write_often, args=[number]) for number in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert errors == []
    assert hidden_files(tmp_path) == []
    assert len([*tmp_path.glob("*/x")]) == 120


def test_other_files_with_similar_names_are_kept(tmp_path):
    names = [".result.json.12345678.json", ".x.draft-12345.txt", "x.draft-0123456789ab", ".x.lock"]
    for name in names:
        (tmp_path / name).touch()
    write_text(tmp_path / "result.json", "new")
    assert sorted(os.listdir(tmp_path)) == sorted([*names, "result.json"])


@pytest.mark.parametrize("error", [OSError(errno.ENOSYS, "no locks"), NotImplementedError()])
def test_without_file_locks_files_are_written_and_no_draft_is_removed(tmp_path, monkeypatch, error):
    with monkeypatch.context() as patched:
        patched.setattr(FileLock, "acquire", lambda *_, **__: (_ for _ in ()).throw(error))
        with new_draft(tmp_path / "living.txt", ".txt") as draft:
            draft.write_text("half")
            write_text(tmp_path / "other.txt", "new")
            assert draft.read_text() == "half"
            # A machine with file locks that shares the folder does not remove it either.
            patched.undo()
            write_text(tmp_path / "other.txt", "newer")
            assert draft.read_text() == "half"
    assert os.listdir(tmp_path) == ["other.txt"]


def test_a_long_name_can_be_written(tmp_path):
    path = tmp_path / ("é" * 120 + ".txt")
    write_text(path, "long")
    with write_folder(tmp_path / ("é" * 125)) as draft:
        (draft / "x").touch()
    assert path.read_text() == "long"
    assert len(os.listdir(tmp_path)) == 2


@pytest.mark.skipif(not os.path.exists("/dev/null"), reason="needs a device")
def test_output_to_a_device_leaves_nothing_behind(tmp_path, monkeypatch):
    monkeypatch.setattr(outputs.tempfile, "gettempdir", lambda: str(tmp_path))
    with write_file("/dev/null") as draft:
        assert draft.is_relative_to(tmp_path)
        assert draft.parent.stat().st_mode & 0o077 == 0, "no one else can read it"
    assert os.listdir(tmp_path) == []


def test_the_lock_of_a_killed_process_is_taken_over_and_removed(tmp_path):
    place = tmp_path / "place"
    start(hold_forever, place, folder=tmp_path).kill()
    assert hidden_files(place) == [".run.lock"]
    with hold_folder(place / "run"):
        pass
    assert hidden_files(place) == []


def test_a_held_folder_is_an_error_or_waited_for(tmp_path):
    folder = tmp_path / "new" / "run"
    waited = []
    with ExitStack() as first:
        first.enter_context(hold_folder(folder))
        with (
            pytest.raises(BusyError, match=naming(f"{folder} another folder")),
            hold_folder(folder),
        ):
            pass

        def release():
            waited.append(folder)
            first.close()

        with hold_folder(folder, when_busy=release):
            assert waited == [folder]


def test_a_parse_cache_removes_files_left_by_killed_processes(tmp_path):
    source = load_source("linear")
    folder = ParseCache(source, tmp_path).folder
    folder.mkdir(parents=True)
    start(write_slowly, folder, "file", folder=tmp_path).kill()
    (folder / f".{'0' * 32}.lock").touch()
    held = folder / f".{'1' * 32}.lock"
    with FileLock(held):
        ParseCache(source, tmp_path)
        assert hidden_files(folder) == [held.name]
    remove_free_locks(folder, ".*.lock")
    assert hidden_files(folder) == []
