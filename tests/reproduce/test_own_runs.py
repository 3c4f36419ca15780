"""Single runs of the registry: their settings as a file, and comparisons of chosen systems."""

from __future__ import annotations

import json

import pytest
from typer.testing import CliRunner

from syntagma.cli import app
from syntagma.errors import InputError
from syntagma.reproduce.own_runs import find_run, settings_of
from syntagma.reproduce.plan import in_order
from syntagma.reproduce.runs import Setting, make_run
from syntagma.tasks.experiment import load_experiment
from tests.messages import naming
from tests.reproduce.conftest import TINY

RUNS = [
    ("squad1", "sg-net"),
    ("squad1", "sg-net_seprem_distances"),
    ("dream", "sg-net_poi-net"),
    ("nli", "sg-net_learned"),
    ("relations", "seprem_fine_tuning"),
    ("searchqa", "poi-net"),
    ("pretraining", "layers_mlm_heads"),
    ("subj_number", "probe_plain"),
    ("translation", "sg-net"),
]


@pytest.mark.parametrize(("base", "system"), RUNS)
def test_printed_settings_are_those_of_the_run(base, system, empty_datasets, tmp_path):
    setting = Setting(empty_datasets, empty_datasets / "out")
    path = tmp_path / "run.yaml"
    path.write_text(settings_of(base, system, setting), encoding="utf-8")
    assert load_experiment(path) == make_run(base, system, setting).experiment


def test_printed_settings_name_the_run_to_start_from(empty_datasets):
    setting = Setting(empty_datasets, empty_datasets / "out")
    text = settings_of("dream", "poi-net", setting)
    start = empty_datasets / "out" / "cpu" / "squad1" / "poi-net-1"
    assert f"# starts from {start}: syntagma reproduce --settings squad1 poi-net\n" in text
    assert "weight_decay" not in text  # A default.


def test_errors_about_unknown_names_suggest_known_ones(empty_datasets):
    setting = Setting(empty_datasets, empty_datasets / "out")
    with pytest.raises(InputError, match=naming("base squad squad1")):
        find_run("squad", "plain", setting)
    with pytest.raises(InputError, match=naming("system sgnet sg-net")):
        find_run("squad1", "sgnet", setting)


def test_the_command_prints_settings(empty_datasets):
    arguments = ["reproduce", "--settings", "nli", "plain", "--data", str(empty_datasets)]
    result = CliRunner().invoke(app, [*arguments, "--set", "training.learning_rate=1e-5"])
    assert result.exit_code == 0
    assert result.stdout.startswith("# The system plain on nli, at the scale cpu\ntask: pairs\n")
    assert "learning_rate: 1.0e-05" in result.stdout


def test_runs_come_after_those_that_they_start_from(empty_datasets):
    setting = Setting(empty_datasets, empty_datasets / "out")
    runs = [make_run("dream", "poi-net", setting, seed=seed) for seed in (1, 2)]
    names = [f"{run.base}/{run.folder.name}" for run in in_order(runs)]
    assert names == ["squad1/poi-net-1", "dream/poi-net-1", "dream/poi-net-2"]


def test_systems_on_a_base_are_trained_and_compared(data, tiny_encoder, tmp_path):
    pytest.importorskip("scipy")
    given = [f"encoder={tiny_encoder}", "parser=linear", "head.max_length=64", *TINY]
    options = [word for setting in given for word in ("--set", setting)]
    options += ["--seeds", "2", "--data", str(data), "--out", str(tmp_path), "--scale", "tiny"]
    arguments = ["reproduce", "nli", "--systems", "plain,sg-net", *options]
    planned = CliRunner().invoke(app, [*arguments, "--dry-run"]).stdout.split("\n")
    assert [line.rpartition("/")[2] for line in planned[:2]] == ["plain-1", "sg-net-1"]
    assert not (tmp_path / "tiny").exists()
    path = tmp_path / "found.json"
    shown = CliRunner().invoke(app, [*arguments, "--json", str(path)]).stdout
    assert (tmp_path / "tiny" / "nli" / "sg-net-2" / "metrics.json").is_file()
    assert "sg-net" in shown
    assert "sg-net: paired by seed, 2 shared seeds (1, 2)" in shown
    systems = json.loads(path.read_text())["systems"]
    assert [(each["name"], each["seeds"]) for each in systems] == [
        ("plain", [1, 2]),
        ("sg-net", [1, 2]),
    ]


def test_systems_with_equal_settings_are_compared(data, tiny_encoder, tmp_path):
    """Settings of all runs may make two systems of a table one."""
    pytest.importorskip("scipy")
    given = [f"encoder={tiny_encoder}", "head.max_length=64", *TINY]
    options = [word for setting in given for word in ("--set", setting)]
    options += [
        "--data",
        str(data),
        "--out",
        str(tmp_path),
        "--scale",
        "tiny",
        "--parser",
        "random",
    ]
    systems = "sg-net,sg-net_weaker_parser"
    options += ["--set", "parser=random", "--json", str(tmp_path / "found.json")]
    result = CliRunner().invoke(app, ["reproduce", "nli", "--systems", systems, *options])
    assert result.exit_code == 0, result.exception
    first, again = json.loads((tmp_path / "found.json").read_text())["systems"]
    assert (first["name"], again["name"]) == ("sg-net", "sg-net_weaker_parser")
    assert again["difference"] == 0


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["nli", "plain", "--systems", "plain,sg-net"], "--systems squad1 --systems plain,sg-net"),
        (["nli", "--systems", "plain,plain"], "--systems plain twice"),
        (["nli", "--systems", "plain,sgnet"], "system sgnet sg-net"),
        (["nli", "--systems", "plain", "--set", "race/head.pooling=max"], "race nli"),
        (["nli", "--systems", "plain", "--settings"], "--systems squad1 --systems plain,sg-net"),
        (["--systems", "plain"], "base squad1"),
    ],
)
def test_invalid_systems_are_rejected_before_training(arguments, message, empty_datasets):
    result = CliRunner().invoke(app, ["reproduce", *arguments, "--data", str(empty_datasets)])
    with pytest.raises(InputError, match=naming(message)):
        raise result.exception
