"""The pages of results match the records, and their commands and links exist."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest
import typer

from experiments.record_results import (
    PLACEHOLDER,
    RECORDS,
    TEXT,
    Cell,
    filled,
    read_records,
    result_pages,
)
from syntagma.cli import app
from syntagma.errors import InputError
from tests.messages import naming

ROOT = Path(__file__).parent.parent
DOCS = ROOT / "docs"
PAGES = sorted([DOCS / "results.md", *(DOCS / "results").glob("*.md")])
COMMANDS = typer.main.get_command(app).commands
VERSIONS = {"1.1", "2.0", "2.13", "3.0"}
"""Numbers that belong to a name, such as SQuAD 1.1."""


def test_pages_are_up_to_date():
    pages = result_pages()
    assert {DOCS / name for name in pages} == set(PAGES)
    for name, text in pages.items():
        assert (DOCS / name).read_text(encoding="utf-8") == text, (
            "run python experiments/record_results.py"
        )


def test_records_have_unique_ids_and_known_sources():
    records = list(read_records().flat())
    assert len(records) > 1000
    assert len({record["id"] for record in records}) == len(records)
    for record in records:
        assert isinstance(record["value"], float)
        assert record["source"] in ("measured", "paper")
    by_id = {record["id"]: record for record in records}
    exact = by_id["squad10k.sg-net.exact"]
    assert (exact["value"], exact["deviation"], exact["seeds"]) == (59.76, 0.18, "1 to 3")
    assert exact["tests"]["p_seeds"] == "0.12"
    assert by_id["squad10k.sg-net.f1"]["tests"] == {}


def test_every_row_has_the_columns_of_its_table():
    for name, table in read_records().tables.items():
        for row, cells in table["rows"].items():
            unknown = cells.keys() - {"name"} - table["columns"].keys()
            assert not unknown, f"{name}.{row}: {unknown}"


def test_measured_numbers_are_placeholders_in_texts():
    for path in RECORDS.glob("*.md"):
        text = PLACEHOLDER.sub("", path.read_text(encoding="utf-8"))
        text = re.sub(r"`[^`]*`", "", text)
        assert set(re.findall(r"\d+\.\d+", text)) <= VERSIONS, path.name


def test_all_records_are_shown():
    text = "".join(path.read_text(encoding="utf-8") for path in RECORDS.glob("*.md"))
    text += (RECORDS / "summary.yaml").read_text(encoding="utf-8")
    records = read_records()
    for name in (*records.tables, *records.values):
        assert re.search(rf"\b{re.escape(name)}\b", text), name


def test_cells_are_shown_as_reported():
    assert Cell("58.67 ± 0.75").value == 58.67
    assert Cell("58.67 ± 0.75").deviation == 0.75
    assert Cell("-1.29").shown() == "−1.29"
    assert Cell("1889").shown() == "1,889"
    assert Cell("< 1e-15").shown() == "< 1e-15"
    assert Cell("60.10").shown() == "60.10"
    with pytest.raises(InputError, match=naming("58.67 unknown")):
        _ = Cell("unknown").value


def test_placeholders_are_filled_from_the_records():
    records = read_records()
    assert filled("{{squad10k.plain.exact}}", records, []) == "58.67 ± 0.75"
    text = "{{squad20k.poi-net.exact - squad20k.plain.exact:.1f}}"
    assert filled(text, records, []) == "0.8"
    assert filled("{{openqa.seprem.difference:abs.1f}}", records, []) == "0.4"
    with pytest.raises(InputError, match=naming("squad10k.plane.exact plane")):
        filled("{{squad10k.plane.exact}}", records, [])


def commands() -> list[tuple[str, str]]:
    """The commands in tables and texts, as (page, command on one line)."""
    found = []
    for path in PAGES:
        text = path.read_text(encoding="utf-8").replace("\\\n", " ")
        spans = re.findall(r"`([^`\n]+)`", text)
        indented = re.findall(r"^    (.+)", text, re.MULTILINE)
        for line in (*spans, *indented):
            command = line.partition(" #")[0].strip()
            if re.match(r"(?:\w+=\S+ )*(?:syntagma|python) ", command):
                found.append((path.name, re.sub(r"^(?:\w+='?[^ ]+ )*", "", command)))
    return found


def test_commands_exist():
    found = commands()
    assert len(found) > 60
    for page, command in found:
        program, name, *rest = shlex.split(command)
        options = [word for word in rest if word.startswith("--")]
        if program == "syntagma":
            assert name in COMMANDS, f"{page}: {command}"
            known = {option for each in COMMANDS[name].params for option in each.opts}
            assert {*options} <= known, f"{page}: {command}"
        elif name == "-m":
            assert (ROOT / f"{rest[0].replace('.', '/')}.py").is_file(), f"{page}: {command}"
        else:
            text = (ROOT / name).read_text(encoding="utf-8")
            assert all(f'"{option}"' in text for option in options), f"{page}: {command}"
        for word in rest:
            if word.startswith("experiments/"):
                assert (ROOT / word).is_file(), f"{page}: {command}"


def test_link_targets_exist():
    for path in PAGES:
        for link, _, anchor in re.findall(
            r"\]\((?!https?:)([^)#]*)(#?)([^)]*)\)", path.read_text(encoding="utf-8")
        ):
            target = path.parent / link if link else path
            assert target.exists(), f"{path.name}: {link}"
            if anchor:
                titles = re.findall(r"^#+ (.+)", target.read_text(encoding="utf-8"), re.MULTILINE)
                slugs = [re.sub(r"[^\w -]", "", t.lower()).replace(" ", "-") for t in titles]
                assert anchor in slugs, f"{path.name}: {link}#{anchor}"


def test_columns_of_text_are_not_records():
    records = {record["id"] for record in read_records().flat()}
    for name, table in read_records().tables.items():
        for column, title in table["columns"].items():
            if isinstance(title, dict) and title["kind"] in TEXT:
                assert not any(f"{name}.{row}.{column}" in records for row in table["rows"])
