"""Each command works, and reports in one line what it cannot do."""

from __future__ import annotations

import hashlib
import json
import re
from pathlib import Path

import pytest

from syntagma.cli.app import show_metrics
from tests.builders import brackets, dream, open_qa, pairs, squad
from tests.messages import one_line, says


def test_train_evaluate_predict_parse_compare(run, config, tmp_path, tiny_encoder):
    folder = tmp_path / "run"
    code, out, _ = run("train", config, "--out", folder)
    assert code == 0
    assert f"→ {folder}" in out
    data = tmp_path / "tides.conllu"
    code, out, _ = run("evaluate", folder, data, "--json", tmp_path / "scores.json")
    scores = json.loads((tmp_path / "scores.json").read_text())
    assert code == 0
    assert {"uas", "las", "upos", "xpos", "sentences_per_second"} <= scores.keys()
    weights = hashlib.sha256((folder / "model.safetensors").read_bytes()).hexdigest()
    assert scores.pop("model") == scores.pop("parser") == str(folder)
    assert scores.pop("model_digest") == scores.pop("parser_digest") == weights
    assert all(isinstance(value, int | float) for value in scores.values())
    code, out, _ = run("evaluate", folder, data, "--raw")
    assert code == 0
    assert {"tokens_f1", "words_f1", "las_f1", "clas_f1"} <= {*out.split()}
    for given in (["--by", "length"], ["--predictions", data, "--null-odds", data]):
        code, _, err = run("evaluate", folder, data, "--raw", *given)
        assert code == 2
        assert says(one_line(err), f"{given[-2]} --raw")
    code, _, err = run("evaluate", folder, data, "--lang", "en")
    assert code == 2
    assert says(one_line(err), "--lang --raw")
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
    system = json.loads((tmp_path / "compared.json").read_text())["systems"][1]
    assert system["p_value"] == 1.0
    assert system["sources"]["encoder"]["name"] == tiny_encoder
    assert len(system["sources"]["encoder"]["digest"]) == 64


@pytest.mark.slow
def test_report_and_attention(run, tmp_path, tiny_encoder):
    data = squad(tmp_path / "harbour.json", copies=1)
    path = tmp_path / "tiny.yaml"
    path.write_text(
        f"task: spans\nencoder: {tiny_encoder}\npreset: sg-net\nparser: linear\n"
        f"data:\n  train: {data}\n  dev: {data}\n"
        "head: {max_length: 96, doc_stride: 32, max_question_length: 24}\n"
        "training: {num_train_epochs: 1, precision: float32}\n"
    )
    folder, out = tmp_path / "run", tmp_path / "report"
    assert run("train", path, "--out", folder)[0] == 0
    scores = tmp_path / "scores.json"
    assert run("evaluate", folder, data, "--precision", "float32", "--json", scores)[0] == 0
    found = json.loads(scores.read_text())
    assert found.items() >= json.loads((folder / "metrics.json").read_text()).items()
    assert (found["model"], found["parser"]) == (str(folder), "linear")
    assert run("evaluate", folder, data, "--parser", "random:3", "--json", scores)[0] == 0
    assert json.loads(scores.read_text())["parser"] == "random:3"
    code, _, error = run("evaluate", folder, data, "--precision", "float16")
    assert (code, says(error, "precision auto bfloat16 float32 float16")) == (
        2,
        True,
    )
    code, text, _ = run("report", folder, "--out", out, "--cases", 2, "--pictures", 1)
    assert (code, text) == (0, f"→ {out / 'index.html'}\n")
    code, _, error = run("report", folder, "--out", out)
    assert code == 2
    assert says(one_line(error), "exists empty")
    code, _, error = run("report", tmp_path / "nowhere", "--out", tmp_path / "other")
    assert code == 2
    assert says(one_line(error), "nowhere run")
    passage, picture = tmp_path / "ferry.txt", tmp_path / "attention.svg"
    passage.write_text("A gull cried. The crew tied the ropes.")
    arguments = ("--passage", passage, "--question", "Who cried?", "--out", picture)
    code, text, _ = run("attention", folder, *arguments, "--head", 1)
    assert code == 0
    assert "run: guided layer, head 1 of 4" in text
    assert picture.read_text().startswith("<svg")
    code, _, error = run("attention", folder, *arguments, "--turns")
    assert code == 2
    assert says(one_line(error), "run coattention poi-net")


@pytest.mark.slow
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
    command = ("reproduce", "poi-net", "table8", "--data", tmp_path / "data", "--scale", "tiny")
    command += ("--out", tmp_path / "o", "--encoder", tiny_encoder, "--parser", "linear")
    command += ("--set", "head.max_length=64", "--set", "squad1/head.doc_stride=16")
    command += ("--set", "squad1/head.max_question_length=24")
    code, out, _ = run(*command, "--dry-run")
    assert code == 0
    assert out.split()[:2] == ["to", "do"]
    assert not (tmp_path / "o").exists()
    code, out, _ = run(*command, "--json", tmp_path / "result.json")
    assert code == 0
    assert "POI-Net on ALBERT-base" in out
    assert json.loads((tmp_path / "result.json").read_text())["id"] == "table8"
    assert run(*command, "--dry-run")[1].split()[0] == "done"
    for arguments, message in (
        (["reproduce"], "PAPER TABLE sg-net table3 --list"),
        (["reproduce", "sg-net", "table30"], "table30 table3"),
        (["reproduce", "sg-net", "table3", "--data", tmp_path], "race/RACE.tar.gz"),
        ([*command, "--set", "squad/head.doc_stride=16"], "squad squad1"),
    ):
        code, _, err = run(*arguments)
        assert code == 2
        assert says(one_line(err), message)


def test_sweep(run, config, tmp_path):
    pytest.importorskip("optuna")
    command = ("sweep", config, "--out", tmp_path / "sweep", "--trials", 1)
    code, out, _ = run(*command, "--space", "head.arc_width=4,8", "--json", tmp_path / "s.json")
    assert code == 0
    assert "head.arc_width" in out
    assert len(json.loads((tmp_path / "s.json").read_text())["trials"]) == 1
    code, _, err = run(*command)
    assert code == 2
    assert says(one_line(err), "--space")
    wrong = ("sweep", config, "--out", tmp_path / "new", "--space", "head.arc_width=4,8")
    code, _, err = run(*wrong, "--trials", 1, "--metric", "sal")
    assert code == 2
    assert says(one_line(err), "sal las")
    assert [path.name for path in (tmp_path / "new").iterdir()] == ["trial-000"]
    code, _, err = run(*wrong, "--trials", 1, "--metric", "las")
    assert code == 0
    assert "step/s" not in err, "the finished run is not trained again"


def test_noise(run, tmp_path, tiny_encoder):
    path, folder = tmp_path / "pairs.yaml", tmp_path / "sg-net"
    data = pairs(tmp_path / "pairs.jsonl", copies=1)
    path.write_text(
        f"task: pairs\nencoder: {tiny_encoder}\npreset: sg-net\nparser: linear\n"
        f"data:\n  train: {data}\n  dev: {data}\nhead:\n  max_length: 64\n"
        "training:\n  num_train_epochs: 1\n"
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
        (["--kind", "tags"], "tags sg-net heads"),
        ([*sources, "--draws", 2], "--kind --trained --shares"),
        (["--trained"], "heads parser=noisy:SHARE:SOURCE"),
    ):
        code, _, err = run("noise", folder, *arguments)
        assert code == 2
        assert says(one_line(err), message)


def test_answering_a_question_with_options(run, tmp_path, tiny_encoder):
    path = tmp_path / "dream.yaml"
    data = dream(tmp_path / "dream.json", copies=1)
    path.write_text(
        f"task: choice\nencoder: {tiny_encoder}\npreset: poi-net\nparser: linear\n"
        f"data:\n  train: {data}\nhead:\n  max_length: 64\ntraining:\n  num_train_epochs: 1\n"
    )
    folder = tmp_path / "run"
    assert run("train", path, "--out", folder)[0] == 0
    passage = tmp_path / "a.txt"
    passage.write_text("A gull cried. The engines stopped.")
    command = ("answer", passage, "Who cried?", "--model", folder)
    code, out, _ = run(*command, "--options", "a gull | an engine|nobody", "--json", tmp_path / "j")
    assert code == 0
    assert out.splitlines()[0] == "Who cried?"
    assert out.count("→") == 1
    found = json.loads((tmp_path / "j").read_text())
    assert found["options"] == ["a gull", "an engine", "nobody"]
    assert sum(found["answers"][0]["probabilities"]) == pytest.approx(1)
    for arguments, message in (
        ([*command, "--options", "one"], "two options 1"),
        (["answer", passage, "--options", "a|b"], "question file"),
        (["answer", passage, "Who?", "--options", "a|b"], "--options model"),
        ([*command, "--options", "a| |b"], "option empty"),
        ([*command, "--options", "a|b", "--top", "2"], "--top"),
        (
            [*command, "--options", "a|b", "--threshold", "0"],
            "--threshold",
        ),
    ):
        code, _, err = run(*arguments)
        assert code == 2
        assert says(one_line(err), message)


def test_phrase_trees_and_annotated_corpora(run, config, tmp_path):
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
        (["annotate", words], "INPUT… --out DIR --check"),
        (["annotate", words, "--out", tmp_path / "corpus"], "exists empty"),
        (["parse", words, "--to", "brackets", "--decoding", "dependencies"], "brackets --decoding"),
        (
            ["parse", words, "--to", "brackets", "--decoding", "both"],
            "both separate joint",
        ),
        (["parse", "--from", "parquet", tmp_path], f"{tmp_path} corpus"),
        (["parse", "--from", "parquet"], "folders corpora none"),
        (["parse", words, "--pretokenized", "--from", "conllu"], "--pretokenized --from"),
        (["parse", "--from", "parquet", tmp_path / "corpus", "--to", "svg"], "svg conllu json"),
    ):
        code, _, err = run(*arguments, *(["--parser", folder] if "brackets" in arguments else []))
        assert code == 2
        assert says(one_line(err), message)


def test_metrics_are_printed_without_exponents(capsys):
    show_metrics({"words": 5512345, "total": 1e6, "f1": 82.534, "share": 0.0004, "none": 0.0})
    shown = [line.split()[1] for line in capsys.readouterr().out.splitlines()]
    assert shown == ["5512345", "1000000", "82.53", "0.0004", "0"]


def test_doctor_shows_versions_and_device(run):
    code, out, _ = run("doctor")
    assert code == 0
    assert re.search(r"^syntagma +\d", out)
    assert "device         cpu" in out


def test_wrong_gold_answers_are_reported_or_skipped(run, tmp_path, tiny_encoder):
    path = tmp_path / "harbour.json"
    squad(path, copies=1)
    data = json.loads(path.read_text())
    question = data["data"][0]["paragraphs"][0]["qas"][2]
    question["answers"][0]["answer_start"] += 1
    path.write_text(json.dumps(data))
    config = tmp_path / "reader.yaml"
    config.write_text(
        f"task: spans\nencoder: {tiny_encoder}\ndata:\n  train: {path}\n"
        "head: {max_length: 96, doc_stride: 32, max_question_length: 24}\n"
        "training: {num_train_epochs: 1, precision: float32}\n"
    )
    code, _, err = run("train", config, "--out", tmp_path / "run")
    assert code == 2
    assert question["id"] in one_line(err)
    assert says(one_line(err), "--set data.skip_bad=true")
    code, _, err = run("evaluate", "default-reader", path)
    assert code == 2
    assert says(one_line(err), "--skip-bad")
    code, _, err = run(
        "train", config, "--out", tmp_path / "run", "--set", "data.skip_bad=true",
        "--set", "head.doc_stride=90",
    )  # fmt: skip
    assert code == 2
    assert says(one_line(err), "doc_stride 90 64 max_length 96")
    code, _, err = run("train", config, "--out", tmp_path / "run", "--set", "data.skip_bad=true")
    assert code == 0
    # A reader trained on single passages can also read several.
    arguments = (open_qa(tmp_path / "asked.jsonl", copies=1), "--task", "open_qa")
    code, out, _ = run("evaluate", tmp_path / "run", *arguments, "--by", "evidence")
    assert code == 0
    assert "evidence.2.total" in out
    code, out, _ = run("predict", tmp_path / "run", *arguments, "--out", tmp_path / "answers.json")
    assert f"6 predictions → {tmp_path / 'answers.json'}" in out
    code, _, err = run("evaluate", tmp_path / "run", *arguments[:2], "open")
    assert code == 2
    assert says(one_line(err), "task open open_qa")


def test_questions_are_answered_from_each_text(run, tmp_path):
    for folder, text in (("a", "The ferry left the quay at noon."), ("b", "Moll kept the light.")):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "log.txt").write_text(text)
    texts = [tmp_path / "a/log.txt", "-f", tmp_path / "b/log.txt"]
    found = tmp_path / "found.json"
    code, out, _ = run("answer", *texts, "Who left?", "Who kept it?", "--json", found)
    assert code == 0
    assert out.count("Who left?") == 2
    answers = json.loads(found.read_text())["answers"]
    assert [(Path(one["source"]).parent.name, one["question"]) for one in answers] == [
        ("a", "Who left?"), ("a", "Who kept it?"), ("b", "Who left?"), ("b", "Who kept it?"),
    ]  # fmt: skip
    alone = tmp_path / "alone.json"
    assert run("answer", tmp_path / "b/log.txt", "Who kept it?", "--json", alone)[0] == 0
    (single,) = json.loads(alone.read_text())["answers"]
    assert answers[3]["passage"] == answers[3]["source"]
    assert single | {"source": answers[3]["source"], "passage": answers[3]["passage"]} == answers[3]


def test_questions_as_json_lines(run, tmp_path):
    asked = (
        {"passage": "The ferry left the quay at noon – late.", "question": "When?", "id": "a"},
        {"context": "Moll kept the light.", "question": "Who kept it?"},
    )
    path = tmp_path / "asked.jsonl"
    path.write_text("".join(f"{json.dumps(row)}\n" for row in asked))
    code, out, _ = run("answer", path, "--jsonl", "--threshold", "inf")
    assert code == 0
    rows = [json.loads(line) for line in out.splitlines()]
    assert [(row["id"], row["outcome"]) for row in rows] == [("a", "answer"), (2, "answer")]
    for row, passage in zip(rows, (asked[0]["passage"], asked[1]["context"]), strict=True):
        assert passage[row["start"] : row["end"]] == row["text"]
    for flags in (["Who?"], ["--json", tmp_path / "x.json"], ["-f", path], ["--top", "3"]):
        code, _, err = run("answer", path, "--jsonl", *flags)
        assert code == 2
        assert says(one_line(err), "has no effect with --jsonl")
    assert not (tmp_path / "x.json").exists()


@pytest.mark.parametrize(
    ("command", "message"),
    [
        ("parse DATA --from parquet --device cuda", "--device --from parquet"),
        ("evaluate spans DATA --predictions DATA --device cuda", "--device --predictions"),
        ("index DATA --out out --encoder none --device cuda", "--device --encoder none"),
        ("compare a b --device cuda", "--device --data"),
        ("noise a --trained --device cuda", "--trained --device"),
        ("annotate DATA --out out --field body", "--field JSON conllu jsonl"),
        ("annotate DATA --out out --field body --from pairs", "--field JSON pairs jsonl"),
        ("reproduce --list --systems plain", "--systems --list"),
        ("reproduce --list --settings", "--settings --list"),
        ("reproduce --list --dry-run", "--dry-run --list"),
        ("reproduce --list --seeds 3", "--seeds --list"),
        ("reproduce --list --scale cpu", "--scale --list"),
        ("reproduce --list --set head.max_length=8", "--set --list"),
        ("reproduce --list --out out", "--out --list"),
        ("reproduce squad1 plain --settings --dry-run", "--dry-run --settings"),
        ("reproduce squad1 plain --settings --seeds 3", "--seeds --settings"),
    ],
)
def test_an_option_without_effect_is_named(run, tmp_path, monkeypatch, command, message):
    monkeypatch.setattr("syntagma.encoders.precision.require_device", lambda _: None)
    monkeypatch.chdir(tmp_path)
    data = tmp_path / "a.conllu"
    data.write_text("1\tNow\t_\tADV\tRB\t_\t0\troot\t_\t_\n\n")
    code, out, err = run(*command.replace("DATA", str(data)).split())
    assert (code, out) == (2, "")
    assert says(one_line(err), message)
    assert not (tmp_path / "out").exists()
