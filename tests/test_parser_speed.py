"""What the benchmark of parsers saves becomes a table of records, and a plot."""

from __future__ import annotations

import re
from importlib.metadata import version
from pathlib import Path

import pytest
import yaml

from experiments.parser_speed import ENCODER, PLOT, TABLE, draw, records_text, series_of
from experiments.record_results import read_records, table_text

PICTURE = Path(__file__).parent.parent / "docs" / PLOT


def measured(parser, finds, words, *, las=None, precision="float32", threads=1):
    return {
        "parser": parser,
        "finds": finds,
        "precision": precision,
        "threads": threads,
        "las": las,
        "words_per_second": words,
    }


RESULT = {
    "machine": "a ferry's computer",
    "measurements": {
        "data": "dev, 3 sentences",
        "time_bars": [["default-parser", "dependencies", 1.25]],
        "speed_bars": [["fast-parser", "dependencies", "float32", 0.7]],
        "parsers": [
            measured("spaCy", "dependencies", [2000, 1000, 1100], las=84.2),
            measured("default-parser", ENCODER, [1000, 1000, 1000]),
            measured("default-parser", "dependencies", [800, 500, 1000], las=90.0),
            measured("default-parser", "with phrases", [400, 400, 400], las=90.0),
            measured("fast-parser", "dependencies", [900, 880, 890], las=88.123),
            measured("fast-parser", "dependencies", [990], las=88.0, precision="bfloat16"),
            measured("spaCy", "dependencies", [3000], las=84.2, threads=2),
        ],
    },
}


@pytest.fixture(scope="module")
def table():
    return yaml.load(records_text(RESULT), yaml.BaseLoader)["tables"][TABLE]


def test_rows_have_medians_ranges_and_ratios_beside_their_bars(table):
    assert table["data"] == "dev, 3 sentences"
    assert table["machine"] == "a ferry's computer"
    assert table["rows"]["default_parser_dependencies_float32_1"] == {
        "name": "default-parser",
        "finds": "dependencies",
        "precision": "float32",
        "threads": "1",
        "las": "90.00",
        "words": "800",
        "least": "500",
        "most": "1000",
        "time": "1.25",
        "time_bar": "1.25",
        "speed": "0.73",
    }
    fast = table["rows"]["fast_parser_dependencies_float32_1"]
    assert (fast["las"], fast["speed"], fast["speed_bar"]) == ("88.12", "0.81", "0.7")
    # A ratio to something that was not measured is left out.
    assert "time" not in fast
    alone = table["rows"]["default_parser_encoder_float32_1"]
    assert alone.keys().isdisjoint({"las", "time", "speed"})


def test_the_table_is_shown_like_all_records(table):
    text = table_text(table)
    assert "| default-parser | dependencies | float32 | 1 | 90.00 | 800 | 500 | 1,000 |" in text
    assert "a ferry's computer" in text


def test_series_are_dependency_parsers_from_slow_to_fast(table):
    series = {name: [row["name"] for row in rows] for name, rows in series_of(table).items()}
    assert series == {
        "spaCy, 1 thread": ["spaCy"],
        "ours, float32, 1 thread": ["default-parser", "fast-parser"],
        "ours, bfloat16, 1 thread": ["fast-parser"],
        "spaCy, 2 threads": ["spaCy"],
    }


def test_the_plot_names_each_parser_once_and_is_the_same_every_time(table, tmp_path):
    pytest.importorskip("matplotlib")
    draw(table, tmp_path / "one.svg")
    draw(table, tmp_path / "two.svg")
    text = (tmp_path / "one.svg").read_text(encoding="utf-8")
    for shown in ("default-parser", "fast-parser", "spaCy", "spaCy, 2 threads", "words/s", "LAS"):
        assert text.count(f">{shown}<") == 1, shown
    assert text == (tmp_path / "two.svg").read_text(encoding="utf-8")


def test_the_plot_in_the_documents_is_up_to_date(tmp_path):
    pytest.importorskip("matplotlib")
    text = PICTURE.read_text(encoding="utf-8")
    drawn_by = re.search(r"Matplotlib v([\d.]+)", text)
    if drawn_by is None or drawn_by[1] != version("matplotlib"):
        pytest.skip("drawn by another version of Matplotlib")
    draw(read_records().tables[TABLE], tmp_path / "now.svg")
    assert (tmp_path / "now.svg").read_text(encoding="utf-8") == text, (
        "run python experiments/record_results.py"
    )
