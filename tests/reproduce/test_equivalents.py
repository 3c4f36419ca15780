"""Recorded entries that contain the numbers of other entries."""

from __future__ import annotations

from dataclasses import replace

import pytest

from syntagma.reproduce import index
from syntagma.reproduce.entries import find_entry, read_papers
from syntagma.reproduce.equivalents import equivalent_entries

BERT = "google-bert/bert-large-cased-whole-word-masking"
ALBERT = "albert/albert-xxlarge-v2"


def result(scale="cpu", encoder="default", missing=(), seeds=1):
    return {"scale": scale, "encoder": encoder, "missing": list(missing), "seeds": seeds}


def only(entry, *bases):
    """Return the entry with the columns of some bases only, without the paper's numbers."""
    columns = tuple(column for column in entry.columns if column.base in bases)
    return replace(entry, columns=columns, rows=tuple(replace(r, paper=()) for r in entry.rows))


@pytest.mark.parametrize("paper", ["sg-net-aaai", "sg-net-first"])
def test_tables_of_earlier_versions_are_in_the_journal_version(paper):
    recorded = {name: result() for name in ("sg-net table2", "sg-net table3", "sg-net figure4")}
    assert equivalent_entries(find_entry(paper, "table1"), recorded) == ["sg-net table2"]
    assert equivalent_entries(find_entry(paper, "table2"), recorded) == ["sg-net table3"]
    # Its ways of aggregation are in table 6.
    assert equivalent_entries(find_entry(paper, "table3"), recorded) == []
    figure = find_entry(paper, "figure4")
    assert equivalent_entries(figure, recorded) == ["sg-net figure4"]
    options = figure.options | {"cuts": ["size"]}
    assert equivalent_entries(replace(figure, options=options), recorded) == [], "other groups"


def test_noise_and_the_part_of_the_data_make_other_numbers():
    recorded = {"poi-net table6": result()}
    table = find_entry("poi-net", "table11")
    assert equivalent_entries(table, recorded) == ["poi-net table6"]
    assert equivalent_entries(replace(table, kind="lines"), recorded) == ["poi-net table6"]
    assert equivalent_entries(find_entry("poi-net", "table6"), {"poi-net table11": result()}) == []
    on_test = tuple(replace(column, part="test") for column in table.columns)
    assert equivalent_entries(replace(table, columns=on_test), recorded) == []


def test_several_records_together_may_contain_an_entry():
    wanted = find_entry("poi-net", "table3")
    some = only(wanted, "dream", "squad1")
    recorded = {"poi-net table11": result(), "poi-net table8": result()}
    assert equivalent_entries(some, recorded) == ["poi-net table8", "poi-net table11"]
    assert equivalent_entries(wanted, recorded) == []
    # Numbers of different encoders are not combined.
    other = recorded | {"poi-net table8": result(encoder="some/other")}
    assert equivalent_entries(some, other) == []


def test_one_record_with_all_numbers_is_preferred():
    aggregations = find_entry("sg-net-aaai", "table3")
    recorded = {"sg-net table2": result(), "sg-net table6": result()}
    assert equivalent_entries(aggregations, recorded) == ["sg-net table6"]


def test_numbers_from_different_conditions_are_not_combined():
    some = only(find_entry("poi-net", "table3"), "dream", "squad1")
    for other in (result(seeds=3), result("experiments/reader_*.yaml")):
        recorded = {"poi-net table8": result(), "poi-net table11": other}
        assert equivalent_entries(some, recorded) == []
    own_files = {"sg-net table2": result("experiments/reader_*.yaml")}
    assert equivalent_entries(find_entry("sg-net-aaai", "table1"), own_files) == ["sg-net table2"]


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


def test_a_record_does_not_contain_numbers_whose_data_were_missing():
    wanted = find_entry("seprem", "table2")
    recorded = {"seprem table2": result(missing=["FIGER"])}
    assert equivalent_entries(only(wanted, "typing"), recorded) == ["seprem table2"]
    assert equivalent_entries(wanted, recorded) == []


def test_at_the_papers_scale_every_encoder_is_needed():
    journal, earlier = find_entry("sg-net", "table3"), find_entry("sg-net-aaai", "table2")
    both = {"sg-net table3": result("paper", f"{BERT}, {ALBERT}")}
    assert equivalent_entries(earlier, both) == ["sg-net table3"]
    assert equivalent_entries(earlier, {"sg-net table3": result("paper", ALBERT)}) == []
    only = {"sg-net-aaai table2": result("paper", BERT)}
    assert equivalent_entries(journal, only) == []
    # At the scale cpu, only one encoder is run.
    assert equivalent_entries(journal, {"sg-net-aaai table2": result()})


def test_the_index_refers_to_equivalent_records():
    lines = {tuple(line.split()[:2]): line for line in index.index_lines()}
    for name, found in index.recorded().items():
        assert find_entry(*name.split()).name == name
        assert found["summary"] in lines[tuple(name.split())]
    for paper in read_papers().values():
        for entry in paper.entries.values():
            line = lines[entry.paper, entry.id]
            found = equivalent_entries(entry, index.recorded())
            if found and entry.name not in index.recorded():
                assert line.endswith(f": measured: see {', '.join(found)}")
    assert lines["sg-net-aaai", "table2"].endswith("RACE, accuracy: measured: see sg-net table3")
