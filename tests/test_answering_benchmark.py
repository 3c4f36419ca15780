"""The benchmark that compares readers and language models."""

from __future__ import annotations

import json

import pytest

from benchmarks.answering import Reply, clean, main, replies, row_of
from syntagma.encoders.load import load_tokenizer
from syntagma.models.span_model import SpanModel
from syntagma.tasks.spans.squad import SpanExample

PASSAGE = "The ferry left at noon. Moll kept the light."
QUESTIONS = [
    SpanExample("a", PASSAGE, "When did it leave?", answers=("noon",), answer_starts=(18,)),
    SpanExample("b", PASSAGE, "Who kept the light?", answers=("Moll",), answer_starts=(24,)),
    SpanExample("c", PASSAGE, "Who sank?", is_impossible=True),
    SpanExample("d", PASSAGE, "Why?", is_impossible=True),
]


@pytest.mark.parametrize(
    ("reply", "text"),
    [
        ("“noon”\nBecause the text says so.", "noon"),
        ("No answer.", ""),
        ("  no answer", ""),
        ("There is no answer to that", "There is no answer to that"),
        ("", ""),
    ],
)
def test_a_reply_is_its_first_line_without_quotation_marks(reply, text):
    assert clean(reply) == text


def test_a_row_has_what_was_right_refused_and_quoted():
    found = [
        Reply("at noon", True, 0.1),
        Reply("Moll", True, 0.3),
        Reply("", False, 0.1),
        Reply("a barge", False, 0.1),
    ]
    row = row_of("some model", 22_400_000, QUESTIONS, found)
    assert row == {
        "": "some model",
        "million weights": 22,
        "EM": "50.0",
        "F1": "83.3",
        "right of answered": "33.3",
        "none where there is none": "50.0",
        "in the text": "66.7",
        "with its place": "66.7",
        "s a question": "0.15",
    }


def test_questions_are_asked_one_at_a_time():
    asked = []

    def ask(passage: str, question: str) -> tuple[str, bool]:
        asked.append(question)
        return "Moll", True

    first = next(replies(ask, QUESTIONS))
    assert asked == ["When did it leave?"]
    assert (first.text, first.has_place) == ("Moll", True)


def test_a_saved_reader_is_measured(tmp_path, tiny_encoder, capsys, monkeypatch):
    monkeypatch.setenv("SYNTAGMA_BENCH", str(tmp_path / "bench"))
    head = {"max_length": 96, "doc_stride": 16, "max_question_length": 16}
    model = SpanModel.from_encoder(tiny_encoder, task="spans", head=head)
    model.save_pretrained(tmp_path / "model")
    load_tokenizer(tiny_encoder).save_pretrained(tmp_path / "model")
    rows = [
        {"id": each.id, "question": each.question, "is_impossible": each.is_impossible,
         "answers": [{"text": text, "answer_start": start}
                     for text, start in zip(each.answers, each.answer_starts, strict=True)]}
        for each in QUESTIONS
    ]  # fmt: skip
    data = tmp_path / "data.json"
    data.write_text(json.dumps({"data": [{"paragraphs": [{"context": PASSAGE, "qas": rows}]}]}))
    main([str(data), "--reader", str(tmp_path / "model"), "--limit", "3"])
    [written] = (tmp_path / "bench").iterdir()
    assert json.loads(written.read_text())["rows"][0][""] == str(tmp_path / "model")
    assert "right of answered" in capsys.readouterr().out
    with pytest.raises(SystemExit):
        main([str(data)])
