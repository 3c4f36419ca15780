"""Answers stay in one cell of a table, whatever separates the cells."""

from __future__ import annotations

import pytest

from syntagma.models.calibration import Probabilities
from syntagma.tasks.open_qa.answers import Candidate
from syntagma.tasks.open_qa.data import Paragraph
from syntagma.tasks.open_qa.features import distinct_candidates
from syntagma.tasks.spans.answers import Excerpt, Span
from syntagma.tasks.spans.columns import LONGEST_LINE, crosses_cells, row_at, within_cells
from syntagma.tasks.spans.features import Ranked
from syntagma.tasks.spans.outcomes import decide
from syntagma.tasks.spans.tidy import distinct_spans

TIMES = (
    "Day   Lanes        Family swim   Price\n"
    "Tue   07:00–09:00  15:30–17:30   £5.20\n"
    "Sat   08:00–10:00  10:00–13:00   £6.00\n"
)


def crosses(passage, text):
    start = passage.index(text)
    return crosses_cells(passage, start, start + len(text))


@pytest.mark.parametrize(
    ("passage", "text"),
    [
        (TIMES, "07:00–09:00  15:30–17:30"),
        (TIMES, "Tue   07:00"),
        (TIMES, "£5.20\nSat"),
        ("Name\tAda Byron\tPier 4", "Ada Byron\tPier"),
        ("Ada Byron | Pier 4 | 12:30", "Pier 4 | 12:30"),
        ("Total rent          845.00", "Total rent          845.00"),
    ],
)
def test_cells_are_separated(passage, text):
    assert crosses(passage, text)


@pytest.mark.parametrize(
    ("passage", "text"),
    [
        (TIMES, "Family swim"),
        ("The boat left.  It came back at noon.", "left.  It"),
        # Lines that a program has justified.
        (
            "The  ferry left Port Ellen at  noon, and\nnobody on the  quay saw it  go.",
            "Ellen at  noon",
        ),
        ("Fee      £   720", "£   720"),
        ("Ferritin   7          µg/l", "7          µg/l"),
        ("Address:   12 Quay Street\n           Leith", "12 Quay Street\n           Leith"),
        ("a|b and c", "a|b and"),
        ("one line", "one line"),
    ],
)
def test_other_white_space_separates_nothing(passage, text):
    assert not crosses(passage, text)


def test_one_that_stays_in_a_cell_takes_its_place():
    whole = TIMES.index("07:00–09:00  15:30"), TIMES.index("   £5.20")
    second = TIMES.index("15:30"), TIMES.index("   £5.20")
    elsewhere = TIMES.index("£6.00"), len(TIMES) - 1
    assert within_cells(TIMES, [whole, elsewhere, second]) == [2, 1, 2]
    assert within_cells(TIMES, [whole, elsewhere]) == [0, 1], "nothing better is known"


def span(text, score, probability):
    start = TIMES.index(text)
    return Span(text, start, start + len(text), score, probability)


def test_a_reader_shows_the_cell():
    found = distinct_spans(
        TIMES,
        [
            span("07:00–09:00  15:30–17:30", 5.0, 0.5),
            span("£6.00", 4.0, 0.25),
            span("15:30–17:30", 3.0, 0.125),
        ],
    )
    assert [(each.text, each.score, each.probability) for each in found] == [
        ("15:30–17:30", 3.0, 0.625),
        ("£6.00", 4.0, 0.25),
    ]


def test_so_it_does_over_several_paragraphs():
    def candidate(text, paragraph, score):
        start = TIMES.index(text)
        return Candidate(text, start, start + len(text), score, 0.3, paragraph, str(paragraph), 1)

    paragraphs = {number: Paragraph(str(number), TIMES) for number in (0, 1)}
    found = distinct_candidates(
        (
            candidate("07:00–09:00  15:30–17:30", 1, 5.0),
            candidate("15:30–17:30", 0, 4.0),
            candidate("15:30–17:30", 1, 3.0),
        ),
        paragraphs,
    )
    assert [(each.text, each.paragraph) for each in found] == [
        ("15:30–17:30", 1),
        ("15:30–17:30", 0),
    ]


def test_a_yes_no_question_gets_the_row():
    assert row_at(TIMES, TIMES.index("10:00–13")) == (TIMES.index("Sat"), len(TIMES) - 1)
    assert row_at("The boat left.  It came back.", 3) is None
    best = span("10:00–13:00", 5.0, 0.5)
    ranked = Ranked((best,), TIMES, Excerpt(TIMES, 0, len(TIMES)), {})
    decision = decide("Is it open on Saturday?", ranked, Probabilities(0.9, 0.05), "balanced")
    assert decision.shown is not None
    assert decision.shown.text == "Sat   08:00–10:00  10:00–13:00   £6.00"


def test_of_a_very_long_line_only_what_is_near_is_read():
    row = "a\tb " * 100_000
    found = row_at(row, 250_000)
    assert found is not None
    assert found[0] <= 250_000 < found[1]
    assert found[1] - found[0] <= 2 * LONGEST_LINE
