"""Without an optional package, a command names the extra that installs it, in one line."""

from __future__ import annotations

import subprocess
import sys
import textwrap
import tomllib
from pathlib import Path

import pytest

from syntagma import errors
from syntagma.errors import MissingExtraError, how_to_install, install_command
from tests.builders import dream, squad
from tests.messages import one_line, says

ROOT = Path(__file__).parents[2]
RUN_WITHOUT = """
    import sys
    sys.modules[{package!r}] = None
    from syntagma.cli import main
    for arguments in {commands!r}:
        try:
            main(arguments)
        except SystemExit as left:
            print(left.code, flush=True)
    try:
        from syntagma import train
    except ImportError as error:
        print(error)
"""


def run_without(package, *commands):
    """Run commands in a process without a package; return the lines of stdout and stderr."""
    words = [[str(word) for word in command] for command in commands]
    code = textwrap.dedent(RUN_WITHOUT).format(package=package, commands=words)
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    return done.stdout.splitlines(), done.stderr.splitlines()


@pytest.mark.slow
def test_training_without_accelerate(config, tmp_path, tiny_encoder):
    for part in ("train", "dev"):
        (tmp_path / "data/dream").mkdir(parents=True, exist_ok=True)
        (tmp_path / "data/squad").mkdir(exist_ok=True)
        dream(tmp_path / f"data/dream/{part}.json", copies=1)
        squad(tmp_path / f"data/squad/{part}-v1.1.json", copies=1)
    out, err = run_without(
        "accelerate",
        ("train", config, "--out", tmp_path / "run"),
        ("sweep", config, "--out", tmp_path / "sweep", "--space", "training.seed=1,2"),
        ("reproduce", "poi-net", "table8", "--data", tmp_path / "data", "--scale", "tiny",
         "--out", tmp_path / "tables", "--encoder", tiny_encoder, "--parser", "linear",
         "--set", "head.max_length=64", "--set", "squad1/head.doc_stride=16",
         "--set", "squad1/head.max_question_length=24"),
    )  # fmt: skip
    assert out[:3] == ["2", "2", "2"]
    assert len(err) == 3
    for line in (*err, *out[3:]):
        assert says(line, "training train pip -e '.[train]'")
    for name in ("run", "sweep", "tables"):
        assert not (tmp_path / name).exists()


@pytest.mark.parametrize(
    ("package", "arguments", "extra"),
    [
        ("pyarrow", ["annotate", "a.txt", "--out", "parsed"], "data"),
        ("matplotlib", ["compare", "runs/a", "--by", "label", "--plot", "out.svg"], "plot"),
        ("spacy", ["annotate", "a.txt", "--out", "parsed", "--parser", "spacy:en"], "parsers"),
        ("stanza", ["annotate", "a.txt", "--out", "parsed", "--parser", "stanza:en"], "parsers"),
        ("fastapi", ["serve"], "serve"),
        ("onnxruntime", ["export", "default-parser", "--out", "new"], "export"),
        ("ray", ["annotate", "a.txt", "--out", "parsed", "--engine", "ray"], "cluster"),
    ],
)
def test_commands_without_other_packages(run, tmp_path, monkeypatch, package, arguments, extra):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setitem(sys.modules, package, None)
    Path("a.txt").write_text("A heron waited.\n")
    Path("parsed").mkdir()
    code, out, err = run(*arguments)
    assert (code, out) == (2, "")
    assert says(one_line(err), f"{extra} {install_command(extra)}")


def test_a_training_without_peft_ends_before_it_reads_data(run, config, tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "peft", None)
    changes = ("--set", "training.encoder=lora", "--set", "data.train=not-there.jsonl")
    code, out, err = run("train", config, *changes, "--out", tmp_path / "run")
    assert (code, out) == (2, "")
    assert says(one_line(err), f"lora {install_command('lora')}")
    assert not (tmp_path / "run").exists()


def test_extras_are_installed_from_the_source_folder():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert project["name"] not in install_command("train")


def test_whoever_installed_from_an_index_installs_extras_from_it(monkeypatch):
    monkeypatch.setattr(errors, "_is_from_index", lambda: True)
    assert install_command("train", "stats") == "pip install 'syntagma[train,stats]'"
    assert "source" not in how_to_install("train")
    with pytest.raises(ImportError, match="train"):
        raise MissingExtraError("training", "train")
