"""Read Word documents: headings, list items with their numbers, tables, notes and text boxes.

The files in the archive are read as streams with lxml.  python-docx would build trees of all of
them, pictures included, and its paragraphs lack what is in content controls and text boxes, what
was inserted while changes were tracked, and the numbers of items.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from syntagma.extraction.builder import LONGEST_TITLE, DocumentBuilder
from syntagma.extraction.document import BlockKind, Document
from syntagma.extraction.docx_package import DocxPackage, XmlTarget
from syntagma.extraction.docx_styles import (
    Numbering,
    ParagraphStyle,
    Styles,
    is_list_style,
    small_number,
    with_property,
)
from syntagma.extraction.limits import ExtractionLimits
from syntagma.extraction.numbering import BULLET
from syntagma.extraction.source import Source

_SKIPPED = frozenset(
    {"Fallback", "del", "moveFrom", "instrText", "delText", "delInstrText", "rubyPr", "rt"}
)
"""Elements that readers do not see: deleted text, codes of fields, and the second form in which
text boxes are stored for old versions of Word."""
_CHARACTERS = {"tab": "\t", "br": "\n", "cr": "\n", "noBreakHyphen": "-", "ptab": "\t"}
_NOTES = {
    "footnotes": ("footnote", "footnoteReference"),
    "endnotes": ("endnote", "endnoteReference"),
}
_OFF = frozenset({"0", "false", "off"})


def extract_docx(source: Source, limits: ExtractionLimits) -> Document:
    """Extract a Word document (``.docx``).

    Raises:
        InputError: it is not one, is damaged or has a password, or has no text or too much.
    """
    package = DocxPackage(source, limits)
    main = package.main_part()
    parts = package.parts_of(main)
    styles, numbering = Styles(), Numbering()
    for kind, target in (("styles", styles), ("numbering", numbering)):
        if kind in parts:
            package.read(parts[kind], target)
    notes: dict[tuple[str, str], list[str]] = {}
    for kind, (tag, reference) in _NOTES.items():
        if kind in parts:
            found = _Notes(tag)
            package.read(parts[kind], found)
            notes |= {(reference, number): texts for number, texts in found.texts.items()}
    builder = DocumentBuilder(source.name, limits)
    package.read(main, _Body(builder, styles, numbering, notes))
    if "docProps/core.xml" in package:
        title = _Title()
        package.read("docProps/core.xml", title)
        # A title in the text was written for this document; the property is often a template's.
        builder.title = builder.title or title.text
    return builder.finish()


@dataclass(slots=True)
class _Paragraph:
    """A paragraph that has begun."""

    texts: list[str] = field(default_factory=list)
    style_id: str = ""
    style: ParagraphStyle = field(default_factory=ParagraphStyle)
    notes: list[tuple[str, str]] = field(default_factory=list)
    is_hidden: bool = False
    """Whether the run that is being read is hidden."""


class _Paragraphs(XmlTarget):
    """Collects the text of paragraphs, also of those within another one (text boxes)."""

    def __init__(self) -> None:
        self._open: list[_Paragraph] = []
        self._n_skipped = 0
        self._in_text = False
        self._in_properties = 0
        self._run_properties = 0

    def start(self, tag: str, attributes: dict[str, str]) -> None:
        if self._n_skipped or tag in _SKIPPED:
            self._n_skipped += 1
            return
        if tag == "p":
            self._open.append(_Paragraph())
        elif tag == "pPr":
            self._in_properties += 1
        elif tag == "rPr":
            self._run_properties += 1
        elif not self._open:
            self.start_outside(tag, attributes)
        elif self._in_properties:
            self._property(self._open[-1], tag, attributes)
        elif tag == "vanish" and self._run_properties:
            self._open[-1].is_hidden = attributes.get("val", "1") not in _OFF
        elif tag == "t":
            self._in_text = True
        elif tag in _CHARACTERS:
            # Tabs in the properties of a paragraph are handled above: they are where tabs stop.
            self._open[-1].texts.append(_CHARACTERS[tag])
        elif tag.endswith("noteReference"):
            self._open[-1].notes.append((tag, attributes.get("id", "")))
        else:
            self.start_outside(tag, attributes)

    def _property(self, paragraph: _Paragraph, tag: str, attributes: dict[str, str]) -> None:
        # Those of the paragraph mark are no properties of the text.
        if self._run_properties:
            return
        if tag == "pStyle":
            paragraph.style_id = attributes.get("val", "")
        else:
            paragraph.style = with_property(paragraph.style, tag, attributes)

    def end(self, tag: str) -> None:
        if self._n_skipped:
            self._n_skipped -= 1
        elif tag == "p":
            if self._open:
                self.end_paragraph(self._open.pop())
        elif tag == "pPr":
            self._in_properties -= 1
        elif tag == "rPr":
            self._run_properties -= 1
        elif tag == "r" and self._open:
            self._open[-1].is_hidden = False
        elif tag == "t":
            self._in_text = False
        else:
            self.end_outside(tag)

    def data(self, text: str) -> None:
        if self._in_text and not self._n_skipped and self._open and not self._open[-1].is_hidden:
            self._open[-1].texts.append(text)

    def start_outside(self, tag: str, attributes: dict[str, str]) -> None:
        """Begin an element that is no paragraph and no part of its text."""

    def end_outside(self, tag: str) -> None:
        """End an element that is no paragraph and no part of its text."""

    def end_paragraph(self, paragraph: _Paragraph) -> None:
        """Receive a paragraph."""


class _Body(_Paragraphs):
    """Gives the blocks of the document to a builder."""

    def __init__(
        self,
        builder: DocumentBuilder,
        styles: Styles,
        numbering: Numbering,
        notes: dict[tuple[str, str], list[str]],
    ) -> None:
        super().__init__()
        self._builder = builder
        self._styles = styles
        self._numbering = numbering
        self._notes = notes
        self._n_rows = 0
        self._waiting: list[str] = []
        """Notes of a table row, which come after it."""

    def start_outside(self, tag: str, attributes: dict[str, str]) -> None:
        if tag == "tr":
            self._n_rows += 1
            self._builder.start_row()
        elif tag == "tc":
            self._builder.start_cell()
        elif tag == "gridSpan":
            # Cells that are merged with the one above are in the file, and keep their columns.
            self._builder.span_cell(small_number(attributes.get("val"), 1))
        elif tag == "gridBefore" and (n_columns := small_number(attributes.get("val"))):
            self._builder.start_cell()
            self._builder.span_cell(n_columns)
            self._builder.end_cell()

    def end_outside(self, tag: str) -> None:
        if tag == "tc":
            self._builder.end_cell()
        elif tag == "tr":
            self._builder.end_row()
            self._n_rows -= 1
            self._add_notes()

    def end_paragraph(self, paragraph: _Paragraph) -> None:
        text = "".join(paragraph.texts)
        style = self._styles.resolve(paragraph.style_id, paragraph.style)
        has_text = bool(text.strip())
        kind: BlockKind = "paragraph"
        level = 0
        mark = ""
        if style.list_id is not None and style.list_id != "0":
            kind = "item"
            # Word numbers empty paragraphs of a list too.
            mark = self._numbering.next_mark(style.list_id, style.list_level or 0)
        elif is_list_style(style):
            kind, mark = "item", BULLET
        if style.name == "title":
            kind, level = "heading", 1
            self._builder.title = self._builder.title or text
        elif style.outline:
            kind, level = "heading", style.outline
        # A table of contents repeats the headings.
        if has_text and not style.name.startswith("toc "):
            if kind == "heading":
                text = text.replace("\n", " ")
                mark = "" if mark == BULLET else mark
            self._builder.add(kind, f"{mark} {text}" if mark else text, level=level)
        for reference in paragraph.notes:
            self._waiting += self._notes.get(reference, ())
        if not self._n_rows:
            self._add_notes()

    def _add_notes(self) -> None:
        if not self._n_rows:
            for note in self._waiting:
                self._builder.add("paragraph", note)
            self._waiting.clear()


class _Notes(_Paragraphs):
    """The texts of footnotes or endnotes, by their ids."""

    def __init__(self, tag: str) -> None:
        super().__init__()
        self.texts: dict[str, list[str]] = {}
        self._tag = tag
        self._id: str | None = None

    def start(self, tag: str, attributes: dict[str, str]) -> None:
        if tag == self._tag:
            # The lines between text and notes are stored as notes with a type.
            self._id = None if "type" in attributes else attributes.get("id")
        super().start(tag, attributes)

    def end_paragraph(self, paragraph: _Paragraph) -> None:
        if self._id is not None:
            self.texts.setdefault(self._id, []).append("".join(paragraph.texts))


class _Title(XmlTarget):
    """The title among the properties of a document."""

    def __init__(self) -> None:
        self.text = ""
        self._is_open = False

    def start(self, tag: str, attributes: dict[str, str]) -> None:
        self._is_open = tag == "title"

    def end(self, tag: str) -> None:
        self._is_open = False

    def data(self, text: str) -> None:
        if self._is_open and len(self.text) < LONGEST_TITLE:
            self.text += text
