"""Two processes learn what one learns that accumulates over two batches."""

from __future__ import annotations

import json
import os
import subprocess
import sys

import pytest
import torch
from safetensors.torch import load_file

from syntagma.training.run import train
from tests.training.test_run import experiment, squad

SCRIPT = """
import sys, torch
torch.set_num_threads(1)
from syntagma.training.run import train
from tests.training.test_processes import settings
train(settings(sys.argv[1], sys.argv[2], accumulate=1), sys.argv[3])
"""


RUNS = ("one", "two", "other")


def flat(weights):
    return torch.cat([weights[name].flatten() for name in sorted(weights)])


def settings(data, encoder, *, accumulate):
    return experiment(
        "spans",
        data,
        encoder,
        preset="sg-net",
        parser="linear",
        hidden_dropout=0.0,
        attention_dropout=0.0,
        # A question a batch, and an even number of batches.
        training={"epochs": 2, "accumulate": accumulate, "batch_pieces": 100},
    )


def test_two_processes_agree_with_one(tmp_path, tiny_encoder):
    data = squad(tmp_path / "harbour.json", copies=2)
    script = tmp_path / "script.py"
    script.write_text(SCRIPT)
    command = [sys.executable, "-m", "torch.distributed.run", "--nproc_per_node=2",
               "--standalone", str(script), data, tiny_encoder, str(tmp_path / "two")]  # fmt: skip
    environment = os.environ | {"OMP_NUM_THREADS": "1", "PYTHONPATH": os.pathsep.join(sys.path)}
    done = subprocess.run(command, capture_output=True, text=True, env=environment, timeout=180)
    assert done.returncode == 0, done.stderr[-3000:]
    for run, accumulate in (("one", 2), ("other", 1)):
        train(settings(data, tiny_encoder, accumulate=accumulate), tmp_path / run)
    # Adam makes full steps of gradients that are rounding errors, so weights differ a little.
    weights = {run: load_file(tmp_path / run / "model.safetensors") for run in RUNS}
    two = flat(weights["two"])
    assert (two - flat(weights["one"])).norm() < 0.005 * (two - flat(weights["other"])).norm()
    lines = (tmp_path / "two" / "metrics.jsonl").read_text().splitlines()
    evaluations = [row for row in map(json.loads, lines) if "eval_f1" in row]
    assert len(evaluations) == 2, "only one process writes"


def test_training_stops_where_nothing_gets_better(tmp_path, tiny_encoder):
    data = squad(tmp_path / "harbour.json", copies=1)
    changes = {"epochs": 30, "learning_rate": 1e-12, "patience": 3}
    train(experiment("spans", data, tiny_encoder, training=changes), tmp_path / "run")
    lines = (tmp_path / "run" / "metrics.jsonl").read_text().splitlines()
    evaluations = [row for row in map(json.loads, lines) if "eval_f1" in row]
    assert len(evaluations) == 4


def test_a_verifier_is_asked_and_carried_along(tmp_path, tiny_encoder):
    data = squad(tmp_path / "harbour.json", copies=3)
    changes = {"epochs": 30, "learning_rate": 3e-3, "batch_pieces": 200}
    verifier = experiment(
        "spans", data, tiny_encoder, hidden_dropout=0.0, training=changes,
        head={"objective": "answerability"},
    )  # fmt: skip
    metrics = train(verifier, tmp_path / "verifier")
    assert metrics["accuracy"] > 90
    reader = experiment(
        "spans", data, tiny_encoder, training={"epochs": 1},
        head={"verifier": str(tmp_path / "verifier")},
    )  # fmt: skip
    metrics = train(reader, tmp_path / "reader")
    assert metrics["total"] == 21
    # The reader carries its verifier along.
    from syntagma.tasks.spans.reader import Reader

    (tmp_path / "verifier").rename(tmp_path / "gone")
    answer = Reader.from_pretrained(tmp_path / "reader").answer("A gull cried.", "Who sang?")
    assert answer.verification != 0


@pytest.mark.parametrize("objective", ["both"])
def test_one_encoder_may_do_both(tmp_path, tiny_encoder, objective):
    data = squad(tmp_path / "harbour.json", copies=2)
    settings_ = experiment(
        "spans", data, tiny_encoder, training={"epochs": 2}, head={"objective": objective}
    )
    train(settings_, tmp_path / "run")
    config = json.loads((tmp_path / "run" / "config.json").read_text())
    assert "answerability_weight" in config["head"]
