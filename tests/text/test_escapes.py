"""Penn Treebank escapes: unescaping words and texts, and offsets into the original text."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from syntagma.text.escapes import spellings, unescape, unescape_words
from syntagma.text.unescaped import unescape_text


@pytest.mark.parametrize(
    ("form", "unescaped"),
    [
        ("-LRB-", "("), ("-RRB-", ")"), ("-LSB-", "["), ("-RSB-", "]"), ("-LCB-", "{"),
        ("-RCB-", "}"), ("-lrb-", "("), ("-rcb-", "}"), ("``", '"'), ("''", '"'), ("`", "'"),
        ("3\\/4", "3/4"), ("\\*\\*", "**"), (":--RRB-", ":-)"), ("-LRB-b-RRB-", "(b)"),
        ("LRB", "LRB"), ("-", "-"), ("'", "'"), ("o'er", "o'er"), ("a``b", "a``b"), ("\\", "\\"),
    ],
)  # fmt: skip
def test_escapes_are_replaced(form, unescaped):
    assert unescape(form) == unescaped
    assert unescape_words(["Oars", form]) == ("Oars", unescaped)
    text = unescape_text(f"Oars {form} .")
    assert ("Oars " + unescaped + " ." if unescaped != form else None) == (text and text.text)
    assert spellings(form)[:2] == list(dict.fromkeys([form, unescaped]))


@given(st.lists(st.sampled_from(["-LRB-", "-rsb-", "``", "'s", "x\\/y", "pier", "é-RCB-", "`"])))
def test_offsets_map_back_to_the_original_words(words):
    text = "  ".join(words)
    found = unescape_text(text)
    unescaped = [unescape(word) for word in words]
    if unescaped == words:
        assert found is None
        return
    assert found.text == "  ".join(unescaped)
    begin, original = 0, 0
    for word, short in zip(words, unescaped, strict=True):
        whole = found.original(np.array([begin]), np.array([begin + len(short)]))
        assert tuple(int(edge[0]) for edge in whole) == (original, original + len(word))
        begin, original = begin + len(short) + 2, original + len(word) + 2


def test_offsets_of_parts_of_words_and_of_empty_spans():
    found = unescape_text("an 1\\/2 -LSB-")
    starts, ends = found.original(np.array([0, 3, 4, 5, 7, 8]), np.array([0, 4, 5, 6, 8, 8]))
    assert starts.tolist() == [0, 3, 4, 6, 8, 13]
    assert ends.tolist() == [0, 4, 6, 7, 13, 13]
