"""Read HTML: headings, paragraphs, list items and table rows, without what readers do not see.

The page is read as a stream of tags (libxml2's), without a tree of it in memory, so neither the
size of a page nor how deep its elements are nested matters.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

from syntagma.errors import InputError
from syntagma.extraction.builder import LONGEST_TITLE, DocumentBuilder
from syntagma.extraction.document import BlockKind, Document
from syntagma.extraction.html_encoding import decode_html
from syntagma.extraction.limits import ExtractionLimits
from syntagma.extraction.numbering import BULLET, WRITERS
from syntagma.extraction.source import Source

_HEADINGS = {f"h{level}": level for level in range(1, 7)}
_HIDDEN = frozenset(
    """
    applet audio button canvas dialog datalist embed frameset iframe map math nav noembed noframes
    noscript object option rp rt script select style svg template textarea video
    """.split()
)
"""Elements that readers do not see, or that are not part of the text."""
_BLOCKS = frozenset(
    """
    address article aside blockquote body caption center dd details dir div dl dt fieldset
    figcaption figure footer form header hgroup hr html legend li listing main menu ol optgroup p
    pre search section summary table tbody tfoot thead ul xmp
    """.split()
) | set(_HEADINGS)
_LISTS = frozenset({"ol", "ul", "menu", "dir"})
_CODE = frozenset({"pre", "listing", "xmp"})
_ROOTS = frozenset({"html", "body", "head"})
_HIDDEN_STYLE = re.compile(r"(?:display\s*:\s*none|visibility\s*:\s*hidden)", re.IGNORECASE)
_SECTIONS = frozenset({"thead", "tbody", "tfoot"})
_REVERSED = re.compile(r"<ol\s[^<>]*\breversed\b", re.IGNORECASE)
_MOST_ROWS = 65534
"""Rows that a cell may cover, as in browsers."""
_CHUNK = 2**16
_BREAK = "\n"
_LINK_MARKS = "¶ \n"
"""Ends of headings, with the mark of a link to them that Sphinx adds."""


def extract_html(source: Source, limits: ExtractionLimits) -> Document:
    """Extract an HTML or XHTML file.

    Raises:
        InputError: its encoding is not the declared one, or it has no text or too much.
    """
    return read_html(decode_html(source), source.name, limits)


def read_html(page: str, name: str, limits: ExtractionLimits) -> Document:
    """Extract a decoded page.

    Args:
        page: HTML.
        name: the file, for messages.
        limits: how long its text may become.

    Raises:
        InputError: it has no text or too much.
    """
    builder = DocumentBuilder(name, limits)
    lengths = _ListLengths()
    if _REVERSED.search(page):
        _send(page, name, lengths)
    _send(page, name, _Walker(builder, lengths.found))
    return builder.finish()


def _send(page: str, name: str, target: Any) -> None:
    """Send the tags and texts of a page to a target."""
    from lxml import etree

    # The name of the encoding overrides what the page declares, which was its encoding in the file.
    parser = etree.HTMLParser(target=target, encoding="utf-8")
    # The parser does not end a page at a NUL, but turns it into U+FFFD.
    data = page.replace("\0", " ").encode("utf-8", "replace")
    try:
        for start in range(0, len(data), _CHUNK):
            parser.feed(data[start : start + _CHUNK])
        parser.close()
    except etree.LxmlError as error:
        # An empty page, and little else: the parser accepts any bytes.
        if not data.strip():
            raise InputError(f"{name}: is empty; expected a page with text") from error
        raise InputError(
            f"{name}: is not readable as HTML ({error}); save the page again"
        ) from error


class _ListLengths:
    """Counts the items of each ``ol``, in the order of the lists.

    The first number of a reversed list is that of its items, which is known only at its end.
    """

    def __init__(self) -> None:
        self.found: list[int] = []
        self._open: list[int] = []
        """Places in ``found`` of the lists that are open; -1 for those without numbers."""
        self._hidden = 0

    def start(self, tag: str, attributes: Any) -> None:
        """Begin an element."""
        if self._hidden or (tag not in _ROOTS and _is_hidden(tag, attributes)):
            self._hidden += 1
        elif tag == "ol":
            self._open.append(len(self.found))
            self.found.append(0)
        elif tag in _LISTS:
            self._open.append(-1)
        elif tag == "li" and self._open and self._open[-1] >= 0:
            self.found[self._open[-1]] += 1

    def end(self, tag: str) -> None:
        """End an element."""
        if self._hidden:
            self._hidden -= 1
        elif tag in _LISTS and self._open:
            self._open.pop()

    def data(self, text: str) -> None:
        """Receive text."""

    def close(self) -> None:
        """End the page."""


@dataclass(slots=True)
class _List:
    """A list that has begun: the number of its next item, its step, and how numbers are written."""

    number: int
    style: str
    step: int = 1


class _Walker:
    """Receives the tags and texts of a page, and gives its blocks to a builder.

    Args:
        builder: gets the blocks.
        n_items: how many items each ``ol`` has, in the order of the lists; needed if one of them
            is reversed.
    """

    def __init__(self, builder: DocumentBuilder, n_items: list[int]) -> None:
        self._builder = builder
        self._n_items = iter(n_items)
        self._texts: list[str] = []
        self._lists: list[_List] = []
        self._mark = ""
        """Mark of the list item whose first text is expected."""
        self._hidden = 0
        """How many elements are open, from the outermost hidden one on."""
        self._heading = 0
        self._n_code = 0
        self._n_described = 0
        self._in_title = False
        self._n_breaks = 0

    def start(self, tag: str, attributes: Any) -> None:
        """Begin an element."""
        is_further_title = tag == "title" and bool(self._builder.title)
        if self._hidden or is_further_title or (tag not in _ROOTS and _is_hidden(tag, attributes)):
            self._hidden += 1
            # Inline elements, such as a math formula, do not end a paragraph, but separate words.
            return
        if tag == "br":
            self._line_break()
        elif tag == "title":
            self._in_title = True
        elif tag in ("td", "th"):
            self._end_block()
            self._builder.start_cell()
            if attributes:
                self._span_cell(attributes)
        elif tag == "tr":
            self._end_block()
            self._builder.start_row()
        elif tag == "q":
            self._texts.append("“")
        elif tag in _BLOCKS:
            self._start_block(tag, attributes)

    def _start_block(self, tag: str, attributes: Any) -> None:
        self._end_block()
        if tag == "table":
            self._builder.start_table()
        elif tag in _SECTIONS:
            self._builder.end_spans()
        elif tag == "ol":
            n_items = next(self._n_items, 0)
            first, step = (n_items, -1) if n_items and "reversed" in attributes else (1, 1)
            number = _integer(attributes.get("start"), first)
            self._lists.append(_List(number, attributes.get("type", "1"), step))
        elif tag in _LISTS:
            self._lists.append(_List(1, ""))
        elif tag == "li":
            self._mark = self._next_mark(attributes)
        elif tag in _HEADINGS:
            self._heading = _HEADINGS[tag]
        elif tag in _CODE:
            self._n_code += 1
        elif tag in ("dt", "dd"):
            self._n_described += 1

    def _span_cell(self, attributes: Any) -> None:
        """Let a cell cover the columns and rows that it says, or all rows below."""
        n_columns = max(1, _integer(attributes.get("colspan"), 1))
        n_rows = _integer(attributes.get("rowspan"), 1)
        if n_columns > 1 or n_rows != 1:
            self._builder.span_cell(n_columns, min(n_rows or _MOST_ROWS, _MOST_ROWS))

    def _next_mark(self, attributes: Any) -> str:
        if not self._lists or not self._lists[-1].style:
            return f"{BULLET} "
        inner = self._lists[-1]
        number = _integer(attributes.get("value"), inner.number)
        inner.number = number + inner.step
        return f"{WRITERS.get(inner.style, str)(number)}. "

    def end(self, tag: str) -> None:
        """End an element."""
        if self._hidden:
            self._hidden -= 1
            return
        if tag == "title":
            self._in_title = False
        elif tag in ("td", "th"):
            self._end_block()
            self._builder.end_cell()
        elif tag == "tr":
            self._end_block()
            self._builder.end_row()
        elif tag == "q":
            self._texts.append("”")
        elif tag in _BLOCKS:
            self._finish_block(tag)

    def _finish_block(self, tag: str) -> None:
        self._end_block()
        if tag == "table":
            self._builder.end_table()
        elif tag in _LISTS:
            if self._lists:
                self._lists.pop()
        elif tag == "li":
            self._mark = ""
        elif tag in _HEADINGS:
            self._heading = 0
        elif tag in _CODE:
            self._n_code = max(0, self._n_code - 1)
        elif tag in ("dt", "dd"):
            self._n_described = max(0, self._n_described - 1)

    def data(self, text: str) -> None:
        """Receive text."""
        if self._in_title:
            # A page may end within its title.
            self._builder.title += text if len(self._builder.title) < LONGEST_TITLE else ""
        elif not self._hidden:
            if not text.isspace():
                self._n_breaks = 0
            # Line breaks of the source mean nothing; those of <br> do.
            self._texts.append(text if self._n_code else " ".join(_lines(text)))

    def _line_break(self) -> None:
        self._n_breaks += 1
        # Old pages separate paragraphs by two breaks.
        if self._n_breaks == 2 and not self._n_code:
            self._end_block()
        else:
            self._texts.append(_BREAK)

    def _end_block(self) -> None:
        text = "".join(self._texts)
        self._texts.clear()
        self._n_breaks = 0
        if not text or text.isspace():
            return
        kind: BlockKind = "item" if self._mark or self._n_described else "paragraph"
        if self._heading:
            kind = "heading"
            text = text.rstrip(_LINK_MARKS)
        if kind == "heading" or self._mark:
            text = text.replace(_BREAK, " ")
        level = self._heading if kind == "heading" else 0
        mark = self._mark if kind == "item" else ""
        self._mark = ""
        is_code = bool(self._n_code) and not mark
        self._builder.add(kind, mark + text, level=level, is_code=is_code)

    def close(self) -> None:
        """End the page."""
        self._end_block()


def _lines(text: str) -> list[str]:
    return text.replace("\r", "\n").split("\n")


def _is_hidden(tag: str, attributes: Any) -> bool:
    if tag in _HIDDEN:
        return True
    if not attributes:
        return False
    return (
        "hidden" in attributes
        or attributes.get("aria-hidden", "").lower() == "true"
        or attributes.get("role", "").lower() == "navigation"
        or _HIDDEN_STYLE.search(attributes.get("style", "")) is not None
    )


def _integer(text: str | None, otherwise: int) -> int:
    """Return a number of at most nine digits; longer ones are no numbers of items."""
    if text is None or re.fullmatch(r"\s*-?[0-9]{1,9}\s*", text) is None:
        return otherwise
    return int(text)
