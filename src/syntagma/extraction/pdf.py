"""Read PDF files with PDFium: the lines of each page, the outline and the title.

PDFium, by pypdfium2, and not pypdf: both find the same words, but PDFium takes 1 to 8 ms a page
where pypdf takes 9 to 130, and it says where each character is on the page, which decides on
paragraphs, columns and cells (:mod:`syntagma.extraction.pdf_layout`).
"""

from __future__ import annotations

from itertools import islice
from typing import Any

from syntagma.errors import InputError
from syntagma.extraction.builder import DocumentBuilder, too_long
from syntagma.extraction.document import Document
from syntagma.extraction.limits import ExtractionLimits
from syntagma.extraction.pdf_layout import OutlineEntry, add_pages
from syntagma.extraction.pdf_lines import Line, LineReader
from syntagma.extraction.source import Source

_MARK = b"%PDF-"
_MARK_WITHIN = 1024
"""Bytes in which the mark of a PDF file must be; some programs write others before it."""
_MAX_OUTLINE = 10_000
# What programs write in the place of a title.
_NO_TITLES = (
    "(anonymous)",
    "untitled",
    "microsoft word - ",
    "microsoft powerpoint - ",
    "about:blank",
)


def extract_pdf(source: Source, limits: ExtractionLimits) -> Document:
    """Extract a PDF file.

    Raises:
        InputError: it is damaged, encrypted, or has no text, or too much.
    """
    import pypdfium2

    if source.data.find(_MARK, 0, _MARK_WITHIN + len(_MARK)) < 0:
        raise InputError(f"{source.name}: is not a PDF file; give one, or correct its suffix")
    try:
        pdf = pypdfium2.PdfDocument(source.data)
    except pypdfium2.PdfiumError as error:
        raise InputError(f"{source.name}: {_problem(error)}") from error
    try:
        return _read(pdf, source.name, limits)
    finally:
        pdf.close()


def _problem(error: Exception) -> str:
    """Describe why PDFium cannot open a file."""
    import pypdfium2.raw

    code = getattr(error, "err_code", None)
    if code in (pypdfium2.raw.FPDF_ERR_PASSWORD, pypdfium2.raw.FPDF_ERR_SECURITY):
        return (
            "is encrypted; save a copy without a password, for example with "
            "`qpdf --decrypt --password=PASSWORD`"
        )
    return "is a damaged PDF file; save it again, or repair it, for example with `qpdf`"


def _read(pdf: Any, name: str, limits: ExtractionLimits) -> Document:
    import pypdfium2

    pages: list[list[Line]] = []
    n_characters = n_unreadable = n_broken = 0
    for index in range(len(pdf)):
        try:
            page = pdf[index]
        except pypdfium2.PdfiumError:
            # The other pages of a damaged file are still worth reading.
            n_broken += 1
            pages.append([])
            continue
        text = page.get_textpage()
        _, bottom, _, top = page.get_bbox()
        reader = LineReader(text.raw, bottom, top)
        pages.append(reader.lines())
        n_characters += reader.n_characters
        n_unreadable += reader.n_unreadable
        text.close()
        page.close()
        if n_characters > limits.characters:
            raise too_long(name, limits)
    if not pages or n_broken == len(pages):
        raise InputError(f"{name}: {_problem(ValueError())}")
    n_pages = f"{len(pages)} page{'s' * (len(pages) > 1)}"
    if n_characters == n_unreadable:
        raise InputError(
            f"{name}: has {n_pages} but no text; run OCR on it first, for example with ocrmypdf"
        )
    if n_unreadable * 2 > n_characters:
        raise InputError(
            f"{name}: has {n_pages} whose fonts do not say which letters they show; run OCR on it "
            f"first, for example with `ocrmypdf --force-ocr`"
        )
    builder = DocumentBuilder(name, limits)
    add_pages(builder, pages, _outline(pdf))
    title = " ".join(pdf.get_metadata_dict().get("Title", "").split())
    if not title.lower().startswith(_NO_TITLES):
        builder.title = title
    return builder.finish()


def _outline(pdf: Any) -> list[OutlineEntry]:
    """Return the headings that the outline names, with their pages."""
    import pypdfium2

    found = []
    try:
        for entry in islice(pdf.get_toc(), _MAX_OUTLINE):
            target = entry.get_dest()
            page = target.get_index() if target is not None else None
            if page is not None:
                found.append(OutlineEntry(entry.get_title(), entry.level + 1, page))
    except pypdfium2.PdfiumError:
        # A damaged outline: the headings found so far are right.
        pass
    return found
