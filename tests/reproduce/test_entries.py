"""The entries: every table and figure exists once and refers to existing systems and data."""

from __future__ import annotations

import pytest

from syntagma.datasets.probing import PROPERTIES
from syntagma.errors import InputError
from syntagma.reproduce.bases import read_bases, read_shared
from syntagma.reproduce.datasets import find_files, missing_line, read_datasets
from syntagma.reproduce.entries import find_entries, find_entry, read_papers
from syntagma.reproduce.index import datasets_of
from syntagma.reproduce.measurements import KINDS, find_kind
from syntagma.reproduce.recipes import PROBES, RECIPES
from tests.messages import naming

ENTRIES = [entry for paper in read_papers().values() for entry in paper.entries.values()]
CONTENTS = {
    "sg-net": (9, 6),
    "sg-net-aaai": (3, 5),
    "sg-net-first": (3, 5),
    "seprem": (6, 3),
    "poi-net": (12, 5),
}
"""Number of tables and figures in each paper."""


@pytest.mark.parametrize("name", CONTENTS)
def test_every_table_and_figure_is_in_the_index(name):
    paper = read_papers()[name]
    tables, figures = CONTENTS[name]
    expected = {f"table{n}" for n in range(1, tables + 1)}
    expected |= {f"figure{n}" for n in range(1, figures + 1)}
    found = [*paper.entries, *paper.others]
    assert len(found) == len(set(found))
    assert expected == {id for id in found if not id.startswith("section")}


@pytest.mark.parametrize("entry", ENTRIES, ids=lambda entry: entry.name)
def test_names_in_an_entry_exist(entry):
    systems, encoders = read_shared()["systems"], read_papers()[entry.paper].encoders
    find_kind(entry.kind)
    assert any(row.system for row in entry.rows)
    for row in entry.rows:
        assert row.system in ("", *systems)
        assert row.encoder in ("", *encoders)
        for column in entry.columns:
            assert column.system in ("", *systems)
            assert not row.system or (column.base or row.base or entry.base) in read_bases()
            assert not row.system or column.metric or row.metric or entry.kind == "groups"
    for name in datasets_of(entry):
        assert name in read_datasets()
    if entry.kind == "table" and not entry.id.startswith("figure"):
        for row in entry.rows:
            if row.paper:
                assert len(row.paper) == len(entry.columns) or "w/o" in row.name


def test_every_kind_is_used():
    assert {entry.kind for entry in ENTRIES} == set(KINDS)


def test_entries_are_found_by_common_spellings():
    assert find_entry("sg-net", "Table 3").id == "table3"
    assert find_entry("sg-net", "fig.4").id == "figure4"
    assert find_entry("sg-net", "§7.6").id == "section7.6"
    with pytest.raises(InputError, match=naming("sg-net table33 table3")):
        find_entry("sg-net", "table33")
    with pytest.raises(InputError, match=naming("sgnet sg-net")):
        find_entry("sgnet", "table3")
    with pytest.raises(InputError, match=naming("sg-net table7")):
        find_entry("sg-net", "table7")


def test_entries_are_listed_by_paper_or_name():
    assert find_entries() == ENTRIES
    assert find_entries("poi-net") == [entry for entry in ENTRIES if entry.paper == "poi-net"]
    assert find_entries("poi-net", "Fig. 4") == [find_entry("poi-net", "figure4")]
    with pytest.raises(InputError, match=naming("poinet poi-net")):
        find_entries("poinet")


def test_the_first_complete_choice_of_files_is_used(tmp_path):
    assert find_files("snli", tmp_path, tmp_path / "made") is None
    (tmp_path / "nli").mkdir()
    for name in ("train", "mnli_dev", "sick_dev"):
        (tmp_path / f"nli/{name}.jsonl.gz").touch()
    found = find_files("snli", tmp_path, tmp_path / "made")
    assert found.train == (str(tmp_path / "nli/train.jsonl.gz"),)
    assert "MultiNLI" in found.differs
    (tmp_path / "snli").mkdir()
    for name in ("train", "dev"):
        (tmp_path / f"snli/snli_1.0_{name}.jsonl").touch()
    found = find_files("snli", tmp_path, tmp_path / "made")
    assert (found.differs, found.test) == ("", ())
    (tmp_path / "snli/snli_1.0_test.jsonl").touch()
    assert find_files("snli", tmp_path, tmp_path / "made").test


def test_missing_files_are_named_with_their_folder(tmp_path):
    (tmp_path / "dream").mkdir()
    (tmp_path / "dream/dev.json.gz").touch()
    line = missing_line("dream", tmp_path)
    assert line == (
        "needs DREAM: get it from https://dataset.org/dream/ and put dream/train.json "
        f"(plain or .gz) under {tmp_path}"
    )


def test_recipes_generate_the_files_of_datasets():
    assert set(PROBES) == set(PROPERTIES)
    made = {
        path.removeprefix("made/").partition("#")[0]
        for dataset in read_datasets().values()
        for files in dataset.choices
        for text in (*files.train, *files.dev, *files.test)
        for path in text.split("+")
        if path.startswith("made/")
    }
    assert made == set(RECIPES)
