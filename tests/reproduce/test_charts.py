"""Tables that are also drawn as charts."""

from __future__ import annotations

import sys
from dataclasses import replace
from math import nan
from pathlib import Path

import pytest

pytest.importorskip("scipy")

from syntagma.reproduce.charts import charts_of
from syntagma.reproduce.entries import find_entry
from syntagma.reproduce.plan import make_plan
from syntagma.reproduce.result import Cell
from syntagma.reproduce.work import plan_entry, reproduce


def test_headings_become_lines_and_columns_become_panels():
    cells = [
        Cell("-HP", "F1", 72.0, 0.5, heading="Without"),
        Cell("-HP", "accuracy", 61.0, heading="Without"),
        Cell("both", "F1", 73.0, 0.1, heading="Without"),
        Cell("both", "F1", 74.0, 0.2, heading="With"),
        Cell("published", "F1", None, None, 80.0, heading="With"),
    ]
    first, second = charts_of(cells, {"along": "rows"})
    assert (first.title, first.places) == ("F1", ("-HP", "both"))
    assert first.systems["Without"] == (72.0, 73.0)
    assert first.systems["With"] == pytest.approx((nan, 74.0), nan_ok=True)
    assert first.deviations == {"Without": (0.5, 0.1), "With": (0.0, 0.2)}
    assert (second.places, second.systems) == (("-HP",), {"Without": (61.0,)})


def test_rows_become_lines_over_the_columns():
    cells = [Cell(row, column, 1.0) for row in ("Average", "Weighted") for column in ("0", "1")]
    (chart,) = charts_of(cells, {"along": "columns"})
    assert chart.places == ("0", "1")
    assert chart.systems == {"Average": (1.0, 1.0), "Weighted": (1.0, 1.0)}
    assert charts_of([Cell("a", "b", None, None, 1.0)], {"along": "columns"}) == []


def test_noise_is_drawn_with_a_horizontal_line_for_the_plain_encoder(setting):
    pytest.importorskip("matplotlib")
    found = reproduce(plan_entry("sg-net", "section7.6", setting("head.max_length=64")))
    (picture,) = found.measured.pictures
    drawn = Path(picture).read_text(encoding="utf-8")
    for word in ("SG-Net", "no guide (not in the paper)", "0 %", "100 %", "heads replaced"):
        assert f">{word}<" in drawn
    assert ">a weaker parser, 95.62 UAS<" not in drawn
    assert "![](figure.svg)" in found.markdown()


def test_variants_are_drawn_as_lines_over_turns(setting, monkeypatch):
    pytest.importorskip("matplotlib")
    settings = setting(
        "head.max_length=96", "squad1/head.doc_stride=32", "squad1/head.max_question_length=24"
    )
    entry = find_entry("poi-net", "figure4")
    assert entry.kind == "lines"
    entry = replace(entry, base="dream", rows=entry.rows[2:4], columns=entry.columns[1:3])
    found = reproduce(make_plan(entry, settings))
    drawn = Path(*found.measured.pictures).read_text(encoding="utf-8")
    for word in ("Weighted", "Forgetting", "1 turn", "2 turns"):
        assert f">{word}<" in drawn
    # Without matplotlib, only the table is written.
    for name in ("matplotlib", "matplotlib.pyplot"):
        monkeypatch.setitem(sys.modules, name, None)
    without = reproduce(make_plan(entry, settings))
    assert without.measured.pictures == ()
    assert any("plot" in line for line in without.measured.lines)
    assert without.measured.cells == found.measured.cells


def test_an_ablation_is_drawn_as_points():
    entry = find_entry("seprem", "figure2")
    cells, heading = [], ""
    for row in entry.rows:
        heading = heading if row.system else row.name
        if row.system:
            cells += [
                Cell(row.name, column.name, 70.0, heading=heading) for column in entry.columns
            ]
    charts = charts_of(cells, entry.options)
    assert [chart.title for chart in charts] == [column.name for column in entry.columns]
    for chart in charts:
        assert chart.places == ("-HP -DP", "-DP", "-HP", "HP and DP")
        assert [*chart.systems] == ["Without the layer", "With the layer (SEPREM)"]
    assert entry.kind == "points"


def test_rows_apart_are_not_drawn():
    cells = [Cell("0 %", "Acc", 73.9), Cell("weaker", "Acc", 73.8), Cell("20 %", "Acc", 73.3)]
    (chart,) = charts_of(cells, {"along": "rows", "line": "SG-Net", "apart": ["weaker"]})
    assert chart.places == ("0 %", "20 %")
