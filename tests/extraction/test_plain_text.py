"""Plain text is kept character for character; paragraphs and list items are found in it."""

from __future__ import annotations

import codecs

import pytest

from syntagma.errors import InputError
from tests.document_files import blocks, extracted
from tests.messages import naming


def test_paragraphs_and_items(tmp_path):
    text = (
        "The ferry\n\nIt leaves at ten\nin the morning.\n \t\nBring:\n- a rope\n  and a hook\n"
        "- tea\n\n2. Wait.\n"
    )
    document = extracted(tmp_path, "a.txt", text)
    assert document.text == text
    assert blocks(document) == [
        ("paragraph", "The ferry"),
        ("paragraph", "It leaves at ten\nin the morning."),
        ("paragraph", "Bring:"),
        ("item", "- a rope\n  and a hook"),
        ("item", "- tea"),
        ("item", "2. Wait."),
    ]


def test_a_name_with_an_initial_is_no_item(tmp_path):
    assert blocks(extracted(tmp_path, "a.txt", "A. Moore wrote it.")) == [
        ("paragraph", "A. Moore wrote it.")
    ]


@pytest.mark.parametrize("line_break", ["\r\n", "\r", "\n"])
def test_line_breaks_are_kept(tmp_path, line_break):
    text = line_break.join(["one", "two", "", "three", ""])
    document = extracted(tmp_path, "a.txt", text)
    assert document.text == text
    assert [found for _, found in blocks(document)] == [f"one{line_break}two", "three"]


@pytest.mark.parametrize(
    ("encoding", "mark"),
    [
        ("utf-8", b""),
        ("utf-8", codecs.BOM_UTF8),
        ("utf-16-le", codecs.BOM_UTF16_LE),
        ("utf-16-be", codecs.BOM_UTF16_BE),
        ("utf-32-le", codecs.BOM_UTF32_LE),
    ],
)
def test_encodings(tmp_path, encoding, mark):
    document = extracted(tmp_path, "a.TXT", mark + "Café 🚢".encode(encoding))
    assert document.text == "Café 🚢"


def test_control_characters_are_replaced_one_by_one(tmp_path):
    document = extracted(tmp_path, "a.text", "a\x07b\x1b[0m\x0c\x0cnext\ttab\x85")
    assert document.text == "a b [0m\n\nnext\ttab\n"
    assert [found for _, found in blocks(document)] == ["a b [0m", "next\ttab"]


def test_soft_hyphens_stay_in_plain_text(tmp_path):
    assert extracted(tmp_path, "a.txt", "time\u00adtable").text == "time\u00adtable"


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (b"abc\xe9", "a.txt 3 UTF-8 iconv"),
        (codecs.BOM_UTF8 + b"ab\xff", "a.txt 5 UTF-8 iconv"),
        (codecs.BOM_UTF16_LE + b"a\x00\x00\xd8", "a.txt 4 UTF-16-LE iconv"),
        (b"PK\x00\x01", "a.txt 2 NUL iconv"),
        ("Café".encode("utf-16-le"), "a.txt 1 NUL utf-16"),
        (b"", "a.txt empty"),
        (b" \r\n\t", "a.txt empty"),
    ],
)
def test_what_is_no_text(tmp_path, data, words):
    with pytest.raises(InputError, match=naming(words)) as found:
        extracted(tmp_path, "a.txt", data)
    assert "\n" not in str(found.value)
