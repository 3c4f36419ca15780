"""The questions in `examples/questions` are valid and keep their halves apart."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from syntagma.tasks.spans.squad import SpanExample, read_squad

QUESTIONS = Path(__file__).parent.parent / "examples" / "questions"
HALVES = ("dev", "test")
KINDS = {"yes_no", "count", "comparison", "list"}


def examples(half: str) -> list[SpanExample]:
    # Reading checks that each answer is at its offset, and that ids are unique in the file.
    return read_squad(QUESTIONS / f"everyday-{half}.json")[0]


def others(half: str) -> list[dict]:
    return json.loads((QUESTIONS / f"everyday-other-{half}.json").read_text(encoding="utf-8"))


@pytest.mark.parametrize("half", HALVES)
def test_a_half_has_100_questions_of_which_a_third_have_no_answer(half):
    questions = examples(half)
    assert len(questions) == 100
    assert 30 <= sum(example.is_impossible for example in questions) <= 36


@pytest.mark.parametrize("half", HALVES)
def test_every_text_is_short_and_has_four_or_five_different_questions(half):
    texts: dict[str, list[str]] = {}
    for example in examples(half):
        texts.setdefault(example.passage, []).append(example.question)
    for passage, questions in texts.items():
        assert 50 <= len(passage.split()) <= 300, passage[:60]
        assert 4 <= len(set(questions)) == len(questions) <= 5, passage[:60]


@pytest.mark.parametrize("half", HALVES)
def test_answers_have_no_white_space_around_them_and_are_listed_once(half):
    for example in examples(half):
        assert [text.strip() for text in example.answers] == list(example.answers), example.id
        gold = list(zip(example.answers, example.answer_starts, strict=True))
        assert len(set(gold)) == len(gold), example.id


def test_the_halves_share_no_text_title_or_id():
    dev, test = (examples(half) for half in HALVES)
    for name in ("passage", "title", "id"):
        shared = {getattr(x, name) for x in dev} & {getattr(x, name) for x in test}
        assert not shared, name


@pytest.mark.parametrize("half", HALVES)
def test_the_other_questions_quote_the_texts_of_their_half(half):
    rows = others(half)
    passages = {example.passage for example in examples(half)}
    assert len(rows) == 10
    assert {row["kind"] for row in rows} == KINDS
    for row in rows:
        assert row["context"] in passages, row["question"]
        assert row["sentence"] in row["context"], row["question"]
        assert ("spans" in row) == (row["kind"] == "list"), row["question"]
        for span in row.get("spans", ()):
            assert span in row["sentence"], row["question"]


@pytest.mark.parametrize("half", HALVES)
def test_no_answer_of_a_list_is_a_single_span(half):
    for row in others(half):
        assert len(row.get("spans", ("", ""))) > 1, row["question"]
