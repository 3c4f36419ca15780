"""Questions as JSON lines, and their answers."""

from __future__ import annotations

import gzip
import io
import json

import pytest

from syntagma.encoders.load import load_tokenizer
from syntagma.errors import InputError
from syntagma.models.span_model import SpanModel
from syntagma.tasks.spans.question_lines import QuestionLine, answer_lines, read_question_lines
from syntagma.tasks.spans.reader import CHUNK, Reader
from tests.messages import naming


@pytest.fixture
def reader(tiny_encoder) -> Reader:
    head = {"max_length": 96, "doc_stride": 16, "max_question_length": 16}
    model = SpanModel.from_encoder(tiny_encoder, task="spans", head=head)
    return Reader(model, load_tokenizer(tiny_encoder), precision="float32")


def written(tmp_path, *rows) -> str:
    path = tmp_path / "asked.jsonl"
    lines = (row if isinstance(row, str) else json.dumps(row) for row in rows)
    path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    return str(path)


def test_passages_may_be_called_contexts_and_ids_default_to_the_line(tmp_path):
    path = written(
        tmp_path,
        {"passage": "The ferry left.", "question": "What left?", "id": "first"},
        {"context": "Moll kept it.", "question": "Who?", "further": [1]},
        {"passage": "Moll kept it.", "question": "Who?", "id": 7},
    )
    assert list(read_question_lines(path)) == [
        QuestionLine("first", "The ferry left.", "What left?"),
        QuestionLine(2, "Moll kept it.", "Who?"),
        QuestionLine(7, "Moll kept it.", "Who?"),
    ]


def test_lines_come_from_standard_input_and_from_files_of_any_name(tmp_path, monkeypatch):
    row = {"passage": "The ferry left.", "question": "What left?"}
    data = f"{json.dumps(row)}\n{json.dumps(row)}\n".encode()
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(data)))
    found = list(read_question_lines("-"))
    assert [line.id for line in found] == [1, 2]
    (tmp_path / "asked.txt").write_bytes(data)
    assert list(read_question_lines(tmp_path / "asked.txt")) == found
    (tmp_path / "asked.json").write_text(json.dumps([row, row]))
    assert list(read_question_lines(tmp_path / "asked.json")) == found
    (tmp_path / "asked.JSON.gz").write_bytes(gzip.compress(json.dumps([row, row]).encode()))
    assert list(read_question_lines(tmp_path / "asked.JSON.gz")) == found


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ({"question": "Who?"}, "line 2 expected passage question got nothing as passage"),
        ({"passage": "Moll.", "question": "  "}, "line 2 question"),
        ({"passage": 3, "question": "Who?"}, "line 2 3 as passage"),
        ({"passage": "Moll.", "question": "Who?", "id": True}, "line 2 id True"),
        ({"passage": "Moll.", "question": "Who?", "id": [1]}, "line 2 id [1]"),
        ("no JSON", "line 2 expected passage question"),
        ("[1]", "line 2 expected passage question"),
    ],
)
def test_a_broken_line_is_reported_after_the_lines_before_it(row, message, tmp_path):
    good = {"passage": "The ferry left.", "question": "What left?"}
    lines = read_question_lines(written(tmp_path, good, row))
    assert next(lines).question == "What left?"
    with pytest.raises(InputError, match=naming(message)):
        next(lines)


def test_an_empty_file_is_an_error(tmp_path):
    with pytest.raises(InputError, match=naming("at least one line got none passage question")):
        next(read_question_lines(written(tmp_path)))


def test_answers_come_in_order_with_their_ids(reader):
    lines = [
        QuestionLine(f"q{number}", f"Boat number {number} left.", "Which boat left?")
        for number in range(CHUNK + 3)
    ]
    rows = [json.loads(line) for line in answer_lines(lines, reader)]
    assert [row["id"] for row in rows] == [line.id for line in lines]
    assert all(row["question"] == "Which boat left?" for row in rows)
    [alone] = reader.stream([(lines[5].passage, lines[5].question)])
    assert rows[5]["outcome"] == alone.outcome
    assert rows[5]["text"] == alone.text
    assert rows[5]["confidence"] == pytest.approx(alone.confidence, abs=1e-4)


def test_questions_before_a_broken_one_are_answered(reader):
    def lines():
        yield QuestionLine(1, "The ferry left.", "What left?")
        yield QuestionLine(2, "Moll kept it.", "Who?")
        raise InputError("line 3: broken")

    found = answer_lines(lines(), reader)
    assert [json.loads(next(found))["id"] for _ in range(2)] == [1, 2]
    with pytest.raises(InputError, match="line 3: broken"):
        next(found)
