"""Commands, options and values are completed in bash, zsh and fish."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys

import pytest

NO_DETECTION = "_TYPER_COMPLETE_TEST_DISABLE_SHELL_DETECTION"
PROGRAM = """\
#!{python}
from syntagma.__main__ import program
program()
"""


@pytest.fixture
def complete(run, monkeypatch):
    """Complete the last word as bash asks for it."""

    def call(*words: str) -> list[str]:
        monkeypatch.setenv("_SYNTAGMA_COMPLETE", "complete_bash")
        monkeypatch.setenv("COMP_WORDS", "\n".join(["syntagma", *words]))
        monkeypatch.setenv("COMP_CWORD", str(len(words)))
        return run()[1].split()

    return call


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (["pa"], {"parse", "pack"}),
        (["parse", "--to", ""], {"conllu", "json", "brackets", "svg"}),
        (["parse", "--parser", "def"], {"default-parser"}),
        (["download", "m"], {"multilingual", "multilingual-parser"}),
        (["answer", "a.txt", "--mode", "b"], {"balanced"}),
        (["settings", "sp"], {"spans"}),
        (["train", "--q"], {"--quiet"}),
        (["parse", "no-such-fi"], set()),  # The shell then completes names of files.
    ],
)
def test_words_are_completed(complete, words, expected):
    assert set(complete(*words)) == expected


def test_completion_runs_nothing(complete, tmp_path):
    (tmp_path / "mine.py").write_text("raise SystemExit('imported')")
    assert "--quiet" in complete("parse", "--import", str(tmp_path / "mine.py"), "--q")
    assert "--quiet" in complete("evaluate", "m", "d", "--json", str(tmp_path), "--q")


@pytest.mark.parametrize(
    ("shell", "written"),
    [
        ("bash", ".bash_completions/syntagma.sh"),
        ("zsh", ".zfunc/_syntagma"),
        ("fish", ".config/fish/completions/syntagma.fish"),
    ],
)
def test_one_command_installs_it(tmp_path, shell, written):
    # The command asks for its parent process, so that a shell must start it; naming the shell is
    # how Typer tests it.
    program = tmp_path / "syntagma"
    program.write_text(PROGRAM.format(python=sys.executable))
    program.chmod(0o755)
    path = f"{tmp_path}{os.pathsep}{os.environ['PATH']}"
    environment = {**os.environ, "HOME": str(tmp_path), "PATH": path, NO_DETECTION: "1"}
    command = [str(program), "--install-completion", shell]
    subprocess.run(command, env=environment, check=True, capture_output=True)
    script = (tmp_path / written).read_text()
    assert re.search(rf"_SYNTAGMA_COMPLETE=complete_{shell}", script)
    if shell == "bash" and shutil.which("bash"):
        lines = f"source {tmp_path / written}; COMP_WORDS=(syntagma eva); COMP_CWORD=1; "
        lines += '_syntagma_completion syntagma; echo "${COMPREPLY[@]}"'
        done = subprocess.run(
            ["bash", "-c", lines], env=environment, check=True, capture_output=True, text=True
        )
        assert done.stdout.split() == ["evaluate"]
