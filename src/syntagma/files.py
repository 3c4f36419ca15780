"""Read the user's files, with errors that name the place."""

from __future__ import annotations

import codecs
import csv
import gzip
import io
import json
import os
import sys
import tarfile
import zlib
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from itertools import chain, islice
from pathlib import Path
from typing import IO, Any, cast

from syntagma.errors import DiskError, InputError

__all__ = [
    "BYTE_ORDER_MARK",
    "open_text",
    "read_errors",
    "read_json",
    "read_lines",
    "read_objects",
    "read_table",
    "read_text",
    "require_once",
    "require_path",
    "row_mistake",
    "split_pair",
    "unpacked",
]

STANDARD_INPUT = "-"
BYTE_ORDER_MARK = "\ufeff"
NEW_LINE = b"\n"
GZIP = b"\x1f\x8b"
"""What packed files begin with."""
UTF_16 = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)
"""What files in UTF-16 begin with."""
PAIR = "+"
"""Between the names of two files that correspond."""


def require_path(path: Any, wanted: str) -> None:
    """Check that it is the name of a file or folder.

    Args:
        path: what is given.
        wanted: what there should be the path of.

    Raises:
        InputError: it is something else.
    """
    if not isinstance(path, str | os.PathLike):
        raise InputError(f"expected the path of {wanted}, got {path!r:.60}")


def require_once(paths: Iterable[str]) -> None:
    """Check that standard input, which can be read but once, is not named twice.

    Raises:
        InputError: it is.
    """
    if (n_named := sum(path == STANDARD_INPUT for path in paths)) > 1:
        raise InputError(
            f"{STANDARD_INPUT}: standard input can be read once, and is named {n_named} times; "
            f"write all but one of them to files"
        )


def open_text(path: str | Path) -> IO[str]:
    """Open a UTF-8 text file, a ``.gz`` of one, or standard input (``-``).

    Line ends are kept as they are in the file, so that character offsets hold; a carriage return
    alone ends no line, as for all tools that count lines.

    Raises:
        DiskError: there is no such file, or it cannot be read.
        InputError: it is a folder, or standard input was read before.
    """
    require_path(path, "a file")
    if str(path) == STANDARD_INPUT:
        if sys.stdin.buffer.closed:
            raise InputError(f"{STANDARD_INPUT}: standard input was read already; give a file")
        return io.TextIOWrapper(sys.stdin.buffer, encoding="utf-8", newline="\n")
    path = Path(path)
    try:
        if not path.exists():
            raise DiskError(f"{path}: no such file; give the path of an existing file")
        if path.is_dir():
            raise InputError(f"{path}: is a folder; give the path of a file in it")
        # Opened once: what was read of a pipe cannot be read again.
        file = unpacked(open(path, "rb"))  # noqa: SIM115
    except OSError as error:
        raise DiskError(f"{path!s:.80}: cannot be read ({error.strerror})") from error
    return io.TextIOWrapper(file, encoding="utf-8", newline="\n")


def unpacked(raw: io.BufferedReader) -> IO[bytes]:
    """What is in a gzip file, which is closed with it; any other file as it is."""
    return cast("IO[bytes]", _Unpacked(raw)) if raw.peek(2).startswith(GZIP) else raw


class _Unpacked(gzip.GzipFile):
    def __init__(self, raw: io.BufferedReader) -> None:
        super().__init__(fileobj=raw)
        self._packed = raw

    def close(self) -> None:
        super().close()
        self._packed.close()


@contextmanager
def read_errors(path: str | Path, n_read: Callable[[], int] | None = None) -> Iterator[None]:
    """Turn what reading a damaged file gives into one clear line.

    Args:
        path: of the file.
        n_read: says how many lines were read, where they are read one by one.

    Raises:
        InputError: reading failed inside the block.
    """
    try:
        yield
    except UnicodeDecodeError as error:
        place = f" at byte {error.start}"
        if n_read is not None:
            # Bytes are decoded ahead of the lines, and only where no line is left to be given.
            place = f" in line {n_read() + 1 + error.object.count(NEW_LINE, 0, error.start)}"
        encoding = "utf-16" if error.object.startswith(UTF_16) else "latin1"
        raise InputError(
            f"{path}: not UTF-8{place} ({error.reason}); convert it, for example with "
            f"`iconv -f {encoding} -t utf-8`"
        ) from error
    except (EOFError, gzip.BadGzipFile, zlib.error) as error:
        raise InputError(f"{path}: damaged gzip file{_after(n_read)}; fetch it again") from error
    except tarfile.TarError as error:
        raise InputError(f"{path}: damaged archive ({error}); fetch it again") from error
    except csv.Error as error:
        raise InputError(f"{path}: broken table{_after(n_read)} ({error})") from error


def _after(n_read: Callable[[], int] | None) -> str:
    return "" if n_read is None else f" after line {n_read()}"


def read_lines(path: str | Path, *, whole: bool = False) -> Iterator[str]:
    """Yield the lines of a text file, in constant memory.

    Args:
        path: of the file.
        whole: as they stand in the file; else without their ends, and without a byte-order mark
            before the first.

    Raises:
        InputError: the file cannot be read or is not UTF-8; the line is named.
    """
    number = 0
    with read_errors(path, lambda: number), open_text(path) as lines:
        for line in lines:
            number += 1
            if not whole:
                line = line.removeprefix(BYTE_ORDER_MARK) if number == 1 else line
                line = line.rstrip("\r\n")
            yield line


def split_pair(path: str) -> tuple[str, str]:
    """The files of ``FIRST+SECOND``; the second is empty where there is one alone.

    A ``+`` may also stand in the name of a file or folder.
    """
    places = [place for place, character in enumerate(path) if character == PAIR]
    if not places or Path(path).is_file():
        return path, ""
    place = next((place for place in places if Path(path[:place]).is_file()), places[0])
    return path[:place], path[place + 1 :]


def read_text(path: str | Path) -> str:
    """The whole text of a file, character for character.

    Raises:
        InputError: the file cannot be read, is not UTF-8, or is empty.
    """
    with read_errors(path), open_text(path) as file:
        text = file.read()
    if not text.strip():
        raise InputError(f"{path}: is empty; expected text")
    return text


Row = dict[str, str | None]


def read_table(
    path: str | Path, *, separator: str = ",", quoted: bool = True
) -> tuple[list[str], Iterator[Row]]:
    """The names of the columns of a table, and its rows; cells that a row lacks are ``None``.

    Args:
        path: of the file.
        separator: between cells.
        quoted: whether quotes may stand around a cell; else they are characters like any other.

    Raises:
        InputError: the file cannot be read, is empty, or is no table.
    """
    rows = _table(path, separator, csv.QUOTE_MINIMAL if quoted else csv.QUOTE_NONE)
    names = next(rows, None)
    if names is None:
        raise InputError(f"{path}: is empty; expected a table with the names of its columns")
    return list(names), rows


def row_mistake(row: Row, needed: Iterable[str] = ()) -> str:
    """What is wrong with the shape of a row of a table; empty if nothing is.

    Args:
        row: as :func:`read_table` gives it.
        needed: the columns that it must have.
    """
    if None in row:
        return (
            "has more cells than the table has columns (a comma in a cell needs quotes around it)"
        )
    lacking = next((name for name in needed if row[name] is None), "")
    return f"ends before its column {lacking}" if lacking else ""


def _table(path: str | Path, separator: str, quoting: Any) -> Iterator[Row]:
    """The row of the names, each its own value, then the others."""
    number = 0
    with read_errors(path, lambda: number), open_text(path) as lines:
        # A carriage return inside a cell would be an error where no quotes can stand around it.
        plain = (line.rstrip("\r\n").replace("\r", " ") for line in lines)
        rows = iter(plain if quoting == csv.QUOTE_NONE else lines)
        # A mark left before a quoted name would hide the quote.
        first = (line.removeprefix(BYTE_ORDER_MARK) for line in islice(rows, 1))
        reader = csv.DictReader(chain(first, rows), delimiter=separator, quoting=quoting)
        if not reader.fieldnames:
            return
        yield {name: name for name in reader.fieldnames}
        for row in reader:
            number = reader.line_num
            yield row


def read_json(path: str | Path, *, extra: str = "") -> Any:
    """The value in a JSON file.

    Args:
        path: of the file.
        extra: what to say where the file goes on behind its value.

    Raises:
        InputError: the file cannot be read, or is not JSON; line and column are named.
    """
    text = read_text(path).removeprefix(BYTE_ORDER_MARK)
    try:
        return json.loads(text)
    except RecursionError as error:
        raise InputError(f"{path}: nested too deeply to be read") from error
    except json.JSONDecodeError as error:
        if not error.pos:
            begin = text[:40].partition("\n")[0]
            raise InputError(f"{path}: expected JSON, got a text that begins {begin!r}") from error
        raise InputError(
            f"{path}: broken JSON at line {error.lineno}, column {error.colno}: {error.msg}"
            f"{extra if error.msg == 'Extra data' else ''}"
        ) from error
    except ValueError as error:  # A number with thousands of digits.
        raise InputError(f"{path}: broken JSON ({error})") from error


def read_objects(path: str | Path) -> Iterator[tuple[str, dict[str, Any] | str]]:
    """The objects of a JSON array, or of a file that has one a line (``.jsonl``).

    Yields:
        The place of each for messages, and the object or what is wrong with it.

    Raises:
        InputError: the file cannot be read, or is no JSON array.
    """
    if str(path).lower().removesuffix(".gz").endswith(".jsonl"):
        for number, line in enumerate(read_lines(path), start=1):
            if line.strip():
                place = f"{path}, line {number}"
                try:
                    yield place, _object(json.loads(line), place)
                except (ValueError, RecursionError) as error:
                    yield place, f"{place}: broken JSON ({error})"
        return
    rows = read_json(path, extra="; if each line is an object by itself, name the file .jsonl")
    if not isinstance(rows, list):
        raise InputError(f"{path}: expected a list of objects, got {type(rows).__name__}")
    for number, row in enumerate(rows, start=1):
        place = f"{path}, entry {number}"
        yield place, _object(row, place)


def _object(row: Any, place: str) -> dict[str, Any] | str:
    return row if isinstance(row, dict) else f"{place}: expected an object, got {row!r:.40}"
