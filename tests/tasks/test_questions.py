"""Recognising questions that no single span answers, and the lists that answer some of them."""

from __future__ import annotations

import pytest

from syntagma.tasks.spans.lists import list_items
from syntagma.tasks.spans.questions import asks_for_all, core_question, has_number, question_kind


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
    ],
)
def test_kinds_of_questions(question, kind):
    assert question_kind(question) == kind


def test_polite_wrapping_is_removed():
    assert core_question("Hi, could you please tell me who built it, please?") == "who built it"
    assert core_question("Who built it?") == "Who built it"


def test_questions_for_all_things_of_a_kind():
    assert asks_for_all("Could you list all ports?")
    assert asks_for_all("What things should be brought?")
    assert not asks_for_all("What colours does it have?")


def test_numbers_in_digits_and_words():
    assert all(map(has_number, ["12 boats", "a dozen", "Three"]))
    assert not has_number("several boats")


BRING = "Bring these things:\n- a rope\n- two hooks\n- a lamp\nThe boat leaves at noon."
STEPS = "Steps:\n1. Wash the pan.\n2. Boil the water.\n\nServe it."


@pytest.mark.parametrize(
    ("passage", "span", "items"),
    [
        (BRING, "two hooks", ["a rope", "two hooks", "a lamp"]),
        (BRING, "noon", []),
        (STEPS, "water", ["Wash the pan", "Boil the water"]),
        ("They had ropes, hooks and lamps to sell.", "ropes", ["ropes", "hooks", "lamps"]),
        ("They had ropes, hooks and lamps.", "ropes, hooks and lamps", ["ropes", "hooks", "lamps"]),
        ("Ada and Kofi left.", "Ada and Kofi", ["Ada", "Kofi"]),
        ("Ada and Kofi left.", "Ada", []),
        ("Ada, her face red, left.", "Ada", []),
        ("One port. Another and a third.", "One port", []),
    ],
)
def test_items_of_a_list(passage, span, items):
    start = passage.index(span)
    found = list_items(passage, start, start + len(span))
    assert [passage[a:b] for a, b in found] == items
