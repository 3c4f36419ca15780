"""Word documents: what python-docx writes, and what only Word does."""

from __future__ import annotations

import struct
import zipfile

import docx
import pytest

from syntagma.errors import InputError
from syntagma.extraction.extract import extract
from syntagma.extraction.limits import ExtractionLimits
from tests.document_files import WORD, blocks, extracted, paragraph, word_file, word_xml, zipped
from tests.messages import naming

HEADINGS = (
    f'<w:styles xmlns:w="{WORD}"><w:style w:type="paragraph" w:default="1" w:styleId="N">'
    '<w:name w:val="Normal"/></w:style><w:style w:type="paragraph" w:styleId="U2">'
    '<w:name w:val="heading 2"/><w:basedOn w:val="N"/></w:style><w:style w:type="paragraph" '
    'w:styleId="Own"><w:name w:val="Own"/><w:basedOn w:val="U2"/></w:style>'
    '<w:style w:type="paragraph" w:styleId="A"><w:name w:val="A"/><w:basedOn w:val="B"/></w:style>'
    '<w:style w:type="paragraph" w:styleId="B"><w:name w:val="B"/><w:basedOn w:val="A"/></w:style>'
    '<w:style w:type="paragraph" w:styleId="T1"><w:name w:val="toc 1"/></w:style></w:styles>'
)
NUMBERING = (
    f'<w:numbering xmlns:w="{WORD}"><w:abstractNum w:abstractNumId="0">'
    '<w:lvl w:ilvl="0"><w:start w:val="1"/><w:numFmt w:val="decimal"/>'
    '<w:lvlText w:val="%1."/></w:lvl>'
    '<w:lvl w:ilvl="1"><w:start w:val="1"/><w:numFmt w:val="lowerLetter"/>'
    '<w:lvlText w:val="%1.%2)"/></w:lvl></w:abstractNum><w:abstractNum w:abstractNumId="1">'
    '<w:lvl w:ilvl="0"><w:numFmt w:val="bullet"/><w:lvlText w:val="o"/></w:lvl></w:abstractNum>'
    '<w:num w:numId="1"><w:abstractNumId w:val="0"/></w:num>'
    '<w:num w:numId="2"><w:abstractNumId w:val="1"/></w:num>'
    '<w:num w:numId="3"><w:abstractNumId w:val="0"/><w:lvlOverride w:ilvl="0">'
    '<w:startOverride w:val="5"/></w:lvlOverride></w:num></w:numbering>'
)


def numbered(text: str, list_id: int, level: int = 0) -> str:
    return paragraph(
        text, f'<w:numPr><w:ilvl w:val="{level}"/><w:numId w:val="{list_id}"/></w:numPr>'
    )


def styled(text: str, style: str) -> str:
    return paragraph(text, f'<w:pStyle w:val="{style}"/>')


def test_what_python_docx_writes(tmp_path):
    made = docx.Document()
    made.core_properties.title = "A property"
    made.add_heading("The ferry", 0)
    made.add_heading("Times", 2)
    made.add_paragraph("It leaves at\tten.\nAlways.")
    made.add_paragraph("a rope", style="List Bullet")
    made.add_paragraph("first", style="List Number")
    made.add_paragraph("second", style="List Number")
    table = made.add_table(2, 2)
    for cell, text in zip(table._cells, ["From", "Price", "Oban\nPier", "7 €"], strict=True):
        cell.text = text
    made.add_paragraph("After.")
    made.save(tmp_path / "a.docx")
    document = extract(tmp_path / "a.docx")
    assert document.title == "The ferry"
    assert blocks(document) == [
        ("heading1", "The ferry"),
        ("heading2", "Times"),
        ("paragraph", "It leaves at ten.\nAlways."),
        ("item", "- a rope"),
        ("item", "1. first"),
        ("item", "2. second"),
        ("row", "From | Price"),
        ("row", "Oban Pier | 7 €"),
        ("paragraph", "After."),
    ]


def test_headings_by_name_base_and_outline(tmp_path):
    body = (
        styled("One", "U2")
        + styled("Two", "Own")
        + paragraph("Three", '<w:outlineLvl w:val="2"/>')
        + styled("Text", "N")
        + styled("In a circle", "A")
        + styled("Unknown", "Z")
        + styled("Contents 3", "T1")
        + paragraph("Body level", '<w:outlineLvl w:val="9"/>')
    )
    assert blocks(extracted(tmp_path, "a.docx", word_file(body, styles=HEADINGS))) == [
        ("heading2", "One"),
        ("heading2", "Two"),
        ("heading3", "Three"),
        ("paragraph", "Text"),
        ("paragraph", "In a circle"),
        ("paragraph", "Unknown"),
        ("paragraph", "Body level"),
    ]


def test_numbers_of_items(tmp_path):
    body = (
        numbered("one", 1) + numbered("inner", 1, 1) + numbered("inner", 1, 1) + numbered("two", 1)
        + numbered("inner", 1, 1) + numbered("round", 2) + numbered("five", 3)
        + numbered("none", 0) + numbered("unknown", 9)
    )  # fmt: skip
    found = blocks(extracted(tmp_path, "a.docx", word_file(body, numbering=NUMBERING)))
    assert found == [
        ("item", "1. one"), ("item", "1.a) inner"), ("item", "1.b) inner"), ("item", "2. two"),
        ("item", "2.a) inner"), ("item", "- round"), ("item", "5. five"), ("paragraph", "none"),
        ("item", "- unknown"),
    ]  # fmt: skip


def test_what_readers_see_and_do_not_see(tmp_path):
    inserted = "<w:ins><w:r><w:t>came</w:t></w:r></w:ins>"
    deleted = "<w:del><w:r><w:delText>no</w:delText></w:r></w:del>"
    moved = "<w:moveFrom><w:r><w:t>no</w:t></w:r></w:moveFrom>"
    hidden = "<w:r><w:rPr><w:vanish/></w:rPr><w:t>no</w:t></w:r>"
    shown = '<w:r><w:rPr><w:vanish w:val="0"/></w:rPr><w:t> too</w:t></w:r>'
    link = "<w:hyperlink><w:r><w:t> here</w:t></w:r></w:hyperlink>"
    code = "<w:r><w:instrText>PAGE</w:instrText></w:r>"
    control = f"<w:sdt><w:sdtContent>{paragraph('in a control')}</w:sdtContent></w:sdt>"
    box = (
        "<w:p><w:r><w:t>around</w:t><w:AlternateContent><w:Choice><w:txbxContent>"
        f"{paragraph('in a box')}</w:txbxContent></w:Choice><w:Fallback><w:txbxContent>"
        f"{paragraph('no')}</w:txbxContent></w:Fallback></w:AlternateContent></w:r></w:p>"
    )
    body = f"<w:p>{inserted}{deleted}{moved}{hidden}{shown}{link}{code}</w:p>{control}{box}"
    assert blocks(extracted(tmp_path, "a.docx", word_file(body))) == [
        ("paragraph", "came too here"),
        ("paragraph", "in a control"),
        ("paragraph", "in a box"),
        ("paragraph", "around"),
    ]


def test_properties_before_a_tracked_change_do_not_count(tmp_path):
    styles = HEADINGS.replace(
        '<w:basedOn w:val="U2"/>',
        '<w:basedOn w:val="U2"/><w:pPr><w:outlineLvl w:val="0"/><w:pPrChange><w:pPr>'
        '<w:outlineLvl w:val="9"/></w:pPr></w:pPrChange></w:pPr>',
    )
    now_heading = (
        '<w:pStyle w:val="U2"/><w:pPrChange w:id="1"><w:pPr><w:pStyle w:val="N"/></w:pPr>'
        "</w:pPrChange>"
    )
    now_text = '<w:pStyle w:val="N"/><w:pPrChange><w:pPr><w:numId w:val="1"/></w:pPr></w:pPrChange>'
    bold = "<w:rPr><w:b/><w:rPrChange><w:rPr><w:vanish/></w:rPr></w:rPrChange></w:rPr>"
    shown = f"<w:p><w:r>{bold}<w:t>shown</w:t></w:r></w:p>"
    body = paragraph("Head", now_heading) + paragraph("text", now_text) + shown
    body += styled("Style", "Own")
    found = blocks(
        extracted(tmp_path, "a.docx", word_file(body, styles=styles, numbering=NUMBERING))
    )
    assert found == [
        ("heading2", "Head"), ("paragraph", "text"), ("paragraph", "shown"), ("heading1", "Style"),
    ]  # fmt: skip


def test_notes_follow_their_paragraphs(tmp_path):
    notes = (
        f'<w:footnotes xmlns:w="{WORD}"><w:footnote w:type="separator" w:id="0">'
        f'{paragraph("no")}</w:footnote><w:footnote w:id="2">{paragraph("A note.")}</w:footnote>'
        "</w:footnotes>"
    )
    referring = '<w:p><w:r><w:t>Text.</w:t><w:footnoteReference w:id="2"/></w:r></w:p>'
    body = referring + paragraph("More.")
    body += f"<w:tbl><w:tr><w:tc>{referring}</w:tc><w:tc>{paragraph('b')}</w:tc></w:tr></w:tbl>"
    assert blocks(extracted(tmp_path, "a.docx", word_file(body, footnotes=notes))) == [
        ("paragraph", "Text."),
        ("paragraph", "A note."),
        ("paragraph", "More."),
        ("row", "Text. | b"),
        ("paragraph", "A note."),
    ]


def test_cells_over_several_columns(tmp_path):
    def cell(text: str, properties: str = "") -> str:
        return f"<w:tc><w:tcPr>{properties}</w:tcPr>{paragraph(text)}</w:tc>"

    wide, merged = '<w:gridSpan w:val="2"/>', "<w:vMerge/>"
    late = '<w:trPr><w:gridBefore w:val="1"/></w:trPr>'
    rows = (
        f"<w:tr>{cell('Left', wide)}{cell('Right')}</w:tr>"
        f"<w:tr>{cell('Mon', '<w:vMerge w:val=' + chr(34) + 'restart' + chr(34) + '/>')}"
        f"{cell('early')}{cell('Ada')}</w:tr>"
        f"<w:tr>{cell('', merged)}{cell('late')}{cell('Kofi')}</w:tr>"
        f"<w:tr>{late}{cell('b')}{cell('c')}</w:tr>"
        f"<w:tr>{cell('All of it', wide)}</w:tr>"
    )
    assert blocks(extracted(tmp_path, "a.docx", word_file(f"<w:tbl>{rows}</w:tbl>"))) == [
        ("row", "Left | | Right"),
        ("row", "Mon | early | Ada"),
        ("row", "| late | Kofi"),
        ("row", "| b | c"),
        ("paragraph", "All of it"),
    ]


def test_strict_documents(tmp_path):
    strict = word_xml(paragraph("text")).replace(
        WORD, "http://purl.oclc.org/ooxml/wordprocessingml/main"
    )
    assert extracted(tmp_path, "a.docx", zipped({"word/document.xml": strict})).text == "text"


def entities() -> str:
    """Entities that stand for 10^20 characters."""
    lines = [f'<!ENTITY e{n + 1} "{f"&e{n};" * 10}">' for n in range(20)]
    return f'<!DOCTYPE w [<!ENTITY e0 "x">{"".join(lines)}]>'


def lying(data: bytes, size: int) -> bytes:
    """An archive whose only file has another size than its directory says."""
    changed = bytearray(data)
    entry = changed.rfind(b"PK\x01\x02")
    for place in (22, entry + 24):
        changed[place : place + 4] = struct.pack("<I", size)
    return bytes(changed)


LARGE = zipped({"word/document.xml": word_xml(paragraph("a" * 3_000_000))})
ENCRYPTED = bytearray(zipped({"word/document.xml": word_xml(paragraph("a"))}))
ENCRYPTED[6] |= 1
ENCRYPTED[ENCRYPTED.rfind(b"PK\x01\x02") + 8] |= 1


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (b"not a zip file", "a.docx Word damaged"),
        (zipped({"other.xml": "<a/>"}), "a.docx word/document.xml missing"),
        (zipped({"word/document.xml": "<w:p"}), "a.docx damaged"),
        (zipped({"word/document.xml": ""}), "a.docx damaged"),
        (word_file("")[:-40], "a.docx damaged"),
        (word_file(""), "a.docx no text"),
        (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(512), "a.docx password .docx"),
        (bytes(ENCRYPTED), "a.docx damaged"),
        (LARGE, "a.docx 3 MB 2 unpacked_bytes"),
        (lying(LARGE, 1000), "a.docx damaged"),
        (zipped({f"{n}.xml": "" for n in range(60)}), "a.docx 60 50 members"),
        (
            zipped({"word/document.xml": entities() + word_xml(paragraph("&e20;"))}),
            "a.docx document type",
        ),
    ],
)
def test_what_is_no_word_document(tmp_path, data, words):
    path = tmp_path / "a.docx"
    path.write_bytes(data)
    with pytest.raises(InputError, match=naming(words)) as found:
        extract(path, limits=ExtractionLimits(unpacked_bytes=2**21, members=50))
    assert "\n" not in str(found.value)


def test_what_is_read_is_counted_and_not_what_the_directory_says(tmp_path, monkeypatch):
    """Archives can be made whose sizes lie and whose checksums are right."""
    path = tmp_path / "a.docx"
    path.write_bytes(LARGE)
    monkeypatch.setattr(zipfile.ZipFile, "infolist", lambda archive: [])
    with pytest.raises(InputError, match=naming("a.docx unpacked_bytes")):
        extract(path, limits=ExtractionLimits(unpacked_bytes=2**21))


def test_deep_tables(tmp_path):
    depth = 5000
    body = "<w:tbl><w:tr><w:tc>" * depth + paragraph("deep") + "</w:tc></w:tr></w:tbl>" * depth
    assert extracted(tmp_path, "a.docx", word_file(body)).text == "deep"
