"""Trimming spans to what people would write, and dropping near-copies."""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from syntagma.tasks.spans.answers import Span
from syntagma.tasks.spans.tidy import distinct_spans, readable, tidy_interval


@pytest.mark.parametrize(
    ("passage", "span", "expected"),
    [
        ('She sang "Gull Rock" twice.', '"Gull Rock"', "Gull Rock"),
        ('She sang "Gull Rock" twice.', 'Gull Rock"', "Gull Rock"),
        ("She sang “Gull Rock” twice.", "“Gull Rock", "Gull Rock"),
        ('"Tern" and "Gull" left.', '"Tern" and "Gull"', '"Tern" and "Gull"'),
        ("built (1931) here", "(1931)", "1931"),
        ("built (1931) here", "1931)", "1931"),
        ("to Low Quay (Pellworth) now", "Low Quay (Pellworth", "Low Quay (Pellworth)"),
        ("as noted [3].", "[3].", "3"),
        ("left at noon. Then", "noon.", "noon"),
        ("left at 5 p.m. Then", "5 p.m.", "5 p.m."),
        ("of the U.S. fleet", "U.S.", "U.S."),
        ("by J. S. Low", "J. S.", "J. S."),
        ("took vitamin C. Then", "vitamin C.", "vitamin C"),
        ("on <b>Ada Mensah</b> here", "<b>Ada Mensah</b>", "Ada Mensah"),
        ("on <b>Ada Mensah</b> here", "b>Ada Mensah</", "Ada Mensah"),
        ("- a rope\n- a lamp", "- a rope", "a rope"),
        ("1. Wash it\n2. Dry it", "2. Dry it", "Dry it"),
        ("at -5 degrees", "-5", "-5"),
        ("it cost $5.50, then", "$5.50,", "$5.50"),
        ("the sailors' union", "sailors'", "sailors'"),
        ("to Pellworth now", "ellwort", "Pellworth"),
        ("a trans-\nportation plan", "trans-", "trans-\nportation"),
        ("a trans-\nportation plan", "portation plan", "trans-\nportation plan"),
        ("the Anglo-\nSaxon coast", "Anglo-", "Anglo"),
        ("wait — here, said", "— here,", "here"),
        # Lines that end a sentence, an item or a heading end an answer; wrapped lines do not.
        ("Yours,\nTom Low\nLow & Sons, boat builders\n", "Tom Low\nLow", "Tom Low"),
        ("- dry the oars\n\nspare key: ask Ada", "dry the oars\n\nspare key", "dry the oars"),
        ("Reply within a month of reading this\nletter.", "this\nletter", "this\nletter"),
        ("It was dry. We left\nat noon.", "dry. We left\nat noon", "dry. We left\nat noon"),
        ("It was dry. We left.\n\nAll slept.", "dry. We left.\n\nAll", "dry. We left"),
        ("what?! ...", "...", "..."),
        ("行く東京に行く", "東京", "東京"),
    ],
)
def test_spans_are_trimmed_to_the_answer(passage, span, expected):
    start = passage.index(span)
    start, end = tidy_interval(passage, start, start + len(span))
    assert passage[start:end] == expected


@given(st.text(alphabet="ab A1.-–\n\"'“”()[]<>/,!é東", max_size=30), st.data())
def test_a_trimmed_span_is_inside_and_stays_as_it_is(passage, data):
    start = data.draw(st.integers(0, len(passage)))
    end = data.draw(st.integers(start, len(passage)))
    first, last = tidy_interval(passage, start, end)
    assert 0 <= first <= last <= len(passage)
    assert (first < last) == (start < end)


def spans(passage, *texts):
    return [
        Span(text, passage.index(text), passage.index(text) + len(text), -float(n), 0.5 / (n + 1))
        for n, text in enumerate(texts)
    ]


def test_near_copies_and_fragments_are_dropped():
    passage = "In 1931 the old tower fell. The Old Tower was rebuilt by Kofi Low."
    found = distinct_spans(
        passage,
        spans(passage, "the old tower", "old tower", "The Old Tower was", "tower fell.", "1931"),
    )
    assert [span.text for span in found] == ["the old tower", "The Old Tower was", "1931"]
    # The share of a dropped span goes to the better one that it overlaps.
    assert found[0].probability == pytest.approx(0.5 + 0.25 + 0.125)
    again = passage.index("The Old Tower")
    copy = Span("The Old Tower", again, again + 13, -9.0, 0.01)
    assert len(distinct_spans(passage, [*spans(passage, "old tower"), copy])) == 1


def test_spans_without_content_come_only_where_there_is_nothing_else():
    passage = "In the harbour of Old Wick."
    found = distinct_spans(passage, spans(passage, "the", "In the", "Old Wick", "of"))
    assert [span.text for span in found] == ["Old Wick"]
    assert [span.text for span in distinct_spans(passage, spans(passage, "the", "of"))] == ["the"]
    assert distinct_spans(passage, []) == ()
    found = distinct_spans("Nobody. It sank.", spans("Nobody. It sank.", ".", "Nobody"))
    assert [span.text for span in found] == ["Nobody"]


@pytest.mark.parametrize(
    ("passage", "span", "tidied"),
    [
        (
            "Crew: \U0001f6a2\U0001f6a2 Ana Reyes \u2693\ufe0f",
            "\U0001f6a2 Ana Reyes \u2693\ufe0f",
            "Ana Reyes",
        ),
        ("It was 20 °C, © 1999.", "20 °C", "20 °C"),
        ("We sent \U0001f600.", "\U0001f600", "\U0001f600"),
    ],
)
def test_emoji_around_an_answer_are_trimmed(passage, span, tidied):
    start = passage.index(span)
    first, last = tidy_interval(passage, start, start + len(span))
    assert passage[first:last] == tidied


def test_offsets_of_distinct_spans_are_exact():
    passage = 'The "Tern" (a ferry), left.'
    for span in distinct_spans(passage, spans(passage, '"Tern" (', "a ferry),", "left.")):
        assert passage[span.start : span.end] == span.text


def test_divided_words_are_joined_for_display():
    assert readable("public trans-\nportation   plans") == "public transportation plans"
    assert readable("Anglo-\nSaxon") == "Anglo- Saxon"


@pytest.mark.parametrize(
    "space", [" " * 100_000, "\n" * 100_000, " " * 50_000 + "x\n" + " " * 50_000]
)
def test_white_space_takes_linear_time(space):
    passage = f"Ada built it.{space}Kofi"
    before = time.process_time()
    start, end = tidy_interval(passage, 4, len(passage))
    assert passage[start:end].startswith("built it")
    assert tidy_interval(passage, 0, 13 + len(space) // 3)[1] == 12
    assert passage[slice(*tidy_interval(passage, 13, len(passage) - 1))] in ("Kofi", "x")
    assert readable(f"word-{space}1") == f"word- {'x ' if 'x' in space else ''}1"
    assert time.process_time() - before < 2
