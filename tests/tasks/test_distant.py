"""Finding gold answers in paragraphs."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from syntagma.tasks.open_qa.distant import AnswerFinder, normalise_with_offsets
from syntagma.tasks.spans.metrics import normalise

WORDS = [
    "a",
    "The",
    "gull",
    "Gull's",
    "U.S.",
    "$12",
    "sea-gull",
    "“gull”",
    "12",
    "-",
    "an",
    "İ",
    "日",
]
TEXTS = st.lists(st.sampled_from([*WORDS, ",", "\n", "\t "]), max_size=12).map(" ".join)


def found_in(text, *answers):
    place = AnswerFinder(answers).find(text)
    return None if place is None else text[place.start : place.end]


@pytest.mark.parametrize(
    ("text", "answer", "expected"),
    [
        ("The party sang.", "art", None),
        ("Art, the party; art.", "art", "Art"),
        ("It cost $12, nearly.", "$12", "$12"),
        ("It cost 12 marks.", "$12", "12"),
        ("In the U.S. Army", "the US Army", "U.S. Army"),
        ("In the US army", "the US Army", "the US army"),
        ("banana cat", "a cat", "cat"),
        ("They saw “gulls” there", "gulls", "gulls"),
        ("a — the\n gull cried", "Gull cried!", "gull cried"),
        ("İİ the gull", "gull", "gull"),
        ("sea\u00a0 gull", "sea gull", "sea\u00a0 gull"),
        ("nothing here", "The", None),
        ("", "gull", None),
        ("日本の gull", "日本の", "日本の"),
    ],
)
def test_whole_normalised_words_match(text, answer, expected):
    assert found_in(text, answer) == expected


def test_the_first_occurrence_and_there_the_longest_answer_is_found():
    text = "October came, then October 1973."
    assert found_in(text, "1973", "October 1973", "October") == "October"
    assert AnswerFinder(["October 1973", "October", "1973"]).find(text[8:]) == (11, 23)
    assert found_in("May 1 and 1 May", "1 May", "May 1", "may 1 and") == "May 1 and"


@given(TEXTS, st.lists(st.sampled_from(WORDS), min_size=1, max_size=3).map(" ".join))
def test_the_span_found_normalises_to_the_answer(text, answer):
    normal, offsets = normalise_with_offsets(text)
    assert normal == normalise(text)
    assert len(offsets) == len(normal)
    finder = AnswerFinder([answer])
    place = finder.find(text)
    assert finder.is_in(text) == (place is not None)
    # A naive oracle: the words of the answer are consecutive words of the text, ignoring quotes.
    words = [word.strip("“”") for word in normalise(text).split()]
    golds = [word.strip("“”") for word in normalise(answer).split()]
    has_no_quotes = " ".join(golds) == normalise(answer)
    if has_no_quotes and golds:
        starts = range(len(words) - len(golds) + 1)
        occurs = any(words[start : start + len(golds)] == golds for start in starts)
        if place is not None or "“" not in text:
            assert occurs == (place is not None)
    if place is not None:
        written = text[place.start : place.end]
        assert written == written.strip()
        assert normalise(written) == normalise(answer)


def test_answers_that_normalise_to_nothing_are_never_found():
    assert found_in("the , a", "the", "!") is None
    assert not AnswerFinder([]).is_in("anything")
