"""Validation of words and trees from callers."""

from __future__ import annotations

import pytest

from syntagma.errors import InputError
from syntagma.text.sentence import Parse, Sentence


def test_words_may_contain_spaces():
    sentence = Sentence.from_words(["vers", "1 000", "navires"])
    assert (sentence.starts, sentence.ends) == ((0, 5, 11), (4, 10, 18))


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ("abc def", "expected a list of words, got 'abc def'"),
        (None, "expected a list of words, got None"),
        (["a b", ""], "the word 2 is empty; expected text"),
        (["a\tb"], r"word 1: expected a word, got 'a\\tb'; replace tabs"),
        (["a", "b\nc"], "word 2: expected a word"),
        ([" "], "the word 1 is empty; expected text"),
        (["a", 3], "the word 2 must be a string, got 3"),
    ],
)
def test_invalid_words_are_rejected(words, message):
    with pytest.raises(InputError, match=message):
        Sentence.from_words(words)


def test_offsets_and_heads_must_match_the_words():
    with pytest.raises(InputError, match="as many offsets as words: got 2 words, 1 starts"):
        Sentence(("a", "b"), (0,), (1,))
    with pytest.raises(InputError, match="expected 2 heads, one per word, got 1"):
        Parse(Sentence.from_words(["a", "b"]), heads=(0,))
