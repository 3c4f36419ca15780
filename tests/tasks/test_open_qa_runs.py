"""Runs of open-domain question answering: training, comparison, packing and a verifier."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from syntagma.analysis.compare import compare_runs
from syntagma.encoders.load import load_tokenizer
from syntagma.errors import InputError
from syntagma.evaluation import evaluate, open_model, predict
from syntagma.models.span_model import SpanModel
from syntagma.packing import pack
from syntagma.runs.folder import read_sources
from syntagma.tasks.experiment import DataSettings
from syntagma.tasks.open_qa.reader import OpenReader
from syntagma.tasks.open_qa.task import OpenQaTask
from syntagma.tasks.spans.reader import Reader
from syntagma.tasks.spans.sample import HEAD
from syntagma.tasks.spans.task import SpanTask
from syntagma.training.run import train
from tests.builders import experiment, open_qa
from tests.messages import naming


@pytest.fixture(scope="module")
def runs(tmp_path_factory, tiny_encoder):
    folder = tmp_path_factory.mktemp("open")
    data = open_qa(folder / "train.jsonl")
    for name, changes in {
        "plain": {},
        "seprem": {"preset": "seprem", "parser": "linear", "head": {"aggregate": "max"}},
    }.items():
        settings = experiment(
            "open_qa", data, tiny_encoder, hidden_dropout=0.0, attention_dropout=0.0,
            training={"num_train_epochs": 15 if name == "plain" else 1, "learning_rate": 3e-3,
                      "eval_steps": 0.34, "save_steps": 1000},
            **changes,
        )  # fmt: skip
        train(settings, folder / name)
    return folder, data


@pytest.mark.slow
def test_it_learns_and_predicts(runs):
    folder, data = runs
    metrics = json.loads((folder / "plain" / "metrics.json").read_text())
    assert metrics["f1"] > 50
    assert metrics["total"] == 24
    assert metrics["answerable"] == 100
    scores = evaluate(folder / "plain", [data], by=["evidence"])
    # The run was scored in float32, but `evaluate` uses bfloat16 on hardware that is fast at it.
    assert scores["f1"] == pytest.approx(metrics["f1"], abs=9)
    assert scores["evidence.2.total"] == 24
    count = predict(folder / "plain", [data], folder / "out.json")
    texts = json.loads((folder / "out.json").read_text())
    nbest = json.loads((folder / "out.nbest.json").read_text())
    assert count == len(texts) == len(nbest) == 24
    paragraphs = OpenQaTask.read(data)
    for item in paragraphs:
        best = nbest[item.id][0]
        assert best["text"] == texts[item.id]
        assert item.paragraphs[best["paragraph"]].id == best["pid"]
        assert item.paragraphs[best["paragraph"]].text[best["start"] : best["end"]] == best["text"]
        assert sum(row["probability"] for row in nbest[item.id]) <= 1 + 1e-6


def test_runs_are_compared_and_packed(runs, tmp_path):
    pytest.importorskip("scipy")
    folder, _ = runs
    comparison = compare_runs([folder / "plain", folder / "seprem"])
    assert comparison.test.startswith("p: McNemar's exact test on `exact`, for these runs")
    assert comparison.columns == ("exact", "f1")
    assert comparison.n_examples == 24
    gained, lost = comparison.systems[1].gained, comparison.systems[1].lost
    assert comparison.systems[1].difference == pytest.approx(100 * (gained - lost) / 24)
    pack(folder / "plain", tmp_path / "small", bits=8)
    reloaded = open_model(tmp_path / "small")
    assert isinstance(reloaded, OpenQaTask)
    assert reloaded.reader.head == OpenReader.from_pretrained(folder / "plain").head


def test_runs_and_results_name_the_parser(runs):
    folder, data = runs
    assert read_sources(folder / "seprem")["parser"] == {
        "name": "linear", "version": "", "digest": "linear:left",
    }  # fmt: skip
    assert "parser" not in read_sources(folder / "plain")
    task = open_model(folder / "seprem")
    task.predict(OpenQaTask.read(data)[:1])
    assert task.costs()["parsed_words"] > 0
    found = evaluate(folder / "seprem", [data], parser="random:3")
    assert (found["parser"], found["parser_digest"]) == ("random:3", "random2:3")


def test_dev_files_have_separate_paragraphs(runs, tiny_encoder, tmp_path):
    folder, data = runs
    other = open_qa(tmp_path / "other.jsonl", copies=1)
    pairs = [f"{path}+{folder / 'paragraphs.jsonl'}" for path in (data, other)]
    settings = experiment("open_qa", pairs[1], tiny_encoder, training={"num_train_epochs": 1})
    files = DataSettings(train=(pairs[1],), dev=tuple(pairs))
    train(replace(settings, data=files), tmp_path / "run")
    records = (tmp_path / "run" / "metrics.jsonl").read_text()
    assert '"eval_train.f1"' in records
    assert '"eval_other.f1"' in records


def test_a_model_for_spans_is_scored_as_open_qa(runs, tiny_encoder, tmp_path):
    folder, data = runs
    model = SpanModel.from_encoder(tiny_encoder, task="spans", head=HEAD)
    SpanTask(Reader(model, load_tokenizer(tiny_encoder))).save(tmp_path)
    assert evaluate(tmp_path, [data], task="open_qa")["answerable"] == 100
    assert predict(tmp_path, [data], tmp_path / "out.json", task="open_qa") == 24
    with pytest.raises(InputError, match=naming("open_qa pairs")):
        evaluate(folder / "plain", [data], task="pairs")
    with pytest.raises(InputError, match=naming("task openqa open_qa")):
        evaluate(tmp_path, [data], task="openqa")


def test_a_verifier_is_used(tiny_encoder, tmp_path):
    data = open_qa(tmp_path / "train.jsonl")
    model = SpanModel.from_encoder(
        tiny_encoder, task="spans", head=HEAD | {"objective": "answerability"}
    )
    verifier = tmp_path / "answerable"
    verifier.mkdir()
    SpanTask(Reader(model, load_tokenizer(tiny_encoder))).save(verifier)
    head = {"verifier": str(verifier), "answerability_weight": 2.0}
    settings = experiment("open_qa", data, tiny_encoder, head=head)
    examples = OpenQaTask.read(data)
    task = OpenQaTask.new(settings, examples)
    task.reader.reader.verifier.precision = "float32"
    (answer,) = task.predict(examples[:1])
    task.save(tmp_path)
    reloaded = open_model(tmp_path)
    for reader in (reloaded.reader.reader, reloaded.reader.reader.verifier):
        reader.precision = "float32"
    assert reloaded.predict(examples[:1])[0].score == pytest.approx(answer.score, abs=1e-4)
    reloaded.model.set_head(answerability_weight=0.0)
    assert reloaded.predict(examples[:1])[0].score != pytest.approx(answer.score, abs=1e-4)
