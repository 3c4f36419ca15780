"""The cell that a question names by the headings of its row and its column."""

from __future__ import annotations

import pytest

from syntagma.tasks.open_qa.answers import Candidate
from syntagma.tasks.spans.answers import Span
from syntagma.tasks.spans.tables import (
    MOST_LINES,
    in_named_cell,
    named_cell,
    names_empty_cell,
    table_at,
)

SPACES = """Kayak hire, Marlow Lock

            Weekday   Saturday   Sunday
Single      £12       £16        £18
Double      £20       £26        £29
Canoe       £25       £32        closed

Prices are for two hours.
"""
TABS = "Duty\tMon\tTue\tWed\nThe till\tIda\tTom\tAda\nThe bins\tEli\tUna\tSol"
NO_CORNER = "\tMon\tTue\nThe till\tIda\tTom\nThe bins\tEli\tUna"
MARKDOWN = """| Branch   | Q1  | Q2  |
|----------|-----|-----|
| Welmere  | 410 | 520 |
| Old Quay | 630 | 740 |
"""
BARS = "Stop | Bus 1 | Bus 2\nWoodley | 7:02 | 7:40\nFairden | 7:15 | 7:55"


def cell_for(passage, question, best):
    start = passage.index(best)
    found = named_cell(question, passage, (start, start + len(best)))
    return None if found is None else passage[slice(*found)]


@pytest.mark.parametrize(
    ("passage", "question", "best", "wanted"),
    [
        (SPACES, "How much is a double on Saturday?", "£20", "£26"),
        (SPACES, "what does a canoe cost on a weekday", "£32", "£25"),
        (SPACES, "price of a canoe on sunday", "£32", "closed"),
        (TABS, "Who is on the bins on Tuesday?", "Tom", "Una"),
        (NO_CORNER, "Who is on the bins on Monday?", "Una", "Eli"),
        (MARKDOWN, "What did Old Quay take in the second quarter?", "630", "740"),
        (BARS, "When does the second bus stop at Fairden?", "7:15", "7:55"),
        (BARS, "Woodley, bus 2", "7:02", "7:40"),
    ],
)
def test_it_is_found_in_every_layout(passage, question, best, wanted):
    assert cell_for(passage, question, best) == wanted


@pytest.mark.parametrize(
    ("question", "best"),
    [
        # It is that cell already.
        ("How much is a double on Saturday?", "£26"),
        # The row or the column is not named, or two of them are.
        ("How much is a double?", "£20"),
        ("How much is it on Saturday?", "£12"),
        ("Is a single or a double cheaper on Saturday?", "£16"),
        ("How much is a double on Saturday or Sunday?", "£20"),
        # The question asks for a heading, or the answer is outside.
        ("Which boat costs £26 on Saturday, the double?", "Double"),
        ("For how long is a double on Saturday?", "two hours"),
    ],
)
def test_nothing_is_changed_without_reason(question, best):
    assert cell_for(SPACES, question, best) is None


@pytest.mark.parametrize("nothing", ["–", "---", "none", "n/a", "None."])
def test_an_empty_cell_is_no_answer(nothing):
    passage = f"Duty\tMon\tTue\nThe till\tIda\t{nothing}\nThe bins\tEli\tUna"
    question = "Who is at the till on Tuesday?"
    assert cell_for(passage, question, "Ida") is None
    start = passage.index("Ida")
    assert names_empty_cell(question, passage, (start, start + 3))


@pytest.mark.parametrize(
    ("question", "best"),
    [
        ("Who is on the bins on Tuesday?", "Ida"),  # Una stands in the cell.
        ("Who is on the bins on Monday?", "Ida"),
        ("Who is at the till?", "Ida"),
        ("Why is nobody at the till on Tuesday?", "Eli"),
        ("Who is at the till on Tuesday?", "Closed on Tuesday"),  # It is outside the table.
    ],
)
def test_other_questions_name_no_empty_cell(question, best):
    passage = "Duty\tMon\tTue\nThe till\tIda\t–\nThe bins\tEli\tUna\n\nClosed on Tuesday."
    start = passage.index(best)
    assert not names_empty_cell(question, passage, (start, start + len(best)))


@pytest.mark.parametrize(
    "passage",
    [
        "A ferry leaves at nine.\nIt is red.",
        "one\ttwo",  # A single row.
        "a\tb\tc\nd\te\tf\ng\th",  # Rows with unequal numbers of cells.
        "a\tb\nc\td\te\tf\ng\th\ti\tj",  # Two headings are missing.
        "",
    ],
)
def test_unclear_columns_are_no_table(passage):
    assert table_at(passage, max(len(passage) - 1, 0)) is None


def test_cells_stand_below_their_headings():
    table = table_at(SPACES, SPACES.index("£26"))
    shown = [{n: SPACES[slice(*c)] for n, c in row.items()} for row in table.rows]
    assert shown[1] == {0: "Double", 1: "£20", 2: "£26", 3: "£29"}
    assert [SPACES[slice(*c)] for c in table.headings.values()] == ["Weekday", "Saturday", "Sunday"]


def spans(passage, *texts):
    places = [(text, passage.index(text)) for text in texts]
    return [
        Span(text, start, start + len(text), 5.0 - number, 0.5 / 2**number)
        for number, (text, start) in enumerate(places)
    ]


def test_the_cell_comes_first_with_the_score_of_the_best():
    found = in_named_cell(
        "How much is a double on Saturday?", SPACES, spans(SPACES, "£20", "£29", "£26", "Single")
    )
    assert [(span.text, span.score) for span in found] == [
        ("£26", 5.0), ("£29", 4.0), ("£20", 3.0), ("Single", 2.0),
    ]  # fmt: skip
    assert all(SPACES[span.start : span.end] == span.text for span in found)
    # The best one is dropped if the cell was no candidate.
    found = in_named_cell("How much is a double on Saturday?", SPACES, spans(SPACES, "£20", "£29"))
    assert [span.text for span in found] == ["£26", "£29"]
    unchanged = spans(SPACES, "£20", "£29")
    assert in_named_cell("How much is a double?", SPACES, unchanged) == tuple(unchanged)
    assert in_named_cell("How much?", SPACES, []) == ()


def test_the_best_is_kept_once_if_two_candidates_are_parts_of_the_cell():
    passage = "Where\tMon\tTue\nGallery\t7 to 18\t9 to 17\nFarm shop\t6 to 14\t8 to 15"
    parts = spans(passage, "7 to 18", "9", "17", "Gallery")
    found = in_named_cell("When is the gallery open on Tuesday?", passage, parts)
    assert [span.text for span in found] == ["9 to 17", "7 to 18", "Gallery"]


def test_candidates_of_other_paragraphs_stay():
    start = SPACES.index("£26")
    candidates = [
        Candidate("£20", SPACES.index("£20"), SPACES.index("£20") + 3, 5.0, 0.5, 0, "a", 1),
        Candidate("oars", start, start + 4, 4.0, 0.2, 1, "b", 1),
    ]
    found = in_named_cell(
        "How much is a double on Saturday?", SPACES, candidates, lambda each: each.paragraph == 0
    )
    assert [(each.text, each.pid, each.score) for each in found] == [
        ("£26", "a", 5.0), ("oars", "b", 4.0),
    ]  # fmt: skip


def test_a_long_table_takes_little_time():
    # Only some lines around the span are looked at: without its headings it is no table.
    passage = "Place\tMon\tTue\n" + "".join(f"Stop {n}\t{n}:01\t{n}:02\n" for n in range(100_000))
    assert table_at(passage, len(passage) // 2) is None
    assert len(table_at(passage, passage.index("50:01")).rows) == 50 + 1 + MOST_LINES
    assert cell_for(passage, "When does it stop at stop 60 on Tuesday?", "50:01") == "60:02"
