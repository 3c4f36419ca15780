"""Training curves: reading their values and drawing them."""

from __future__ import annotations

import json

import pytest

from syntagma.analysis.curves import read_curve, write_curves
from syntagma.errors import InputError
from syntagma.runs.log import is_cut
from tests.messages import naming

PANELS = {"accuracy": ("accuracy", "chance"), "loss": ("loss", "")}


def run(folder, values):
    folder.mkdir()
    rows = [{"step": 5, "loss": 9.0}]
    rows += [
        {"step": 10 * (number + 1), "eval_accuracy": value, "eval_chance": 20.0}
        for number, value in enumerate(values)
    ]
    text = "".join(json.dumps(row) + "\n" for row in rows)
    # A killed run may leave an incomplete last line.
    (folder / "metrics.jsonl").write_text(text + '{"step": 99, "eval_acc', encoding="utf-8")
    return folder


def test_a_curve_is_read_from_the_evaluations(tmp_path):
    folder = run(tmp_path / "one", [30.0, 40.0])
    assert read_curve(folder, "accuracy") == [(10, 30.0), (20, 40.0)]
    assert read_curve(folder, "f1") == []
    with pytest.raises(InputError, match=naming("metrics.jsonl")):
        read_curve(tmp_path, "accuracy")


def test_invalid_records_are_rejected(tmp_path):
    folder = run(tmp_path / "one", [30.0])
    assert is_cut(folder)
    log = folder / "metrics.jsonl"
    whole = log.read_text().rpartition("\n")[0] + "\n"
    log.write_text(whole)
    assert not is_cut(folder)
    for line, message in (
        ("garbage}", "metrics.jsonl line 3 JSON remove"),
        ('{"loss": 1.0}', r"""line 3: expected an object with a step, got '{"loss": 1.0}'"""),
        ('{"step": 9, "loss": "x"}', "metrics.jsonl line 3 loss x remove"),
        ('{"step": 9, "lo\n{"step": 10}', "metrics.jsonl line 3 JSON remove"),
    ):
        log.write_text(f"{whole}{line}\n")
        with pytest.raises(InputError, match=naming(message)):
            read_curve(folder, "accuracy")


def test_the_figure_labels_runs_and_chance(tmp_path):
    pytest.importorskip("matplotlib")
    runs = [run(tmp_path / "plain", [30.0, 40.0]), run(tmp_path / "guided", [35.0, 50.0])]
    write_curves(runs, PANELS, tmp_path / "curves.svg")
    picture = (tmp_path / "curves.svg").read_text()
    for word in ("plain", "guided", "chance", "accuracy", "steps"):
        assert f">{word}<" in picture
    # No run has an evaluation loss, so there is no panel.
    assert ">loss<" not in picture
    write_curves(runs, PANELS, tmp_path / "again.svg")
    assert (tmp_path / "again.svg").read_bytes() == (tmp_path / "curves.svg").read_bytes()


def test_nothing_to_draw_is_an_error(tmp_path):
    pytest.importorskip("matplotlib")
    folder = run(tmp_path / "one", [])
    with pytest.raises(InputError, match=naming("one accuracy loss")):
        write_curves([folder], PANELS, tmp_path / "curves.svg")
    assert not (tmp_path / "curves.svg").exists()
