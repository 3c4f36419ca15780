"""Runs are scored on files other than their dev files, and only once."""

from __future__ import annotations

import json
import os
import shutil
from dataclasses import replace

import pytest

pytest.importorskip("scipy")

from syntagma import evaluation
from syntagma.analysis.breakdown import break_down
from syntagma.analysis.compare import compare_runs
from syntagma.analysis.systems import read_systems
from syntagma.errors import InputError
from syntagma.evaluation import evaluate, score_runs
from syntagma.report.write import write_report
from syntagma.training.run import train
from tests.builders import experiment, pairs
from tests.messages import naming


@pytest.fixture(scope="module")
def trained(tmp_path_factory, tiny_encoder):
    """Two seeds each of a plain and a guided encoder, and files to score them on."""
    folder = tmp_path_factory.mktemp("scored")
    data = pairs(folder / "pairs.jsonl", copies=2)
    pairs(folder / "test.jsonl", copies=1)
    for preset in ("none", "sg-net"):
        for seed in (1, 2):
            settings = experiment(
                "pairs", data, tiny_encoder, preset=preset, parser="linear",
                training={"num_train_epochs": 1, "seed": seed, "learning_rate": 3e-3},
            )  # fmt: skip
            train(settings, folder / f"{preset}-{seed}")
    return folder


@pytest.fixture
def runs(trained, tmp_path):
    for path in trained.iterdir():
        if path.is_dir():
            shutil.copytree(path, tmp_path / path.name)
    return [tmp_path / name for name in ("none-1", "none-2", "sg-net-1", "sg-net-2")]


def test_scores_equal_those_of_evaluate(trained, runs):
    test = str(trained / "test.jsonl")
    scored = score_runs(runs, [test])
    for run, folder in zip(runs, scored, strict=True):
        own = evaluate(run, [test], precision="float32")
        assert json.loads((folder / "metrics.json").read_text()).items() <= own.items()
    found = compare_runs(scored)
    assert [(system.name, system.seeds) for system in found.systems] == [
        ("none", (1, 2)), ("sg-net", (1, 2)),
    ]  # fmt: skip
    assert found.n_examples == 16 < compare_runs(runs).n_examples == 32
    assert found.systems[1].shared_seeds == (1, 2)
    assert (found.cluster, found.n_clusters) == ("sentence", 8)
    assert found.systems[0].runs == (str(runs[0]), str(runs[1]))
    sizes = [len(group.keys) for group in break_down(scored, "label").grouping.groups]
    assert sizes == [8, 8]


def test_runs_may_lie_in_a_folder_named_scored(trained, runs, tmp_path):
    moved = [shutil.copytree(run, tmp_path / "scored" / run.name) for run in runs]
    assert compare_runs(moved).systems[0].runs == (str(moved[0]), str(moved[1]))
    scored = score_runs(moved, [str(trained / "test.jsonl")])
    assert compare_runs(scored).systems[0].runs == (str(moved[0]), str(moved[1]))


def test_no_run_is_scored_twice(trained, runs, tmp_path, monkeypatch):
    test = trained / "test.jsonl"
    first = score_runs(runs, [test])
    monkeypatch.setattr(evaluation, "open_model", None)
    # The same examples at another path: runs that differ in the seed are still one system.
    moved = tmp_path / "elsewhere" / "test.jsonl"
    moved.parent.mkdir()
    shutil.copy(test, moved)
    assert score_runs(runs[:1], [moved]) == first[:1]
    assert score_runs(runs, [os.path.relpath(test)]) == first
    assert [len(system.runs) for system in read_systems(first)] == [2, 2]
    text = test.read_text()
    moved.write_text(text.replace("entailment", "neutral"))
    with pytest.raises(TypeError):
        score_runs(runs[:1], [moved])


def test_scores_on_other_files_are_not_mixed(trained, runs):
    scored = score_runs(runs[:2], [trained / "test.jsonl"])
    with pytest.raises(
        InputError, match=naming("none-2 16 test.jsonl none-1 32 pairs.jsonl data.dev")
    ):
        compare_runs([runs[0], scored[1]])


@pytest.mark.slow
def test_a_report_and_its_commands_use_these_files(trained, runs, tmp_path):
    test = str(trained / "test.jsonl")
    write_report(runs, tmp_path / "page", data=[test], n_cases=1, n_pictures=0)
    page = (tmp_path / "page" / "index.html").read_text()
    assert "16 examples (test.jsonl)" in page
    again = "again/none-1 again/none-2 again/sg-net-1 again/sg-net-2"
    assert f"syntagma compare {again} --data {test}" in page
    assert f"syntagma report {again} --out again/page --data {test}" in page
    assert "test.jsonl" not in (tmp_path / "page/settings/none-1.yaml").read_text()


def test_runs_that_cannot_be_scored_are_rejected(trained, runs, tmp_path):
    test = trained / "test.jsonl"
    with pytest.raises(InputError, match=naming("nowhere syntagma train")):
        score_runs([tmp_path / "nowhere"], [test])
    (runs[0] / "metrics.json").unlink()
    with pytest.raises(InputError, match=naming("none-1 metrics.json")):
        score_runs(runs, [test])
    with pytest.raises(InputError, match=naming("test.jsonl twice")):
        score_runs(runs[1:], [test, test])
    rows = [json.loads(line) for line in test.read_text().splitlines()]
    unlabelled = tmp_path / "unlabelled.jsonl"
    unlabelled.write_text("\n".join(json.dumps(row | {"gold_label": "-"}) for row in rows))
    with pytest.raises(InputError, match=naming("unlabelled.jsonl 16 syntagma predict")):
        score_runs(runs[1:], [unlabelled])
    assert not any((run / "scored").exists() for run in runs)


def test_a_run_without_dev_files_can_be_scored_later(trained, tmp_path, tiny_encoder):
    settings = experiment(
        "pairs", str(trained / "pairs.jsonl"), tiny_encoder, training={"num_train_epochs": 1}
    )
    settings = replace(settings, data=replace(settings.data, dev=()))
    train(settings, tmp_path / "run")
    (folder,) = score_runs([tmp_path / "run"], [trained / "test.jsonl"])
    (system,) = read_systems([folder])
    assert len(system.runs[0].rows) == 16
