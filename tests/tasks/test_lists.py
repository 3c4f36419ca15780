"""Which items a question gets, from the punctuation of the text alone."""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from syntagma.encoders.default import find_download
from syntagma.tasks.spans.lists import answer_items, list_items
from syntagma.tasks.spans.metrics import normalise
from syntagma.tasks.spans.reader import Reader

BRING = "Bring these things:\n- a rope\n- two hooks\n- a lamp\nThe boat leaves at noon."
STEPS = "Steps:\n1. Wash the pan.\n2. Boil the water.\n\nServe it."
SPACED = "Bring:\n\n* sun cream\n\n* a hat\n\n* water\n\nSee you, Mara"
NEED = "We need a rope, two lamps, and a map. The boat leaves at noon."
CREW = "The crew were Ada, Ben and Cleo. They sailed to Pellworth."
KIT = "The kit contains: a hammer; a saw, with a case; and a box of nails."
MENU = "The menu has soup, bread and cheese, and coffee."
JOIN = "To join you need (1) a passport, (2) two photos and (3) a form. Then sign."
BOIL = "Boil the potatoes for ten minutes. Fry the onions."
COOK = "To cook it: 1. Wash the rice. 2. Boil the water. 3. Add salt. It takes an hour."


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
        ("They had ropes and hooks, and the boat left.", "ropes", []),
        (MENU, "soup", ["soup", "bread and cheese", "coffee"]),
        ("Bring ropes, hooks and lamps; the boat leaves at noon.", "ropes",
         ["ropes", "hooks", "lamps"]),
        (KIT, "a hammer", ["a hammer", "a saw, with a case", "a box of nails"]),
        (COOK, "Boil the water", ["Wash the rice", "Boil the water", "Add salt"]),
        (COOK, "an hour", []),
    ],
)  # fmt: skip
def test_items_of_a_list(passage, span, items):
    start = passage.index(span)
    found = list_items(passage, start, start + len(span))
    assert [passage[a:b] for a, b in found] == items


@pytest.mark.parametrize(
    ("question", "passage", "span", "items"),
    [
        # Lists in a sentence, whichever part of them a reader finds.
        ("What do we need?", NEED, "a rope, two lamps, and a map",
         ["a rope", "two lamps", "a map"]),
        ("What do we need?", NEED, "a rope", ["a rope", "two lamps", "a map"]),
        ("List what we need", NEED, "a rope, two lamps, and a map",
         ["a rope", "two lamps", "a map"]),
        ("Who was in the crew?", CREW, "Ada, Ben and Cleo", ["Ada", "Ben", "Cleo"]),
        ("Who was in the crew?", CREW, "Ada", []),
        ("Where does the ferry call?", "It calls at Aldon, Pellworth and Great Haven.",
         "Aldon, Pellworth and Great Haven", ["Aldon", "Pellworth", "Great Haven"]),
        ("How can I pay?", "Pay by card, in cash, or by bank transfer.",
         "by card, in cash, or by bank transfer", ["by card", "in cash", "by bank transfer"]),
        ("What is on the menu?", MENU, "soup, bread and cheese, and coffee",
         ["soup", "bread and cheese", "coffee"]),
        ("What does the kit contain?", KIT, "a hammer; a saw, with a case; and a box of nails",
         ["a hammer", "a saw, with a case", "a box of nails"]),
        ("What did they sell?", "They sold rope (10 m, blue), lamps and oil.",
         "rope (10 m, blue), lamps and oil", ["rope (10 m, blue)", "lamps", "oil"]),
        ("Who was elected?", "Both Ada and Ben were elected.", "Both Ada and Ben", ["Ada", "Ben"]),
        ("Who was elected?", "Both Ada and Ben were elected.", "Ada and Ben", ["Ada", "Ben"]),
        ("Who were elected?", "Ada and Ben were elected.", "Ada and Ben", ["Ada", "Ben"]),
        # Lists of lines and numbers.
        ("What should I bring?", BRING, "a rope", ["a rope", "two hooks", "a lamp"]),
        ("What must be taken?", BRING, "a rope\n- two hooks\n- a lamp",
         ["a rope", "two hooks", "a lamp"]),
        ("What must be taken?", BRING, "two hooks", []),
        ("What should we bring?", SPACED, "a hat", ["sun cream", "a hat", "water"]),
        ("What are the steps?", STEPS, "Wash the pan.\n2. Boil the water.\n\nServe it",
         ["Wash the pan", "Boil the water"]),
        ("What do I need to join?", JOIN, "a passport, (2) two photos and (3) a form",
         ["a passport", "two photos", "a form"]),
        ("List the steps", COOK, "Wash the rice", ["Wash the rice", "Boil the water", "Add salt"]),
        # One name, date, place, title or phrase stays whole.
        ("Which duo sang it?", "It was sung by Simon and Garfunkel.", "Simon and Garfunkel", []),
        ("Who sang it?", "It was sung by Simon and Garfunkel.", "Simon and Garfunkel", []),
        ("Who sang it?", "It was sung by the trio Emerson, Lake and Palmer.",
         "Emerson, Lake and Palmer", []),
        ("Who built it?", "It was built by Hale, Stone and Sons.", "Hale, Stone and Sons", []),
        ("Which firm built it?", "Hale, Stone and Reed built it.", "Hale, Stone and Reed", []),
        ("What did they watch?", "They watched “Eat, Pray and Love” twice.", "Eat, Pray and Love",
         []),
        ("When were they elected?", "They were elected on May 3, 2020.", "May 3, 2020", []),
        ("When did it run?", "It ran in May 2019, June 2020 and July 3, 2021.",
         "May 2019, June 2020 and July 3, 2021", ["May 2019", "June 2020", "July 3, 2021"]),
        ("Where is the museum?", "It is in Paris, Texas.", "Paris, Texas", []),
        ("In which town is it?", "It is in Paris, Texas, and free.", "Paris, Texas, and free", []),
        ("Who spoke?", "Ada Mensah, Jr. and Ben spoke.", "Ada Mensah, Jr. and Ben", []),
        ("What did they see?", "They saw a cold, wet and windy harbour.",
         "a cold, wet and windy harbour", []),
        ("Why was it closed?", "It was closed as cold, wet and dark.", "cold, wet and dark", []),
        ("What did they eat?", "They ate bread and cheese.", "bread and cheese", []),
        # An ordinary question about an instruction.
        ("What should be boiled?", BOIL, "the potatoes", []),
        # Questions that no list answers.
        ("How many came?", CREW, "Ada, Ben and Cleo", []),
        ("Was Ada in the crew?", CREW, "Ada, Ben and Cleo", []),
    ],
)  # fmt: skip
def test_items_that_answer_a_question(question, passage, span, items):
    start = passage.index(span)
    found = answer_items(question, passage, start, start + len(span))
    assert [passage[a:b] for a, b in found] == items


@given(
    text=st.lists(
        st.sampled_from(
            ["a", "rope", ",", ";", " ", "\n", "- ", "1. ", "2. ", "(1) ", "and", "both", "(", ")",
             "“", "”", '"', ".", "May 3", "2020"]
        ),
        min_size=1,
        max_size=30,
    ).map("".join),
    data=st.data(),
)  # fmt: skip
def test_items_are_parts_of_the_text_in_order(text, data):
    start = data.draw(st.integers(0, len(text) - 1))
    end = data.draw(st.integers(start + 1, len(text)))
    for question in ("List all ropes", "Who left?", "Who were they?"):
        items = answer_items(question, text, start, end)
        assert len(items) != 1, "one item is no list"
        edges = [edge for item in items for edge in item]
        assert edges == sorted(edges)
        for first, last in items:
            assert text[first:last].strip() == text[first:last] != "", text
        if question != "List all ropes":
            assert all(first < end and start < last for first, last in items)


READ = [
    (NEED, "What do we need?", ["a rope", "two lamps", "a map"]),
    (NEED, "List what we need", ["a rope", "two lamps", "a map"]),
    (BRING, "What should I bring?", ["a rope", "two hooks", "a lamp"]),
    (CREW, "Who was in the crew?", ["Ada", "Ben", "Cleo"]),
    (MENU, "What is on the menu?", ["soup", "bread and cheese", "coffee"]),
    (JOIN, "What do I need to join?", ["a passport", "two photos", "a form"]),
    ("It was sung by Simon and Garfunkel.", "Which duo sang it?", ["Simon and Garfunkel"]),
    ("They met on May 3, 2020.", "When did they meet?", ["May 3, 2020"]),
    ("The museum is in Paris, Texas.", "Where is the museum?", ["Paris, Texas"]),
    (BOIL, "What should be boiled?", ["potatoes"]),
]


@pytest.mark.slow
@pytest.mark.skipif(
    find_download("accurate") is None, reason="no encoder: `syntagma download accurate`"
)
def test_the_accurate_reader_gives_the_items_of_a_list():
    reader = Reader.from_pretrained("accurate-reader")
    answers = list(reader.stream((passage, question) for passage, question, _ in READ))
    found = {
        question: [normalise(span.text) for span in answer.spans]
        for (_, question, _), answer in zip(READ, answers, strict=True)
    }
    assert found == {question: list(map(normalise, items)) for _, question, items in READ}


@pytest.mark.parametrize("sign", ["", ",", " and ", ", and ", "1. a 2. b", "- a\n- b"])
def test_white_space_takes_linear_time(sign):
    space = " " * 50_000
    passage = f"Ada{sign}{space}{sign}{space}Kofi"
    before = time.process_time()
    for start, end in ((0, len(passage)), (0, 3), (len(passage) - 4, len(passage))):
        answer_items("Which things are needed?", passage, start, end)
        list_items(passage, start, end)
    assert time.process_time() - before < 2


def test_a_span_that_is_mostly_white_space_is_no_list():
    assert answer_items("Who are here?", f"Ada,{' ' * 5000}Ben and Kofi", 0, 5016) == []
