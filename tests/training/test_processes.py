"""Two processes train the same model as one that accumulates gradients over two batches."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time

import pytest
import torch
import yaml
from safetensors.torch import load_file

from syntagma.cli import main
from syntagma.errors import InputError
from syntagma.runs.folder import RunFolder
from syntagma.tasks.spans.reader import Reader
from syntagma.tasks.spans.task import SpanTask
from syntagma.training import run as run_module
from syntagma.training.job_queue import train_all
from syntagma.training.run import train
from tests.builders import experiment, squad
from tests.messages import naming
from tests.processes import ranks

RUNS = ("one", "two", "other")


def flat(weights):
    return torch.cat([weights[name].flatten() for name in sorted(weights)])


def settings(data, encoder, *, gradient_accumulation_steps):
    return experiment(
        "spans",
        data,
        encoder,
        preset="sg-net",
        parser="linear",
        hidden_dropout=0.0,
        attention_dropout=0.0,
        # One question per batch, and an even number of batches.
        training={
            "num_train_epochs": 2,
            "gradient_accumulation_steps": gradient_accumulation_steps,
            "batch_tokens": 100,
        },
    )


def train_each(data, encoder, folder):
    """Train in each of the processes."""
    train(settings(data, encoder, gradient_accumulation_steps=1), folder)


@pytest.mark.slow
def test_two_processes_train_the_same_model_as_one(tmp_path, tiny_encoder):
    data = squad(tmp_path / "harbour.json", copies=2)
    for process in ranks(train_each, data, tiny_encoder, tmp_path / "two", folder=tmp_path):
        process.require_success()
    for run, accumulate in (("one", 2), ("other", 1)):
        train(settings(data, tiny_encoder, gradient_accumulation_steps=accumulate), tmp_path / run)
    # Adam turns gradients that are only rounding errors into full steps, so weights differ a bit.
    weights = {run: load_file(tmp_path / run / "model.safetensors") for run in RUNS}
    two = flat(weights["two"])
    assert (two - flat(weights["one"])).norm() < 0.005 * (two - flat(weights["other"])).norm()
    lines = (tmp_path / "two" / "metrics.jsonl").read_text().splitlines()
    evaluations = [row for row in map(json.loads, lines) if "eval_f1" in row]
    assert len(evaluations) == 2, "only one process writes records"


SCRIPT = """
import sys
from tests.training import test_processes
test_processes.train_each(*sys.argv[1:])
"""


@pytest.mark.slow
def test_torchrun_with_two_processes_trains_the_same_model_as_one(tmp_path, tiny_encoder):
    data = squad(tmp_path / "harbour.json", copies=2)
    (tmp_path / "script.py").write_text(SCRIPT)
    command = [
        sys.executable, "-m", "torch.distributed.run", "--nproc_per_node=2", "--standalone",
        tmp_path / "script.py", data, tiny_encoder, tmp_path / "two",
    ]  # fmt: skip
    environment = os.environ | {"OMP_NUM_THREADS": "1", "PYTHONPATH": os.pathsep.join(sys.path)}
    subprocess.run(command, check=True, capture_output=True, env=environment, timeout=240)
    train(settings(data, tiny_encoder, gradient_accumulation_steps=2), tmp_path / "one")
    one, two = (flat(load_file(tmp_path / run / "model.safetensors")) for run in ("one", "two"))
    torch.testing.assert_close(two, one, atol=2e-3, rtol=0)


def run_command(arguments):
    main([str(argument) for argument in arguments])


def run_command_until_killed(arguments):
    """Die after training, before the run is finished."""
    run_module._finish = lambda *args, **kwargs: os._exit(1)
    run_command(arguments)


@pytest.mark.slow
def test_two_processes_killed_after_training_take_no_further_steps(tmp_path, tiny_encoder):
    data = squad(tmp_path / "harbour.json", copies=2)
    config, out = tmp_path / "reader.yaml", tmp_path / "run"
    training = {"max_steps": 10, "batch_tokens": 100, "precision": "float32"}
    head = {"max_length": 96, "doc_stride": 32, "max_question_length": 24}
    values = {"task": "spans", "encoder": str(tiny_encoder), "head": head, "training": training}
    config.write_text(yaml.safe_dump(values | {"data": {"train": data, "dev": data}}))
    command = ("train", config, "--out", out)
    assert 1 in [
        process.join() for process in ranks(run_command_until_killed, command, folder=tmp_path)
    ]
    records = (out / "metrics.jsonl").read_text()
    done = ranks(run_command, (*command, "--resume"), folder=tmp_path)
    for process in done:
        process.require_success()
    assert (out / "metrics.jsonl").read_text() == records
    assert sum(process.out.read_text().count(f"→ {out}") for process in done) == 1


def train_verifier_slowly(data, encoder, folder):
    predict = SpanTask.predict

    def slowly(self, examples):
        # The second process is late: the first has already recorded its evaluation.
        time.sleep(0.5 * int(os.environ["RANK"]))
        return predict(self, examples)

    SpanTask.predict = slowly
    train(verifier(data, encoder), folder)


def verifier(data, encoder):
    training = {
        "num_train_epochs": 30,
        "learning_rate": 1e-12,
        "early_stopping_patience": 1,
        "batch_tokens": 100,
    }
    head = {"objective": "answerability"}
    return experiment("spans", data, encoder, training=training, head=head)


@pytest.mark.slow
def test_two_processes_stop_together(tmp_path, tiny_encoder):
    """Trains a verifier, whose span scores get no gradients: DDP must not wait for them."""
    data = squad(tmp_path / "harbour.json", copies=2)
    for process in ranks(
        train_verifier_slowly, data, tiny_encoder, tmp_path / "run", folder=tmp_path
    ):
        process.require_success()
    lines = (tmp_path / "run" / "metrics.jsonl").read_text().splitlines()
    evaluations = [row for row in map(json.loads, lines) if "eval_accuracy" in row]
    assert len(evaluations) == 2
    assert (tmp_path / "run" / "metrics.json").is_file()


def test_a_run_is_resumed_by_the_same_number_of_processes(tmp_path):
    run = RunFolder(tmp_path / "run")
    run.checkpoint(20).mkdir(parents=True)
    assert run.last_checkpoint() is None, "the checkpoint is incomplete"
    run.checkpoint(20).mkdir()
    run.mark_complete(20, n_processes=2)
    assert run.last_checkpoint(n_processes=2) == run.checkpoint(20)
    with pytest.raises(InputError, match=naming("2 1 processes --out")):
        run.last_checkpoint()


def test_many_runs_cannot_be_trained_by_torchrun(monkeypatch):
    monkeypatch.setenv("WORLD_SIZE", "2")
    with pytest.raises(InputError, match=naming("torchrun 2 CUDA_VISIBLE_DEVICES")):
        train_all([])


def test_a_nan_loss_stops_the_training(tmp_path, tiny_encoder):
    data = squad(tmp_path / "harbour.json", copies=1)
    training = {"num_train_epochs": 60, "learning_rate": 1e18, "warmup_ratio": 0.0}
    diverging = experiment("spans", data, tiny_encoder, training=training)
    with pytest.raises(InputError, match=naming("nan steps training.learning_rate warmup_ratio")):
        train(diverging, tmp_path / "run")


def test_training_stops_early_without_improvement(tmp_path, tiny_encoder):
    data = squad(tmp_path / "harbour.json", copies=1)
    changes = {"num_train_epochs": 30, "learning_rate": 1e-12, "early_stopping_patience": 3}
    train(experiment("spans", data, tiny_encoder, training=changes), tmp_path / "run")
    lines = (tmp_path / "run" / "metrics.jsonl").read_text().splitlines()
    evaluations = [row for row in map(json.loads, lines) if "eval_f1" in row]
    assert len(evaluations) == 4


@pytest.mark.slow
def test_a_verifier_learns(tmp_path, tiny_encoder):
    data = squad(tmp_path / "harbour.json", copies=3)
    training = {
        "num_train_epochs": 30,
        "learning_rate": 1e-3,
        "batch_tokens": 200,
        "eval_steps": 0.25,
    }
    settings = experiment(
        "spans", data, tiny_encoder, hidden_dropout=0.0, training=training,
        head={"objective": "answerability"},
    )  # fmt: skip
    assert train(settings, tmp_path / "verifier")["accuracy"] > 90


def test_a_verifier_is_used_and_saved_with_its_reader(tmp_path, tiny_encoder):
    data = squad(tmp_path / "harbour.json", copies=2)
    head, training = {"objective": "answerability"}, {"num_train_epochs": 1}
    verifier = experiment("spans", data, tiny_encoder, training=training, head=head)
    assert 0 <= train(verifier, tmp_path / "verifier")["accuracy"] <= 100
    head = {"verifier": str(tmp_path / "verifier")}
    reader = experiment("spans", data, tiny_encoder, training=training, head=head)
    assert train(reader, tmp_path / "reader")["total"] == 14
    # The verifier is saved with the reader.
    (tmp_path / "verifier").rename(tmp_path / "gone")
    answer = Reader.from_pretrained(tmp_path / "reader").answer("A gull cried.", "Who sang?")
    assert answer.prediction.verification != 0


@pytest.mark.parametrize("objective", ["both"])
def test_one_encoder_can_read_and_verify(tmp_path, tiny_encoder, objective):
    data = squad(tmp_path / "harbour.json", copies=2)
    settings_ = experiment(
        "spans", data, tiny_encoder, training={"num_train_epochs": 2}, head={"objective": objective}
    )
    train(settings_, tmp_path / "run")
    config = json.loads((tmp_path / "run" / "config.json").read_text())
    assert "answerability_weight" in config["head"]


def test_the_end_of_a_peer_process_is_reported(tmp_path, monkeypatch):
    def end(*_, **__):
        raise RuntimeError("[pair.cc:553] Connection closed by peer [127.0.0.1]:26519.")

    settings_ = experiment("spans", "harbour.json", "encoder")
    monkeypatch.setattr("syntagma.training.run._train", end)
    with pytest.raises(RuntimeError, match="closed by peer"):
        train(settings_, tmp_path / "run")
    monkeypatch.setenv("WORLD_SIZE", "2")
    with pytest.raises(InputError, match=naming("process --resume")):
        train(settings_, tmp_path / "run")
