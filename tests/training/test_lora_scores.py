"""A model trained with LoRA is scored as it is saved, and only once where one score is enough."""

from __future__ import annotations

import json

import pytest

from syntagma.errors import InputError, TrainingError
from syntagma.runs.folder import RunFolder
from syntagma.tasks.pairs.task import PairTask
from syntagma.training import run as module
from syntagma.training.run import train
from tests.builders import experiment, pairs
from tests.messages import naming

pytest.importorskip("peft")


@pytest.fixture
def settings(tmp_path, tiny_encoder):
    def with_epochs(n_epochs):
        training = {
            "encoder": "lora", "num_train_epochs": n_epochs, "eval_steps": None,
            "batch_tokens": 200, "save_steps": 7,
        }  # fmt: skip
        return experiment("pairs", pairs(tmp_path / "a.jsonl"), tiny_encoder, training=training)

    return with_epochs


def saved_accuracy(run):
    return json.loads((run / "metrics.json").read_text())["accuracy"]


@pytest.mark.parametrize(("n_epochs", "n_scorings"), [(1, 1), (2, 3)])
def test_a_single_evaluation_is_that_of_the_saved_model(
    n_epochs, n_scorings, settings, tmp_path, monkeypatch
):
    scorings, predict = [], PairTask.predict

    def counted(task, examples):
        scorings.append(len(examples))
        return predict(task, examples)

    monkeypatch.setattr(PairTask, "predict", counted)
    train(settings(n_epochs), tmp_path / "run")
    assert len(scorings) == n_scorings
    scores = [score for _, score in RunFolder(tmp_path / "run").evaluations("accuracy")]
    assert len(scores) == n_epochs
    assert scores == [saved_accuracy(tmp_path / "run")] or n_epochs > 1
    card = (tmp_path / "run" / "README.md").read_text(encoding="utf-8")
    assert ("chose the best of 2 evaluations" in card) == (n_epochs > 1)
    last = RunFolder(tmp_path / "run").records()[-1]
    assert last["epoch"] == n_epochs
    assert last.get("eval_evaluation_seconds", 0) > 0 or n_epochs > 1


def test_a_run_killed_before_it_is_scored_is_scored_when_resumed(settings, tmp_path, monkeypatch):
    def kill(*args, **kwargs):
        raise KeyboardInterrupt

    with monkeypatch.context() as killing:
        killing.setattr(module, "_finish", kill)
        with pytest.raises(KeyboardInterrupt):
            train(settings(1), tmp_path / "run")
    assert not RunFolder(tmp_path / "run").evaluations("accuracy")
    train(settings(1), tmp_path / "run", resume=True)
    [(_, score)] = RunFolder(tmp_path / "run").evaluations("accuracy")
    assert score == saved_accuracy(tmp_path / "run")


@pytest.mark.parametrize(
    ("values", "error", "message"),
    [
        ({"accuracy": float("nan")}, TrainingError, "accuracy nan training.learning_rate"),
        ({"loss": 1.0}, InputError, "data.dev: accuracy only loss"),
    ],
)
def test_a_run_without_a_usable_score_saves_no_model(
    values, error, message, settings, tmp_path, monkeypatch
):
    monkeypatch.setattr(PairTask, "score", lambda *args: values)
    with pytest.raises(error, match=naming(message)):
        train(settings(1), tmp_path / "run")
    assert RunFolder(tmp_path / "run").state == "begun"
    assert not [*(tmp_path / "run").glob("*.safetensors")]
