"""The help explains each command and option, and its examples are valid."""

from __future__ import annotations

import re
import shlex

import pytest
import typer

from syntagma.cli import app
from syntagma.tasks import TASKS

COMMANDS = typer.main.get_command(app).commands


@pytest.mark.parametrize("name", COMMANDS)
def test_every_option_has_a_help_text(name):
    for parameter in COMMANDS[name].params:
        assert parameter.help, f"{name} {parameter.name}"
        assert parameter.help[-1] in ".…", f"{name} {parameter.name}: end the sentence"


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_has_valid_examples(name, run):
    code, shown, _ = run(name, "--help")
    assert code == 0
    lines = shown.partition("Examples:\n")[2].splitlines()
    assert lines
    known = {option for each in COMMANDS[name].params for option in each.opts}
    for line in lines:
        words = shlex.split(line.partition("| ")[2] if "| syntagma" in line else line)
        assert words[:2] == ["syntagma", name], line
        used = {word for word in words if re.match(r"--?\w", word)}
        assert used <= known, line
        required = {each.opts[0] for each in COMMANDS[name].params if each.required}
        assert {option for option in required if option.startswith("-")} <= used, line


def test_the_overview_shows_whole_sentences(run):
    _, shown, _ = run("--help")
    lines = shown.partition("Commands:\n")[2].partition("\n\n")[0].splitlines()
    assert len(lines) == len(COMMANDS)
    assert all(line.endswith(".") and not line.endswith("...") for line in lines)


def test_the_help_lists_the_groups_of_every_task(run):
    _, shown, _ = run("evaluate", "--help")
    listed = " ".join(shown.split()).partition("repeatable. ")[2].partition(". --")[0]
    parts = [part.split(": ") for part in listed.split("; ")]
    found = {task: names for tasks, names in parts for task in tasks.split(", ")}
    expected = {name: ", ".join(task.breakdowns) for name, task in TASKS.items()}
    assert found == {name: names for name, names in expected.items() if names}
