"""Invalid labels, deeply nested JSON and endless devices are reported in one line."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from syntagma import files
from syntagma.errors import InputError
from syntagma.files import read_json, read_lines, read_objects, read_text
from syntagma.json_values import parse_json, whole_number
from syntagma.parse.corpora.records import reader_of
from syntagma.tasks.choice.data import read_choices
from tests.messages import naming

ROW = {"id": "a", "context": "A gull cried.", "question": "What?", "answer0": "a", "answer1": "b"}


def row(label: str) -> str:
    return f'{json.dumps(ROW)[:-1]}, "label": {label}}}\n'


@pytest.mark.parametrize(
    "label",
    [
        *("Infinity", "-Infinity", "NaN", "1e999", "1.5", "true", "-2", '"1_0"', '"NaN"', "[1]"),
        *("9" * 5000, "1" + "0" * 400, "[" * 9999, '{"a": 1, "a": 2}'),
    ],
)
def test_a_label_that_is_not_a_whole_number_is_reported(tmp_path, label):
    path = tmp_path / "dev.jsonl"
    path.write_text(row("0") + row(label))
    with pytest.raises(InputError, match=naming("dev.jsonl line 2")) as found:
        read_choices(path)
    assert "\n" not in str(found.value)
    assert len(read_choices(path, skip_bad=True).examples) == 1


def test_whole_numbers_are_valid_labels(tmp_path):
    path = tmp_path / "dev.jsonl"
    path.write_text(row("0").replace('"a"', '"x"', 1) + row("1.0").replace('"a"', '"y"', 1))
    assert [example.answer for example in read_choices(path).examples] == [0, 1]
    assert whole_number("12") == 12
    assert whole_number("１") is None


@pytest.mark.parametrize("text", ['{"a": NaN}', '{"a": 1, "a": 2}', "[" * 99_999, '{"a": 1e999}'])
def test_json_that_is_not_standard_or_too_deep_is_reported(tmp_path, text):
    path = tmp_path / "a.json"
    path.write_text(text)
    with pytest.raises(InputError, match=naming("a.json broken JSON")):
        read_json(path)


def test_the_position_of_a_constant_that_is_not_json_is_reported():
    with pytest.raises(json.JSONDecodeError, match=naming("line 2 column 7 Infinity")):
        parse_json('{"a": "NaN \\" Infinity",\n "b": Infinity}')
    assert parse_json("[Infinity]", finite=False) == [float("inf")]


@pytest.mark.parametrize("read", [read_text, read_lines, read_json, reader_of("text")])
@pytest.mark.parametrize("name", ["/dev/zero", "/dev/urandom", "/proc/self/mem"])
def test_endless_and_unreadable_files_are_reported(read, name):
    if not Path(name).exists():
        pytest.skip(f"this system has no {name}")
    with pytest.raises(InputError, match=naming(name)):
        list(read(name))


@pytest.mark.parametrize("name", ["a.txt", "a.jsonl"])
def test_lines_and_texts_have_a_length_limit(tmp_path, monkeypatch, name):
    monkeypatch.setattr(files, "MAX_LINE", 1000)
    monkeypatch.setattr(files, "MAX_TEXT", 2000)
    path = tmp_path / name
    path.write_text("x" * 999 + "\n" + "x" * 1001)
    with pytest.raises(InputError, match=naming(f"{name} line 2 1000")):
        list(read_lines(path))
    with pytest.raises(InputError, match=naming(f"{name} 2000 characters")):
        read_text(path)
    with pytest.raises(InputError, match=naming(f"{name} line 2 1000")):
        list(reader_of("text")(str(path)))
    with pytest.raises(InputError, match=naming(f"{name} line 2 1000")):
        list(
            read_objects(path.rename(tmp_path / "a.jsonl"))
            if name == "a.jsonl"
            else read_lines(path)
        )
