"""Resumed runs equal uninterrupted ones; failed trainings leave no model."""

from __future__ import annotations

import json
import shutil
from dataclasses import replace
from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file, save_file

from syntagma.errors import DamagedFileError, InputError, TrainingError
from syntagma.runs.folder import RunFolder
from syntagma.training import run as module
from syntagma.training.run import train
from syntagma.training.trainer import SyntagmaTrainer
from tests.builders import experiment, pairs
from tests.messages import naming


class KilledError(Exception):
    """Simulates a kill."""


def kill(*args, **kwargs):
    raise KilledError


def pair_settings(tmp_path, encoder, **training):
    training = {"batch_tokens": 200, "eval_steps": None, "save_steps": 7} | training
    return experiment("pairs", pairs(tmp_path / "pairs.jsonl"), str(encoder), training=training)


def records(run, key):
    """Return step and value of each record that has the key."""
    rows = map(json.loads, (run / "metrics.jsonl").read_text().splitlines())
    return [(row["step"], row[key]) for row in rows if key in row]


def with_accuracy(scores):
    """Make evaluations report the accuracy that ``scores`` returns for a trainer."""
    score_dev = SyntagmaTrainer.score_dev

    def found(self):
        values, predictions = score_dev(self)
        return values | {"accuracy": float(scores(self))}, predictions

    return found


def train_killed_and_resumed(settings, folder, monkeypatch):
    """Train until killed after the last step, then resume."""
    with monkeypatch.context() as killing:
        killing.setattr(module, "_finish", kill)
        with pytest.raises(KilledError):
            train(settings, folder)
    train(settings, folder, resume=True)


def assert_same(folder, other):
    weights, others = (load_file(path / "model.safetensors") for path in (folder, other))
    assert all(torch.equal(weights[name], others[name]) for name in weights)
    for key in ("loss", "eval_accuracy"):
        assert records(folder, key) == records(other, key)


@pytest.mark.parametrize("dev", [True, False])
def test_a_run_killed_after_its_last_step_takes_no_further_steps(
    tmp_path, tiny_encoder, monkeypatch, dev
):
    settings = pair_settings(
        tmp_path, tiny_encoder, num_train_epochs=1.5, lr_scheduler_type="constant_with_warmup"
    )
    if not dev:
        settings = replace(settings, data=replace(settings.data, dev=()))
    train(settings, tmp_path / "whole")
    train_killed_and_resumed(settings, tmp_path / "killed", monkeypatch)
    assert_same(tmp_path / "whole", tmp_path / "killed")
    assert max(step for step, _ in records(tmp_path / "killed", "loss")) == 21


def test_a_run_that_stopped_early_is_not_continued(tmp_path, tiny_encoder, monkeypatch):
    settings = pair_settings(
        tmp_path, tiny_encoder, num_train_epochs=5, early_stopping_patience=1, save_steps=1
    )
    by_number = with_accuracy(lambda self: [50, 40, 90][len(self.folder.evaluations("accuracy"))])
    monkeypatch.setattr(SyntagmaTrainer, "score_dev", by_number)
    train(settings, tmp_path / "whole")
    train_killed_and_resumed(settings, tmp_path / "killed", monkeypatch)
    assert [score for _, score in records(tmp_path / "killed", "eval_accuracy")] == [50, 40]
    assert_same(tmp_path / "whole", tmp_path / "killed")


def test_the_best_weights_match_the_records(tmp_path, tiny_encoder, monkeypatch):
    """An evaluation that is repeated after resuming may give another result."""
    scores = {14: 80.0, 28: 80.2, 42: 10.0, 56: 10.0}
    by_step = with_accuracy(lambda self: scores[self.state.global_step])
    monkeypatch.setattr(SyntagmaTrainer, "score_dev", by_step)
    settings = pair_settings(tmp_path, tiny_encoder, num_train_epochs=4, save_steps=20)
    run = RunFolder(tmp_path / "run")
    add_record = RunFolder.add_record

    def killed_after_recording(self, record):
        add_record(self, record)
        if record.get("eval_accuracy") == 80.2:
            kill()

    with monkeypatch.context() as killing:
        killing.setattr(RunFolder, "add_record", killed_after_recording)
        with pytest.raises(KilledError):
            train(settings, run.path)
    kept = sorted(path.name for path in run.checkpoints.glob("best-*"))
    assert kept == ["best-14.safetensors", "best-28.safetensors"]
    better = load_file(run.checkpoints / kept[0])
    scores[28] = 79.9
    train(settings, run.path, resume=True)
    assert max(records(run.path, "eval_accuracy"), key=lambda record: record[1]) == (14, 80.0)
    found = load_file(run.path / "model.safetensors")
    assert all(torch.equal(found[name], weight) for name, weight in better.items())


def test_a_run_resumed_in_a_later_epoch_sees_the_batches_of_this_epoch(
    tmp_path, tiny_encoder, monkeypatch
):
    """Each epoch has its own order of batches; the run resumes in it where it was killed."""
    compute_loss = SyntagmaTrainer.compute_loss
    seen: dict[int, list[list[int]]] = {}
    last_step = 1000

    def record_batch(self, model, inputs, *args, **kwargs):
        if self.state.global_step >= last_step:
            kill()
        seen[self.state.global_step] = inputs["input_ids"].tolist()
        return compute_loss(self, model, inputs, *args, **kwargs)

    monkeypatch.setattr(SyntagmaTrainer, "compute_loss", record_batch)
    # An epoch has 14 batches; the kill comes in the third one.
    settings = pair_settings(tmp_path, tiny_encoder, num_train_epochs=3, save_steps=4)
    train(settings, tmp_path / "whole")
    whole, seen = seen, {}
    assert sorted(whole) == list(range(42))
    epochs = [[whole[step] for step in range(first, first + 14)] for first in (0, 14, 28)]
    assert epochs[0] != epochs[1] != epochs[2] != epochs[0]
    last_step = 34
    with pytest.raises(KilledError):
        train(settings, tmp_path / "killed")
    last_step, seen = 1000, {}
    train(settings, tmp_path / "killed", resume=True)
    assert seen == {step: whole[step] for step in range(32, 42)}
    assert_same(tmp_path / "whole", tmp_path / "killed")
    # The mean loss of all steps, also of those before the kill.
    [(_, loss)] = records(tmp_path / "killed", "train_loss")
    assert [(42, loss)] == records(tmp_path / "whole", "train_loss")
    losses, step = records(tmp_path / "whole", "loss"), 0
    for at, each in losses:
        loss, step = loss - each * (at - step) / 42, at
    assert loss == pytest.approx(0, abs=1e-6)


def test_superseded_weights_are_removed(tmp_path):
    run = RunFolder(tmp_path)
    with pytest.raises(DamagedFileError, match=naming("checkpoints best weights")):
        run.best()
    for step in (2, 4):
        with run.keep(step) as draft:
            draft.write_text(str(step))
        assert [path.name for path in run.checkpoints.iterdir()] == [f"best-{step}.safetensors"]
    run.checkpoint(4).mkdir()
    run.mark_complete(4)
    for step in (6, 8):
        with run.keep(step) as draft:
            draft.write_text(str(step))
    assert {path.name for path in run.checkpoints.glob("best*")} == {
        "best-4.safetensors", "best-8.safetensors",
    }  # fmt: skip
    assert run.best().read_text() == "8"
    run.forget_after(run.checkpoint(4))
    assert run.best().read_text() == "4"


def test_a_resumed_run_may_save_at_other_steps(tmp_path, tiny_encoder, monkeypatch, caplog):
    settings = pair_settings(tmp_path, tiny_encoder, save_steps=8)
    saved: list[int] = []
    mark_complete = RunFolder.mark_complete

    def mark(self, step, **how):
        mark_complete(self, step, **how)
        saved.append(step)
        if saved == [8]:
            kill()

    monkeypatch.setattr(RunFolder, "mark_complete", mark)
    with pytest.raises(KilledError):
        train(settings, tmp_path / "run")
    more_often = replace(settings, training=replace(settings.training, save_steps=5))
    train(more_often, tmp_path / "run", resume=True)
    assert saved == [8, 10, 15, 20, 25, 28]
    assert "do not match" not in caplog.text


@pytest.mark.parametrize("dev", [True, False])
def test_a_nan_loss_in_the_last_steps_saves_no_model(tmp_path, tiny_encoder, monkeypatch, dev):
    compute_loss = SyntagmaTrainer.compute_loss

    def breaking(self, *args, **kwargs):
        loss = compute_loss(self, *args, **kwargs)
        return loss * (torch.nan if self.state.global_step >= 55 else 1)

    monkeypatch.setattr(SyntagmaTrainer, "compute_loss", breaking)
    settings = pair_settings(tmp_path, tiny_encoder, max_steps=60, eval_steps=1000, save_steps=1000)
    if not dev:
        settings = replace(settings, data=replace(settings.data, dev=()))
    with pytest.raises(
        TrainingError,
        match=naming("loss nan 60 steps training.learning_rate warmup_ratio"),
    ):
        train(settings, tmp_path / "run")
    assert not (tmp_path / "run" / "model.safetensors").exists()


def test_a_nan_gradient_is_detected_at_the_last_step(tmp_path, tiny_encoder, monkeypatch):
    compute_loss = SyntagmaTrainer.compute_loss

    def breaking(self, *args, **kwargs):
        loss = compute_loss(self, *args, **kwargs)
        if self.state.global_step == 9:
            loss.register_hook(lambda gradient: gradient * torch.nan)
        return loss

    monkeypatch.setattr(SyntagmaTrainer, "compute_loss", breaking)
    with pytest.raises(
        TrainingError,
        match=naming("gradient nan 10 steps training.learning_rate warmup_ratio"),
    ):
        train(pair_settings(tmp_path, tiny_encoder, max_steps=10), tmp_path / "run")


def test_an_existing_empty_folder_stays_empty_if_training_cannot_start(
    tmp_path, tiny_encoder, monkeypatch
):
    settings = pair_settings(tmp_path, tiny_encoder, max_steps=2)
    (tmp_path / "run").mkdir()
    monkeypatch.chdir(tmp_path / "run")
    with monkeypatch.context() as failing:
        failing.setattr(SyntagmaTrainer, "_batch_loader", kill)
        with pytest.raises(KilledError):
            train(settings, tmp_path / "run")
    assert not any((tmp_path / "run").iterdir())
    train(settings, ".")
    assert (tmp_path / "run" / "metrics.json").is_file()


def test_a_rejected_call_does_not_block_the_corrected_one(tmp_path, tiny_encoder, monkeypatch):
    """Whether its error comes before the folder is written, or with the first batch."""
    wrong = pair_settings(tmp_path, tiny_encoder, max_steps=2, alpha_learning_rate=1e-3)
    with pytest.raises(InputError, match=naming("training.alpha_learning_rate 0.001")):
        train(wrong, tmp_path / "run")
    assert not (tmp_path / "run").exists()
    settings = pair_settings(tmp_path, tiny_encoder, max_steps=2)

    def refuse(*_, **__):
        raise InputError("a batch: expected pieces, got none")

    with monkeypatch.context() as failing:
        failing.setattr(SyntagmaTrainer, "compute_loss", refuse)
        with pytest.raises(InputError, match=naming("batch pieces")):
            train(settings, tmp_path / "run")
    assert not (tmp_path / "run").exists()
    train(settings, tmp_path / "run")
    with monkeypatch.context() as failing:
        failing.setattr(SyntagmaTrainer, "score_dev", refuse)
        with pytest.raises(InputError, match=naming("batch pieces")):
            train(settings, tmp_path / "trained")
    assert RunFolder(tmp_path / "trained").state == "begun"


def killed_at(step, settings, folder, monkeypatch):
    """Train until killed at a step, after its checkpoint was written."""
    mark_complete = RunFolder.mark_complete

    def mark(self, at, **how):
        mark_complete(self, at, **how)
        if at == step:
            kill()

    with monkeypatch.context() as killing:
        killing.setattr(RunFolder, "mark_complete", mark)
        with pytest.raises(KilledError):
            train(settings, folder)


def relabelled(path):
    """Give the first example of a data file another label."""
    lines = path.read_text().splitlines(keepends=True)
    row = json.loads(lines[0])
    others = {"entailment": "contradiction", "contradiction": "entailment"}
    row["gold_label"] = others[row["gold_label"]]
    path.write_text("".join([json.dumps(row) + "\n", *lines[1:]]))


def shortened(path):
    path.write_text("".join(path.read_text().splitlines(keepends=True)[:-6]))


@pytest.fixture
def killed_run(tmp_path, tiny_encoder, monkeypatch):
    """The settings of a killed run, and the folder with the run, its data and its encoder."""
    encoder = tmp_path / "encoder"
    shutil.copytree(tiny_encoder, encoder)
    settings = experiment(
        "pairs", pairs(tmp_path / "train.jsonl"), str(encoder),
        training={"batch_tokens": 200, "save_steps": 4},
    )  # fmt: skip
    settings = replace(
        settings, data=replace(settings.data, dev=(pairs(tmp_path / "dev.jsonl", 2),))
    )
    killed_at(4, settings, tmp_path / "run", monkeypatch)
    return settings, tmp_path


@pytest.mark.parametrize("change", [relabelled, shortened])
@pytest.mark.parametrize("part", ["train", "dev"])
def test_a_run_whose_data_have_changed_is_not_resumed(killed_run, part, change):
    settings, folder = killed_run
    before = (folder / "run" / "metrics.jsonl").read_bytes()
    change(folder / f"{part}.jsonl")
    with pytest.raises(InputError, match=naming(f"run resume data.{part} changed --out")):
        train(settings, folder / "run", resume=True)
    assert (folder / "run" / "metrics.jsonl").read_bytes() == before


def test_a_run_whose_encoder_has_changed_is_not_resumed(killed_run):
    settings, folder = killed_run
    weights = load_file(folder / "encoder" / "model.safetensors")
    name = next(iter(weights))
    save_file(weights | {name: weights[name] + 1}, folder / "encoder" / "model.safetensors")
    with pytest.raises(InputError, match=naming("run resume encoder changed --out")):
        train(settings, folder / "run", resume=True)


def test_a_run_whose_trees_have_changed_is_not_resumed(tmp_path, tiny_encoder, monkeypatch):
    trees = tmp_path / "trees.conllu"
    data = pairs(tmp_path / "train.jsonl")
    rows = map(json.loads, Path(data).read_text().splitlines())
    texts = dict.fromkeys(row[key] for row in rows for key in ("sentence1", "sentence2"))

    def write(relation):
        with open(trees, "w") as file:
            for text in texts:
                file.write(f"# text = {text}\n")
                for number, form in enumerate(text.split()):
                    of = relation if number else "root"
                    file.write(f"{number + 1}\t{form}\t_\tNOUN\tNN\t_\t{number}\t{of}\t_\t_\n")
                file.write("\n")

    write("dep")
    settings = experiment(
        "pairs", data, str(tiny_encoder), preset="sg-net", parser=f"conllu:{trees}",
        training={"batch_tokens": 200, "save_steps": 4},
    )  # fmt: skip
    killed_at(4, settings, tmp_path / "run", monkeypatch)
    write("obj")
    with pytest.raises(InputError, match=naming("run resume parser trees.conllu changed --out")):
        train(settings, tmp_path / "run", resume=True)
    # Only the trees count, not when the file was written.
    write("dep")
    train(settings, tmp_path / "run", resume=True)


def test_a_run_without_hashes_of_its_data_is_resumed(killed_run):
    settings, folder = killed_run
    about = json.loads((folder / "run" / "run.json").read_text())
    assert about["data"].keys() == {"data.train", f"data.dev {settings.data.dev[0]}"}
    del about["data"]
    del about["encoder"]["digest"]
    (folder / "run" / "run.json").write_text(json.dumps(about))
    shortened(folder / "dev.jsonl")
    train(settings, folder / "run", resume=True)
    assert (folder / "run" / "metrics.json").is_file()
