"""The share of F1 that a reader keeps when questions are typed carelessly."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace

import careless_questions
import pytest

from syntagma.tasks.spans.squad import SpanExample

Reading = careless_questions.Reading


class LiteralReader:
    """Answers only questions that start with a capital and end with a mark."""

    def stream(self, pairs):
        for passage, question in pairs:
            good = question[0].isupper() and question.endswith("?")
            text = passage.split()[0] if good else passage.split()[-1]
            candidates = [SimpleNamespace(text=text)]
            yield SimpleNamespace(candidates=candidates, outcome="answer" if good else "none")


def example(number: int) -> SpanExample:
    return SpanExample(
        id=str(number),
        passage=f"Ferry{number} leaves the harbour at nine",
        question="Which boat leaves the harbour first?",
        title=f"article {number % 8}",
        answers=(f"Ferry{number}",),
        answer_starts=(0,),
    )


def test_each_kind_is_compared_with_the_same_questions():
    rows = careless_questions.compare_kinds(LiteralReader(), [example(n) for n in range(24)], 1)
    unmarked = rows["no_mark"]
    assert (unmarked.questions, unmarked.clean, unmarked.typed, unmarked.kept) == (24, 100, 0, 0)
    assert (unmarked.none_clean, unmarked.none_typed) == (0, 100)
    assert rows["polite"].clean == 100


def test_a_kind_that_fits_no_question_has_no_row():
    typed_already = replace(example(0), question="boat harbour first")
    rows = careless_questions.compare_kinds(LiteralReader(), [typed_already], 1)
    assert "no_mark" not in rows
    assert "lower" not in rows


def test_the_interval_is_over_articles():
    articles = [f"article {n % 10}" for n in range(40)]
    clean = [Reading(1.0, False)] * 40
    typed = [Reading(0.5 if n % 10 < 5 else 1.0, False) for n in range(40)]
    row = careless_questions.compare(articles, clean, typed)
    assert row.kept == pytest.approx(75)
    assert row.low < 70 < 80 < row.high
    one = careless_questions.compare(["one"] * 40, clean, typed)
    assert one.low is None
    assert one.cells()[4] == "–"
