"""Differences from Linux on macOS and Windows: encodings, system calls, deleting open files."""

from __future__ import annotations

import ast
import multiprocessing
import os
import subprocess
import sys
from pathlib import Path

import pytest

from syntagma import cpu_threads
from syntagma.parse.corpora import local_engine, runner
from syntagma.parse.sources.cache import ParseCache
from syntagma.parse.sources.controls import ChainSource

TEXT = "Zoë sah Łódź — 東京.\n"


def run_in_ascii(*arguments):
    """The bytes that a command prints where the locale is not UTF-8."""
    done = subprocess.run(
        [sys.executable, "-m", "syntagma", *map(str, arguments)],
        capture_output=True,
        env=os.environ | {"PYTHONIOENCODING": "ascii"},
        check=True,
    )
    return done.stdout


@pytest.mark.slow
def test_parses_are_utf8_whatever_the_locale(tmp_path, tiny_parser):
    text = tmp_path / "log.txt"
    text.write_text(TEXT, encoding="utf-8")
    printed = run_in_ascii("parse", text, "--parser", tiny_parser)
    lines = printed.decode("utf-8").splitlines()
    assert f"# text = {TEXT.strip()}" in lines
    words = [line.split("\t")[1] for line in lines if line and not line.startswith("#")]
    assert {"Zoë", "Łódź"} <= set(words)
    assert b"\r" not in printed


@pytest.mark.slow
def test_answers_are_utf8_in_a_pipe(tmp_path):
    text = tmp_path / "log.txt"
    text.write_text("The ferry Łódź left at noon.\n", encoding="utf-8")
    printed = run_in_ascii("answer", text, "When did Łódź leave?").decode("utf-8")
    assert "When did Łódź leave?" in printed


def test_cores_are_counted_without_sched_getaffinity(monkeypatch):
    monkeypatch.delattr(os, "process_cpu_count", raising=False)
    monkeypatch.delattr(os, "sched_getaffinity", raising=False)
    monkeypatch.setattr(cpu_threads, "cpu_quota", lambda: None)
    monkeypatch.setattr(os, "cpu_count", lambda: 3)
    assert runner._devices("cpu", None) == ["cpu"] * 3
    monkeypatch.setattr(os, "cpu_count", lambda: None)
    assert runner._devices("cpu", None) == ["cpu"]


def test_workers_are_spawned_on_systems_without_fork(monkeypatch):
    monkeypatch.setattr(multiprocessing, "get_all_start_methods", lambda: ["spawn"])
    context, _ = local_engine._context()
    assert context.get_start_method() == "spawn"


def test_a_lock_file_that_cannot_be_removed_while_open_is_kept(tmp_path, monkeypatch):
    remove = Path.unlink

    def refuse(path, missing_ok=False):
        if path.suffix == ".lock":
            raise PermissionError(13, "The process cannot access the file")
        remove(path, missing_ok=missing_ok)

    monkeypatch.setattr(Path, "unlink", refuse)
    cache = ParseCache(ChainSource(), tmp_path)
    assert len(cache.parsed(["A gull cried."])) == 1
    assert len(ParseCache(ChainSource(), tmp_path).parsed(["A gull cried.", "It left."])) == 2


@pytest.mark.parametrize("name", ["fcntl", "resource", "pwd", "grp", "termios"])
def test_modules_that_windows_lacks_are_imported_where_they_may_be_missing(name):
    root = Path(runner.__file__).parents[2]
    for path in root.rglob("*.py"):
        tree = ast.parse(path.read_text(encoding="utf-8"))
        tried = {
            statement
            for node in ast.walk(tree)
            if isinstance(node, ast.Try)
            and any(getattr(each.type, "id", "") == "ImportError" for each in node.handlers)
            for statement in node.body
        }
        for node in ast.walk(tree):
            if isinstance(node, ast.Import) and any(alias.name == name for alias in node.names):
                assert node in tried, path
