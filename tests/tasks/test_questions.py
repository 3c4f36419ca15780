"""Recognising what kind of answer a question needs."""

from __future__ import annotations

import time

import pytest

from syntagma.tasks.spans.questions import (
    asks_for_all,
    core_question,
    expects_several,
    has_number,
    may_have_several,
    question_kind,
)


@pytest.mark.parametrize(
    ("question", "kind"),
    [
        ("Does the ferry run on Sundays?", "yes_no"),
        ("is the ferry red", "yes_no"),
        ("Hello, isn't the ferry red?", "yes_no"),
        ("Can you tell me if the ferry runs on Sundays?", "yes_no"),
        ("The ferry is red, right?", "yes_no"),
        ("Is the ferry red or blue?", "span"),
        ("Can you tell me who built the ferry?", "span"),
        ("Do you know when it leaves?", "span"),
        ("If it rains, what does the crew do?", "span"),
        ("Who built the ferry?", "span"),
        ("What is the boss called?", "span"),
        ("What type of ropes are used?", "span"),
        ("How many boats are there?", "count"),
        ("What is the total number of boats?", "count"),
        ("Which town signed a number of treaties?", "span"),
        ("Which boat is older, the Tern or the Gull?", "comparison"),
        ("What is the difference between a tern and a gull?", "comparison"),
        ("How much longer is the Tern than the Gull?", "comparison"),
        ("Which ports are on the island?", "list"),
        ("What things should be brought?", "list"),
        ("List all ports.", "list"),
        ("Please name the three ports", "list"),
        ("List what we need", "list"),
        ("Give me a list of the ports.", "list"),
        ("What do we need?", "list"),
        ("what should I bring on Friday", "list"),
        ("What must be brought?", "list"),
        ("What to pack for the trip", "list"),
        ("What does the kit contain?", "list"),
        ("What do we need the rope for?", "span"),
        ("What time do we need to leave?", "span"),
        ("What should be boiled?", "span"),
        ("what to boil", "span"),
    ],
)
def test_kinds_of_questions(question, kind):
    assert question_kind(question) == kind


def test_polite_wrapping_is_removed():
    assert core_question("Hi, could you please tell me who built it, please?") == "who built it"
    assert core_question("Who built it?") == "Who built it"


def test_white_space_does_not_matter():
    assert core_question("  Hi,\n who  built it ,\tplease ! \n") == "who built it"
    assert question_kind(" How  many\nboats are there? ") == "count"
    assert core_question("Who left? Please.") == "Who left?"


@pytest.mark.parametrize(
    "question",
    ["who" + " " * 5000 + "x", "who more " * 1000, "how x" * 4000, f"what do {'need ' * 4000} for"],
)
def test_time_is_linear(question):
    before = time.process_time()
    assert question_kind(question) == "span"
    assert core_question(question)
    assert time.process_time() - before < 1


def test_questions_for_all_things_of_a_kind():
    assert asks_for_all("Could you list all ports?")
    assert asks_for_all("What things should be brought?")
    assert not asks_for_all("What colours does it have?")


def test_questions_that_ask_for_one_thing_have_no_list_as_their_answer():
    for question in (
        "Which duo sang the song?",
        "In which town is the museum?",
        "For what company did she work?",
        "Why was it closed?",
        "How was the weather?",
        "Is the ferry red or blue?",
    ):
        assert not may_have_several(question), question
    for question in (
        "Who left?",
        "Where does it call?",
        "What did they find?",
        "What kinds of fish are sold?",
        "How can I pay?",
        "contents of the kit",
    ):
        assert may_have_several(question), question
    assert expects_several("Who were elected?")
    assert not expects_several("Who was elected?")


def test_numbers_in_digits_and_words():
    assert all(map(has_number, ["12 boats", "a dozen", "Three"]))
    assert not has_number("several boats")
