"""Sweeps: search spaces are parsed and searched, and a killed search is resumed."""

from __future__ import annotations

import sys
import time
from dataclasses import replace
from pathlib import Path

import pytest
from typer.testing import CliRunner

from syntagma.cli import app
from syntagma.errors import BusyError, DiskError, InputError, TrainingError
from syntagma.outputs import write_json
from syntagma.runs.folder import RunFolder
from syntagma.training import sweep as module
from syntagma.training.search_space import Dimension, read_space
from syntagma.training.sweep import Sweep, run_sweep
from tests.builders import pairs
from tests.messages import naming, says
from tests.processes import Child

optuna = pytest.importorskip("optuna")

SPACE = [
    "training.learning_rate=1e-4..1e-2:log",
    "preset=none,sg-net",
    "training.num_train_epochs=1..2",
]


@pytest.fixture
def sweep(tmp_path, tiny_encoder, tiny_parser):
    data = pairs(tmp_path / "harbour.jsonl", copies=1)
    config = tmp_path / "pairs.yaml"
    config.write_text(
        f"task: pairs\nencoder: {tiny_encoder}\nparser: {tiny_parser}\n"
        f"data:\n  train: {data}\n  dev: {data}\nhead:\n  max_length: 64\n"
        "training:\n  precision: float32\n"
    )
    return Sweep(config, tmp_path / "sweep", read_space(SPACE))


def test_an_unwritable_folder_is_rejected_before_a_trial(sweep, tmp_path):
    command = [
        "sweep",
        str(sweep.config),
        "--space",
        "training.num_train_epochs=1..2",
        "--trials",
        "1",
    ]
    found = CliRunner().invoke(app, [*command, "--out", str(sweep.folder), "--json", str(tmp_path)])
    assert says(str(found.exception), f"{tmp_path} folder file")
    assert not sweep.folder.exists()


def test_a_search_space_is_parsed():
    rate, preset, epochs = read_space(SPACE)
    assert rate == Dimension("training.learning_rate", low=1e-4, high=1e-2, log=True)
    assert preset.choices == ("none", "sg-net")
    assert epochs.is_whole
    assert not rate.is_whole
    assert read_space(["head.dropout=0,0.1,null"])[0].choices == (0, 0.1, None)
    assert read_space(["parser=linear,2020-01-01"])[0].choices == ("linear", "2020-01-01")


@pytest.mark.parametrize(
    ("texts", "message"),
    [
        ([], "--space training.learning_rate=1e-5..1e-3:log"),
        (["preset"], "--space preset KEY=A..B KEY=A..B:log KEY=A,B,C"),
        (["a.b=3..1"], "--space a.b=3..1"),
        (["a.b=0..1:log"], "--space a.b=0..1:log 0"),
        (["a.b=1..2:square"], "--space a.b=1..2:square"),
        (["a.b=x..2"], "--space a.b=x..2 x"),
        (
            ["a=[1,2],[3]"],
            "--space a=[1,2],[3] [1",
        ),
        (["a=1,,2"], "--space a=1,,2 empty"),
        (["a=1,!!set {b}"], "--space !!set {b}"),
        (["a=1,2", "a=3,4"], "--space a twice"),
    ],
)
def test_invalid_search_spaces_are_rejected(texts, message):
    with pytest.raises(InputError, match=naming(message)):
        read_space(texts)


def test_seeds_are_searched_or_averaged_over(sweep):
    space = read_space(["training.seed=1,2"])
    assert replace(sweep, space=space).experiment({"training.seed": 2}, 1).training.seed == 2
    with pytest.raises(InputError, match=naming("--space training.seed --seeds 2")):
        replace(sweep, space=space, seeds=2)
    with pytest.raises(InputError, match=naming("--set training.seed --seeds 2")):
        replace(sweep, overrides=("training.seed=5",), seeds=2)


def test_trials_are_runs_and_more_can_be_added(sweep):
    lines: list[str] = []
    found = run_sweep(sweep, 2, say=lines.append)
    assert len(found.trials) == len(lines) == 2
    values = [trial.value for trial in found.trials]
    assert values == sorted(values, reverse=True)
    assert (sweep.folder / "trial-001" / "config.json").is_file()
    more = run_sweep(sweep, 3)
    assert {trial.number for trial in more.trials} == {0, 1, 2}
    assert more.table().splitlines()[0].split() == [
        "trial",
        "training.learning_rate",
        "preset",
        "training.num_train_epochs",
        "accuracy",
    ]
    with pytest.raises(
        InputError, match=naming("space=['preset=none,sg-net'] preset=none,sg-net --out")
    ):
        run_sweep(replace(sweep, space=read_space(["preset=none,sg-net"])), 3)
    with pytest.raises(InputError, match=naming("training.num_train_epochs=7.0 3.0 --out")):
        run_sweep(replace(sweep, overrides=(*sweep.overrides, "training.num_train_epochs=7")), 3)


def fake_training(score):
    """Stand in for `train`, with an accuracy computed from preset, learning rate and seed."""

    def train(experiment, folder, *, resume):
        settings = experiment.training
        return {"accuracy": score(experiment.preset, settings.learning_rate, settings.seed)}

    return train


def test_the_first_trials_differ(sweep, monkeypatch):
    monkeypatch.setattr(
        "syntagma.training.run.train", fake_training(lambda preset, rate, seed: rate)
    )
    wide = replace(sweep, space=read_space(["training.learning_rate=1e-5..1e-1:log"]))
    rates = [trial.value for trial in run_sweep(wide, 4).trials]
    assert max(rates) > 10 * min(rates)


def test_the_mean_over_seeds_is_maximised(sweep, monkeypatch):
    rate = {1: 10.0, 2: 30.0}
    monkeypatch.setattr("syntagma.training.run.train", fake_training(lambda p, r, seed: rate[seed]))
    (trial,) = run_sweep(replace(sweep, seeds=2), 1).trials
    assert trial.value == 20.0
    assert [folder.rpartition("/")[2] for folder in trial.folders] == ["trial-000-1", "trial-000-2"]


def test_better_values_are_proposed_more_often(sweep, monkeypatch):
    monkeypatch.setattr(
        "syntagma.training.run.train",
        fake_training(lambda preset, r, s: 10.0 * (preset == "sg-net") - r),
    )
    found = run_sweep(sweep, 30)
    later = [trial.values["preset"] for trial in found.trials if trial.number >= 10]
    assert later.count("sg-net") > 10


def test_failed_trials_count_but_a_failed_first_trial_aborts_the_sweep(sweep, monkeypatch):
    def score(preset, rate, seed):
        if preset == "sg-net":
            raise InputError("no trees today")
        return float("nan") if rate < 1e-3 else 50.0

    monkeypatch.setattr("syntagma.training.run.train", fake_training(lambda *a: 50.0))
    run_sweep(sweep, 1)
    monkeypatch.setattr("syntagma.training.run.train", fake_training(score))
    lines: list[str] = []
    found = run_sweep(sweep, 12, say=lines.append)
    assert sum(trial.value is None for trial in found.trials) > 0
    assert any("no trees today" in line for line in lines)
    assert found.trials[0].value == 50.0
    assert found.table().splitlines()[-1].split()[-1] == "failed"
    other = replace(sweep, folder=sweep.folder / "other", space=read_space(["preset=sg-net,none"]))
    always = fake_training(lambda *a: score("sg-net", 0, 0))
    monkeypatch.setattr("syntagma.training.run.train", always)
    with pytest.raises(InputError, match="no trees today"):
        run_sweep(other, 3)


def test_a_first_trial_that_diverges_does_not_abort_the_sweep(sweep, monkeypatch):
    rates: list[float] = []

    def score(preset, rate, seed):
        rates.append(rate)
        if len(rates) == 1:
            raise TrainingError("the loss is nan after 3 steps")
        return 50.0

    monkeypatch.setattr("syntagma.training.run.train", fake_training(score))
    found = run_sweep(sweep, 3)
    assert [trial.value for trial in found.trials] == [50.0, 50.0, None]
    assert found.trials[-1].number == 0


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            "training.learning_rat=1e-4..1e-2:log",
            "--space training.learning_rat=0.0001..0.01:log learning_rat learning_rate",
        ),
        ("head.max_lenght=32,64", "--space head.max_lenght=32,64 max_lenght max_length"),
        ("head.dropout=0..1", "--space head.dropout=0..1 head dropout [0, 1) 1.0"),
        (
            "guides.ancestor_attention.alpha=0.5..2.0",
            "--space guides.ancestor_attention.alpha=0.5..2.0 alpha 0 1 2.0",
        ),
        ("preset=none,sgnet", "--space preset=none,sgnet sgnet sg-net saved"),
        ("preset=1..3", "--space preset=1..3 preset text 1"),
    ],
)
def test_a_space_without_valid_trials_is_rejected_at_once(sweep, text, message):
    with pytest.raises(InputError, match=naming(message)):
        run_sweep(replace(sweep, space=read_space([*SPACE[:1], text])), 1)
    assert not sweep.folder.exists()


def test_an_invalid_experiment_is_not_blamed_on_the_space(sweep):
    with pytest.raises(InputError, match=naming("head max_lenght max_length")):
        run_sweep(replace(sweep, overrides=("head.max_lenght=32",)), 1)


def test_a_value_that_is_valid_only_in_some_combinations_is_tried(sweep, monkeypatch):
    monkeypatch.setattr("syntagma.training.run.train", fake_training(lambda *a: 50.0))
    pieces = "guides.ancestor_attention.pieces=share,first_piece"
    both = replace(sweep, overrides=("guides.tree_distance=true",))
    with pytest.raises(
        InputError,
        match=naming(
            "--space guides.ancestor_attention.pieces=share,first_piece tree_distance first_piece"
        ),
    ):
        run_sweep(replace(both, space=read_space([pieces])), 1)
    space = read_space([pieces, "guides.tree_distance=true,false"])
    assert len(run_sweep(replace(both, space=space), 1).trials) == 1


def test_a_trial_with_an_unknown_metric_is_not_trained_again(sweep, monkeypatch):
    begun = []

    def train(experiment, folder, *, resume):
        begun.append(folder)
        run = RunFolder(Path(folder))
        run.begin(experiment, resume=resume)
        write_json(run.path / "metrics.json", {"accuracy": 50.0, "signature": "as ever"})
        return run.result()

    monkeypatch.setattr("syntagma.training.run.train", train)
    for metric in ("accurracy", "signature"):
        with pytest.raises(InputError, match=naming(f"trial-000 {metric} accuracy --metric")):
            run_sweep(replace(sweep, metric=metric), 1)
        assert [path.name for path in sweep.folder.iterdir()] == ["trial-000"]
    found = run_sweep(replace(sweep, metric="accuracy"), 1)
    assert [trial.value for trial in found.trials] == [50.0]
    assert len(begun) == 1
    # Other files in the folder are not removed.
    (sweep.folder / module.SETTINGS).unlink()
    (sweep.folder / module.JOURNAL).unlink()
    with pytest.raises(
        InputError, match=naming("trial-000 guides.tree_distance.alpha=0.1 None --out")
    ):
        run_sweep(replace(sweep, space=read_space(["preset=none,seprem"])), 1)


def test_a_metric_that_is_not_finite_fails_its_trial_also_when_it_is_resumed(sweep, monkeypatch):
    def train(experiment, folder, *, resume):
        run = RunFolder(Path(folder))
        run.begin(experiment, resume=resume)
        write_json(run.path / "metrics.json", {"accuracy": float("nan")})
        raise KeyboardInterrupt  # Before the trial is in the journal.

    monkeypatch.setattr("syntagma.training.run.train", train)
    with pytest.raises(KeyboardInterrupt):
        run_sweep(sweep, 1)
    assert [trial.value for trial in run_sweep(sweep, 1).trials] == [None]


@pytest.fixture
def parsers(tmp_path, tiny_encoder):
    config = tmp_path / "parser.yaml"
    config.write_text(f"task: parsing\nencoder: {tiny_encoder}\ndata: {{train: a, dev: b}}\n")
    return Sweep(config, tmp_path / "sweep", read_space(["training.learning_rate=1e-4..1e-2"]))


def test_trials_are_compared_by_the_metric_of_training(parsers, monkeypatch):
    scores = {"las": 80.0, "bracket_f1": 90.0, "las_f1_mean": 85.0}
    monkeypatch.setattr("syntagma.training.run.train", lambda *a, **k: scores)
    for views, metric in (("both", "las_f1_mean"), ("constituents", "bracket_f1")):
        changed = replace(
            parsers, folder=parsers.folder / views, overrides=(f"head.views={views}",)
        )
        found = run_sweep(changed, 1)
        assert (found.metric, found.trials[0].value) == (metric, scores[metric])


def test_all_trials_are_compared_by_the_metric_of_the_first(parsers, monkeypatch):
    """Whether a parser learns phrases, and so is chosen by two scores, depends on the treebank."""
    scores = {"las": 80.0}
    monkeypatch.setattr("syntagma.training.run.train", lambda *a, **k: scores)
    assert run_sweep(parsers, 1).metric == "las"
    scores |= {"las_f1_mean": 85.0}
    found = run_sweep(parsers, 2)
    assert (found.metric, [trial.value for trial in found.trials]) == ("las", [80.0, 80.0])


@pytest.mark.parametrize("error", [InputError, DiskError, BusyError])
def test_a_failed_first_trial_leaves_no_files(sweep, monkeypatch, error):
    def train(experiment, folder, *, resume):
        RunFolder(Path(folder)).begin(experiment, resume=resume)
        raise error("the loss is nan")

    monkeypatch.setattr("syntagma.training.run.train", train)
    with pytest.raises(error, match="the loss is nan"):
        run_sweep(sweep, 1)
    if error is BusyError:
        # Another process is working in the folder, so its files are kept.
        assert (sweep.folder / module.SETTINGS).is_file()
        assert (sweep.folder / "trial-000").is_dir()
        return
    assert not sweep.folder.exists()
    monkeypatch.setattr("syntagma.training.run.train", fake_training(lambda *a: 50.0))
    assert run_sweep(replace(sweep, space=read_space(["preset=none,sg-net"])), 1).trials


def test_a_full_disk_does_not_count_as_a_trial(sweep, monkeypatch):
    monkeypatch.setattr("syntagma.training.run.train", fake_training(lambda *a: 50.0))
    run_sweep(sweep, 1)

    def full(experiment, folder, *, resume):
        raise DiskError("no space left")

    monkeypatch.setattr("syntagma.training.run.train", full)
    for _ in range(2):
        with pytest.raises(DiskError, match="no space left"):
            run_sweep(sweep, 3)
    monkeypatch.setattr("syntagma.training.run.train", fake_training(lambda *a: 60.0))
    found = run_sweep(sweep, 3)
    assert sorted(trial.number for trial in found.trials) == [0, 1, 2]
    assert sorted(trial.value for trial in found.trials) == [50.0, 60.0, 60.0]


def test_a_run_of_an_earlier_call_is_not_removed(sweep, monkeypatch):
    def stop(experiment, folder, *, resume):
        RunFolder(Path(folder)).begin(experiment, resume=resume)
        raise KeyboardInterrupt

    def fail(experiment, folder, *, resume):
        raise InputError("no data today")

    monkeypatch.setattr("syntagma.training.run.train", stop)
    with pytest.raises(KeyboardInterrupt):
        run_sweep(sweep, 1)
    kept = (sweep.folder / "trial-000" / "experiment.yaml").read_text()
    monkeypatch.setattr("syntagma.training.run.train", fail)
    with pytest.raises(InputError, match="no data today"):
        run_sweep(sweep, 1)
    # The same trial is proposed again and resumed.
    monkeypatch.setattr("syntagma.training.run.train", stop)
    with pytest.raises(KeyboardInterrupt):
        run_sweep(sweep, 1)
    assert (sweep.folder / "trial-000" / "experiment.yaml").read_text() == kept


def search(config, folder):
    """Run three trials and print them."""
    for trial in run_sweep(Sweep(config, folder, read_space(SPACE)), 3).trials:
        print("TRIAL", trial.number, sorted(trial.values.items()), trial.value)


def test_an_interrupted_and_resumed_sweep_makes_the_same_trials(sweep, monkeypatch, tmp_path):
    score = fake_training(lambda preset, rate, seed: 10 * (preset == "sg-net") + 1000 * rate)
    begun: list[str] = []

    def interrupt_second(experiment, folder, *, resume):
        begun.append(Path(folder).name)
        if len(begun) == 2:
            raise KeyboardInterrupt
        return score(experiment, folder, resume=resume)

    monkeypatch.setattr("syntagma.training.run.train", interrupt_second)
    with pytest.raises(KeyboardInterrupt):
        run_sweep(sweep, 4)
    interrupted = run_sweep(sweep, 4)
    assert begun == ["trial-000", "trial-001", "trial-001", "trial-002", "trial-003"]
    whole = run_sweep(replace(sweep, folder=tmp_path / "whole"), 4)
    found = [
        [(trial.number, trial.values, trial.value) for trial in each.trials]
        for each in (interrupted, whole)
    ]
    assert found[0] == found[1]


@pytest.mark.slow
def test_a_killed_and_resumed_sweep_makes_the_same_trials(sweep, tmp_path):
    def start(name):
        return Child(search, sweep.config, tmp_path / name, folder=tmp_path)

    interrupted = start("interrupted")
    deadline = time.monotonic() + 120
    # Kill the process in the middle of the second trial.
    while not (tmp_path / "interrupted/trial-001/experiment.yaml").is_file():
        assert interrupted.is_running, interrupted.err.read_text()[-2000:]
        assert time.monotonic() < deadline
        time.sleep(0.01)
    interrupted.kill()
    results = []
    for process in (start("interrupted"), start("whole")):
        process.require_success()
        lines = process.out.read_text().splitlines()
        results.append(sorted(line for line in lines if line.startswith("TRIAL")))
    assert len(results[0]) == 3
    assert results[0] == results[1]
    assert len(list((tmp_path / "interrupted").glob("trial-*/"))) == 3


def test_a_trial_without_all_its_values_is_skipped(sweep, monkeypatch):
    monkeypatch.setattr("syntagma.training.run.train", fake_training(lambda *a: 50.0))
    run_sweep(sweep, 1)
    journal = optuna.storages.journal.JournalFileBackend(str(sweep.folder / module.JOURNAL))
    study = optuna.load_study(study_name="sweep", storage=optuna.storages.JournalStorage(journal))
    study.ask().suggest_float("training.learning_rate", 1e-4, 1e-2, log=True)
    found = run_sweep(sweep, 2)
    assert [trial.number for trial in found.trials] in ([0, 2], [2, 0])


def test_missing_optuna_is_reported(sweep, monkeypatch):
    monkeypatch.setitem(sys.modules, "optuna", None)
    with pytest.raises(InputError, match=naming("sweep '.[sweep]'")):
        run_sweep(sweep, 1)
