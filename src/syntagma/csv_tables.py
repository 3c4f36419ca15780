"""Read tables of comma- or tab-separated values; every error names the file and the line."""

from __future__ import annotations

import csv
from collections.abc import Iterable, Iterator
from itertools import chain, islice
from pathlib import Path
from typing import Any

from syntagma.errors import InputError
from syntagma.files import BYTE_ORDER_MARK, bounded_lines, open_text, read_errors

Row = dict[str, str | None]


def read_table(
    path: str | Path, *, separator: str = ",", quoted: bool = True
) -> tuple[list[str], Iterator[Row]]:
    """Return the column names and an iterator over the rows of a delimited table.

    Cells missing at the end of a row are ``None``.

    Args:
        path: a CSV or TSV file with a header row.
        separator: the cell delimiter.
        quoted: whether cells may be quoted; otherwise quotes are ordinary characters.

    Raises:
        InputError: the file cannot be read, is empty, or is not a valid table.
    """
    rows = _table(path, separator, csv.QUOTE_MINIMAL if quoted else csv.QUOTE_NONE)
    names = next(rows, None)
    if names is None:
        raise InputError(f"{path}: is empty; expected a table with a header row")
    return list(names), rows


def row_mistake(row: Row, needed: Iterable[str] = ()) -> str:
    """Describe what is wrong with the shape of a table row; empty if nothing is.

    Args:
        row: a row from :func:`read_table`.
        needed: names of the required columns.
    """
    # DictReader collects surplus cells under the key None.
    if None in row:
        return "has more cells than the table has columns (quote cells that contain a comma)"
    lacking = next((name for name in needed if row[name] is None), "")
    return f"ends before its column {lacking}" if lacking else ""


def _table(path: str | Path, separator: str, quoting: Any) -> Iterator[Row]:
    """Yield a row that maps each column name to itself, then the data rows."""
    number = 0
    with read_errors(path, lambda: number), open_text(path) as file:
        lines = bounded_lines(file, path)
        # The csv module rejects a carriage return in an unquoted cell.
        plain = (line.rstrip("\r\n").replace("\r", " ") for line in lines)
        rows = plain if quoting == csv.QUOTE_NONE else lines
        # Before a quoted name, a byte-order mark would turn the quotes into part of the name.
        first = (line.removeprefix(BYTE_ORDER_MARK) for line in islice(rows, 1))
        reader = csv.DictReader(chain(first, rows), delimiter=separator, quoting=quoting)
        if not reader.fieldnames:
            return
        yield {name: name for name in reader.fieldnames}
        for row in reader:
            number = reader.line_num
            yield row
