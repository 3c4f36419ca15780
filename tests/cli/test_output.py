"""What goes to standard output, to standard error, and nowhere: --json -, --quiet, --verbose."""

from __future__ import annotations

import io
import json
import logging
import re
import sys
from pathlib import Path

import pytest
import typer
import yaml

from syntagma.cli import app
from syntagma.parse.corpora.annotator import AnnotationSettings
from syntagma.tasks.annotation import annotate_files
from tests.messages import one_line, says
from tests.written_runs import written_run

COMMANDS = typer.main.get_command(app).commands
WITHOUT_JSON = {
    "parse": "--to json",
    "predict": "writes the task's official format",
    "serve": "answers requests",
    "attention": "draws a picture",
    "report": "writes a page",
}
"""Commands that print no result of their own, and what they do instead."""
QUESTION = {
    "version": "1.1",
    "data": [{"title": "Ferry", "paragraphs": [{
        "context": "The ferry left at noon.",
        "qas": [{"id": "a", "question": "When did it leave?",
                 "answers": [{"text": "noon", "answer_start": 18}]}],
    }]}],
}  # fmt: skip


@pytest.fixture
def scored(tmp_path: Path) -> list[object]:
    """Arguments that score a file of predictions, without a model."""
    (tmp_path / "dev.json").write_text(json.dumps(QUESTION))
    (tmp_path / "found.json").write_text(json.dumps({"a": "noon"}))
    return ["evaluate", "spans", tmp_path / "dev.json", "--predictions", tmp_path / "found.json"]


@pytest.fixture
def stdin(monkeypatch):
    """Replace standard input."""

    def replace(text: str) -> None:
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(text.encode())))

    return replace


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_can_be_quiet_and_verbose(name):
    known = [option for each in COMMANDS[name].params for option in each.opts]
    for option in ("-q", "--quiet", "-v", "--verbose"):
        assert known.count(option) == 1


def test_every_command_with_a_result_writes_it_as_json():
    without = [
        name
        for name, command in COMMANDS.items()
        if not any("--json" in each.opts for each in command.params)
    ]
    assert set(without) == set(WITHOUT_JSON)


def test_json_on_stdout_is_all_that_is_there(run, scored):
    code, out, err = run(*scored, "--json", "-")
    assert code == 0
    assert json.loads(out)["exact"] == 100.0
    assert re.search(r"^exact +100$", err, re.MULTILINE)  # for people


@pytest.mark.parametrize("option", ["-q", "--quiet"])
def test_quiet_json_leaves_stderr_empty(run, scored, option):
    _, out, err = run(*scored, option, "--json", "-")
    assert json.loads(out)["total"] == 1
    assert err == ""
    # Before the command, too.
    assert run(option, *scored, "--json", "-")[1:] == (out, "")


def test_quiet_prints_results_but_not_what_was_done(run, scored, tmp_path, monkeypatch):
    assert "exact" in run(*scored, "--quiet")[1]
    monkeypatch.setattr("syntagma.packing.pack", lambda *_, **__: 2_000_000)
    monkeypatch.setattr("syntagma.report.write.write_report", lambda *_, **__: None)
    assert run("pack", "MODEL", "--out", tmp_path / "small")[1].startswith("2.0 MB")
    page = ["report", "RUN", "--out", tmp_path / "page"]
    assert "index.html" in run(*page)[1]
    assert run(*page, "--quiet")[1:] == ("", "")


def test_errors_are_printed_even_if_quiet(run, scored, tmp_path):
    (tmp_path / "found.json").unlink()
    code, out, err = run(*scored, "--quiet")
    assert (code, out) == (2, "")
    assert says(one_line(err), "found.json")


def test_one_output_can_be_stdout(run):
    code, _, err = run("answer", "ferry.txt", "Who left?", "--json", "-", "--html", "-")
    assert code == 2
    assert says(one_line(err), "--json --html - file")


def test_two_options_do_not_write_to_one_path(run, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("link").symlink_to("x.svg")
    for command in (
        ["answer", "ferry.txt", "Who left?", "--json", "x.out", "--html", tmp_path / "x.out"],
        ["noise", "runs/a", "dev.json", "--plot", "x.svg", "--json", "link"],
        ["index", "ferries", "--out", "x", "--json", "./x"],
    ):
        code, _, err = run(*command)
        assert code == 2
        assert says(one_line(err), "--json both another path")
    code, _, err = run("answer", "ferry.txt", "Who?", "--json", "/dev/null", "--html", "/dev/null")
    assert says(one_line(err), "ferry.txt no such file")


WRITTEN = {
    "annotate": ["a.txt"], "train": ["a.yaml"], "index": ["a"], "report": ["a"], "pack": ["a"],
    "sweep": ["a.yaml"], "study": ["a.yaml"], "calibrate": ["a", "b"], "reproduce": ["sg-net"],
    "export": ["a", "--to", "onnx"],
}  # fmt: skip
"""Commands that write folders, and arguments before ``--out``."""


@pytest.mark.parametrize(
    "arguments",
    [
        "calibrate default-reader FILE --json FILE",
        "compare runs/a runs/b --data other.json --data FILE --json FILE",
        "noise runs/a --data FILE --json FILE",
        "export default-reader --out folder --check FILE --json FILE",
        "annotate FILE --out folder --json FILE",
        "annotate FOLDER/*.json --out folder --json FILE",
        "index FILE --out folder --json FILE",
        "answer FILE Who? --html FILE",
        "answer other.txt Who? -f FILE --json FILE",
        "answer other.txt --questions FILE --json FILE",
        "attention default-reader --passage FILE --question Who? --out FILE",
        "evaluate spans other.json --predictions FILE --json FILE",
        "evaluate default-parser other.conllu+FILE#dev --json FILE",
        "study FILE --json FILE",
    ],
)
def test_an_output_is_no_input(run, tmp_path, monkeypatch, arguments):
    for module in ("models", "texts", "answering", "exporting", "documents"):
        monkeypatch.setattr(f"syntagma.cli.{module}.require_encoder", lambda _: None)
    file = tmp_path / "mine.json"
    file.write_text("mine")
    named = arguments.replace("FILE", str(file)).replace("FOLDER", str(tmp_path))
    code, out, err = run(*named.split())
    assert (code, out) == (2, "")
    assert says(one_line(err), f"{file} input overwritten another output file")
    assert file.read_text() == "mine"


def test_the_data_of_an_experiment_are_not_overwritten(run, config, tmp_path):
    data = tmp_path / "tides.conllu"
    before = data.read_text()
    code, _, err = run("train", config, "--out", tmp_path / "run", "--json", data)
    assert code == 2
    assert says(one_line(err), f"{data} input overwritten")
    assert data.read_text() == before


def test_an_earlier_output_is_replaced_whatever_is_asked(run, scored, tmp_path):
    for _ in range(2):
        assert run(*scored, "--json", tmp_path / "scores.json")[0] == 0
    long = ("answer", tmp_path / "no.txt", "Who " * 2000, "--json", tmp_path / "scores.json")
    code, _, err = run(*long)
    assert code == 2
    assert says(one_line(err), "no.txt no such file")


def test_all_commands_that_write_folders_are_known():
    of_files = {"predict", "attention"}
    found = {
        name
        for name, command in COMMANDS.items()
        if any("--out" in each.opts for each in command.params)
    }
    assert found == WRITTEN.keys() | of_files


@pytest.mark.parametrize("name", WRITTEN)
def test_folders_cannot_be_standard_output(run, tmp_path, monkeypatch, name):
    monkeypatch.chdir(tmp_path)
    code, _, err = run(name, *WRITTEN[name], "--out", "-")
    assert code == 2
    assert says(one_line(err), "--out expected folder got - standard output")
    assert not Path("-").exists()


def test_quiet_and_verbose_contradict_each_other(run):
    code, _, err = run("-q", "doctor", "-v")
    assert code == 2
    assert says(one_line(err), "--quiet --verbose")


@pytest.mark.parametrize(
    ("option", "level"),
    [("--quiet", logging.ERROR), ("--verbose", logging.INFO), (None, logging.WARNING)],
)
def test_the_level_of_the_logger_is_set_for_one_command(run, monkeypatch, option, level):
    seen = []

    def look():
        seen.append(logging.getLogger("syntagma").getEffectiveLevel())
        return iter(())

    before = logging.getLogger("syntagma").level
    monkeypatch.setattr("syntagma.cli.doctor.report", look)
    assert run("doctor", *([option] if option else []))[0] == 0
    assert seen == [level]
    assert logging.getLogger("syntagma").level == before


def test_settings_and_sections_as_json(run):
    _, out, _ = run("settings", "coattention", "--json", "-", "-q")
    (section,) = json.loads(out)["sections"]
    assert section["place"] == "guides: coattention:"
    assert section["keys"][0]["name"] == "kind"
    _, out, _ = run("settings", "--json", "-", "-q")
    assert len(json.loads(out)["sections"]) > 10


def test_what_is_installed_as_json(run):
    _, out, _ = run("doctor", "--json", "-", "-q")
    found = json.loads(out)
    assert found["devices"][0] == "cpu"
    assert "default" in found["encoders"]
    assert found["models"]["default-parser"].endswith("default-parser")
    assert re.match(r"\d+\.\d+", found["packages"]["torch"])


def test_a_comparison_on_stdout(run, tmp_path):
    runs = [written_run(tmp_path / name, scores) for name, scores in
            {"a": [1.0, 0.0, 1.0], "b": [1.0, 1.0, 1.0]}.items()]  # fmt: skip
    _, out, err = run("compare", *runs, "--json", "-")
    assert "groups" in json.loads(out)
    assert "b" in err


def test_counts_of_a_corpus_as_json(run, tmp_path, tiny_encoder, monkeypatch):
    text = tmp_path / "news.txt"
    text.write_text("The ferry left. It was noon.\n")
    folder = tmp_path / "news.parsed"
    annotate_files([str(text)], folder, AnnotationSettings(parser="linear"), workers=1)
    _, out, _ = run("annotate", "--check", folder, "--json", "-", "-q")
    assert json.loads(out) == {"sentences": 2}


def test_settings_from_standard_input_need_a_folder(run, stdin, config):
    stdin(config.read_text())
    code, _, err = run("train", "-")
    assert code == 2
    assert says(one_line(err), "- --out")


def test_train_reads_settings_from_stdin_and_writes_metrics_to_stdout(run, stdin, config, tmp_path):
    stdin(config.read_text())
    code, out, err = run("train", "-", "--out", tmp_path / "run", "--json", "-")
    assert code == 0
    assert "las" in json.loads(out)
    assert str(tmp_path / "run") in err
    kept = next((tmp_path / "run").glob("*.yaml"))
    assert yaml.safe_load(kept.read_text())["task"] == "parsing"
    # Predictions from standard input to standard output.
    stdin(Path(yaml.safe_load(config.read_text())["data"]["dev"]).read_text())
    code, out, err = run("predict", tmp_path / "run", "-", "--out", "-")
    assert code == 0
    assert out.startswith(("# ", "1\t"))
    assert "predictions" in err
