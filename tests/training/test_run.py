"""A run writes a complete folder; a killed run resumes as if it had not been killed."""

from __future__ import annotations

import json
import time
from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file

from syntagma.encoders.config import read_config
from syntagma.errors import InputError
from syntagma.evaluation import evaluate, open_model
from syntagma.packing import pack
from syntagma.runs.folder import RunFolder
from syntagma.settings import build
from syntagma.tasks.experiment import Experiment
from syntagma.tasks.pairs.task import PairTask
from syntagma.training.run import train
from syntagma.training.trainer import SyntagmaTrainer
from tests.builders import experiment, pairs, squad, treebank
from tests.conftest import SENTENCES
from tests.messages import naming
from tests.processes import Child

PARSER_TRAINING = {"num_train_epochs": 12, "head_learning_rate": 1e-2, "eval_steps": 0.34}


@pytest.fixture(scope="module")
def parser_run(tmp_path_factory, encoder_folders):
    folder = tmp_path_factory.mktemp("parser")
    data = treebank(folder / "tides.conllu")
    train(
        experiment(
            "parsing",
            data,
            str(encoder_folders["bert"]),
            training=PARSER_TRAINING,
        ),
        folder / "run",
    )
    return folder / "run", data


def test_a_parser_learns(parser_run):
    run, data = parser_run
    metrics = json.loads((run / "metrics.json").read_text())
    assert metrics["las"] > 80
    again = evaluate(run, [data])
    assert {key: again[key] for key in metrics} == pytest.approx(metrics)
    assert again["sentences_per_second"] > 0
    predicted = (run / "predictions.conllu").read_text()
    assert predicted.count("\n\n") == 3 * len(SENTENCES)
    rows = json.loads((run / "examples.json").read_text())
    assert len(rows) == 3 * len(SENTENCES)


def test_a_run_has_a_model_card_with_its_score(parser_run):
    run, _ = parser_run
    metrics = json.loads((run / "metrics.json").read_text())
    card = (run / "README.md").read_text(encoding="utf-8")
    assert f"| las | {metrics['las']:g} |" in card
    assert "load_parser" in card
    assert str(run) not in card
    n_evaluations = len(RunFolder(run).evaluations("las"))
    assert n_evaluations > 1
    assert f"on its dev data, which also chose the best of {n_evaluations} evaluations." in card


def test_a_run_folder_is_not_overwritten(parser_run, tiny_encoder):
    run, data = parser_run
    with pytest.raises(InputError, match=naming(f"{run} empty")):
        train(experiment("parsing", data, tiny_encoder), run)


def test_resuming_with_other_settings_is_rejected(parser_run, tiny_encoder):
    run, data = parser_run
    training = PARSER_TRAINING | {"num_train_epochs": 2}
    settings = experiment("parsing", data, tiny_encoder, training=training)
    with pytest.raises(InputError, match=naming("training.num_train_epochs=2.0 12.0 --out")):
        train(settings, run, resume=True)


def test_resuming_a_finished_run_changes_nothing(parser_run, tiny_encoder):
    run, data = parser_run
    before = {path.name: path.stat().st_mtime_ns for path in run.iterdir()}
    assert "checkpoints" not in before
    metrics = train(
        experiment("parsing", data, tiny_encoder, training=PARSER_TRAINING),
        run,
        resume=True,
    )
    assert metrics == json.loads((run / "metrics.json").read_text())
    assert {path.name: path.stat().st_mtime_ns for path in run.iterdir()} == before


def test_resuming_without_a_checkpoint_starts_the_records_again(tmp_path, tiny_encoder):
    data = treebank(tmp_path / "tides.conllu", copies=1)
    settings = experiment("parsing", data, tiny_encoder, training={"num_train_epochs": 1})
    train(settings, tmp_path / "whole")
    RunFolder(tmp_path / "cut").begin(settings, resume=True)
    RunFolder(tmp_path / "cut").add_record({"step": 7, "loss": 1.0})
    train(settings, tmp_path / "cut", resume=True)
    steps = [record["step"] for record in RunFolder(tmp_path / "cut").records()]
    assert steps == [record["step"] for record in RunFolder(tmp_path / "whole").records()]


@pytest.mark.parametrize("bits", [4, 8])
def test_a_packed_parser_is_small_and_parses_the_same(parser_run, tmp_path, bits):
    run, data = parser_run
    size = pack(run, tmp_path / "small", bits=bits)
    assert size < 0.5 * (run / "model.safetensors").stat().st_size
    assert evaluate(tmp_path / "small", [data])["las"] > 75
    with pytest.raises(InputError, match=naming(f"{tmp_path / 'small'} empty")):
        pack(run, tmp_path / "small")


def train_reader(folder, encoder, parser, epochs):
    data = squad(folder / "harbour.json", copies=2)
    settings = experiment(
        "spans",
        data,
        encoder,
        preset="sg-net",
        parser=str(parser),
        training={"num_train_epochs": epochs, "learning_rate": 3e-3, "eval_steps": 0.25},
        hidden_dropout=0.0,
    )
    train(settings, folder / "run")
    return folder / "run", data


@pytest.fixture(scope="module")
def reader_run(tmp_path_factory, tiny_encoder, parser_run):
    return train_reader(tmp_path_factory.mktemp("reader"), tiny_encoder, parser_run[0], epochs=2)


@pytest.mark.slow
def test_a_guided_reader_learns_to_answer_and_to_abstain(tmp_path, tiny_encoder, parser_run):
    run, _ = train_reader(tmp_path, tiny_encoder, parser_run[0], epochs=20)
    metrics = json.loads((run / "metrics.json").read_text())
    assert metrics["f1"] > 50
    assert metrics["NoAns_f1"] == 100


def test_a_guided_reader_abstains_above_its_threshold(reader_run):
    run, data = reader_run
    metrics = json.loads((run / "metrics.json").read_text())
    predictions = json.loads((run / "predictions.json").read_text())
    assert len(predictions) == metrics["total"] == 14
    odds = json.loads((run / "predictions.null_odds.json").read_text())
    threshold = json.loads((run / "config.json").read_text())["head"]["null_score_diff_threshold"]
    assert all((odds[key] > threshold) == (text == "") for key, text in predictions.items())
    # Trained and scored in float32; on processors that are fast in bfloat16, that is the default.
    again = evaluate(run, [data], precision="float32")
    assert again["f1"] == pytest.approx(metrics["f1"])


def test_the_model_of_another_task_is_rejected(reader_run, parser_run):
    from syntagma.parse.sources.load import load_parser

    with pytest.raises(InputError, match=naming("spans parsing")):
        load_parser(str(reader_run[0]))


def test_damaged_and_unrelated_folders_are_rejected(parser_run, tmp_path):
    run, _ = parser_run
    folder = tmp_path / "copy"
    folder.mkdir()
    for name in ("config.json", "model.safetensors", "tokenizer.json", "tokenizer_config.json"):
        (folder / name).write_bytes((run / name).read_bytes())
    weights = (folder / "model.safetensors").read_bytes()
    (folder / "model.safetensors").write_bytes(weights[: len(weights) // 2])
    with pytest.raises(InputError, match=naming("model.safetensors changed")):
        open_model(folder)
    config = json.loads((folder / "config.json").read_text())
    later = {"format_version": 99, "syntagma_version": "99.0.0"}
    for changed, message in (
        (later, "config.json 99.0.0 format 99 1 update"),
        ({"syntagma_version": "x.y"}, "config.json 0.1.0 x.y"),
        ({"format_version": "new"}, "config.json format_version new"),
        ({"format_version": None}, "config.json format_version scripts/convert_to_0_1.py"),
    ):
        (folder / "config.json").write_text(json.dumps(config | changed))
        with pytest.raises(InputError, match=naming(message)):
            open_model(folder)
    del config["syntagma_version"]
    (folder / "config.json").write_text(json.dumps(config))
    with pytest.raises(InputError, match=naming(f"{folder} `syntagma train`")):
        open_model(folder)


def train_parser(data, encoder, folder):
    training = {"num_train_epochs": 4, "save_steps": 3}
    train(experiment("parsing", data, encoder, training=training), folder, resume=True)


def test_out_of_memory_is_reported_in_one_line(tmp_path, tiny_encoder, monkeypatch):
    data = pairs(tmp_path / "harbour.jsonl", copies=1)

    def run_out_of_memory(self, **options):
        raise torch.OutOfMemoryError("CUDA out of memory. Tried to allocate 2.00 GiB. GPU 0 has")

    monkeypatch.setattr(SyntagmaTrainer, "train", run_out_of_memory)
    settings = {
        "task": "pairs", "encoder": str(tiny_encoder), "preset": "none",
        "data": {"train": data, "dev": data}, "head": {"max_length": 64},
    }  # fmt: skip
    experiment = build(Experiment, settings, where="test")
    expected = "CUDA 6144 training.batch_tokens --resume --set training.gradient_checkpointing=true"
    with pytest.raises(InputError, match=naming(expected)):
        train(experiment, tmp_path / "run")
    assert RunFolder(tmp_path / "run").state == "begun"


@pytest.mark.slow
def test_a_killed_and_resumed_run_gives_the_same_weights(tmp_path, tiny_encoder):
    """The process is killed at arbitrary moments; `test_resume.py` stops runs at chosen ones."""
    data = treebank(tmp_path / "tides.conllu", copies=4)

    def start(name):
        return Child(train_parser, data, tiny_encoder, tmp_path / name, folder=tmp_path)

    whole, killed = start("whole"), start("killed")
    kills = 0
    deadline = time.monotonic() + 120
    for min_step in (1, 4, 9):
        while killed.is_running and time.monotonic() < deadline:
            steps = [
                int(path.name.rpartition("-")[2])
                for path in (tmp_path / "killed" / "checkpoints").glob("checkpoint-*")
            ]
            if max(steps, default=0) >= min_step:
                break
            time.sleep(0.01)
        kills += killed.is_running
        killed.kill()
        killed = start("killed")
    killed.require_success()
    whole.require_success()
    assert kills >= 1
    expected = load_file(tmp_path / "whole" / "model.safetensors")
    found = load_file(tmp_path / "killed" / "model.safetensors")
    assert expected.keys() == found.keys()
    assert all(torch.equal(expected[name], found[name]) for name in expected)

    def scores(name):
        lines = (tmp_path / name / "metrics.jsonl").read_text().splitlines()
        return [
            (row["step"], row["eval_las"]) for row in map(json.loads, lines) if "eval_las" in row
        ]

    assert scores("whole") == scores("killed")


def test_a_run_can_start_from_a_saved_model(tmp_path, tiny_encoder):
    """The head is kept for the same task, and newly initialised for another."""
    data = squad(tmp_path / "harbour.json", copies=1)
    tiny_steps = {"num_train_epochs": 1, "learning_rate": 1e-12}
    train(
        experiment("spans", data, tiny_encoder, training={"num_train_epochs": 1}),
        tmp_path / "first",
    )
    first = load_file(tmp_path / "first" / "model.safetensors")
    for preset, same in (("saved", True), ("none", False)):
        settings = experiment(
            "spans", data, str(tmp_path / "first"), preset=preset, training=tiny_steps
        )
        train(settings, tmp_path / preset)
        found = load_file(tmp_path / preset / "model.safetensors")
        assert found.keys() == first.keys()
        heads = [name for name in found if not name.startswith("encoder.")]
        moved = [name for name in heads if not torch.allclose(found[name], first[name], atol=1e-6)]
        assert heads
        assert bool(moved) != same
        # It is packed as the difference from the encoder that all runs started from.
        assert read_config(tmp_path / preset).base == tiny_encoder
        base = json.loads((tmp_path / preset / "config.json").read_text())["base"]
        assert (tmp_path / preset / base).samefile(tiny_encoder)


def test_metrics_are_moved_into_place_last(tmp_path, tiny_encoder, monkeypatch):
    """A run killed while its results are moved into place does not count as finished."""
    data = squad(tmp_path / "harbour.json", copies=1)
    settings = experiment("spans", data, tiny_encoder, training={"num_train_epochs": 1})
    moved = []
    move = Path.replace

    def interrupt_fourth(path, target):
        if path.parent.name.startswith(".kept."):
            moved.append(path.name)
            if len(moved) == 4:
                raise KeyboardInterrupt
        return move(path, target)

    monkeypatch.setattr(Path, "replace", interrupt_fourth)
    with pytest.raises(KeyboardInterrupt):
        train(settings, tmp_path / "run")
    assert not (tmp_path / "run" / "metrics.json").exists()
    (tmp_path / "run" / ".kept.killed").mkdir()
    train(settings, tmp_path / "run", resume=True)
    assert moved[-1] == "metrics.json"
    assert not list((tmp_path / "run").glob(".kept.*"))


def test_a_run_saves_hashes_of_its_dev_examples(tmp_path, tiny_encoder):
    """Hashes depend on the examples, not on the path of the file."""
    hashes = []
    for name, text in (("a", "dawn"), ("b", "dawn"), ("c", "dusk")):
        (tmp_path / name).mkdir()
        data = treebank(tmp_path / name / "tides.conllu", copies=1)
        path = Path(data)
        path.write_text(path.read_text().replace("dawn", text))
        train(
            experiment("parsing", data, tiny_encoder, training={"num_train_epochs": 1}),
            tmp_path / name / "run",
        )
        hashes.append(json.loads((tmp_path / name / "run" / "data.json").read_text()))
    assert hashes[0] == hashes[1] != hashes[2]
    assert list(hashes[0]) == ["tides"]


@pytest.mark.parametrize(
    ("eval_steps", "epochs"),
    [(None, [1, 2, 3]), (2 / 3, [2, 3]), (1 / 6, [0.5, 1, 1.5, 2, 2.5, 3]), (1000, [3])],
)
@pytest.mark.slow
def test_dev_files_are_scored_every_eval_steps(eval_steps, epochs, tmp_path, tiny_encoder):
    settings = experiment(
        "pairs",
        pairs(tmp_path / "a.jsonl"),
        tiny_encoder,
        training={"num_train_epochs": 3, "eval_steps": eval_steps, "batch_tokens": 200},
    )
    train(settings, tmp_path / "run")
    lines = (tmp_path / "run" / "metrics.jsonl").read_text().splitlines()
    found = [row["epoch"] for row in map(json.loads, lines) if "eval_accuracy" in row]
    assert found == pytest.approx(epochs, abs=0.1)


def test_predictions_of_the_best_weights_are_kept(tmp_path, tiny_encoder, monkeypatch):
    """The kept predictions are those of the first evaluation, since later ones are worse."""
    data = pairs(tmp_path / "a.jsonl")
    settings = experiment(
        "pairs", data, tiny_encoder,
        training={"num_train_epochs": 3, "batch_tokens": 200, "learning_rate": 1e-2},
    )  # fmt: skip
    all_predictions, score, predict = [], PairTask.score, PairTask.predict

    def scored(task, examples, predictions):
        return score(task, examples, predictions) | {"accuracy": 90.0 - len(all_predictions)}

    def predicted(task, examples):
        all_predictions.append(predict(task, examples))
        return all_predictions[-1]

    monkeypatch.setattr(PairTask, "score", scored)
    monkeypatch.setattr(PairTask, "predict", predicted)
    train(settings, tmp_path / "run")
    assert len(all_predictions) == 3
    assert all_predictions[0] != all_predictions[-1]
    kept = open_model(tmp_path / "run")
    kept.write_predictions(kept.read(data), all_predictions[0], tmp_path / "first.jsonl")
    name = PairTask.predictions_file
    assert (tmp_path / "run" / name).read_text() == (tmp_path / "first.jsonl").read_text()
    assert [each.label for each in predict(kept, kept.read(data))] == [
        each.label for each in all_predictions[0]
    ]
