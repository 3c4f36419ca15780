"""Penn's escapes: what they stand for, and where that is in a text."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from syntagma.text.escapes import spellings, unescape, unescape_words
from syntagma.text.unescaped import unescape_text


@pytest.mark.parametrize(
    ("form", "read"),
    [
        ("-LRB-", "("), ("-RRB-", ")"), ("-LSB-", "["), ("-RSB-", "]"), ("-LCB-", "{"),
        ("-RCB-", "}"), ("-lrb-", "("), ("-rcb-", "}"), ("``", '"'), ("''", '"'), ("`", "'"),
        ("3\\/4", "3/4"), ("\\*\\*", "**"), (":--RRB-", ":-)"), ("-LRB-b-RRB-", "(b)"),
        ("LRB", "LRB"), ("-", "-"), ("'", "'"), ("o'er", "o'er"), ("a``b", "a``b"), ("\\", "\\"),
    ],
)  # fmt: skip
def test_what_a_word_stands_for(form, read):
    assert unescape(form) == read
    assert unescape_words(["Oars", form]) == ("Oars", read)
    text = unescape_text(f"Oars {form} .")
    assert ("Oars " + read + " ." if read != form else None) == (text and text.text)
    assert spellings(form)[:2] == list(dict.fromkeys([form, read]))


@given(st.lists(st.sampled_from(["-LRB-", "-rsb-", "``", "'s", "x\\/y", "pier", "é-RCB-", "`"])))
def test_each_character_comes_from_its_word(words):
    text = "  ".join(words)
    found = unescape_text(text)
    read = [unescape(word) for word in words]
    if read == words:
        assert found is None
        return
    assert found.text == "  ".join(read)
    begin, original = 0, 0
    for word, short in zip(words, read, strict=True):
        whole = found.original(np.array([begin]), np.array([begin + len(short)]))
        assert tuple(int(edge[0]) for edge in whole) == (original, original + len(word))
        begin, original = begin + len(short) + 2, original + len(word) + 2


def test_offsets_of_parts_and_of_nothing():
    found = unescape_text("an 1\\/2 -LSB-")
    starts, ends = found.original(np.array([0, 3, 4, 5, 7, 8]), np.array([0, 4, 5, 6, 8, 8]))
    assert starts.tolist() == [0, 3, 4, 6, 8, 13]
    assert ends.tolist() == [0, 4, 6, 7, 13, 13]
