"""Which records hold the numbers of which other entries."""

from __future__ import annotations

from dataclasses import replace

import pytest

from syntagma.reproduce import index
from syntagma.reproduce.entries import find_entry, read_papers
from syntagma.reproduce.equivalents import holders

BERT = "google-bert/bert-large-cased-whole-word-masking"
ALBERT = "albert/albert-xxlarge-v2"


def result(scale="cpu", encoder="default", missing=(), seeds=1):
    return {"scale": scale, "encoder": encoder, "missing": list(missing), "seeds": seeds}


def only(entry, *bases):
    """The entry with the columns of some bases alone, without the paper's numbers."""
    columns = tuple(column for column in entry.columns if column.base in bases)
    return replace(entry, columns=columns, rows=tuple(replace(r, paper=()) for r in entry.rows))


@pytest.mark.parametrize("paper", ["sg-net-aaai", "sg-net-first"])
def test_tables_of_earlier_versions_are_those_of_the_journal(paper):
    recorded = {name: result() for name in ("sg-net table2", "sg-net table3", "sg-net figure4")}
    assert holders(find_entry(paper, "table1"), recorded) == ["sg-net table2"]
    assert holders(find_entry(paper, "table2"), recorded) == ["sg-net table3"]
    assert holders(find_entry(paper, "table3"), recorded) == [], "its aggregations are in table 6"
    figure = find_entry(paper, "figure4")
    assert holders(figure, recorded) == ["sg-net figure4"]
    options = figure.options | {"cuts": ["size"]}
    assert holders(replace(figure, options=options), recorded) == [], "groups are cut otherwise"


def test_noise_and_parts_are_other_numbers():
    recorded = {"poi-net table6": result()}
    table = find_entry("poi-net", "table11")
    assert holders(table, recorded) == ["poi-net table6"]
    assert holders(replace(table, kind="lines"), recorded) == ["poi-net table6"]
    assert holders(find_entry("poi-net", "table6"), {"poi-net table11": result()}) == []
    on_test = tuple(replace(column, part="test") for column in table.columns)
    assert holders(replace(table, columns=on_test), recorded) == []


def test_several_records_may_hold_an_entry():
    wanted = find_entry("poi-net", "table3")
    some = only(wanted, "dream", "squad1")
    recorded = {"poi-net table11": result(), "poi-net table8": result()}
    assert holders(some, recorded) == ["poi-net table8", "poi-net table11"]
    assert holders(wanted, recorded) == []
    # Numbers of another encoder stand in another table.
    other = recorded | {"poi-net table8": result(encoder="some/other")}
    assert holders(some, other) == []


def test_one_record_that_holds_all_is_taken_alone():
    aggregations = find_entry("sg-net-aaai", "table3")
    recorded = {"sg-net table2": result(), "sg-net table6": result()}
    assert holders(aggregations, recorded) == ["sg-net table6"]


def test_numbers_that_were_made_otherwise_are_not_put_together():
    some = only(find_entry("poi-net", "table3"), "dream", "squad1")
    for other in (result(seeds=3), result("experiments/reader_*.yaml")):
        assert holders(some, {"poi-net table8": result(), "poi-net table11": other}) == []
    own_files = {"sg-net table2": result("experiments/reader_*.yaml")}
    assert holders(find_entry("sg-net-aaai", "table1"), own_files) == ["sg-net table2"]


def test_what_can_be_run_is_told_from_what_cannot(tmp_path, monkeypatch):
    monkeypatch.setattr(index, "recorded", dict)

    def line(paper, name):
        (found,) = index.index_lines(tmp_path, paper, name)
        return found.rpartition("not measured; ")[2]

    assert line("poi-net", "table3").startswith("needs DREAM")
    (tmp_path / "squad").mkdir()
    for part in ("train", "dev"):
        (tmp_path / f"squad/{part}-v1.1.json").write_text("{}")
    assert line("poi-net", "table3").startswith("its data are there, but for the columns of DREAM")
    assert line("poi-net", "table11") == "its data are there"
    # Readers of SQuAD are where those of RACE begin, and no column of theirs.
    assert line("sg-net", "table3").startswith("needs")


def test_what_was_missing_is_not_held():
    wanted = find_entry("seprem", "table2")
    recorded = {"seprem table2": result(missing=["FIGER"])}
    assert holders(only(wanted, "typing"), recorded) == ["seprem table2"]
    assert holders(wanted, recorded) == []


def test_at_the_papers_scale_every_encoder_is_wanted():
    journal, earlier = find_entry("sg-net", "table3"), find_entry("sg-net-aaai", "table2")
    both = {"sg-net table3": result("paper", f"{BERT}, {ALBERT}")}
    assert holders(earlier, both) == ["sg-net table3"]
    assert holders(earlier, {"sg-net table3": result("paper", ALBERT)}) == []
    only = {"sg-net-aaai table2": result("paper", BERT)}
    assert holders(journal, only) == []
    assert holders(journal, {"sg-net-aaai table2": result()}), "of which a processor runs one"


def test_the_index_refers_to_records_of_entries_that_have_none():
    lines = {tuple(line.split()[:2]): line for line in index.index_lines()}
    for name, found in index.recorded().items():
        assert find_entry(*name.split()).name == name
        assert found["summary"] in lines[tuple(name.split())]
    for paper in read_papers().values():
        for entry in paper.entries.values():
            line = lines[entry.paper, entry.id]
            if entry.name not in index.recorded() and (found := holders(entry, index.recorded())):
                assert line.endswith(f": measured: see {', '.join(found)}")
    assert lines["sg-net-aaai", "table2"].endswith("RACE, accuracy: measured: see sg-net table3")
