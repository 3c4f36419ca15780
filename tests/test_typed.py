"""Type checkers know the public names: a program that uses all of them has no unknown type."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

import syntagma

PROJECT = Path(__file__).parent / "typed"


def test_the_program_uses_every_public_name():
    program = (PROJECT / "program.py").read_text(encoding="utf-8")
    body = program.partition("\nTEXT = ")[2]
    for name in syntagma.__all__:
        assert re.search(rf"\b{name}\b", body), name


def test_the_package_says_that_it_is_typed():
    assert (Path(syntagma.__file__).parent / "py.typed").is_file()


@pytest.mark.slow
@pytest.mark.skipif(find_spec("basedpyright") is None, reason="basedpyright is not installed")
def test_the_program_has_no_errors_in_strict_mode():
    # Pyright without the network: the package brings its own Node.
    command = [sys.executable, "-m", "basedpyright", "--outputjson", "--project", str(PROJECT)]
    command += ["--pythonpath", sys.executable]
    done = subprocess.run(command, capture_output=True, text=True)
    found = json.loads(done.stdout)
    assert found["summary"]["filesAnalyzed"] == 1
    problems = [
        f"line {each['range']['start']['line'] + 1}: {each['message']}"
        for each in found["generalDiagnostics"]
    ]
    assert problems == []
