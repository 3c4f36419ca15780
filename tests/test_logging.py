"""The logger ``syntagma`` belongs to the user: the library sets no handler and no level."""

from __future__ import annotations

import ast
import logging
import pickle
import subprocess
import sys
from pathlib import Path

import pytest

import syntagma
from syntagma.lifeline import pack_start
from syntagma.tasks.collect import warn_of_skipped

PACKAGE = Path(syntagma.__file__).parent
ADDED_TO_LOGS = {"addHandler", "basicConfig", "setLevel", "dictConfig", "fileConfig", "lastResort"}
SCRIPT = """
import logging
from syntagma.tasks import TASKS
from syntagma.evaluation import open_model
from syntagma.tasks.spans.reader import Reader

names = [name for name in logging.root.manager.loggerDict if name.startswith("syntagma")]
loggers = list(map(logging.getLogger, names))
assert names and "syntagma" in {name.partition(".")[0] for name in names}
assert not any(each.handlers for each in loggers)
assert {each.level for each in loggers} == {logging.NOTSET}
assert all(each.propagate for each in loggers)
"""


def calls(path: Path) -> set[str]:
    tree = ast.parse(path.read_text(encoding="utf-8"))
    return {node.attr for node in ast.walk(tree) if isinstance(node, ast.Attribute)}


def test_only_the_command_line_configures_logs():
    found = {
        path.relative_to(PACKAGE).as_posix()
        for path in PACKAGE.rglob("*.py")
        if calls(path) & ADDED_TO_LOGS
    }
    ours = {name for name in found if not name.startswith("cli/")}
    # The level of another library's logger, and that of a worker, which its parent's user set.
    assert ours == {"retrieval/bm25.py", "lifeline.py"}


def test_all_loggers_are_below_one():
    for path in PACKAGE.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call) and getattr(node.func, "attr", "") == "getLogger":
                name = node.args[0] if node.args else None
                if isinstance(name, ast.Constant):
                    assert name.value.partition(".")[0] in ("syntagma", "bm25s"), path
                elif name is None:
                    assert "cli" in path.parts, path
                else:
                    assert ast.unparse(name) == "__name__", path


def test_importing_adds_no_handler_and_no_level():
    subprocess.run([sys.executable, "-c", SCRIPT], check=True)


@pytest.fixture
def log():
    found = logging.getLogger("syntagma")
    before = found.level, found.propagate, list(found.handlers)
    yield found
    found.level, found.propagate, found.handlers = before
    found.manager._clear_cache()


def test_users_send_warnings_where_they_want(log, capsys):
    lines = []

    class Keep(logging.Handler):
        def emit(self, record):
            lines.append((record.name, record.getMessage()))

    log.addHandler(Keep())
    log.propagate = False
    warn_of_skipped("tides.json", ["line 2: expected a question"], "questions")
    ((name, message),) = lines
    assert name == "syntagma.tasks.collect"
    assert "tides.json" in message
    assert capsys.readouterr().err == ""


def test_users_turn_warnings_off(log, caplog):
    warn_of_skipped("tides.json", ["line 2"], "questions")
    assert len(caplog.records) == 1
    log.setLevel(logging.ERROR)
    warn_of_skipped("tides.json", ["line 2"], "questions")
    assert len(caplog.records) == 1


def test_workers_get_the_level(log):
    log.setLevel(logging.ERROR)
    assert pickle.loads(pack_start(print))[-1] == logging.ERROR
