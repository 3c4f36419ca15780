"""The commands on a report page train, evaluate and compare the same runs again."""

from __future__ import annotations

import re
import shutil
from dataclasses import replace
from pathlib import Path

import pytest

pytest.importorskip("scipy")
pytest.importorskip("matplotlib")

from syntagma.report.write import write_report
from syntagma.tasks.experiment import load_experiment
from syntagma.training.run import train
from tests.report_pages import Balanced, changed, page_of
from tests.written_runs import change_settings

pytestmark = pytest.mark.usefixtures("empty_plots", "small_parser")


def test_the_commands_reproduce_the_runs(both, tmp_path, monkeypatch):
    """A run that starts from another run comes later, and starts from the reproduction of it."""
    settings = load_experiment(both[0] / "experiment.yaml")
    later = replace(settings, encoder=str(both[0]), preset="saved")
    train(later, tmp_path / "later")
    write_report([tmp_path / "later"], tmp_path / "report", n_cases=0, n_pictures=0)
    text = Balanced(page_of(tmp_path / "report")).text
    lines = re.findall(r"syntagma train (\S+) (?:--set (\S+) )?--out (again/[\w-]+)", text)
    assert [(change, out) for _, change, out in lines] == [
        ("", "again/none-1"), ("encoder=again/none-1", "again/later"),
    ]  # fmt: skip
    monkeypatch.chdir(tmp_path)
    for path, change, out in lines:
        train(load_experiment(path, [change] if change else []), out)
    assert (tmp_path / "again/later/metrics.json").read_bytes() == (
        tmp_path / "later/metrics.json"
    ).read_bytes()


def test_a_verifier_is_reproduced_before_its_reader(both, tmp_path):
    settings = load_experiment(both[0] / "experiment.yaml", [f"head.verifier={both[1]}"])
    train(replace(settings, data=replace(settings.data, dev_limit=5)), tmp_path / "verified")
    write_report([tmp_path / "verified"], tmp_path / "report", n_cases=0, n_pictures=0)
    text = Balanced(page_of(tmp_path / "report")).text
    lines = re.findall(r"syntagma train \S+ (?:--set (\S+) )?--out (again/[\w-]+)", text)
    assert lines == [
        ("", "again/sg-net-1"), ("head.verifier=again/sg-net-1", "again/verified"),
    ]  # fmt: skip
    assert "scored on 5 examples of each dev file" in text


def test_a_report_can_be_written_from_within_a_run(both, tmp_path, monkeypatch):
    monkeypatch.chdir(both[0])
    write_report([Path(".")], tmp_path / "report", n_cases=0, n_pictures=0)
    text = Balanced(page_of(tmp_path / "report")).text
    assert f"--out again/{both[0].name}" in text


def test_evaluation_commands_use_the_settings_of_training(both, tmp_path):
    settings = load_experiment(
        both[0] / "experiment.yaml", ["training.precision=bfloat16", "data.skip_bad=true"]
    )
    train(settings, tmp_path / "other")
    write_report([tmp_path / "other"], tmp_path / "report", n_cases=0, n_pictures=0)
    text = Balanced(page_of(tmp_path / "report")).text
    assert re.search(r"syntagma evaluate again/other \S+ --precision bfloat16 --skip-bad", text)


def test_commands_report_missing_runs(both, tmp_path):
    for encoder, reported in (("/gone/runs/plain", True), ("hub/name", False)):
        folder = changed(
            both[0], tmp_path / f"copy-{reported}", "experiment.yaml",
            lambda text, encoder=encoder: re.sub("(?m)^encoder: .*$", f"encoder: {encoder}", text),
        )  # fmt: skip
        write_report([folder], tmp_path / f"report-{reported}", n_cases=0)
        text = Balanced(page_of(tmp_path / f"report-{reported}")).text
        assert (f" {encoder} " in text) == reported


def test_settings_have_names_of_any_file_system(both, tmp_path):
    """A report is copied to machines where `Run` and `run` are the same file."""
    folders = []
    for number, name in enumerate(("Run", "run", "run:1")):
        folders.append(shutil.copytree(both[0], tmp_path / str(number) / name))
        change_settings(folders[-1], training={"seed": number + 1})
    write_report(folders, tmp_path / "report", n_cases=0, n_pictures=0)
    names = {path.name for path in (tmp_path / "report/settings").iterdir()}
    assert names == {"Run.yaml", "run_2.yaml", "run_1.yaml"}
