"""Validation of words and trees from callers."""

from __future__ import annotations

import pytest

from syntagma.errors import InputError
from syntagma.text.sentence import Parse, Sentence
from tests.messages import naming


def test_words_may_contain_spaces():
    sentence = Sentence.from_words(["vers", "1 000", "navires"])
    assert (sentence.starts, sentence.ends) == ((0, 5, 11), (4, 10, 18))


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ("abc def", "list words abc def"),
        (None, "list words None"),
        (["a b", ""], "word 2 empty"),
        (["a\tb"], "word 1 'a\\tb'"),
        (["a", "b\nc"], "word 2 'b\\nc'"),
        ([" "], "word 1 empty"),
        (["a", 3], "word 2 string 3"),
    ],
)
def test_invalid_words_are_rejected(words, message):
    with pytest.raises(InputError, match=naming(message)):
        Sentence.from_words(words)


def test_every_word_needs_offsets_and_a_head():
    with pytest.raises(InputError, match=naming("offsets 2 words 1 starts")):
        Sentence(("a", "b"), (0,), (1,))
    with pytest.raises(InputError, match=naming("2 heads 1")):
        Parse(Sentence.from_words(["a", "b"]), heads=(0,))
