"""Build a document block by block."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import NamedTuple

from syntagma.errors import InputError
from syntagma.extraction.characters import without_controls, without_invisible
from syntagma.extraction.document import Block, BlockKind, Document
from syntagma.extraction.limits import ExtractionLimits

CELL_BREAK = " | "
DEEPEST_HEADING = 6
LONGEST_TITLE = 500
"""Characters of the title that are kept."""
_LONG_CELL = 400
"""Characters of a cell with several blocks, from which on its table only arranges the page."""
_MOST_COLUMNS = 100
"""Columns of a table that cells may span; a page may claim millions."""
# Not what is a single space already: that would replace every space by itself.
_BLANKS = re.compile(r"[^\S\n]{2,}|[^\S\n ]")
_AROUND_BREAK = re.compile(r" ?\n\s*")


class Part(NamedTuple):
    """A block that has no place in the text yet."""

    kind: BlockKind
    text: str
    level: int = 0
    page: int | None = None


_Spans = dict[int, int]
"""Of each column of a table that a cell above reaches into, how many more rows it covers."""


@dataclass(slots=True)
class _Row:
    """A table row that has begun.

    Args:
        spans: the columns that cells of earlier rows cover, which stay empty.
        cells: the blocks of each cell, column by column.
        cell: the blocks of the cell that is open; ``None`` if none is.
        n_cells: how many of the cells have begun in this row.
        reaching: the columns of its cells that cover rows below, with their number.
    """

    spans: _Spans
    cells: list[list[Part]] = field(default_factory=list)
    cell: list[Part] | None = None
    n_cells: int = 0
    reaching: _Spans = field(default_factory=dict)


class DocumentBuilder:
    """Joins blocks to the text of a document, and collects the cells of table rows.

    Args:
        name: the file, for messages.
        limits: how long the text may become.
    """

    def __init__(self, name: str, limits: ExtractionLimits) -> None:
        self.title = ""
        self._name = name
        self._limits = limits
        self._texts: list[str] = []
        self._blocks: list[Block] = []
        self._length = 0
        self._n_in_cells = 0
        self._rows: list[_Row] = []
        """Rows that have begun, outermost first: cells can contain tables."""
        self._tables: list[_Spans] = []

    def add(
        self,
        kind: BlockKind,
        text: str,
        *,
        level: int = 0,
        page: int | None = None,
        is_code: bool = False,
        continues: bool = False,
    ) -> None:
        """Add a block, unless it is blank; in a cell, add it to the cell.

        Args:
            kind: what it is.
            text: its text.  Line breaks stay; other runs of whitespace become one space.
            level: of a heading, from 1.
            page: number of its page, from 1.
            is_code: keep all whitespace within the block.
            continues: whether it goes on with the paragraph of the block before.

        Raises:
            InputError: the document is longer than the limit.
        """
        text = without_controls(without_invisible(text))
        text = text.rstrip().lstrip("\r\n") if is_code else tidy(text)
        if not text.strip():
            return
        part = Part(kind, text, min(level, DEEPEST_HEADING), page)
        if self._rows and (cell := self._rows[-1].cell) is not None:
            cell.append(part)
            self._n_in_cells += len(text)
            self._check_length()
        else:
            self._append(part, continues)

    def start_table(self) -> None:
        """Begin a table, which is only needed if its cells may cover rows below."""
        self._tables.append({})

    def end_spans(self) -> None:
        """End the cells that cover rows below, as at the end of the head of a table."""
        if self._tables:
            self._tables[-1].clear()

    def end_table(self) -> None:
        """End the innermost table."""
        if self._tables:
            self._tables.pop()

    def start_row(self) -> None:
        """Begin a table row."""
        self._rows.append(_Row(self._tables[-1] if self._tables else {}))

    def start_cell(self) -> None:
        """Begin a cell of the innermost row; ends the one before.  Ignored outside of rows."""
        if self._rows:
            row = self._rows[-1]
            while row.spans.get(len(row.cells), 0):
                row.cells.append([])
            row.cell = []
            row.cells.append(row.cell)
            row.n_cells += 1

    def span_cell(self, n_columns: int, n_rows: int = 1) -> None:
        """Let the cell that has begun cover more columns or rows, which are empty cells there.

        Args:
            n_columns: how many columns it covers, its own included.
            n_rows: how many rows it covers, its own included.
        """
        if not self._rows or self._rows[-1].cell is None:
            return
        row = self._rows[-1]
        first = len(row.cells) - 1
        after = min(first + n_columns, _MOST_COLUMNS)
        row.cells += [[] for _ in range(first + 1, after)]
        if n_rows > 1:
            row.reaching |= dict.fromkeys(range(first, after), n_rows - 1)

    def end_cell(self) -> None:
        """End the cell of the innermost row."""
        if self._rows:
            self._rows[-1].cell = None

    def end_row(self) -> None:
        """End the innermost row.

        Its cells become one block of the kind row.  Where a table only arranges the page, so that
        cells contain tables, headings or long text, their blocks stay blocks.
        """
        if not self._rows:
            return
        row = self._rows.pop()
        filled = [cell for cell in row.cells if cell]
        n_characters = sum(len(part.text) for cell in filled for part in cell)
        self._n_in_cells -= n_characters
        is_alone = row.n_cells == 1 and (not row.spans or n_characters > _LONG_CELL)
        _next_row(row.spans)
        if is_alone or any(map(_is_layout, filled)):
            parts = [part for cell in filled for part in cell]
        else:
            row.spans |= row.reaching
            texts = [" ".join(part.text for part in cell).replace("\n", " ") for cell in row.cells]
            # Empty cells keep the others in their columns; at the end they are not needed.
            while texts and not texts[-1]:
                texts.pop()
            parts = [Part("row", " ".join(CELL_BREAK.join(texts).split()))] if texts else []
        for part in parts:
            if self._rows and (cell := self._rows[-1].cell) is not None:
                cell.append(part)
                self._n_in_cells += len(part.text)
            else:
                self._append(part)

    def _append(self, part: Part, continues: bool = False) -> None:
        if self._blocks:
            listed = part.kind in ("item", "row") and self._blocks[-1].kind == part.kind
            gap = "\n" if listed or continues else "\n\n"
            self._texts.append(gap)
            self._length += len(gap)
        start = self._length
        self._texts.append(part.text)
        self._length += len(part.text)
        self._blocks.append(Block(part.kind, start, self._length, part.level, part.page))
        self._check_length()

    def _check_length(self) -> None:
        if self._length + self._n_in_cells > self._limits.characters:
            raise too_long(self._name, self._limits)

    def finish(self) -> Document:
        """Return the document.

        Raises:
            InputError: it has no text.
        """
        while self._rows:
            self.end_row()
        if not self._blocks:
            raise InputError(f"{self._name}: has no text; give a document with text")
        title = " ".join(without_controls(without_invisible(self.title)).split())[:LONGEST_TITLE]
        return Document("".join(self._texts), tuple(self._blocks), title)


def _next_row(spans: _Spans) -> None:
    """Count a row that was covered, and drop the columns that are covered no more."""
    for column, n_rows in list(spans.items()):
        if n_rows > 1:
            spans[column] = n_rows - 1
        else:
            del spans[column]


def _is_layout(cell: list[Part]) -> bool:
    if any(part.kind in ("row", "heading") for part in cell):
        return True
    return len(cell) > 1 and sum(len(part.text) for part in cell) > _LONG_CELL


def too_long(name: str, limits: ExtractionLimits) -> InputError:
    """Return the error for a document with too much text."""
    return InputError(
        f"{name}: has more than {limits.characters} characters of text; split it, or raise "
        f"characters of ExtractionLimits"
    )


def tidy(text: str) -> str:
    """Turn runs of whitespace into one space, or into one line break if they contain any.

    >>> tidy(" one   two\\xa0three \\n\\n four ")
    'one two three\\nfour'
    """
    return _AROUND_BREAK.sub("\n", _BLANKS.sub(" ", text.replace("\r", "\n"))).strip()
