"""Make blocks of the lines of PDF pages: drop running heads, find headings, join paragraphs."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable
from dataclasses import replace
from statistics import median
from typing import NamedTuple

from syntagma.extraction.builder import DocumentBuilder
from syntagma.extraction.document import BlockKind
from syntagma.extraction.pdf_heads import without_running_heads
from syntagma.extraction.pdf_lines import Line
from syntagma.text.segmentation.layout import is_item, starts_item

_LARGER = 1.15
"""Height of a heading, in heights of the text."""
_LONGEST_HEADING = 200
_INDENT = 0.8
"""Smallest indentation, in heights of the line."""
_SAME_SIZE = 1.12
_WIDE_PITCH = 1.3
"""Distance of two lines between which a paragraph ends, in usual distances."""
_SHORT = 0.75
"""Share of the column that a line fills whose end was intended."""
_N_TITLE_LINES = 3
"""Lines that a heading of the outline may have on the page."""
_STOPPED = re.compile(r"[.!?…:;][\"'”’»)\]]*\Z")
_WORD = re.compile(r"\w+(?:-\w+)*")
_HYPHENATED = re.compile(r"(\w+)[-\u2010\u00ad]\Z")
_LONGEST_WORD = 100
"""Characters before a hyphen that are looked at: a line may be one word of a million."""
_NOT_TITLE = re.compile(r"[\W_]+")
_NUMBER = re.compile(r"\A[\d.]+\s+")


class OutlineEntry(NamedTuple):
    """A heading that the outline names: its text, its level from 1, and its page from 0."""

    title: str
    level: int
    page: int


def add_pages(
    builder: DocumentBuilder, pages: list[list[Line]], outline: Iterable[OutlineEntry]
) -> None:
    """Add the text of all pages to a document.

    Args:
        builder: the document.
        pages: the lines of each page.
        outline: the headings that the file names.
    """
    pages = without_running_heads(pages)
    by_page: dict[int, list[OutlineEntry]] = {}
    for entry in outline:
        by_page.setdefault(entry.page, []).append(entry)
    marked = [_with_headings(lines, by_page.get(page, ())) for page, lines in enumerate(pages)]
    joiner = _Joiner(builder, marked)
    for page, lines in enumerate(marked, start=1):
        joiner.add_page(lines, page)
    joiner.finish()


def _with_headings(lines: list[Line], entries: Iterable[OutlineEntry]) -> list[Line]:
    """Mark the lines of a page that the outline names as headings."""
    levels: dict[str, int] = {}
    for entry in entries:
        for title in (entry.title, _NUMBER.sub("", entry.title, count=1)):
            levels.setdefault(_letters(title), entry.level)
    levels.pop("", None)
    if not levels:
        return lines
    lines = list(lines)
    start = 0
    while start < len(lines):
        n_lines = 1
        for count in range(1, _N_TITLE_LINES + 1):
            text = " ".join(line.text for line in lines[start : start + count])
            level = levels.get(_letters(text)) or levels.get(
                _letters(_NUMBER.sub("", text, count=1))
            )
            if level is not None:
                n_lines = len(lines[start : start + count])
                for index in range(start, start + n_lines):
                    lines[index] = replace(lines[index], level=level, is_row=False)
                break
        start += n_lines
    return lines


def _hyphenated(text: str) -> re.Match[str] | None:
    """Find a word with a hyphen at the end of a text."""
    return _HYPHENATED.search(text, max(0, len(text) - _LONGEST_WORD))


def _letters(text: str) -> str:
    return _NOT_TITLE.sub("", text).casefold()


class _Sizes:
    """The usual heights and distances of the lines in a document, in points."""

    def __init__(self, pages: list[list[Line]]) -> None:
        n_characters: Counter[float] = Counter()
        pitches: list[float] = []
        for lines in pages:
            for line in lines:
                n_characters[_rounded(line.height)] += len(line.text)
            for before, line in zip(lines, lines[1:], strict=False):
                pitch = before.top - line.top
                if 0 < pitch < 3 * before.height and _is_same_size(before, line):
                    pitches.append(pitch / before.height)
        self.text = max(n_characters, key=lambda size: (n_characters[size], -size), default=0.0)
        self.pitch = median(pitches) if pitches else 1.2
        larger = sorted(
            (size for size in n_characters if size >= _LARGER * self.text > 0), reverse=True
        )
        self._levels = {size: number for number, size in enumerate(larger, start=1)}
        self._by_size = not any(line.level for lines in pages for line in lines)

    def level_of(self, lines: list[Line]) -> int:
        """Return the level of the heading that the lines are; 0 if they are none."""
        if lines[0].level or not self._by_size:
            return lines[0].level
        sizes = {_rounded(line.height) for line in lines}
        text = "".join(line.text for line in lines)
        # A number in large print is no heading, nor is a page of large print.
        if len(text) > _LONGEST_HEADING or not any(map(str.isalpha, text)):
            return 0
        return max((self._levels.get(size, 0) for size in sizes), default=0)


def _rounded(height: float) -> float:
    return round(2 * height) / 2


def _is_same_size(one: Line, other: Line) -> bool:
    low, high = sorted((one.height, other.height))
    return high <= _SAME_SIZE * low


class _Joiner:
    """Joins lines to blocks."""

    def __init__(self, builder: DocumentBuilder, pages: list[list[Line]]) -> None:
        self._builder = builder
        self._sizes = _Sizes(pages)
        # Says whether a word at the end of a line has a hyphen of its own.
        self._words = {
            word.lower() for lines in pages for line in lines for word in _WORD.findall(line.text)
        }
        self._block: list[Line] = []
        self._is_item = False
        self._continues = False
        self._page = 0
        self._margins: dict[int, float] = {}

    def add_page(self, lines: list[Line], page: int) -> None:
        """Add the lines of a page; its first lines may continue the last paragraph."""
        if not lines:
            return
        continues = False
        if self._block:
            last = self._block[-1]
            continues = not self._is_item and not self._breaks_column(last, lines[0])
            if continues and _hyphenated(last.text):
                lines = self._move_rest_of_word(lines)
            self._end_block()
        self._page = page
        self._margins = _margins(lines)
        for line in lines:
            if self._block and self._ends_before(line):
                self._end_block()
            if not self._block:
                self._is_item = is_item(line.text) and not line.level and not continues
                self._continues = continues
                continues = False
            self._block.append(line)

    def _move_rest_of_word(self, lines: list[Line]) -> list[Line]:
        """Move the rest of a hyphenated word to the page where it begins."""
        first, _, rest = lines[0].text.partition(" ")
        self._block[-1] = replace(self._block[-1], text=self._joined([self._block[-1].text, first]))
        return ([replace(lines[0], text=rest)] if rest else []) + lines[1:]

    def _ends_before(self, line: Line) -> bool:
        """Whether a line of the same page is in another block than the line before it."""
        before = self._block[-1]
        if line.is_row or before.is_row or line.level != before.level:
            return True
        if not _is_same_size(before, line):
            return True
        height = max(before.height, 1.0)
        pitch = before.top - line.top
        if pitch < -0.5 * height:
            return self._breaks_column(before, line)
        if line.level:
            return pitch > 2 * self._sizes.pitch * height
        if pitch > _WIDE_PITCH * self._sizes.pitch * height:
            return True
        margin = self._margin(before)
        is_short = before.right - before.left < _SHORT * (margin - before.left)
        if starts_item(before.text, line.text, is_short or self._is_item):
            return True
        indent = (line.left - before.left) / height
        if self._is_item:
            # The further lines of an item begin where its text does.
            return line.left < self._block[0].left + 0.1 * height and indent < -_INDENT
        if indent > _INDENT or (indent < -_INDENT and len(self._block) > 1):
            return True
        return is_short and _STOPPED.search(before.text) is not None

    def _breaks_column(self, before: Line, line: Line) -> bool:
        """Whether a new block begins at the top of a column or page."""
        if before.is_row or line.is_row or before.level or line.level:
            return True
        if not _is_same_size(before, line) or is_item(line.text):
            return True
        return _STOPPED.search(before.text) is not None

    def _margin(self, line: Line) -> float:
        """Return where the column of a line ends."""
        return self._margins.get(_column(line), line.right)

    def _end_block(self) -> None:
        block, self._block = self._block, []
        if not block:
            return
        level = self._sizes.level_of(block) if not self._is_item else 0
        kind: BlockKind = "heading" if level else "item" if self._is_item else "paragraph"
        if block[0].is_row and not level:
            kind = "row"
        texts = [block[0].text]
        for before, line in zip(block, block[1:], strict=False):
            # What ends early ends on purpose: lines of an address, a poem, a program.
            is_short = before.right - before.left < _SHORT * (self._margin(before) - before.left)
            if is_short and kind == "paragraph" and not _hyphenated(before.text):
                texts.append("\n")
            texts.append(line.text)
        text = self._joined(texts)
        self._builder.add(
            kind, text, level=level, page=self._page,
            continues=self._continues and kind == "paragraph",
        )  # fmt: skip

    def _joined(self, texts: list[str]) -> str:
        """Join lines with spaces, and the two parts of a hyphenated word without."""
        joined = texts[0]
        for text in texts[1:]:
            hyphenated = _hyphenated(joined)
            if hyphenated is None or not text[:1].isalnum() or text == "\n":
                joined += text if text == "\n" or joined.endswith("\n") else f" {text}"
            elif self._keeps_hyphen(hyphenated[1], text):
                joined += text
            else:
                joined = joined[:-1] + text
        return joined

    def _keeps_hyphen(self, first: str, text: str) -> bool:
        """Whether the hyphen at the end of a line is part of the word."""
        rest = _WORD.match(text)
        if rest is None or not text[0].islower():
            return True
        second = rest.group().lower()
        if f"{first.lower()}{second}" in self._words:
            return False
        return f"{first.lower()}-{second}" in self._words

    def finish(self) -> None:
        """Add the last block."""
        self._end_block()


def _column(line: Line) -> int:
    return round(line.left / max(line.height, 1.0))


def _margins(lines: list[Line]) -> dict[int, float]:
    """Return where the lines end that begin at the same place, about, on a page."""
    found: dict[int, float] = {}
    for line in lines:
        if not line.is_row:
            column = _column(line)
            for near in (column - 1, column, column + 1):
                found[near] = max(found.get(near, 0.0), line.right)
    return found
