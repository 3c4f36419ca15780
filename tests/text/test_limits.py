"""Extremely long words and sentences: how they are read and split, without losing offsets."""

from __future__ import annotations

import random
import string
import time

import numpy as np
import pytest

from syntagma.text.alignment import cut
from syntagma.text.conllu import TreebankSentence, format_conllu, parse_conllu
from syntagma.text.limits import (
    MAX_CHARACTERS,
    READ_CHARACTERS,
    is_long,
    long_words,
    part_starts,
)
from syntagma.text.segmentation.segment import segment, segment_stream
from syntagma.text.sentence import Parse, Sentence

# Punctuation between letters: without the limit, each mark would be a separate word.
BLOB = "".join(random.Random(3).choices(string.ascii_letters + string.digits + "+/&,|", k=4000))


@pytest.mark.parametrize(
    "blob", [BLOB, "x:[1,2];" * 200 + "x", "é/ß." * 300 + "é", "1;2;" * 400 + "3"]
)
def test_a_blob_is_one_word(blob: str) -> None:
    text = f"The code is ({blob}). It ends here."
    (first, second) = segment(text)
    assert first.forms == ("The", "code", "is", "(", blob, ")", ".")
    assert second.forms == ("It", "ends", "here", ".")
    assert text[first.starts[4] : first.ends[4]] == blob
    assert is_long(blob)


@pytest.mark.parametrize("mode", ["raw", "lines"])
def test_a_stream_keeps_a_blob_whole(mode: str) -> None:
    text = f"We saw {BLOB * 40} today.\nThen it rained.\n"
    found = segment(text, mode=mode)
    assert [len(sentence) for sentence in found] == [5, 4]
    chunks = [text[start : start + 999] for start in range(0, len(text), 999)]
    streamed = (own for _, part in segment_stream(chunks, mode=mode) for own in part)
    assert next(streamed) == found[0]


def test_runs_of_up_to_the_maximum_length_are_split() -> None:
    text = "a,b;" * (MAX_CHARACTERS // 4)
    assert len(segment(text)[0]) == MAX_CHARACTERS
    assert long_words(text) == []


def test_scripts_without_spaces_have_no_long_words() -> None:
    text = "我们看书。" * 200
    assert long_words(text) == []
    assert sum(map(len, segment(text))) == 1000


def test_invisible_characters_end_a_long_word() -> None:
    text = "x/" * 300 + "\u200b" + "y/" * 300
    assert long_words(text) == [(0, 600), (601, 1201)]


def test_long_words_are_found_in_linear_time() -> None:
    begin = time.monotonic()
    for unit in ("a", "a" * MAX_CHARACTERS + " ", "(", "a/", "a " * 9):
        long_words(unit * (1_000_000 // len(unit)))
    assert time.monotonic() - begin < 30


@pytest.mark.parametrize("kind", ["wordpiece", "byte_level", "unigram"])
def test_encoders_read_the_start_of_a_long_word(kind: str, tokenizers) -> None:
    text = f"the key {BLOB}, the boat"
    (pieces,) = cut(tokenizers[kind], [text])
    (plain,) = cut(tokenizers[kind], ["the key"])
    start, end = 8, 8 + len(BLOB)
    inside = (pieces.offsets[:, 0] >= start) & (pieces.offsets[:, 0] < end)
    assert 0 < inside.sum() <= 4 * READ_CHARACTERS
    # The last piece covers the rest of the word, and nothing around the word is lost.
    assert pieces.offsets[inside][-1, 1] == end
    assert np.array_equal(pieces.ids[: len(plain.ids)], plain.ids)
    assert pieces.offsets[-1, 1] == len(text)
    after = pieces.offsets[pieces.offsets[:, 0] >= end]
    assert text[after[0, 0] : after[0, 1]].strip() == ","
    assert (np.diff(pieces.offsets[:, 0]) >= 0).all()


@pytest.mark.parametrize("n_words", [0, 1, 400, 401, 800, 801, 6001])
def test_parts_are_of_nearly_equal_length(n_words: int) -> None:
    starts = part_starts(n_words, 400)
    if n_words <= 400:
        assert starts == ()
        return
    lengths = np.diff([*starts, n_words])
    assert lengths.max() <= 400
    assert lengths.max() - lengths.min() <= 1
    assert len(starts) == -(-n_words // 400)


def test_parts_and_long_words_are_marked_in_conllu() -> None:
    forms = ("We", "saw", BLOB, ".")
    parse = Parse(Sentence.from_words(forms), (2, 0, 2, 2), parts=(0, 3))
    rows = TreebankSentence.from_parse(parse, text=" ".join(forms)).with_parse(parse)
    assert rows.comment("parts") == "1-3 4-4"
    assert [row[9] for row in rows.rows] == ["_", "_", "LongWord=Yes", "_"]
    # A second parse replaces the marks of the first instead of adding to them.
    (again,) = parse_conllu(format_conllu(rows).split("\n"))
    assert again.with_parse(parse) == again
    whole = again.with_parse(Parse(parse.sentence, parse.heads))
    assert whole.comment("parts") is None
    assert whole.words[2][9] == "LongWord=Yes"


def test_a_mark_is_added_to_what_the_column_holds() -> None:
    row = ("1", BLOB, *"_" * 4, "0", "root", "_", "SpaceAfter=No")
    marked = TreebankSentence((), (row,)).with_parse(Parse(Sentence.from_words([BLOB]), (0,)))
    assert marked.rows[0][9] == "LongWord=Yes|SpaceAfter=No"
    assert marked.touches_next
