"""Passages in the layouts of other documents."""

from __future__ import annotations

import json
import random
import re
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from syntagma.datasets.edits import Edit, EditedText
from syntagma.datasets.layout_phrases import HEADINGS
from syntagma.datasets.passage_layouts import KINDS, lay_out, make_layouts
from syntagma.errors import InputError
from syntagma.tasks.spans.squad import SpanExample, TeacherAnswers, read_squad

PASSAGE = (
    "The harbour of Oslo was rebuilt in 1934, after a long debate about its importance. Ana Berg "
    "designed two of its ferries. They carried passengers, mail and furniture across the fjord. "
    "In winter the crossings were interrupted. Fishermen complained about the interruption, and "
    "the municipality promised compensation. A committee examined every application carefully."
)
SENTENCES = re.findall(r"[^.]+\.", PASSAGE)


def example(*answers):
    starts = tuple(PASSAGE.index(answer) for answer in answers)
    return SpanExample("q", PASSAGE, "What?", "harbours", answers, starts, not answers)


def laid_out(kind, *answers, count=30):
    """Variants of the passage from different random numbers."""
    found = [lay_out(example(*answers), kind, random.Random(seed)) for seed in range(count)]
    return [each for each in found if each is not None]


edits = st.lists(
    st.tuples(st.integers(0, 12), st.integers(0, 3), st.text("xyz\n", max_size=3)), max_size=5
)


@given(st.text("abc d", min_size=12, max_size=16), edits)
def test_offsets_of_an_edited_text_agree_with_editing_characters_one_by_one(text, drawn):
    """The oracle keeps, for each new character, the place of the original one it stems from."""
    chosen, at = [], 0
    for start, length, new in sorted(drawn, key=lambda edit: edit[:2]):
        end = min(start + length, len(text))
        if at <= start <= end:
            chosen.append(Edit(start, end, new))
            at = end
    edited = EditedText(text, chosen)
    places, at = [], 0
    for edit in chosen:
        places += [*range(at, edit.start), *[None] * len(edit.new)]
        at = edit.end
    places += range(at, len(text))
    assert len(edited.text) == len(places)
    assert all(
        place is None or edited.text[index] == text[place] for index, place in enumerate(places)
    )
    for start in range(len(text)):
        if start not in places:
            continue
        span = edited.span(start, start + 1)
        assert span == (places.index(start), places.index(start) + 1)


def test_spans_crossed_by_an_edit_are_not_found():
    edited = EditedText(
        "The old gull cries.", [Edit(4, 8, ""), Edit(12, 12, ","), Edit(18, 19, "")]
    )
    assert edited.text == "The gull, cries"
    assert edited.span(0, 12) == (0, 8)
    assert edited.span(8, 18) == (4, 15)
    assert edited.span(6, 12) is None
    with pytest.raises(ValueError, match="overlap"):
        EditedText("gull", [Edit(0, 2, ""), Edit(1, 3, "")])


@pytest.mark.parametrize("kind", KINDS)
def test_answers_are_at_their_offsets_and_the_words_stay(kind):
    variants = laid_out(kind, "1934", "Ana Berg", "mail and furniture")
    assert len(variants) == 30
    for made in variants:
        for text, start in zip(made.answers, made.answer_starts, strict=True):
            assert made.passage[start : start + len(text)] == text
        assert [" ".join(text.lower().split()) for text in made.answers] == [
            "1934",
            "ana berg",
            "mail and furniture",
        ]
        plain = "".join(re.findall(r"\w", made.passage.lower()))
        last = -1
        for sentence in SENTENCES:
            place = plain.find("".join(re.findall(r"\w", sentence.lower())))
            assert place > last
            last = place


@pytest.mark.parametrize("kind", ["bullets", "minutes", "dialogue", "noise"])
def test_an_answer_of_two_sentences_is_never_interrupted(kind):
    answer = "Ana Berg designed two of its ferries. They carried passengers"
    for made in laid_out(kind, answer):
        assert re.fullmatch(answer.replace(". ", r"\.?\s+"), made.answers[0])


def test_bullets_put_each_sentence_on_its_own_line():
    for made in laid_out("bullets"):
        items = [line for line in made.passage.split("\n") if re.match(r" *\W|\d+[.)] ", line)]
        assert len(items) == len(SENTENCES)
        assert all(
            sentence.strip(" .") in item for sentence, item in zip(SENTENCES, items, strict=True)
        )


def test_lines_only_turn_spaces_into_line_breaks():
    for made in laid_out("lines"):
        assert made.passage != PASSAGE
        assert made.passage.replace("\n", " ") == PASSAGE
        assert max(map(len, made.passage.split("\n"))) <= 90
    assert any("\n" in made.answers[0] for made in laid_out("lines", "mail and furniture"))


def test_hyphens_split_words_at_line_ends_but_not_those_of_an_answer():
    for made in laid_out("hyphens", "compensation"):
        assert re.sub(r"-\n|\n", lambda m: "" if m[0] == "-\n" else " ", made.passage) == PASSAGE
        assert made.answers == ("compensation",)
    assert all(re.search(r"\w\w\w-\n\w\w\w\w", made.passage) for made in laid_out("hyphens"))
    assert any("compen-\nsation" in made.passage for made in laid_out("hyphens", count=100))


def test_no_punctuation_deletes_final_stops_and_nothing_between_words():
    variants = [made.passage for made in laid_out("no_punctuation")]
    assert set(variants) == {PASSAGE.replace(".", ""), re.sub("[.,]", "", PASSAGE)}


def test_lower_is_lower_case_even_where_the_length_changes():
    assert laid_out("lower")[0].passage == PASSAGE.lower()
    passage = "İzmir has a harbour in Alsancak."
    made = lay_out(
        SpanExample("q", passage, "Where?", "", ("Alsancak",), (23,)), "lower", random.Random(0)
    )
    assert (made.passage, made.answers) == (passage.lower(), ("alsancak",))
    assert made.answer_starts == (24,)


def test_dialogues_have_speakers_whose_names_are_not_in_the_passage():
    for made in laid_out("dialogue"):
        turns = re.findall(r"^[\[<*]*(\w+)[\]>*:]* ?[-:*]* ", made.passage, re.MULTILINE)
        assert 2 <= len(set(turns)) <= 3
        assert not any(name.lower() in PASSAGE.lower() for name in turns)
        assert all(one != other for one, other in zip(turns, turns[1:], strict=False))


def test_minutes_have_date_attendance_and_numbered_items():
    for made in laid_out("minutes"):
        head, items = made.passage.split("\n\n", 1)
        assert re.search(r"\b20[012]\d\b", head)
        assert re.search(r"^(Present|Attendees|In attendance|Attending): \w", head, re.MULTILINE)
        assert re.match(r"(Item )?1[.):\b ]", items)


def test_headings_mail_and_noise_put_lines_around_the_sentences():
    for made in laid_out("headings"):
        first = made.passage.split("\n")[0].upper()
        assert any(heading.upper() in first for heading in HEADINGS)
    for made in laid_out("mail"):
        before = made.passage.split(SENTENCES[0])[0]
        after = made.passage.split(SENTENCES[-1].strip())[1]
        assert before.endswith("\n\n")
        assert re.search(r"^\n\n(.+\n\n)?\w[\w ]*,\n\w", after)
    for made in laid_out("noise"):
        lines = made.passage.split("\n")
        assert any(line.strip() and line not in PASSAGE for line in lines)


def test_layouts_are_in_squad_format_and_reproducible(tmp_path):
    given = [example("1934"), example()]
    given = [
        SpanExample(
            f"q{n}", e.passage, e.question, e.title, e.answers, e.answer_starts, not e.answers
        )
        for n, e in enumerate(given)
    ]
    data, counts = make_layouts(given, count=40, seed=4)
    path = tmp_path / "layouts.json"
    path.write_text(json.dumps(data), encoding="utf-8")
    made, _ = read_squad(path)
    assert counts == dict.fromkeys(KINDS, 2)
    assert {each.id for each in made} == {f"q{n}-{kind}" for n in (0, 1) for kind in KINDS}
    assert all(each.is_impossible == each.id.startswith("q1") for each in made)
    assert make_layouts(given, count=40, seed=4)[0] == data
    assert make_layouts(given, count=40, seed=5)[0] != data


def test_an_unknown_layout_is_an_error_that_lists_the_known_ones():
    with pytest.raises(InputError, match="got 'poem'; write one of bullets, lines"):
        make_layouts([example()], count=1, kinds=["poem"])


def test_a_teacher_has_not_read_the_new_layout():
    taught = replace(example("1934"), teacher=TeacherAnswers((35,), (39,), (0.75,), 0.25))
    data, counts = make_layouts([taught], count=1, kinds=["bullets"])
    assert counts == {"bullets": 1}
    assert "teacher" not in data["data"][0]["paragraphs"][0]["qas"][0]
