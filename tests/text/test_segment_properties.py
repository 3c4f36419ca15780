import time

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from syntagma.text.limits import MAX_PARAGRAPH
from syntagma.text.segmentation.blocks import BATCH_LENGTH
from syntagma.text.segmentation.lookup import sentence_at
from syntagma.text.segmentation.segment import MODES, segment, segment_stream
from syntagma.text.sentence import Sentence
from tests.lossless import INVISIBLE, check_lossless

PIECES = [
    *" \t\n\r\u2028\u2029\u00a0\u200b\u200d\u00ad\ufeff\x00\x07\ud800\u0301\ufe0f",
    *".,;:!?…-–—_'’\"“”()[]{}<>/\\|@#$%&*+=~^`·•",
    *"aZiI0179éßдαﬁ中。あ한ا؟न्😀👍🏽🇩🇪",
    *["\r\n", "\n\n", "...", "--", "n't", "'s", "Mr.", "U.S.", "e.g.", "No.", "http://", "www."],
    *["a@b.c", ".com", ":)", "1,000", "3.5", "10km", "its", "not", "cannot", "The ", "the "],
]
NASTY = st.lists(st.sampled_from(PIECES), max_size=40).map("".join)


@settings(max_examples=200, deadline=None)
@given(st.one_of(NASTY, st.text(max_size=60)), st.sampled_from(MODES))
@example("\u202e", "raw")
@example("中's 看n't", "raw")
@example("Red Apples\n\u200b", "raw")
@example("(http://a.b))))", "raw")
@example("etc.", "lines")
@example("a\u200d \u200d b", "raw")
def test_segmentation_is_lossless(text: str, mode: str) -> None:
    gaps = set() if mode == "words" else INVISIBLE
    check_lossless(text, segment(text, mode=mode), gaps=gaps)


@settings(max_examples=100, deadline=None)
@given(NASTY, st.sampled_from(["lines", "words"]))
def test_each_line_is_one_sentence(text: str, mode: str) -> None:
    found = segment(text, mode=mode)
    lines = text.replace("\r\n", "\n").replace("\r", "\n").split("\n")
    kept = [line for line in lines if segment(line, mode=mode)]
    assert [sentence.forms for sentence in found] == [
        segment(line, mode=mode)[0].forms for line in kept
    ]


def check_sentence_at(text: str, offsets: range) -> None:
    """Check that looking up a sentence gives what segmenting the whole text gives."""
    found = [(sentence.start, sentence.end) for sentence in segment(text)]
    for offset in offsets:
        around = [each for each in found if each[0] <= offset < each[1]]
        assert sentence_at(text, offset) == (around[0] if around else None)


@settings(max_examples=100, deadline=None)
@given(st.lists(NASTY, max_size=4).map("\n\n".join))
@example("")
@example("\n\n1. One.\n\nTwo? Three.")
@example("They know its\n\nnot here")  # "its not" is "it's not", but only in one paragraph.
def test_a_sentence_is_found_without_the_other_paragraphs(text: str) -> None:
    check_sentence_at(text, range(len(text) + 1))


def test_words_do_not_depend_on_the_next_line() -> None:
    text = "Nobody knows its\nnot a word of it"
    forms = [sentence.forms for sentence in segment(text, mode="lines")]
    assert forms == [("Nobody", "knows", "its"), ("not", "a", "word", "of", "it")]


def test_a_sentence_is_found_in_a_long_paragraph() -> None:
    text = "No end. " + "One sentence more, and another word. " * (2 * MAX_PARAGRAPH // 36)
    check_sentence_at(text, range(0, len(text), 997))


def stream_of(chunks: list[str], mode: str) -> tuple[str, list[Sentence]]:
    """Concatenate a stream, with offsets into the whole text."""
    text, found = "", []
    for part, part_sentences in segment_stream(chunks, mode=mode):
        found += [sentence.shift(len(text)) for sentence in part_sentences]
        text += part
    return text, found


@settings(max_examples=100, deadline=None)
@given(st.lists(NASTY, max_size=5), st.sampled_from(MODES))
@example(["one.\r", "\nTwo.\r", "\n", "\r\nthree"], "raw")
@example(["a\r", "\nb"], "lines")
def test_a_stream_equals_the_whole_text(chunks: list[str], mode: str) -> None:
    text, found = stream_of(chunks, mode)
    assert text == "".join(chunks)
    assert found == segment(text, mode=mode)


@pytest.mark.parametrize(
    ("text", "mode"),
    [
        # A chunk ends between CR and LF, or in the middle of a paragraph break.
        ("x" + "ab\r\n" * 16_500, "lines"),
        ("x" * 5 + "ab\r\n\r\n" * 11_000, "raw"),
        (("ab " * 5_058 + "cd\n\n") * 3 + "abcd " * 3_999 + "\n" + " " * 400 + "\nend", "raw"),
    ],
)
def test_a_stream_waits_for_line_and_paragraph_ends(text: str, mode: str) -> None:
    chunks = [text[:BATCH_LENGTH], text[BATCH_LENGTH:]]
    assert stream_of(chunks, mode) == (text, segment(text, mode=mode))
    assert not any(part[0] == "\n" for part, _ in segment_stream(chunks, mode=mode))


@pytest.mark.parametrize("size", [7_001, 400_000])
def test_long_paragraphs_are_split_at_sentence_ends_also_in_streams(size: int) -> None:
    text = "Ann met Dr. Low in the U.S. last May. Was it warm? It was not (so they said).\n" * 1000
    text = text + "\n" + text
    chunks = [text[start : start + size] for start in range(0, len(text), size)]
    rebuilt, found = stream_of(chunks, "raw")
    assert rebuilt == text
    assert found == segment(text)
    assert len(found) == 2 * 3 * 1000
    assert max(len(part) for part, _ in segment_stream(chunks)) <= 21_000


def test_overlong_sentences_are_split_between_words() -> None:
    text = "and so it went on " * 5000
    found = segment(text)
    check_lossless(text, found, gaps=set())
    assert 1 < len(found) < 10
    assert max(sentence.end - sentence.start for sentence in found) <= 20_000
    # All but the last are marked.
    assert [sentence.continues for sentence in found] == [True] * (len(found) - 1) + [False]
    assert found[0].shift(3).continues
    assert stream_of([text], "raw") == (text, found)


def test_only_cut_sentences_continue() -> None:
    text = "We saw it. " + "and so it went on " * 1500 + "to the end. We left.\n\nIt rained."
    found = segment(text)
    check_lossless(text, found, gaps=set())
    forms = [sentence.forms[:2] for sentence in found if sentence.continues]
    assert forms == [("and", "so")]
    assert [sentence.continues for sentence in segment("We saw it. " * 3000)] == [False] * 3000


def test_short_lines_are_yielded_one_by_one() -> None:
    chunks = ["one two\n" * 9_000]
    parts = list(segment_stream(chunks, mode="lines"))
    assert len(parts) == 9_000
    assert all(len(found) == 1 and found[0].starts == (0, 4) for _, found in parts)


@pytest.mark.parametrize(
    "unit",
    ["a", ".", "-", "(", "'", "a-", "a.", "1,", "a@", "www.", "\u0301", " ", "\n", "1-", "a\n"],
)
def test_long_repetitive_text_takes_linear_time(unit: str) -> None:
    text = unit * (200_000 // len(unit))
    begin = time.monotonic()
    check_lossless(text, segment(text), gaps=INVISIBLE)
    # Linear work takes well under two seconds; quadratic work takes hours.
    assert time.monotonic() - begin < 60
