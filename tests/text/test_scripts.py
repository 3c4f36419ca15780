"""No text of any script crashes anything, or loses an offset."""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from syntagma.parse.parser import JointParser
from syntagma.parse.sources.load import load_parser
from syntagma.parse.sources.tokenizers import SpacyTokenizer, WhitespaceTokenizer
from syntagma.tasks.parsing.segmentation.learn import learn_segmenter
from syntagma.text.conllu import TreebankSentence, format_conllu, read_conllu
from syntagma.text.language import language_of
from syntagma.text.segmentation.segment import segment
from syntagma.text.segmentation.segmenter import Segmenter
from tests.lossless import INVISIBLE, check_lossless
from tests.made_french import made_treebank


def letters(first: int, last: int) -> list[str]:
    """The assigned characters of a range, marks that combine included."""
    return [chr(code) for code in range(first, last) if unicodedata.category(chr(code)) != "Cn"]


SCRIPTS = {
    "Latin": letters(0x61, 0x7B) + letters(0xC0, 0x250),
    "Greek": letters(0x370, 0x400),
    "Cyrillic": letters(0x400, 0x530),
    "Hebrew": letters(0x590, 0x600),
    "Arabic": letters(0x600, 0x700),
    "Devanagari": letters(0x900, 0x980),
    "Tamil": letters(0xB80, 0xC00),
    "Thai": letters(0xE00, 0xE80),
    "Ethiopic": letters(0x1200, 0x1380),
    "Hangul": letters(0xAC00, 0xAD00),
    "Kana": letters(0x3040, 0x3100),
    "Han": letters(0x4E00, 0x4F00),
    "emoji": [*"😀👍❤🇩🇪🏽\u200d\ufe0f", "👩\u200d🚀", "🏴\U000e0067\U000e007f"],
    "old": letters(0x10330, 0x10350) + letters(0x1D400, 0x1D430),
}
SCRIPTS["mixed"] = [mark for marks in SCRIPTS.values() for mark in marks[:20]]
MARKS = [
    *" \n.,!?;:-'\"()[]«»“”…،؟؛।॥。！？、·՞።\u060c\u200f\u202e\u2067\u00ad",
    "\n\n",
    "  ",
    "http://a.b",
]
MARKS += [*"0123456789٠١२৩", "#tag", "@name", ":)", "rn", "|", "~", "\ufffd"]
HALVES = ["\ud83d", "\udc4d"]
"""Halves of a surrogate pair, as cut JSON strings have; no file can hold them."""


def texts(script: str, more: Sequence[str] = ()) -> st.SearchStrategy[str]:
    """Texts in a script, with marks, digits and what tweets and scans have."""
    return st.lists(
        st.one_of(
            st.lists(st.sampled_from(SCRIPTS[script]), min_size=1, max_size=8).map("".join),
            st.sampled_from([*MARKS, *more]),
        ),
        max_size=25,
    ).map("".join)


@pytest.fixture(scope="module")
def learned() -> Segmenter:
    """What a treebank of another language taught."""
    return learn_segmenter(made_treebank(250, 1)).segmenter()


@pytest.fixture(scope="module")
def parser(tiny_parser: str) -> JointParser:
    return load_parser(tiny_parser)


@pytest.mark.parametrize("script", SCRIPTS)
def test_no_offset_is_lost(script: str, learned: Segmenter) -> None:
    @settings(max_examples=60, deadline=None)
    @given(texts(script, HALVES))
    def check(text: str) -> None:
        for segmenter in (None, learned):
            check_lossless(text, segment(text, segmenter=segmenter), gaps=INVISIBLE)
        (sentences,) = WhitespaceTokenizer().cut([text])
        check_lossless(text, sentences, gaps=set())
        found = language_of(text)
        assert found is None or 0 < found.probability <= 1.001

    check()


@pytest.mark.parametrize("script", SCRIPTS)
def test_what_is_parsed_can_be_read_again(script: str, parser: JointParser, tmp_path) -> None:
    path = tmp_path / "out.conllu"

    @settings(max_examples=15, deadline=None)
    @given(texts(script))
    def check(text: str) -> None:
        parses = parser.parse_text(text)
        rows = [TreebankSentence.from_parse(parse, text=text) for parse in parses]
        path.write_text("".join(map(format_conllu, rows)), encoding="utf-8")
        again = list(read_conllu(path)) if rows else []
        assert [each.parse().heads for each in again] == [parse.heads for parse in parses]
        assert [each.sentence().forms for each in again] == [
            parse.sentence.forms for parse in parses
        ]

    check()


@pytest.mark.parametrize("script", SCRIPTS)
def test_spacy_loses_no_offset_either(script: str) -> None:
    pytest.importorskip("spacy")
    tokenizer = SpacyTokenizer.load("xx")

    @settings(max_examples=15, deadline=None)
    @given(texts(script))
    def check(text: str) -> None:
        (sentences,) = tokenizer.cut([text])
        for sentence in sentences:
            for form, start, end in sentence.words:
                assert text[start:end] == form

    check()
