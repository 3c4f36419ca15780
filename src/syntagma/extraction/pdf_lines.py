"""The lines of a PDF page, from its characters and where they are."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass, replace
from statistics import median
from typing import Any

from syntagma.extraction.builder import CELL_BREAK

_HYPHENS = (0x02, 0xFFFE)
"""PDFium's codes for a hyphen at the end of a line, after which it writes no line break."""
_LETTERS = str.maketrans(
    {
        "\ufb00": "ff", "\ufb01": "fi", "\ufb02": "fl", "\ufb03": "ffi", "\ufb04": "ffl",
        "\ufb05": "st", "\ufb06": "st", "\ufffe": "-",
    }
)  # fmt: skip
"""What ligatures stand for, which fonts have for single letters."""
_REPLACED = str.maketrans({"\x00": None, "\x02": "-"})
_UNREADABLE = re.compile("[\x00\ue000-\uf8ff\ufffd]")
"""Characters of fonts that do not say which letters they show."""
_LINE_FEED = 0x0A
_SPACES = frozenset({_LINE_FEED, 0x0D, 0x20, 0xA0, 0x09})
_CELL_GAP = 1.0
"""Widest space between words, in heights of the line; a wider one is between two cells."""
_JUSTIFIED_GAP = 2.0
"""The same in a line that seems justified, whose spaces can be wide."""
_N_JUSTIFIED = 3
"""Lines of a page that end at the same place, from which on they seem justified."""
_EQUAL_GAPS = 1.2
"""Ratio of the widest to the narrowest space of a justified line."""
_WIDEST_SPACE = 5.0
"""Widest space of a justified line, in its heights: a line of two or three long words."""
_LEADER = re.compile(r"(?: ?\.){5,}")
"""Dots from a heading to its page, in a table of contents."""
_MARGIN = 0.12
"""Share of a page at its top, and at its bottom, where running heads are."""
_SAME_LINE = 0.5
"""Share of the height by which two parts of a line overlap vertically."""
_MARK = re.compile(r"(?:[•·▪◦‣●○■□►➤✓✔–—*-]|\(?(?:\d{1,3}|[A-Za-z]|[ivxIVX]{2,5})[.)])")


@dataclass(frozen=True, slots=True)
class Line:
    """A line of text on a page.  Lengths are points (1/72 inch), from the lower left corner.

    Args:
        text: its text; the cells of a table row are separated by ``" | "``.
        left: where it begins.
        right: where it ends.
        bottom: the lowest point of its font.
        top: the highest.
        is_row: whether it is a table row.
        level: of the heading that the outline says it is, from 1; otherwise 0.
        is_marginal: whether it is at the top or the bottom of the page, where running heads are.
    """

    text: str
    left: float
    right: float
    bottom: float
    top: float
    is_row: bool = False
    level: int = 0
    is_marginal: bool = False

    @property
    def height(self) -> float:
        """Height of the font."""
        return self.top - self.bottom


class LineReader:
    """Reads the lines of a page, in the order in which the file draws them.

    Args:
        page: PDFium's handle of the text of the page.
        bottom: where the page begins, in points.
        top: where it ends.
    """

    def __init__(self, page: Any, bottom: float, top: float) -> None:
        import pypdfium2.raw

        self.n_characters = 0
        """How many characters the page has, without spaces."""
        self.n_unreadable = 0
        """How many of them have no known letter."""
        self._pdfium: Any = pypdfium2.raw
        self._page = page
        self._box = self._pdfium.FS_RECTF()
        margin = _MARGIN * (top - bottom)
        self._body = (bottom + margin, top - margin)
        self._lines: list[list[_Word]] = []
        self._words: list[_Word] = []
        self._word: _Word | None = None
        self._last = 0
        """Index of the last character of the word."""

    def lines(self) -> list[Line]:
        """Return the lines."""
        page, unicode = self._page, self._pdfium.FPDFText_GetUnicode
        codes: list[int] = []
        for index in range(self._pdfium.FPDFText_CountChars(page)):
            code = unicode(page, index)
            if code in _SPACES:
                self._end_word()
                codes = []
                # PDFium writes line breaks, and some of the spaces, of its own.
                if code == _LINE_FEED:
                    self._end_line()
                continue
            # Asking for places takes time, and within a word they are not needed.
            if not codes or codes[-1] in _HYPHENS:
                codes = self._start_word(index)
            codes.append(code)
            self._last = index
        self._end_line()
        n_ending = Counter(round(_right(words)) for words in self._lines)
        lines = [
            _line_of(words, n_ending[round(_right(words))] >= _N_JUSTIFIED) for words in self._lines
        ]
        low, high = self._body
        return _merged(
            [replace(line, is_marginal=line.top < low or line.bottom > high) for line in lines]
        )

    def _start_word(self, index: int) -> list[int]:
        """Return where to put the codes of a character and of those after it in its word.

        After a hyphen, the word goes on unless a line begins.
        """
        box = self._box
        if not self._pdfium.FPDFText_GetLooseCharBox(self._page, index, box):
            box.left = box.right = box.bottom = box.top = 0.0
        word = _Word([], box.left, box.right, box.bottom, box.top)
        if self._is_below(word):
            self._end_line()
        elif self._word is not None:
            return self._word.codes
        self._words.append(word)
        self._word = word
        return word.codes

    def _is_below(self, word: _Word) -> bool:
        """Whether a word begins a line, though PDFium wrote no line break before it.

        It writes none after a hyphen, and not between all rows of a table.
        """
        if not self._words:
            return False
        before = self._words[-1]
        if abs(word.bottom - before.bottom) <= _SAME_LINE * (before.top - before.bottom):
            return False
        return word.left < before.left or before.codes[-1] in _HYPHENS

    def _end_word(self) -> None:
        word, self._word = self._word, None
        if word is None:
            return
        if self._pdfium.FPDFText_GetLooseCharBox(self._page, self._last, self._box):
            word.right = max(word.right, self._box.right)
        text = "".join(map(chr, word.codes))
        self.n_characters += len(text)
        if not text.isascii():
            # On Windows, halves of characters come one by one.
            text = text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
            text = text.translate(_LETTERS)
        self.n_unreadable += len(_UNREADABLE.findall(text))
        word.text = text.translate(_REPLACED)

    def _end_line(self) -> None:
        self._end_word()
        if self._words:
            self._lines.append(self._words)
        self._words = []


@dataclass(slots=True)
class _Word:
    """The codes of characters without a space between them, and their text once it is complete."""

    codes: list[int]
    left: float
    right: float
    bottom: float
    top: float
    text: str = ""


def _right(words: list[_Word]) -> float:
    return max(word.right for word in words)


def _line_of(words: list[_Word], seems_justified: bool) -> Line:
    """Join words to a line, and find the cells among them."""
    height = median(word.top - word.bottom for word in words)
    tallest = min(words, key=lambda word: abs(word.top - word.bottom - height))
    gaps = [after.left - word.right for word, after in zip(words, words[1:], strict=False)]
    widest = (_JUSTIFIED_GAP if seems_justified else _CELL_GAP) * height
    if seems_justified and len(gaps) > 1 and max(gaps) < _EQUAL_GAPS * min(gaps):
        widest = min(max(gaps), _WIDEST_SPACE * height)
    text = words[0].text
    is_row = False
    for word, gap in zip(words[1:], gaps, strict=True):
        is_cell = gap > widest > 0 and _MARK.fullmatch(text) is None
        is_row = is_row or is_cell
        text += (CELL_BREAK if is_cell else " ") + word.text
    text = _LEADER.sub(" …", text)
    left = min(word.left for word in words)
    return Line(text, left, _right(words), tallest.bottom, tallest.top, is_row)


def _merged(lines: list[Line]) -> list[Line]:
    """Join lines that are next to each other: cells, and items with their marks."""
    found: list[Line] = []
    for line in lines:
        if found and _is_beside(found[-1], line):
            before = found.pop()
            is_mark = _MARK.fullmatch(before.text) is not None
            gap = line.left - before.right
            is_cell = not is_mark and gap > _CELL_GAP * max(before.height, line.height)
            text = before.text + (CELL_BREAK if is_cell else " ") + line.text
            is_row = is_cell or before.is_row or line.is_row
            line = replace(before, text=text, right=max(before.right, line.right), is_row=is_row)
        found.append(line)
    return found


def _is_beside(before: Line, line: Line) -> bool:
    overlap = min(before.top, line.top) - max(before.bottom, line.bottom)
    smaller = min(before.height, line.height)
    return smaller > 0 and overlap > _SAME_LINE * smaller and line.left >= before.right
