"""Exit codes, one-line errors for invalid input, and output that is complete or absent."""

from __future__ import annotations

import importlib
import io
import os
import re
import signal
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from syntagma.training.trainer import SyntagmaTrainer
from tests.messages import one_line, says


def test_the_package_can_be_run_as_a_module():
    command = [sys.executable, "-m", "syntagma", "--help"]
    shown = subprocess.run(command, capture_output=True, text=True, check=True)
    assert "reproduce" in shown.stdout


def test_the_installed_command_exists():
    project = tomllib.loads((Path(__file__).parents[2] / "pyproject.toml").read_text())["project"]
    module, _, name = project["scripts"]["syntagma"].partition(":")
    assert callable(getattr(importlib.import_module(module), name))


def test_help_names_every_command(run):
    code, out, _ = run("--help")
    assert code == 0
    for command in (
        "parse",
        "annotate",
        "train",
        "evaluate",
        "predict",
        "answer",
        "attention",
        "compare",
        "noise",
        "report",
        "reproduce",
        "sweep",
        "doctor",
    ):
        assert re.search(rf"^\s+{command}\b", out, re.MULTILINE)


@pytest.mark.parametrize(
    ("override", "message"),
    [
        ("training.epoch=3", "training epoch num_train_epochs"),
        ("training.num_train_epochs=0", "num_train_epochs positive 0"),
        (
            "training.guide_learning_rate=0",
            "guide_learning_rate positive 0",
        ),
        ("training.seed=-1", "seed 0 4294967295 -1"),
        ("training.seed=99999999999", "seed 0 4294967295 99999999999"),
        ("training.num_train_epochs=nan", "num_train_epochs number nan"),
        ("training.num_train_epochs=inf", "num_train_epochs finite inf"),
        ("training.eval_steps=inf", "eval_steps finite inf"),
        ("training.learning_rate=inf", "learning_rate finite inf"),
        ("training.guide_learning_rate=nan", "guide_learning_rate number nan"),
        ("training.weight_decay=-1", "weight_decay 0 -1.0"),
        ("training.max_grad_norm=nan", "max_grad_norm number nan"),
        ("training.early_stopping_patience=-1", "early_stopping_patience 0 -1"),
        ("training.num_train_epochs=many", "num_train_epochs number many"),
        ("training.encoder=half", "encoder full layers frozen lora half"),
        ("task=parsin", "task parsin parsing"),
        ("preset=sgnet", "preset sgnet sg-net"),
        ("encoder=no/such/encoder", "encoder no/such/encoder"),
        ("head.arc_width=0", "arc_width 1 0"),
        ("head.arc=1", "head arc arc_width"),
        ("data.train=[]", "train file"),
        ("data.train=nowhere.conllu", "nowhere.conllu"),
        ("hidden_dropout=1.5", "hidden_dropout 1.5"),
        ("training", "key=value training"),
    ],
)
def test_invalid_settings_are_one_line_errors(
    run, config, tmp_path, override, message, monkeypatch
):
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    code, _, err = run("train", config, "--out", tmp_path / "run", "--set", override)
    assert code == 2
    assert says(one_line(err), message)
    assert not (tmp_path / "run").exists()


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("empty.conllu", b"", "sentences CoNLL-U"),
        ("latin.conllu", "1\tna\xefve\n".encode("latin-1"), "UTF-8 line 1"),
        ("broken.conllu.gz", b"\x1f\x8bnothing", "gzip"),
        ("two.conllu", b"1\ta\t_\t_\t_\t_\t0\tr\t_\t_\n2\tb\t_\t_\t_\t_\t0\tr\t_\t_\n",
         "line 1 root 2"),
    ],
)  # fmt: skip
def test_bad_treebanks_are_one_line_errors(run, config, tmp_path, name, content, message):
    (tmp_path / name).write_bytes(content)
    code, _, err = run(
        "train", config, "--out", tmp_path / "run", "--set", f"data.train={tmp_path / name}"
    )
    assert code == 2
    assert says(one_line(err), message)
    assert name in one_line(err)


def test_existing_output_is_kept(run, config, tmp_path):
    folder = tmp_path / "run"
    folder.mkdir()
    (folder / "mine.txt").write_text("precious")
    code, _, err = run("train", config, "--out", folder)
    assert code == 2
    assert says(one_line(err), "exists empty")
    assert (folder / "mine.txt").read_text() == "precious"


def test_without_a_command_the_help_is_printed(run):
    code, out, err = run()
    assert (code, err) == (2, "")
    assert out.rstrip() == run("--help")[1].rstrip()


@pytest.mark.parametrize(
    "arguments",
    [
        ("parse", "-", "-"),
        ("answer", "-", "--questions", "-"),
        ("evaluate", "default-parser", "-", "-"),
        ("predict", "default-parser", "-", "-", "--out", "out.conllu"),
        ("annotate", "-", "-", "--out", "corpus"),
    ],
)
def test_standard_input_can_be_named_only_once(run, arguments, monkeypatch):
    monkeypatch.setattr("sys.stdin", None)
    code, out, err = run(*arguments)
    assert (code, out) == (2, "")
    assert says(one_line(err), "- 2")


@pytest.mark.parametrize(
    "arguments",
    [
        ("answer", "FILE", "Who?", "--html", "FOLDER", "--json", "JSON"),
        ("answer", "FILE", "Who?", "--json", "FOLDER"),
        ("evaluate", "default-parser", "FILE", "--json", "FOLDER"),
        ("predict", "default-parser", "FILE", "--out", "FOLDER"),
        ("attention", "default-reader", "--passage", "FILE", "--question", "?", "--out", "FOLDER"),
        ("sweep", "FILE", "--json", "FOLDER"),
    ],
)
def test_a_folder_cannot_be_overwritten_by_a_file(run, arguments, tmp_path):
    places = {"FOLDER": tmp_path, "FILE": tmp_path / "text", "JSON": tmp_path / "out.json"}
    code, out, err = run(*(places.get(argument, argument) for argument in arguments))
    assert (code, out) == (2, "")
    assert says(one_line(err), f"{tmp_path} folder file")
    assert not places["JSON"].exists()


@pytest.mark.parametrize(
    "arguments",
    [
        ("evaluate", "default-parser", "FILE", "--json", "FILE"),
        ("predict", "default-parser", "FILE", "--out", "FILE"),
        ("answer", "FILE", "Who?", "--json", "FILE"),
        ("answer", "FILE", "Who?", "--html", "FILE"),
    ],
)
def test_input_files_are_not_overwritten(run, arguments, tmp_path):
    (tmp_path / "data").write_text("precious")
    code, out, err = run(*(str(tmp_path / "data") if a == "FILE" else a for a in arguments))
    assert (code, out) == (2, "")
    assert says(one_line(err), "data")
    assert (tmp_path / "data").read_text() == "precious"


def test_options_without_effect_are_errors(run, tmp_path):
    code, _, err = run("parse", tmp_path, "--from", "parquet", "--decoding", "joint")
    assert code == 2
    assert says(one_line(err), "--decoding --from parquet")
    code, _, err = run("answer", tmp_path / "text", "Who?", "--top", "0")
    assert (code, "--top" in one_line(err)) == (2, True)


@pytest.mark.parametrize("arguments", ["reproduce --list", "settings --json - --quiet"])
def test_a_closed_pipe_is_not_an_error(run, monkeypatch, arguments):
    reading, writing = os.pipe()
    os.close(reading)
    # Closing it flushes the rest of the output, as Python does at exit.
    with open(writing, "w") as pipe:
        monkeypatch.setattr(sys, "stdout", pipe)
        code, _, err = run(*arguments.split())
    assert (code, err) == (0, "")


@pytest.mark.parametrize("closed", ["stdin", "stdout", "stderr"])
def test_closed_streams_are_no_errors(run, closed, tmp_path, monkeypatch):
    (tmp_path / "text").write_text("Gulls cried.")
    monkeypatch.setattr(sys, closed, None)
    code, out, err = run("parse", tmp_path / "text", "--parser", "linear")
    assert (code, err) == (0, "")
    assert ("Gulls" in out) == (closed != "stdout")
    if closed == "stdin":
        code, _, err = run("parse", "-", "--parser", "linear")
        assert code == 2
        assert says(one_line(err), "empty text")


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no device that is always full")
@pytest.mark.parametrize("arguments", [("parse", "FILE", "--parser", "linear"), ("doctor",)])
def test_a_full_disk_behind_standard_output_is_reported(run, arguments, tmp_path, monkeypatch):
    (tmp_path / "text").write_text("Gulls cried.")
    given = [tmp_path / "text" if argument == "FILE" else argument for argument in arguments]
    monkeypatch.setattr("syntagma.cli.doctor.report", lambda *_, **__: "all is well")
    with open("/dev/full", "w") as full:
        monkeypatch.setattr(sys, "stdout", full)
        code, _, err = run(*given)
    assert code == 2
    assert says(one_line(err), "output written No space left")


@pytest.mark.parametrize(
    ("given", "named"),
    [
        (["text.txt"], "text.txt"),
        (["--out", "zzz"], "--out"),
        (["--workers", "0"], "--workers"),
        (["--no-text"], "--text"),
        (["--resume"], "--resume"),
        (["--parser", "default-parser"], "--parser"),
    ],
)
def test_verifying_a_corpus_takes_no_options_of_annotating(run, given, named, tmp_path):
    code, out, err = run("annotate", "--check", tmp_path, *given)
    assert (code, out) == (2, "")
    assert says(one_line(err), f"{named} --check")
    code, _, err = run("annotate", "--check", tmp_path, "--quiet", "--json", tmp_path / "a.json")
    assert says(one_line(err), "no annotated corpus")


def test_output_that_the_terminal_cannot_encode_is_not_an_error(run, config, tmp_path, monkeypatch):
    written = io.BytesIO()
    monkeypatch.setattr(sys, "stdout", io.TextIOWrapper(written, encoding="latin-1"))
    assert run("train", config, "--out", tmp_path / "run")[0] == 0
    assert written.getvalue().splitlines()[-1] == f"? {tmp_path / 'run'}".encode()


def test_an_output_folder_that_is_a_file_is_reported(run, tmp_path):
    (tmp_path / "text").write_text("A gull cried.")
    inside = tmp_path / "text" / "out.json"
    code, _, err = run("answer", tmp_path / "text", "Who?", "--json", inside)
    assert code == 2
    assert says(one_line(err), f"{inside} {tmp_path / 'text'} file folder")


def test_the_threshold_must_be_a_number(run, tmp_path):
    code, _, err = run("answer", tmp_path / "none.txt", "Who?", "--threshold", "nan")
    assert (code, says(one_line(err), "--threshold nan")) == (2, True)


def test_the_mode_is_one_of_three_and_excludes_a_threshold(run, tmp_path):
    code, _, err = run("answer", tmp_path / "none.txt", "Who?", "--mode", "sure")
    assert (code, says(one_line(err), "--mode strict balanced lenient 'sure'")) == (2, True)
    both = ("--mode", "strict", "--threshold", "0")
    code, _, err = run("answer", tmp_path / "none.txt", "Who?", *both)
    assert (code, says(one_line(err), "--mode --threshold")) == (2, True)


def test_calibrating_a_shipped_reader_needs_a_place(run, tmp_path):
    code, _, err = run("calibrate", "default-reader", tmp_path / "none.json")
    assert (code, says(one_line(err), "default-reader --out FOLDER")) == (2, True)


def test_unknown_commands_and_missing_arguments_are_errors(run):
    assert run("trian")[0] == 2
    assert "Did you mean 'train'" in run("trian")[2]
    assert run("train")[0] == 2
    assert run("parse", "--parser", "/no/such/folder")[0] == 2


def test_internal_errors_have_their_own_exit_code(run, monkeypatch):
    def fail():
        raise RuntimeError("the roof leaks")

    monkeypatch.setattr("syntagma.cli.doctor.report", fail)
    code, _, err = run("doctor")
    assert code == 1
    assert says(one_line(err), "RuntimeError the roof leaks")
    for arguments in (["--debug", "doctor"], ["doctor", "--debug"]):
        code, _, err = run(*arguments)
        assert code == 1
        assert "Traceback" in err


@pytest.mark.parametrize("arguments", [["answer", "Where?"], ["evaluate", "x"], ["train"]])
def test_a_text_in_place_of_a_file_is_reported(run, arguments):
    command, *rest = arguments
    code, _, err = run(command, "The barge lay in the harbour. " * 20, *rest)
    assert code == 2
    line = one_line(err)
    assert "The barge lay in the harbour." in line
    assert len(line) < 200


def test_an_interrupted_command_exits_with_130(run, monkeypatch):
    def interrupt():
        raise KeyboardInterrupt

    monkeypatch.setattr("syntagma.cli.doctor.report", interrupt)
    assert run("doctor")[0] == 130


def test_a_full_disk_leaves_no_partial_output(run, config, tmp_path, monkeypatch):
    def full(*_, **__):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("syntagma.encoders.saving.save_file", full)
    code, _, err = run("train", config, "--out", tmp_path / "run")
    assert code == 2
    assert says(one_line(err), "No space left on device")
    assert not (tmp_path / "run" / "config.json").exists()
    assert not list((tmp_path / "run").glob(".kept*"))


@pytest.fixture
def interruptible():
    """Python's default handler of Ctrl-C, which worker processes of pytest-xdist disable."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


def test_interrupting_a_training_run_keeps_its_checkpoints(
    run, config, tmp_path, monkeypatch, interruptible
):
    folder = tmp_path / "run"
    score = SyntagmaTrainer.score_dev

    def interrupted(trainer):
        if list(folder.glob("checkpoints/*/complete")):
            signal.raise_signal(signal.SIGINT)
        return score(trainer)

    monkeypatch.setattr(SyntagmaTrainer, "score_dev", interrupted)
    command = ("train", config, "--out", folder, "--set", "training.num_train_epochs=9",
               "--set", "training.save_steps=2")  # fmt: skip
    code, _, err = run(*command)
    assert code == 130
    assert says(err, "interrupted")
    assert "Traceback" not in err
    assert list(folder.glob("checkpoints/*/complete"))


@pytest.mark.parametrize("command", [("parse",), ("answer",), ("evaluate", "default-reader")])
def test_an_unknown_device_is_an_error(run, tmp_path, command):
    text = tmp_path / "text.txt"
    text.write_text("A gull cried.")
    code, _, error = run(*command, text, "--device", "gpu")
    assert code == 2
    assert says(one_line(error), "device gpu cpu cuda cuda:N mps")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["answer", "quay.txt", "reeds.txt", "Who waited?"], "reeds.txt question -f --questions"),
        (["answer", "quay.txt", "Who waited?", "folder"], "folder question -f --questions"),
        (["answer", "quay.txt", "lost.txt", "Who waited?"], "lost.txt question exist -f"),
        (["answer", "quay.txt", "Who waited?", "-"], "question standard input -f"),
        (["answer", "quay.txt", "Who?", "--options", "reeds.txt"], "reeds.txt option"),
        (["answer", "Who waited?", "quay.txt"], "quay.txt question -f"),
        (["answer", "quay.txt", "-f", "reeds.txt", "Who?", "--html", "page.html"], "--html 2"),
        (["answer", "-", "-f", "-", "Who?"], "- 2"),
        (["answer", "quay.txt", "-f", "lost.txt", "Who?"], "lost.txt no such file"),
        (["attention", "default-reader", "--passage", "quay.txt", "--question", "reeds.txt",
          "--out", "out.svg"], "reeds.txt text"),
        (["parse", "The heron waited."], "heron no such file standard input"),
    ],
)  # fmt: skip
def test_files_and_texts_are_distinguished(run, tmp_path, monkeypatch, arguments, message):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "folder").mkdir()
    for name in ("quay.txt", "reeds.txt"):
        (tmp_path / name).write_text("The ferry left the quay.\n")
    code, out, err = run(*arguments)
    assert (code, out) == (2, "")
    assert says(one_line(err), message)
