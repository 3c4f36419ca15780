"""The quick start, as a new user runs it, with every socket blocked."""

from __future__ import annotations

import json
import os
import socket
from pathlib import Path

import pytest

from syntagma.cli import main
from syntagma.encoders.default import find_default
from tests.processes import Child

ROOT = Path(__file__).parent.parent
pytestmark = pytest.mark.skipif(
    find_default() is None, reason="no default encoder: `syntagma download default`"
)


def refuse(*_, **__):
    raise OSError("the network is blocked")


def run_offline(folder, *arguments):
    """A command in a folder, without a network."""
    os.chdir(folder)
    socket.socket.connect = socket.socket.connect_ex = refuse
    socket.create_connection = socket.getaddrinfo = refuse
    main([str(argument) for argument in arguments])


def syntagma(*arguments, cwd):
    child = Child(run_offline, cwd, *arguments, folder=cwd)
    child.require_success()
    return child.out.read_text()


def demo_command() -> list[str]:
    """What `make demo` runs, read from the Makefile."""
    lines = (ROOT / "Makefile").read_text().splitlines()
    (line,) = [line for line in lines if line.strip().startswith("$(BIN)/syntagma answer")]
    example = next(line for line in lines if line.startswith("EXAMPLE := ")).split()[-1]
    return line.strip().replace("$(EXAMPLE)", example).split()[1:]


def test_the_demo_answers_five_questions_and_writes_a_page(tmp_path):
    (tmp_path / "examples").symlink_to(ROOT / "examples")
    (tmp_path / "demo").mkdir()
    answers = tmp_path / "answers.json"
    shown = syntagma(*demo_command(), "--json", answers, cwd=tmp_path)
    found = json.loads(answers.read_text())["answers"]
    assert len(found) == 5
    questions = (ROOT / "examples" / "ferry.questions").read_text().splitlines()
    assert [answer["question"] for answer in found] == questions
    texts = [answer["text"] for answer in found]
    assert texts[-1] == "", "the passage does not say who was captain"
    assert "Mensah" in texts[0]
    assert "oak" in texts[2]
    for answer in found[:-1]:
        assert answer["question"] in shown
    page = (tmp_path / "demo" / "ferry.html").read_text()
    assert "Perseverance" in page
    assert "http://" not in page.replace("http://www.w3.org", "")


def test_parsing_works_without_a_network(tmp_path):
    (tmp_path / "a.txt").write_text("Nobody was hurt, but the engine couldn't be saved.\n")
    shown = syntagma("parse", "a.txt", cwd=tmp_path)
    rows = [line.split("\t") for line in shown.splitlines() if line.split("\t")[0].isdigit()]
    forms = [row[1] for row in rows]
    assert forms[8:10] == ["could", "n't"] or "n't" in forms
    assert [row[7] for row in rows].count("root") == 1
    by_form = {row[1]: row for row in rows}
    assert by_form["engine"][3] == "NOUN"
    assert rows[int(by_form["engine"][6]) - 1][1] == "saved"
