"""Read the user's files; every error names the file and, where known, the line.

Memory is bounded by :data:`MAX_LINE` and :data:`MAX_TEXT`: a device or a pipe may never end, and a
small gzip file may unpack to terabytes.
"""

from __future__ import annotations

import codecs
import csv
import gzip
import io
import json
import os
import stat
import sys
import tarfile
import zlib
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any, AnyStr, cast

from syntagma.errors import DiskError, InputError
from syntagma.file_names import is_named
from syntagma.json_values import array_items, parse_json

STANDARD_INPUT, STANDARD_OUTPUTS = "-", ("-", "/dev/stdout")
BYTE_ORDER_MARK = "\ufeff"
NEW_LINE = b"\n"
GZIP = b"\x1f\x8b"
"""Magic number of gzip files."""
UTF_16 = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)
"""Byte-order marks that UTF-16 files begin with."""
MAX_LINE = 2**26
"""The longest line that is read, in characters (or bytes, where bytes are read)."""
MAX_TEXT = 2**30
"""The longest text that is read as a whole, in characters."""


def require_path(path: Any, wanted: str) -> None:
    """Check that a value is a path.

    Args:
        path: the value to check.
        wanted: what the path should lead to, for the message ("a file").

    Raises:
        InputError: the value is not a string or path object.
    """
    if not isinstance(path, str | os.PathLike):
        raise InputError(f"expected the path of {wanted}, got {path!r:.60}")


def require_once(paths: Iterable[str]) -> None:
    """Check that standard input, which can only be read once, is named at most once.

    Raises:
        InputError: it is named more than once.
    """
    if (n_named := sum(path == STANDARD_INPUT for path in paths)) > 1:
        raise InputError(
            f"{STANDARD_INPUT}: standard input can only be read once, but is named {n_named} "
            f"times; save all but one of the inputs to files"
        )


def open_text(path: str | Path) -> IO[str]:
    """Open a UTF-8 text file, a ``.gz`` of one, or standard input (``-``).

    Line endings are not translated, so that character offsets stay valid.  Only a line feed ends a
    line, as in ``wc`` and ``grep``: a lone carriage return does not.

    Raises:
        DiskError: the file does not exist or cannot be read.
        InputError: the path is a folder, or standard input has already been read.
    """
    return io.TextIOWrapper(open_bytes(path), encoding="utf-8", newline="\n")


def open_bytes(path: str | Path) -> IO[bytes]:
    """Open a file, a ``.gz`` of one, or standard input (``-``) for its unpacked bytes.

    Raises:
        DiskError: the file does not exist or cannot be read.
        InputError: the path is a folder, or standard input has already been read.
    """
    require_path(path, "a file")
    if str(path) == STANDARD_INPUT:
        if sys.stdin.buffer.closed:
            raise InputError(f"{STANDARD_INPUT}: standard input has already been read; give a file")
        return sys.stdin.buffer
    path = Path(path)
    try:
        if not path.exists():
            raise DiskError(
                f"{path}: no such file; give the path of an existing file, or - and the text on "
                f"standard input"
            )
        if path.is_dir():
            raise InputError(f"{path}: is a folder; give the path of a file in it")
        raw = open(path, "rb")  # noqa: SIM115
        try:
            require_end(raw, path)
            # Open once and peek: bytes read from a pipe to detect gzip could not be read again.
            return unpacked(raw)
        except BaseException:
            raw.close()
            raise
    except OSError as error:
        raise DiskError(f"{path!s:.80}: cannot be read ({error.strerror})") from error


def require_end(file: io.BufferedReader, path: str | Path) -> None:
    """Check that an open file is not a device such as ``/dev/zero``, which never ends.

    Terminals end with the user's end-of-file character, and ``/dev/null`` ends at once.

    Raises:
        InputError: it is a device.
    """
    about = os.fstat(file.fileno())
    if not stat.S_ISCHR(about.st_mode) or file.isatty():
        return
    if about.st_rdev != os.stat(os.devnull).st_rdev:
        raise InputError(f"{path}: is a device, whose data may never end; give a file")


def unpacked(raw: io.BufferedReader) -> IO[bytes]:
    """Decompress a gzip file; return any other file unchanged.

    Closing the result closes the underlying file.
    """
    return cast("IO[bytes]", _Unpacked(raw)) if raw.peek(2).startswith(GZIP) else raw


class _Unpacked(gzip.GzipFile):
    """A gzip file that owns its source: ``GzipFile`` leaves a given ``fileobj`` open."""

    def __init__(self, raw: io.BufferedReader) -> None:
        super().__init__(fileobj=raw)
        self._packed = raw

    def close(self) -> None:
        super().close()
        self._packed.close()


@contextmanager
def read_errors(
    path: str | Path,
    n_read: Callable[[], int] | None = None,
    *,
    n_bytes: Callable[[], int] | None = None,
) -> Iterator[None]:
    """Turn reading, decoding, gzip, tar and CSV errors in the block into one-line messages.

    Args:
        path: file being read.
        n_read: returns the number of lines read so far; give it when reading line by line.
        n_bytes: returns the number of bytes read so far; give it when decoding block by block.

    Raises:
        InputError: reading failed inside the block.
    """
    try:
        yield
    except UnicodeDecodeError as error:
        before = 0 if n_bytes is None else n_bytes() - len(error.object)
        place = f" at byte {before + error.start}"
        if n_read is not None:
            # The decoder reads a new chunk only when all earlier lines have been yielded, so the
            # line feeds before the bad byte in this chunk are lines that were not counted yet.
            place = f" in line {n_read() + 1 + error.object.count(NEW_LINE, 0, error.start)}"
        encoding = "utf-16" if error.object.startswith(UTF_16) else "latin1"
        raise InputError(
            f"{path}: not UTF-8{place} ({error.reason}); convert it, for example with "
            f"`iconv -f {encoding} -t utf-8`"
        ) from error
    except (EOFError, gzip.BadGzipFile, zlib.error) as error:
        raise InputError(f"{path}: damaged gzip file{_after(n_read)}; download it again") from error
    except OSError as error:  # Some files can be opened but not read, such as /proc/self/mem.
        reason = error.strerror or type(error).__name__
        raise DiskError(f"{path}: cannot be read{_after(n_read)} ({reason})") from error
    except tarfile.TarError as error:
        raise InputError(f"{path}: damaged archive ({error}); download it again") from error
    except csv.Error as error:
        raise InputError(f"{path}: broken table{_after(n_read)} ({error})") from error


def _after(n_read: Callable[[], int] | None) -> str:
    return "" if n_read is None else f" after line {n_read()}"


def read_lines(path: str | Path, *, whole: bool = False) -> Iterator[str]:
    """Yield the lines of a text file, in constant memory: no line is longer than :data:`MAX_LINE`.

    Args:
        path: a text file, ``.gz`` or ``-``.
        whole: yield each line unchanged; by default line endings and a leading byte-order mark
            are stripped.

    Raises:
        InputError: the file cannot be read or is not UTF-8, or a line is too long; the message
            names the line.
    """
    number = 0
    with read_errors(path, lambda: number), open_text(path) as file:
        for line in bounded_lines(file, path):
            number += 1
            if not whole:
                line = line.removeprefix(BYTE_ORDER_MARK) if number == 1 else line
                line = line.rstrip("\r\n")
            yield line


def text_lines(path: str | Path, *, whole: bool = False) -> Iterator[str]:
    """Do the same as :func:`read_lines`, for running text: refuse NULs, which UTF-16 has."""
    for number, line in enumerate(read_lines(path, whole=whole), start=1):
        if "\0" in line:
            raise nul_error(path, f"in line {number}")
        yield line


def bounded_lines(file: IO[AnyStr], path: str | Path) -> Iterator[AnyStr]:
    """Yield the lines of an open file unchanged.

    Args:
        file: a text or binary file.
        path: its name, for messages.

    Raises:
        InputError: a line is longer than :data:`MAX_LINE`.
    """
    number = 0
    while line := file.readline(MAX_LINE + 1):
        number += 1
        if len(line) > MAX_LINE:
            raise InputError(
                f"{path}: line {number} is longer than {MAX_LINE} characters; give a text file "
                f"with shorter lines"
            )
        yield line


def read_text(path: str | Path) -> str:
    """Read a whole file, character for character.

    Raises:
        InputError: the file cannot be read, is not UTF-8, contains a NUL, is empty, or is longer
            than :data:`MAX_TEXT`.
    """
    n_bytes = 0

    def decoded(file: IO[bytes]) -> Iterator[str]:
        nonlocal n_bytes
        decoder = codecs.getincrementaldecoder("utf-8")()
        while block := file.read(2**20):
            n_bytes += len(block)
            yield decoder.decode(block)
        yield decoder.decode(b"", final=True)

    with read_errors(path, n_bytes=lambda: n_bytes), open_bytes(path) as file:
        text = "".join(_bounded(decoded(file), path))
    if (nul := text.find("\0")) >= 0:
        raise nul_error(path, f"at byte {len(text[:nul].encode())}")
    if not text.strip():
        raise InputError(f"{path}: is empty; expected text")
    return text


def nul_error(path: str | Path, place: str) -> InputError:
    """Return the error for a NUL, which is valid UTF-8, but in no text: UTF-16 has it in most.

    Args:
        path: the file.
        place: where it is, for the message ("at byte 1").
    """
    return InputError(
        f"{path}: has a NUL {place}, so it is not UTF-8 text; give a text file, or if it is "
        f"UTF-16, convert it with `iconv -f utf-16 -t utf-8`"
    )


def read_bounded(file: IO[AnyStr], path: str | Path) -> AnyStr:
    """Return the rest of an open file.

    Args:
        file: a text or binary file.
        path: its name, for messages.

    Raises:
        InputError: it is longer than :data:`MAX_TEXT`.
    """
    end = file.read(0)
    return end.join(_bounded(iter(lambda: file.read(2**20), end), path))


def _bounded(parts: Iterable[AnyStr], path: str | Path) -> Iterator[AnyStr]:
    """Yield the parts of a text; an error if they are longer than :data:`MAX_TEXT` together."""
    length = 0
    for part in parts:
        if (length := length + len(part)) > MAX_TEXT:
            raise InputError(
                f"{path}: is longer than {MAX_TEXT} characters; give a smaller text file"
            )
        yield part


def read_json(path: str | Path, *, extra: str = "", finite: bool = True) -> Any:
    """Read a JSON file.

    Args:
        path: a JSON file.
        extra: hint appended to the message if the file continues after its first JSON value.
        finite: as for :func:`syntagma.json_values.parse_json`.

    Raises:
        InputError: the file cannot be read or is not JSON; the message names line and column.
    """
    return _read_as_json(read_text(path).removeprefix(BYTE_ORDER_MARK), path, extra, finite)


ONE_A_LINE = "; if every line is a separate object, name the file .jsonl"


def _read_as_json(text: str, path: str | Path, extra: str = ONE_A_LINE, finite: bool = True) -> Any:
    """Parse the text of a JSON file."""
    try:
        return parse_json(text, finite=finite)
    except json.JSONDecodeError as error:
        if not error.pos and error.msg.startswith("Expecting"):
            begin = text[:40].partition("\n")[0]
            raise InputError(
                f"{path}: expected JSON, got text that begins {begin!r}; give a JSON file"
            ) from error
        raise InputError(
            f"{path}: broken JSON at line {error.lineno}, column {error.colno}: {error.msg}"
            f"{extra if error.msg == 'Extra data' else ''}"
        ) from error
    except ValueError as error:
        raise InputError(f"{path}: broken JSON ({error}); give a correct file") from error


def read_objects(
    path: str | Path, *, lines: bool | None = None
) -> Iterator[tuple[str, dict[str, Any] | str]]:
    """Yield the objects of a JSON array, or of a JSON Lines file.

    Args:
        path: the file, plain or gzipped, or ``-`` for standard input.
        lines: whether every line is an object; by default if the file is named ``.jsonl``.

    Yields:
        The location of each object for error messages, and the object itself or a description of
        what is wrong with it.

    Raises:
        InputError: the file cannot be read or is not a JSON array.
    """
    if lines is None:
        lines = is_named(path, ".jsonl")
    if lines:
        for number, line in enumerate(read_lines(path), start=1):
            if line.strip():
                place = f"{path}, line {number}"
                try:
                    yield place, _object(parse_json(line), place)
                except ValueError as error:
                    yield place, f"{place}: broken JSON ({error})"
        return
    for number, row in enumerate(_items_of_array(path), start=1):
        yield (place := f"{path}, entry {number}"), _object(row, place)


def _items_of_array(path: str | Path) -> Iterator[Any]:
    """Yield the items of a JSON array one by one, so that not all are in memory at once."""
    text = read_text(path).removeprefix(BYTE_ORDER_MARK)
    try:
        yield from array_items(text)
    except ValueError:
        rows = _read_as_json(text, path)  # Raises an error that names line and column.
        raise InputError(f"{path}: expected a list of objects, got {type(rows).__name__}") from None


def _object(row: Any, place: str) -> dict[str, Any] | str:
    return row if isinstance(row, dict) else f"{place}: expected an object, got {row!r:.40}"
