"""Documents made by the tests: Word files from raw XML, and PDF files with reportlab."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Callable, Sequence
from pathlib import Path

from reportlab.lib import pdfencrypt
from reportlab.pdfgen.canvas import Canvas

from syntagma.extraction.document import Document
from syntagma.extraction.extract import extract

WORD = "http://schemas.openxmlformats.org/wordprocessingml/2006/main"
OFFICE = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
PACKAGE = "http://schemas.openxmlformats.org/package/2006/relationships"
PAGE_HEIGHT = 842
"""Of reportlab's pages (A4), in points."""


def blocks(document: Document) -> list[tuple[str, str]]:
    """Kind and text of each block; the level of a heading follows its kind (*heading2*)."""
    return [
        (f"{block.kind}{block.level or ''}", document.text[block.start : block.end])
        for block in document.blocks
    ]


def extracted(folder: Path, name: str, data: str | bytes) -> Document:
    """The document in a file with some data; text is written as UTF-8."""
    path = folder / name
    path.write_bytes(data.encode() if isinstance(data, str) else data)
    return extract(path)


def word_xml(body: str) -> str:
    """The main file of a Word document."""
    return f'<w:document xmlns:w="{WORD}"><w:body>{body}</w:body></w:document>'


def paragraph(text: str, properties: str = "") -> str:
    """A paragraph of a Word document."""
    return f"<w:p><w:pPr>{properties}</w:pPr><w:r><w:t>{text}</w:t></w:r></w:p>"


def word_file(body: str, **parts: str) -> bytes:
    """A Word document.

    Args:
        body: the XML of its paragraphs and tables.
        parts: the content of its other files, by their kinds (styles, numbering, footnotes).
    """
    relations = "".join(
        f'<Relationship Id="r{kind}" Type="{OFFICE}/{kind}" Target="{kind}.xml"/>' for kind in parts
    )
    files = {
        "word/document.xml": word_xml(body),
        "word/_rels/document.xml.rels": (
            f'<Relationships xmlns="{PACKAGE}">{relations}</Relationships>'
        ),
    }
    files |= {f"word/{kind}.xml": content for kind, content in parts.items()}
    return zipped(files)


def zipped(files: dict[str, str | bytes]) -> bytes:
    """A zip archive."""
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in files.items():
            archive.writestr(name, content)
    return packed.getvalue()


def pdf_file(
    pages: Sequence[Callable[[Canvas], object] | Sequence[str]],
    *,
    title: str = "",
    password: str = "",
) -> bytes:
    """A PDF file.

    Args:
        pages: the lines of each page, 14 points apart, or what draws it.
        title: the title in its properties.
        password: what is needed to open it.
    """
    packed = io.BytesIO()
    encryption = pdfencrypt.StandardEncryption(password) if password else None
    canvas = Canvas(packed, encrypt=encryption)
    canvas.setTitle(title)
    for page in pages:
        if callable(page):
            page(canvas)
        else:
            draw_lines(canvas, page)
        canvas.showPage()
    canvas.save()
    return packed.getvalue()


def draw_lines(
    canvas: Canvas, lines: Sequence[str], *, left: float = 72, top: float = 740, size: float = 12
) -> None:
    """Draw lines of text, 14 points apart; an empty line leaves a gap."""
    canvas.setFont("Helvetica", size)
    for number, line in enumerate(lines):
        canvas.drawString(left, top - 14 * number, line)
