"""The command line as a user meets it: exit codes, one line on bad input, nothing half-written."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import time

import pytest

from syntagma.cli import main
from syntagma.cli.app import show_metrics
from tests.builders import brackets, dream, open_qa, pairs, squad, treebank


@pytest.fixture
def run(capsys):
    def call(*arguments):
        with pytest.raises(SystemExit) as leaving:
            main([str(argument) for argument in arguments])
        captured = capsys.readouterr()
        return leaving.value.code, captured.out, captured.err

    return call


@pytest.fixture
def config(tmp_path, tiny_encoder):
    path = tmp_path / "tiny.yaml"
    data = treebank(tmp_path / "tides.conllu", copies=1)
    path.write_text(
        f"task: parsing\nencoder: {tiny_encoder}\ndata:\n  train: {data}\n  dev: {data}\n"
        "head:\n  arc_width: 8\n  relation_width: 4\n"
        "training:\n  epochs: 1\n  precision: float32\n"
    )
    return path


def one_line(stderr):
    lines = [line for line in stderr.splitlines() if line.startswith("syntagma: ")]
    assert len(lines) == 1
    assert "Traceback" not in stderr
    return lines[0]


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


def test_train_evaluate_predict_parse_compare(run, config, tmp_path):
    folder = tmp_path / "run"
    code, out, _ = run("train", config, "--out", folder)
    assert code == 0
    assert f"→ {folder}" in out
    data = tmp_path / "tides.conllu"
    code, out, _ = run("evaluate", folder, data, "--json", tmp_path / "scores.json")
    scores = json.loads((tmp_path / "scores.json").read_text())
    assert code == 0
    assert {"uas", "las", "upos", "xpos", "sentences_per_second"} <= scores.keys()
    assert all(isinstance(value, int | float) for value in scores.values())
    code, out, _ = run("predict", folder, data, "--out", tmp_path / "out.conllu")
    assert code == 0
    assert (tmp_path / "out.conllu").read_text().count("# text") == 8
    words = tmp_path / "words.txt"
    words.write_text("one two three\nfour\n")
    code, out, _ = run("parse", words, "--pretokenized", "--parser", folder)
    assert code == 0
    assert [line.split("\t")[1] for line in out.splitlines() if line[:1].isdigit()] == [
        "one", "two", "three", "four",
    ]  # fmt: skip
    code, out, _ = run("parse", data, "--from", "conllu", "--to", "json", "--parser", folder)
    assert len(out.splitlines()) == 8
    code, out, _ = run("parse", words, "--from", "lines", "--to", "svg", "--parser", folder)
    assert out.startswith(("<svg", "<?xml"))
    code, out, _ = run("compare", folder, folder, "--json", tmp_path / "compared.json")
    assert code == 0
    assert json.loads((tmp_path / "compared.json").read_text())["systems"][1]["p_value"] == 1.0


def test_report_and_attention(run, tmp_path, tiny_encoder):
    data = squad(tmp_path / "harbour.json", copies=1)
    path = tmp_path / "tiny.yaml"
    path.write_text(
        f"task: spans\nencoder: {tiny_encoder}\npreset: sg-net\nparser: linear\n"
        f"data:\n  train: {data}\n  dev: {data}\n"
        "head: {max_length: 96, stride: 32, max_question: 24}\n"
        "training: {epochs: 1, precision: float32}\n"
    )
    folder, out = tmp_path / "run", tmp_path / "report"
    assert run("train", path, "--out", folder)[0] == 0
    scores = tmp_path / "scores.json"
    assert run("evaluate", folder, data, "--precision", "float32", "--json", scores)[0] == 0
    assert json.loads(scores.read_text()) == json.loads((folder / "metrics.json").read_text())
    code, _, error = run("evaluate", folder, data, "--precision", "float16")
    assert (code, "precision must be auto, bfloat16 or float32, got 'float16'" in error) == (
        2,
        True,
    )
    code, text, _ = run("report", folder, "--out", out, "--cases", 2, "--pictures", 1)
    assert (code, text) == (0, f"→ {out / 'index.html'}\n")
    code, _, error = run("report", folder, "--out", out)
    assert code == 2
    assert "exists and is not empty" in one_line(error)
    code, _, error = run("report", tmp_path / "nowhere", "--out", tmp_path / "other")
    assert code == 2
    assert "nowhere: no such folder; give a run folder" in one_line(error)
    passage, picture = tmp_path / "ferry.txt", tmp_path / "attention.svg"
    passage.write_text("A gull cried. The crew tied the ropes.")
    asked = ("--passage", passage, "--question", "Who cried?", "--out", picture)
    code, text, _ = run("attention", folder, *asked, "--head", 1)
    assert code == 0
    assert "run: guided layer, head 1 of 4" in text
    assert picture.read_text().startswith("<svg")
    code, _, error = run("attention", folder, *asked, "--turns")
    assert code == 2
    assert "has no scores of co-attention" in one_line(error)


def test_reproduce(run, tmp_path, tiny_encoder):
    code, out, _ = run("reproduce", "--list")
    assert code == 0
    assert re.search(r"^sg-net +table3 +RACE", out, re.MULTILINE)
    code, out, _ = run("reproduce", "poi-net", "table8", "--list")
    assert re.fullmatch(r"poi-net +table8 .*\n", out)
    (tmp_path / "data/dream").mkdir(parents=True)
    (tmp_path / "data/squad").mkdir()
    for part in ("train", "dev"):
        dream(tmp_path / f"data/dream/{part}.json", copies=1)
        squad(tmp_path / f"data/squad/{part}-v1.1.json", copies=1)
    given = ("reproduce", "poi-net", "table8", "--data", tmp_path / "data", "--out", tmp_path / "o")
    given += ("--encoder", tiny_encoder, "--parser", "linear", "--scale", "tiny")
    given += ("--set", "head.max_length=64", "--set", "squad1/head.stride=16")
    given += ("--set", "squad1/head.max_question=24")
    code, out, _ = run(*given, "--dry-run")
    assert code == 0
    assert out.split()[:2] == ["to", "do"]
    assert not (tmp_path / "o").exists()
    code, out, _ = run(*given, "--json", tmp_path / "result.json")
    assert code == 0
    assert "POI-Net on ALBERT-base" in out
    assert json.loads((tmp_path / "result.json").read_text())["id"] == "table8"
    assert run(*given, "--dry-run")[1].split()[0] == "done"
    for arguments, message in (
        (["reproduce"], "expected PAPER TABLE, as in sg-net table3, or --list"),
        (["reproduce", "sg-net", "table30"], "did you mean 'table3'"),
        (["reproduce", "sg-net", "table3", "--data", tmp_path], "race/RACE.tar.gz under"),
        ([*given, "--set", "squad/head.stride=16"], "unknown base 'squad'; expected one of"),
    ):
        code, _, err = run(*arguments)
        assert code == 2
        assert message in one_line(err)


def test_sweep(run, config, tmp_path):
    pytest.importorskip("optuna")
    given = ("sweep", config, "--out", tmp_path / "sweep", "--trials", 1)
    code, out, _ = run(*given, "--space", "head.arc_width=4,8", "--json", tmp_path / "s.json")
    assert code == 0
    assert "head.arc_width" in out
    assert len(json.loads((tmp_path / "s.json").read_text())["trials"]) == 1
    code, _, err = run(*given)
    assert code == 2
    assert "a sweep needs --space" in one_line(err)
    wrong = ("sweep", config, "--out", tmp_path / "new", "--space", "head.arc_width=4,8")
    code, _, err = run(*wrong, "--trials", 1, "--metric", "sal")
    assert code == 2
    assert "has no metric 'sal'; known: " in one_line(err)
    assert [path.name for path in (tmp_path / "new").iterdir()] == ["trial-000"]
    code, _, err = run(*wrong, "--trials", 1, "--metric", "las")
    assert code == 0
    assert "step/s" not in err, "the run is there"


def test_noise(run, tmp_path, tiny_encoder):
    path, folder = tmp_path / "pairs.yaml", tmp_path / "sg-net"
    data = pairs(tmp_path / "pairs.jsonl", copies=1)
    path.write_text(
        f"task: pairs\nencoder: {tiny_encoder}\npreset: sg-net\nparser: linear\n"
        f"data:\n  train: {data}\n  dev: {data}\nhead:\n  max_length: 64\ntraining:\n  epochs: 1\n"
    )
    assert run("train", path, "--out", folder)[0] == 0
    sources = ("--source", "own", "--source", "random")
    picture = tmp_path / "sources.svg"
    code, out, _ = run("noise", folder, *sources, "--json", tmp_path / "s.json", "--plot", picture)
    assert code == 0
    assert out.splitlines()[0].split() == ["accuracy", "own", "random"]
    assert json.loads((tmp_path / "s.json").read_text())["level"] == []
    assert "<svg" in picture.read_text()
    for arguments, message in (
        (["--kind", "tags"], "expected a model that reads tags, or nothing changes"),
        ([*sources, "--draws", 2], "leave out --kind, --trained, --shares"),
        (["--trained"], "none of the runs was trained with heads replaced"),
    ):
        code, _, err = run("noise", folder, *arguments)
        assert code == 2
        assert message in one_line(err)


def test_a_question_with_options(run, tmp_path, tiny_encoder):
    path = tmp_path / "dream.yaml"
    data = dream(tmp_path / "dream.json", copies=1)
    path.write_text(
        f"task: choice\nencoder: {tiny_encoder}\npreset: poi-net\nparser: linear\n"
        f"data:\n  train: {data}\nhead:\n  max_length: 64\ntraining:\n  epochs: 1\n"
    )
    folder = tmp_path / "run"
    assert run("train", path, "--out", folder)[0] == 0
    passage = tmp_path / "a.txt"
    passage.write_text("A gull cried. The engines stopped.")
    given = ("answer", passage, "Who cried?", "--model", folder)
    code, out, _ = run(*given, "--options", "a gull | an engine|nobody", "--json", tmp_path / "j")
    assert code == 0
    assert out.splitlines()[0] == "Who cried?"
    assert out.count("→") == 1
    found = json.loads((tmp_path / "j").read_text())
    assert found["options"] == ["a gull", "an engine", "nobody"]
    assert sum(found["answers"][0]["probabilities"]) == pytest.approx(1)
    for arguments, message in (
        ([*given, "--options", "one"], "expected at least two options, got 1"),
        (["answer", passage, "--options", "a|b"], "no question; write one after the file"),
        (["answer", passage, "Who?", "--options", "a|b"], "--options needs a model that chooses"),
        ([*given, "--options", "a| |b"], "an option is empty"),
        ([*given, "--options", "a|b", "--top", "2"], "--top is for answers in the text"),
        (
            [*given, "--options", "a|b", "--threshold", "0"],
            "--threshold is for answers in the text",
        ),
    ):
        code, _, err = run(*arguments)
        assert code == 2
        assert message in one_line(err)


def test_phrases_and_corpora(run, config, tmp_path):
    folder = tmp_path / "run"
    data = f"{tmp_path / 'tides.conllu'}+{brackets(tmp_path / 'tides.ptb', copies=1)}"
    assert run("train", config, "--out", folder, "--set", f"data.train={data}",
               "--set", f"data.dev={data}", "--set", "head.decoding=separate")[0] == 0  # fmt: skip
    words = tmp_path / "words.txt"
    words.write_text("one two three\nfour\n")
    code, out, _ = run("parse", words, "--pretokenized", "--parser", folder, "--to", "brackets")
    assert code == 0
    assert [line[:5] for line in out.splitlines()] == ["(TOP "] * 2
    assert out.count("(") == out.count(")")
    code, out, _ = run(
        "parse", words, "--from", "words", "--parser", folder, "--to", "json", "--decoding", "joint"
    )
    assert all("constituents" in json.loads(line) for line in out.splitlines())
    code, out, _ = run("evaluate", folder, tmp_path / "tides.ptb", "--by", "length")
    assert code == 0
    assert "bracket_f1" in out
    code, out, _ = run("annotate", words, "--from", "words", "--out", tmp_path / "corpus",
                       "--parser", folder, "--workers", 1)  # fmt: skip
    assert code == 0
    assert "→" in out
    assert run("annotate", "--check", tmp_path / "corpus")[1] == "2 sentences verified\n"
    code, out, _ = run("parse", "--from", "parquet", tmp_path / "corpus")
    assert [line.split("\t")[1] for line in out.splitlines() if line[:1].isdigit()] == [
        "one", "two", "three", "four",
    ]  # fmt: skip
    for arguments, message in (
        (["annotate", words], "expected INPUT… and --out DIR, or --check DIR"),
        (["annotate", words, "--out", tmp_path / "corpus"], "exists and is not empty"),
        (["parse", words, "--to", "brackets", "--decoding", "dependencies"], "needs --decoding"),
        (["parse", words, "--to", "brackets", "--decoding", "both"], "decoding must be one of"),
        (["parse", "--from", "parquet", tmp_path], "no annotated corpus"),
        (["parse", "--from", "parquet"], "expected the folders of annotated corpora, got none"),
        (["parse", words, "--pretokenized", "--from", "conllu"], "leave out one of the two"),
        (["parse", "--from", "parquet", tmp_path / "corpus", "--to", "svg"], "conllu or json"),
    ):
        code, _, err = run(*arguments, *(["--parser", folder] if "brackets" in arguments else []))
        assert code == 2
        assert message in one_line(err)


@pytest.mark.parametrize(
    ("override", "message"),
    [
        ("training.epoch=3", "unknown key 'epoch'; did you mean 'epochs'"),
        ("training.epochs=0", "epochs must be positive, got 0"),
        (
            "training.guide_learning_rate=0",
            "guide_learning_rate must be positive, or left out; got 0",
        ),
        ("training.seed=-1", "seed must be from 0 to 4294967295, got -1"),
        ("training.seed=99999999999", "seed must be from 0 to 4294967295, got 99999999999"),
        ("training.epochs=nan", "training.epochs: expected a number, got nan"),
        ("training.epochs=inf", "epochs must be a finite number, got inf"),
        ("training.evaluations=inf", "evaluations must be a finite number, got inf"),
        ("training.learning_rate=inf", "learning_rate must be a finite number, got inf"),
        ("training.guide_learning_rate=nan", "guide_learning_rate: expected a number, got nan"),
        ("training.weight_decay=-1", "weight_decay must be at least 0, got -1.0"),
        ("training.max_gradient_norm=nan", "max_gradient_norm: expected a number, got nan"),
        ("training.patience=-1", "patience must be at least 0, got -1"),
        ("training.epochs=many", "training.epochs: expected a number, got 'many'"),
        ("training.encoder=half", "expected one of full, layers, frozen, lora; got 'half'"),
        ("task=parsin", "unknown task 'parsin'; did you mean 'parsing'"),
        ("preset=sgnet", None),
        ("encoder=no/such/encoder", "encoder 'no/such/encoder': no such folder, and not found"),
        ("head.arc_width=0", "arc_width must be at least 1, got 0"),
        ("head.arc=1", "unknown key 'arc'; did you mean 'arc_width'"),
        ("data.train=[]", "train names no file"),
        ("data.train=nowhere.conllu", "nowhere.conllu: no such file"),
        ("hidden_dropout=1.5", "hidden_dropout is a probability"),
        ("training", "expected key=value"),
    ],
)
def test_impossible_settings_are_one_line(run, config, tmp_path, override, message, monkeypatch):
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    if message is None:
        pytest.skip("presets are checked where a task has guides")
    code, _, err = run("train", config, "--out", tmp_path / "run", "--set", override)
    assert code == 2
    assert message in one_line(err)
    assert not (tmp_path / "run").exists()


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("empty.conllu", b"", "no sentences; expected CoNLL-U"),
        ("latin.conllu", "1\tna\xefve\n".encode("latin-1"), "not UTF-8 in line 1 "),
        ("broken.conllu.gz", b"\x1f\x8bnothing", "damaged gzip file"),
        ("two.conllu", b"1\ta\t_\t_\t_\t_\t0\tr\t_\t_\n2\tb\t_\t_\t_\t_\t0\tr\t_\t_\n",
         "line 1: expected one root (a word with head 0), found 2"),
    ],
)  # fmt: skip
def test_bad_treebanks_are_one_line(run, config, tmp_path, name, content, message):
    (tmp_path / name).write_bytes(content)
    code, _, err = run(
        "train", config, "--out", tmp_path / "run", "--set", f"data.train={tmp_path / name}"
    )
    assert code == 2
    assert message in one_line(err)
    assert name in one_line(err)


def test_existing_output_is_kept(run, config, tmp_path):
    folder = tmp_path / "run"
    folder.mkdir()
    (folder / "mine.txt").write_text("precious")
    code, _, err = run("train", config, "--out", folder)
    assert code == 2
    assert "exists and is not empty" in one_line(err)
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
def test_standard_input_is_named_once(run, arguments, monkeypatch):
    monkeypatch.setattr("sys.stdin", None)
    code, out, err = run(*arguments)
    assert (code, out) == (2, "")
    assert "-: standard input can be read once, and is named 2 times" in one_line(err)


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
def test_a_folder_is_no_place_for_a_file(run, arguments, tmp_path):
    places = {"FOLDER": tmp_path, "FILE": tmp_path / "text", "JSON": tmp_path / "out.json"}
    code, out, err = run(*(places.get(argument, argument) for argument in arguments))
    assert (code, out) == (2, "")
    assert one_line(err) == f"syntagma: {tmp_path}: is a folder; give the path of a file"
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
def test_what_is_read_is_not_written_over(run, arguments, tmp_path):
    (tmp_path / "data").write_text("precious")
    code, out, err = run(*(str(tmp_path / "data") if a == "FILE" else a for a in arguments))
    assert (code, out) == (2, "")
    assert "data: is read here, and what is written would take its place" in one_line(err)
    assert (tmp_path / "data").read_text() == "precious"


def test_options_that_would_do_nothing_are_refused(run, tmp_path):
    code, _, err = run("parse", tmp_path, "--from", "parquet", "--decoding", "joint")
    assert code == 2
    assert "--decoding is for parsing, and --from parquet prints" in one_line(err)
    code, _, err = run("answer", tmp_path / "text", "Who?", "--top", "0")
    assert (code, "--top" in one_line(err)) == (2, True)


SYNTAGMA = [sys.executable, "-m", "syntagma"]


def test_a_reader_that_has_left_is_nobodys_fault():
    process = subprocess.Popen(
        [*SYNTAGMA, "settings"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    process.stdout.close()
    assert process.wait(timeout=120) == 0
    assert process.stderr.read() == ""


def test_a_terminal_that_lacks_a_letter_ends_no_command(config, tmp_path):
    command = [*SYNTAGMA, "train", str(config), "--out", str(tmp_path / "run")]
    environment = os.environ | {"PYTHONIOENCODING": "latin-1"}
    found = subprocess.run(command, capture_output=True, env=environment, timeout=300)
    assert found.returncode == 0, found.stderr
    assert found.stdout.splitlines()[-1] == f"? {tmp_path / 'run'}".encode()


def test_a_file_is_no_folder(run, tmp_path):
    (tmp_path / "text").write_text("A gull cried.")
    inside = tmp_path / "text" / "out.json"
    code, _, err = run("answer", tmp_path / "text", "Who?", "--json", inside)
    assert code == 2
    assert f"{inside}: {tmp_path / 'text'} is a file and no folder" in one_line(err)


def test_a_threshold_is_a_number(run, tmp_path):
    code, _, err = run("answer", tmp_path / "none.txt", "Who?", "--threshold", "nan")
    assert (code, one_line(err)) == (2, "syntagma: --threshold: expected a number, got nan")


def test_unknown_commands_and_missing_arguments(run):
    assert run("trian")[0] == 2
    assert "Did you mean 'train'" in run("trian")[2]
    assert run("train")[0] == 2
    assert run("parse", "--parser", "/no/such/folder")[0] == 2


def test_our_own_faults_are_told_from_the_users(run, monkeypatch):
    def fail():
        raise RuntimeError("the roof leaks")

    monkeypatch.setattr("syntagma.cli.doctor.report", fail)
    code, _, err = run("doctor")
    assert code == 1
    assert "internal error: RuntimeError: the roof leaks" in one_line(err)
    for arguments in (["--debug", "doctor"], ["doctor", "--debug"]):
        code, _, err = run(*arguments)
        assert code == 1
        assert "Traceback" in err


@pytest.mark.parametrize("arguments", [["answer", "Where?"], ["evaluate", "x"], ["train"]])
def test_a_text_where_a_file_belongs(run, arguments):
    command, *rest = arguments
    code, _, err = run(command, "The barge lay in the harbour. " * 20, *rest)
    assert code == 2
    line = one_line(err)
    assert "The barge lay in the harbour." in line
    assert len(line) < 200


def test_numbers_are_shown_whole(capsys):
    show_metrics({"words": 5512345, "total": 1e6, "f1": 82.534, "share": 0.0004, "none": 0.0})
    shown = [line.split()[1] for line in capsys.readouterr().out.splitlines()]
    assert shown == ["5512345", "1000000", "82.53", "0.0004", "0"]


def test_interrupting_is_130(run, monkeypatch):
    def interrupt():
        raise KeyboardInterrupt

    monkeypatch.setattr("syntagma.cli.doctor.report", interrupt)
    assert run("doctor")[0] == 130


def test_a_full_disk_leaves_nothing_half_written(run, config, tmp_path, monkeypatch):
    def full(*_, **__):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("syntagma.encoders.model.save_file", full)
    code, _, err = run("train", config, "--out", tmp_path / "run")
    assert code == 2
    assert "No space left on device" in one_line(err)
    assert not (tmp_path / "run" / "config.json").exists()
    assert not list((tmp_path / "run").glob(".kept*"))


def test_doctor_says_what_is_there(run):
    code, out, _ = run("doctor")
    assert code == 0
    assert re.search(r"^syntagma +\d", out)
    assert "device         cpu" in out


def test_wrong_answers_are_named_or_skipped(run, tmp_path, tiny_encoder):
    path = tmp_path / "harbour.json"
    squad(path, copies=1)
    data = json.loads(path.read_text())
    question = data["data"][0]["paragraphs"][0]["qas"][2]
    question["answers"][0]["answer_start"] += 1
    path.write_text(json.dumps(data))
    config = tmp_path / "reader.yaml"
    config.write_text(
        f"task: spans\nencoder: {tiny_encoder}\ndata:\n  train: {path}\n"
        "head: {max_length: 96, stride: 32, max_question: 24}\n"
        "training: {epochs: 1, precision: float32}\n"
    )
    code, _, err = run("train", config, "--out", tmp_path / "run")
    assert code == 2
    assert question["id"] in one_line(err)
    assert "skip such ones: --set data.skip_bad=true" in one_line(err)
    code, _, err = run("evaluate", "default-reader", path)
    assert code == 2
    assert "skip such ones: --skip-bad" in one_line(err)
    code, _, err = run(
        "train", config, "--out", tmp_path / "run", "--set", "data.skip_bad=true",
        "--set", "head.stride=90",
    )  # fmt: skip
    assert code == 2
    assert "pieces would be skipped" in one_line(err)
    code, _, err = run("train", config, "--out", tmp_path / "run", "--set", "data.skip_bad=true")
    assert code == 0
    # The reader of single passages answers from several.
    asked = (open_qa(tmp_path / "asked.jsonl", copies=1), "--task", "open_qa")
    code, out, _ = run("evaluate", tmp_path / "run", *asked, "--by", "evidence")
    assert code == 0
    assert "evidence.2.total" in out
    code, out, _ = run("predict", tmp_path / "run", *asked, "--out", tmp_path / "answers.json")
    assert f"6 predictions → {tmp_path / 'answers.json'}" in out
    code, _, err = run("evaluate", tmp_path / "run", *asked[:2], "open")
    assert code == 2
    assert "unknown task 'open'; did you mean 'open_qa'" in one_line(err)


def test_interrupting_a_training_run_keeps_its_checkpoints(config, tmp_path):
    folder = tmp_path / "run"
    command = [sys.executable, "-m", "syntagma", "train", str(config), "--out", str(folder),
               "--set", "training.epochs=2000", "--set", "training.checkpoint_steps=2"]  # fmt: skip
    process = subprocess.Popen(
        command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),
    )  # fmt: skip
    deadline = time.monotonic() + 60
    while not list(folder.glob("checkpoints/*/complete")) and time.monotonic() < deadline:
        time.sleep(0.05)
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=60)
    assert process.returncode == 130
    assert "interrupted; what was finished is kept" in err
    assert "Traceback" not in err
    assert list(folder.glob("checkpoints/*/complete"))


@pytest.mark.parametrize("command", [("parse",), ("answer",), ("evaluate", "default-reader")])
def test_a_device_that_is_not_there_is_named(run, tmp_path, command):
    text = tmp_path / "text.txt"
    text.write_text("A gull cried.")
    code, _, error = run(*command, text, "--device", "gpu")
    assert code == 2
    assert "device gpu: expected cpu, cuda, cuda:N or mps; here there is cpu" in one_line(error)
