"""Runs of pre-training: interrupted and resumed, in two processes, and used by other runs."""

from __future__ import annotations

import json
import logging
import time
from dataclasses import replace

import pytest
import torch
from safetensors.torch import load_file

pytest.importorskip("pyarrow")

from syntagma.errors import DamagedFileError, InputError
from syntagma.evaluation import open_model
from syntagma.models.pair_model import PairModel
from syntagma.runs.folder import RunFolder
from syntagma.tasks.experiment import TrainingSettings
from syntagma.tasks.pretraining.task import PretrainingTask
from syntagma.training.run import train
from syntagma.training.trainable import parameter_groups
from syntagma.training.trainer import SyntagmaTrainer
from tests.corpora import make_corpus
from tests.corpora import pretraining as experiment
from tests.messages import naming, says
from tests.processes import Child, ranks


@pytest.fixture(scope="module")
def corpus(tmp_path_factory):
    return make_corpus(tmp_path_factory.mktemp("pretraining"))


def test_a_limit_of_examples_does_not_skip_corpora(corpus, tiny_encoder, tmp_path, caplog):
    data = {"train": [str(corpus), str(corpus)], "dev": [str(corpus)], "limit": 1}
    settings = experiment(corpus, tiny_encoder, data=data, training={"max_steps": 1})
    with caplog.at_level(logging.WARNING):
        train(settings, tmp_path / "run")
    assert says(caplog.text, "data.limit data.dev_limit corpora")


def test_a_failed_start_leaves_no_folder(corpus, tiny_encoder, tmp_path):
    with pytest.raises(InputError, match=naming("training.max_steps")):
        train(experiment(corpus, tiny_encoder, training={"max_steps": None}), tmp_path / "run")
    assert not (tmp_path / "run").exists()
    short = {"max_steps": 2, "save_steps": 1}
    train(experiment(corpus, tiny_encoder, training=short), tmp_path / "run")
    rows = [json.loads(row) for row in (tmp_path / "run" / "metrics.jsonl").open()]
    speeds = [row["pieces_per_second"] for row in rows if "pieces_per_second" in row]
    assert len(speeds) == 2
    assert min(speeds) > 0


@pytest.mark.parametrize("workers", [0, pytest.param(1, marks=pytest.mark.slow)])
def test_a_run_can_resume_without_a_damaged_shard(tmp_path, tiny_encoder, workers):
    folder = make_corpus(tmp_path)
    path = sorted(folder.glob("*.parquet"))[1]
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 1
    path.write_bytes(data)
    long = {"max_steps": 24, "dataloader_num_workers": workers, "save_steps": 3}
    with pytest.raises(DamagedFileError, match=naming(f"{path} --resume")):
        train(experiment(folder, tiny_encoder, training=long), tmp_path / "run")
    skip = {"train": [str(folder)], "dev": [str(folder)], "skip_bad": True}
    settings = experiment(folder, tiny_encoder, training=long, data=skip)
    assert train(settings, tmp_path / "run", resume=True)["log_likelihood"] < 0


def pretrain(corpus, encoder, folder, workers):
    training = {"max_steps": 40, "dataloader_num_workers": workers, "save_steps": 3}
    train(experiment(corpus, encoder, training=training), folder, resume=True)


def wait_for_checkpoint(processes, folder, step=9):
    deadline = time.monotonic() + 120
    while all(each.is_running for each in processes) and time.monotonic() < deadline:
        marks = (folder / "checkpoints").glob("checkpoint-*/complete")
        if any(int(mark.parent.name.rpartition("-")[2]) >= step for mark in marks):
            break
        time.sleep(0.01)
    for each in processes:
        assert each.is_running, each.err.read_text()[-2000:]


def losses(folder):
    """The loss of each step, with its place in the stream."""
    rows = [json.loads(row) for row in (folder / "metrics.jsonl").open()]
    return [(row["step"], row["epoch"], row["loss"]) for row in rows if "loss" in row]


def assert_same(folder, other):
    expected, found = (load_file(path / "model.safetensors") for path in (folder, other))
    assert all(torch.equal(expected[name], found[name]) for name in expected)
    assert losses(folder) == losses(other)


def test_a_run_stopped_after_a_checkpoint_resumes_with_the_same_weights(
    corpus, tmp_path, tiny_encoder, monkeypatch
):
    settings = experiment(corpus, tiny_encoder, training={"max_steps": 16, "save_steps": 4})
    train(settings, tmp_path / "whole")
    compute_loss = SyntagmaTrainer.compute_loss

    def stop(self, *args, **kwargs):
        if self.state.global_step == 10:
            raise KeyboardInterrupt
        return compute_loss(self, *args, **kwargs)

    with monkeypatch.context() as stopping:
        stopping.setattr(SyntagmaTrainer, "compute_loss", stop)
        with pytest.raises(KeyboardInterrupt):
            train(settings, tmp_path / "broken")
    assert RunFolder(tmp_path / "broken").last_checkpoint().name == "checkpoint-8"
    train(settings, tmp_path / "broken", resume=True)
    assert_same(tmp_path / "whole", tmp_path / "broken")


@pytest.mark.slow
@pytest.mark.parametrize("workers", [0, 2])
def test_a_killed_and_resumed_run_gives_the_same_weights(corpus, tmp_path, tiny_encoder, workers):
    def start(name):
        arguments = (corpus, tiny_encoder, tmp_path / name, workers)
        return Child(pretrain, *arguments, folder=tmp_path, has_children=workers > 0)

    whole, broken = start("whole"), start("broken")
    wait_for_checkpoint([broken], tmp_path / "broken")
    broken.kill()
    broken = start("broken")
    broken.require_success()
    whole.require_success()
    assert_same(tmp_path / "whole", tmp_path / "broken")


@pytest.mark.slow
def test_two_processes_train_and_resume(corpus, tmp_path, tiny_encoder):
    folder = tmp_path / "run"
    arguments = (corpus, tiny_encoder, folder, 0)
    run = ranks(pretrain, *arguments, folder=tmp_path)
    wait_for_checkpoint(run, folder)
    for each in run:
        each.kill()
    last = RunFolder(folder).last_checkpoint(n_processes=2)
    states = [json.loads((last / f"stream-{rank}.json").read_text()) for rank in (0, 1)]
    step = int(last.name.rpartition("-")[2])
    assert [state["given"] for state in states] == [step, step]
    settings = experiment(corpus, tiny_encoder, training={"max_steps": 40})
    with pytest.raises(InputError, match=naming("2 1 processes --out")):
        train(settings, folder, resume=True)
    for each in ranks(pretrain, *arguments, folder=tmp_path):
        each.require_success()
    rows = [json.loads(row) for row in (folder / "metrics.jsonl").open()]
    assert sum("eval_loss" in row for row in rows) == 1


@pytest.fixture(scope="module")
def chains(tmp_path_factory):
    """Annotate a corpus in which each word depends on the previous one, which can be learned."""
    return make_corpus(tmp_path_factory.mktemp("chains"), parser="linear")


@pytest.fixture(scope="module")
def pretrained(chains, encoder_folders, tmp_path_factory):
    folder = tmp_path_factory.mktemp("pretrained") / "run"
    changes = {"max_steps": 90, "learning_rate": 5e-3, "eval_steps": 30}
    train(experiment(chains, encoder_folders["bert"], training=changes), folder)
    return folder


@pytest.mark.slow
def test_pretraining_learns_and_reports(pretrained, chains):
    rows = [json.loads(row) for row in (pretrained / "metrics.jsonl").open()]
    scores = [row["eval_loss"] for row in rows if "eval_loss" in row]
    assert len(scores) == 3
    assert scores[-1] < scores[0]
    rates = [row for row in rows if "pieces_per_second" in row]
    assert rates
    assert all(0 <= row["data_wait"] < 1 and row["pieces_per_second"] > 0 for row in rates)
    metrics = json.loads((pretrained / "metrics.json").read_text())
    task = open_model(pretrained, precision="float32")
    assert task.evaluate(PretrainingTask.read(chains)) == pytest.approx(metrics, rel=1e-4)
    assert metrics["distances_accuracy"] > metrics["distances_chance"]
    assert metrics["heads_accuracy"] > metrics["heads_chance"] + 10


def test_other_experiments_continue_from_the_model(pretrained, tmp_path):
    weights = load_file(pretrained / "model.safetensors")
    labels = {"labels": ["no", "yes"]}
    both = PairModel.from_encoder(
        str(pretrained), task="pairs", guides={"tree_distance": {}}, labels=labels
    )
    alpha = both.tree_distance.alpha.item()
    assert alpha == weights["tree_distance.alpha"].item() != pytest.approx(0.1)
    for name, weight in both.named_parameters():
        if name.startswith(("encoder.", "tree_distance.")):
            assert torch.equal(weight, weights[name])
    alone = PairModel.from_encoder(str(pretrained), task="pairs", labels=labels)
    assert torch.equal(alone.get_input_embeddings().weight, both.get_input_embeddings().weight)
    assert not hasattr(alone, "tree_distance")
    # Settings that differ from those of the pretrained guides are not ignored.
    fixed = {"tree_distance": {"alpha": 0.5, "learn_alpha": False}}
    other = PairModel.from_encoder(str(pretrained), task="pairs", guides=fixed, labels=labels)
    assert other.tree_distance.alpha.item() == 0.5
    assert torch.equal(
        other.tree_distance.layers[0].own.weight, weights["tree_distance.layers.0.own.weight"]
    )
    with pytest.raises(InputError, match=naming("guides.tree_distance.direction down up")):
        PairModel.from_encoder(
            str(pretrained), task="pairs", guides={"tree_distance": {"direction": "up"}},
            labels=labels,
        )  # fmt: skip
    # Pretrained guides train at the encoder's learning rate, new ones at their own.
    settings = TrainingSettings(learning_rate=1e-4, head_learning_rate=1e-3)
    rates = {
        id(weights): group["lr"]
        for group in parameter_groups(both, settings)
        for weights in group["params"]
    }
    for name, weight in both.named_parameters():
        is_known = name.startswith(("encoder.", "tree_distance."))
        assert rates[id(weight)] == (1e-4 if is_known else 1e-3), name
    # Further pre-training also reuses the head for masked pieces.
    model = PretrainingTask.new(experiment("", pretrained, preset="none"), []).model
    assert torch.equal(model.piece_head.dense.weight, weights["piece_head.dense.weight"])


def test_new_guides_may_have_a_separate_learning_rate(tiny_encoder):
    model = PairModel.from_encoder(
        str(tiny_encoder),
        task="pairs",
        guides={"tree_distance": {}},
        labels={"labels": ["no", "yes"]},
    )
    settings = TrainingSettings(learning_rate=1e-4, head_learning_rate=1e-3)
    for own, expected in (None, 1e-3), (3e-4, 3e-4):
        rates = {
            id(weights): group["lr"]
            for group in parameter_groups(model, replace(settings, guide_learning_rate=own))
            for weights in group["params"]
        }
        for name, weight in model.named_parameters():
            part = name.partition(".")[0]
            known = {"encoder": 1e-4, "tree_distance": expected}
            assert rates[id(weight)] == known.get(part, 1e-3), name


def test_alpha_may_have_a_separate_learning_rate(tiny_encoder):
    def model_with(guides):
        return PairModel.from_encoder(
            str(tiny_encoder), task="pairs", guides=guides, labels={"labels": ["no", "yes"]}
        )

    settings = TrainingSettings(learning_rate=1e-4, guide_learning_rate=3e-4)
    model = model_with({"tree_distance": {}, "ancestor_attention": {}})
    for is_loaded in False, True:
        # The rate of a loaded α is its own as well.
        model.pretrained_keys = {"tree_distance.alpha"} if is_loaded else set()
        groups = parameter_groups(model, replace(settings, alpha_learning_rate=0.01))
        (own,) = (group for group in groups if group["lr"] == 0.01)
        assert [id(weight) for weight in own["params"]] == [id(model.tree_distance.alpha)]
        assert own["weight_decay"] == 0
        assert sum(len(group["params"]) for group in groups) == len(list(model.parameters()))
    for guides in (
        {"ancestor_attention": {}},
        {"tree_distance": {"learn_alpha": False}},
        {"tree_distance": {"combination": "sum"}},
    ):
        with pytest.raises(InputError, match=naming("training.alpha_learning_rate 0.01 omit")):
            parameter_groups(model_with(guides), replace(settings, alpha_learning_rate=0.01))
    with pytest.raises(InputError, match=naming("alpha_learning_rate positive -1.0")):
        TrainingSettings(alpha_learning_rate=-1.0)
