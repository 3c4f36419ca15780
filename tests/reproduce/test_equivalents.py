"""Recorded numbers that appear in several entries."""

from __future__ import annotations

from dataclasses import replace

import pytest

from syntagma.reproduce import index
from syntagma.reproduce.entries import find_entry, read_papers
from syntagma.reproduce.equivalents import measured_cells
from syntagma.reproduce.plan import encoders_of
from syntagma.reproduce.runs import Setting

BERT = "google-bert/bert-large-cased-whole-word-masking"
ALBERT = "albert/albert-xxlarge-v2"


def result(name, scale="cpu", encoder="default", seeds=1, rows=(), bases=(), settings=()):
    """Return a record with a number in each cell of an entry, or of some of its rows or bases."""
    entry = find_entry(*name.split())
    known = scale if scale in ("cpu", "paper") else "cpu"
    encoders = encoders_of(entry, Setting("", "", known, "" if scale == "paper" else encoder))
    cells = [
        {"at": [at, place], "row": row.name, "ours": 1.0 + at + place / 10}
        for at, row in enumerate(entry.rows)
        for place, column in enumerate(entry.columns)
        if row.system and row.encoder in encoders and encoders[row.encoder] in encoder.split(", ")
        if (not rows or row.name in rows) and (not bases or column.base in bases)
    ]
    if not entry.columns:
        cells = [{"row": row.name, "column": "slope", "ours": 1.0} for row in entry.rows]
    return {
        "scale": scale, "encoder": encoder, "seeds": seeds, "settings": list(settings),
        "cells": cells,
    }  # fmt: skip


def records(*names, **changes):
    return {name: result(name, **changes) for name in names}


def sources(entry, recorded):
    """Return the sources of an entry that is measured completely."""
    found = measured_cells(entry, recorded)
    return [] if found.unmeasured else [*found.sources]


def with_bases(entry, *bases):
    """Return the entry with the columns of some bases only, without the paper's numbers."""
    columns = tuple(column for column in entry.columns if column.base in bases)
    return replace(entry, columns=columns, rows=tuple(replace(r, paper=()) for r in entry.rows))


@pytest.mark.parametrize("paper", ["sg-net-aaai", "sg-net-first"])
def test_tables_of_earlier_versions_are_in_the_journal_version(paper):
    recorded = records("sg-net table2", "sg-net table3", "sg-net figure4")
    assert sources(find_entry(paper, "table1"), recorded) == ["sg-net table2"]
    assert sources(find_entry(paper, "table2"), recorded) == ["sg-net table3"]
    # The other ways of aggregation are in table 6.
    aggregations = measured_cells(find_entry(paper, "table3"), recorded)
    assert "Concatenation" in aggregations.unmeasured
    figure = find_entry(paper, "figure4")
    assert sources(figure, recorded) == ["sg-net figure4"]
    options = figure.options | {"cuts": ["size"]}
    assert sources(replace(figure, options=options), recorded) == [], "the groups differ"


def test_cells_without_a_record_are_unmeasured():
    rows = ("BERT Baseline", "SG-Net on BERT")
    recorded = records("sg-net table2", rows=rows)
    own = measured_cells(find_entry("sg-net", "table2"), recorded)
    plain = "BERT Baseline + Verifier (not in the paper)"
    assert own.unmeasured == ("+ Verifier on BERT", plain)
    other = measured_cells(find_entry("sg-net-aaai", "table1"), recorded)
    assert other.sources == ("sg-net table2",)
    assert other.unmeasured == ("+ Verifier",)
    assert {cell.row for cell in other.cells} == {"Baseline", "SG-Net"}
    assert measured_cells(find_entry("seprem", "table2"), recorded).sources == ()


def test_cells_have_the_numbers_of_the_paper_they_belong_to():
    found = measured_cells(find_entry("sg-net-aaai", "table1"), records("sg-net table2"))
    (cell,) = (c for c in found.cells if (c.row, c.column) == ("SG-Net", "Dev EM"))
    assert cell.paper == 85.1
    entry = find_entry("sg-net", "table2")
    at = [row.name for row in entry.rows].index("SG-Net on BERT")
    assert cell.ours == 1.0 + at


def test_numbers_on_another_part_of_the_data_are_not_reused():
    recorded = records("poi-net table6")
    table = find_entry("poi-net", "table11")
    assert sources(table, recorded) == ["poi-net table6"]
    assert sources(replace(table, kind="lines"), recorded) == ["poi-net table6"]
    assert sources(find_entry("poi-net", "table6"), records("poi-net table11")) == []
    on_test = tuple(replace(column, part="test") for column in table.columns)
    assert sources(replace(table, columns=on_test), recorded) == []


def test_several_records_can_be_combined():
    entry = find_entry("poi-net", "table3")
    some = with_bases(entry, "dream", "squad1")
    some = replace(some, id="some")
    recorded = records("poi-net table11", "poi-net table8")
    assert sources(some, recorded) == ["poi-net table8", "poi-net table11"]
    assert measured_cells(entry, recorded).unmeasured
    # Numbers of different encoders, seeds or settings are not combined.
    for changes in (
        {"encoder": "some/other"}, {"seeds": 3}, {"settings": ["data.limit=9"]},
        {"scale": "experiments/reader_*.yaml"},
    ):  # fmt: skip
        other = recorded | records("poi-net table8", **changes)
        assert sources(some, other) == []


def test_one_record_with_all_numbers_is_preferred():
    aggregations = find_entry("sg-net-aaai", "table3")
    recorded = records("sg-net table2", "sg-net table6")
    assert sources(aggregations, recorded) == ["sg-net table6"]


def test_records_made_by_hand_are_found():
    own_files = records("sg-net table2", scale="experiments/reader_*.yaml")
    assert sources(find_entry("sg-net-aaai", "table1"), own_files) == ["sg-net table2"]


def test_the_index_says_which_data_are_missing(tmp_path, monkeypatch):
    monkeypatch.setattr(index, "recorded", dict)

    def line(paper, name):
        (found,) = index.index_lines(tmp_path, paper, name)
        return found.rpartition("not measured; ")[2]

    assert line("poi-net", "table3").startswith("needs DREAM")
    (tmp_path / "squad").mkdir()
    for part in ("train", "dev"):
        (tmp_path / f"squad/{part}-v1.1.json").write_text("{}")
    assert line("poi-net", "table3").startswith("data found, except for the columns of DREAM")
    assert line("poi-net", "table11") == "all data found"
    # Systems on RACE start from readers of SQuAD, which are not a column of the table.
    assert line("sg-net", "table3").startswith("needs")


def test_columns_whose_data_were_missing_are_unmeasured():
    entry = replace(find_entry("seprem", "table2"), id="other")
    recorded = records("seprem table2", bases=("typing",))
    assert sources(with_bases(entry, "typing"), recorded) == ["seprem table2"]
    assert measured_cells(entry, recorded).unmeasured == (
        "column FIGER Acc", "column Ma-F1", "column Mi-F1",
    )  # fmt: skip


def test_every_encoder_is_needed_at_the_papers_scale():
    journal, earlier = find_entry("sg-net", "table3"), find_entry("sg-net-aaai", "table2")
    both = records("sg-net table3", scale="paper", encoder=f"{BERT}, {ALBERT}")
    assert sources(earlier, both) == ["sg-net table3"]
    assert sources(earlier, records("sg-net table3", scale="paper", encoder=ALBERT)) == []
    some = records("sg-net-aaai table2", scale="paper", encoder=BERT)
    assert measured_cells(journal, some).unmeasured == ("ALBERT Baseline", "SG-Net on ALBERT")
    # At the scale cpu, only one encoder is run.
    assert sources(journal, records("sg-net-aaai table2")) == ["sg-net-aaai table2"]


def test_recorded_cells_are_cells_of_the_entries():
    for name, found in index.recorded().items():
        entry = find_entry(*name.split())
        for cell in found["cells"]:
            if "at" in cell:
                row = entry.rows[cell["at"][0]]
                assert (row.name, bool(row.system)) == (cell["row"], True), name
                assert cell["at"][1] < len(entry.columns)


def test_the_index_refers_to_equivalent_records():
    lines = {tuple(line.split()[:2]): line for line in index.index_lines()}
    for paper in read_papers().values():
        for entry in paper.entries.values():
            line = lines[entry.paper, entry.id]
            found = measured_cells(entry, index.recorded())
            if found.sources and entry.name not in index.recorded():
                assert f"see {', '.join(found.sources)}" in line
    assert lines["sg-net-aaai", "table2"].endswith("RACE, accuracy: measured: see sg-net table3")
    assert lines["sg-net-aaai", "table1"].endswith("column Dev EM, column Dev F1, + Verifier")
