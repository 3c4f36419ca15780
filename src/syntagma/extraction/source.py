"""Read a document's bytes, whatever is under its path."""

from __future__ import annotations

import codecs
import os
import stat
from dataclasses import dataclass
from pathlib import Path

from syntagma.errors import DiskError, InputError
from syntagma.extraction.limits import ExtractionLimits, megabytes
from syntagma.files import nul_error, open_bytes, read_bounded, read_errors

_BYTE_ORDER_MARKS = (
    (codecs.BOM_UTF8, "utf-8"),
    # Before UTF-16: its mark begins like that of UTF-16.
    (codecs.BOM_UTF32_LE, "utf-32-le"),
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)


@dataclass(frozen=True, slots=True)
class Source:
    """A file that was read.

    Args:
        name: how messages call it.
        data: its bytes.
    """

    name: str
    data: bytes


def display_name(path: str | os.PathLike[str]) -> str:
    """Return a path as messages show it, in one line and without unpaired surrogates.

    >>> display_name("two\\nlines.txt"), display_name("caf\\udce9.txt")
    ('two\\\\nlines.txt', 'caf\\\\udce9.txt')
    """
    return "".join(
        character if character.isprintable() else character.encode("unicode_escape").decode()
        for character in os.fspath(path)
    )


def read_source(path: str | os.PathLike[str], name: str, limits: ExtractionLimits) -> Source:
    """Read a regular file.

    Args:
        path: its path.
        name: how messages call it.
        limits: how large it may be.

    Raises:
        DiskError: it does not exist, or cannot be read.
        InputError: it is a folder, a pipe or a device, is empty, or is too large.
    """
    try:
        # Without O_NONBLOCK, a pipe that nobody writes to would never open.  The checks look at
        # the open file: another one may have been put under its name in between.
        flags = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)
        file = os.fdopen(os.open(path, flags), "rb")
    except FileNotFoundError as error:
        raise DiskError(f"{name}: no such file; give the path of an existing file") from error
    except OSError as error:
        # Windows cannot open folders.
        if os.path.isdir(path):
            raise InputError(_folder(name)) from error
        raise DiskError(_unreadable(name, error)) from error
    except ValueError as error:
        raise InputError(f"{name}: the path contains a NUL character; give another one") from error
    with file:
        try:
            about = os.fstat(file.fileno())
            _check(about, name, limits)
            # As much memory as is asked for is taken at once, so not that for the limit.
            data = file.read(about.st_size + 1)
            if len(data) > about.st_size:  # The file has grown, or is one of those in /proc.
                data += file.read(limits.file_bytes + 1 - len(data))
        except OSError as error:
            raise DiskError(_unreadable(name, error)) from error
    if len(data) > limits.file_bytes:
        raise InputError(_too_large(name, len(data), limits))
    if not data:
        raise InputError(f"{name}: is empty; expected text")
    return Source(name, data)


def _check(about: os.stat_result, name: str, limits: ExtractionLimits) -> None:
    if stat.S_ISDIR(about.st_mode):
        raise InputError(_folder(name))
    if not stat.S_ISREG(about.st_mode):
        raise InputError(f"{name}: is a pipe or a device, not a file; save its data to a file")
    if about.st_size > limits.file_bytes:
        raise InputError(_too_large(name, about.st_size, limits))


def _folder(name: str) -> str:
    return f"{name}: is a folder; give the path of a file in it"


def _too_large(name: str, size: int, limits: ExtractionLimits) -> str:
    return (
        f"{name}: has {megabytes(size)}, more than the limit of {megabytes(limits.file_bytes)}; "
        f"split it, or raise file_bytes of ExtractionLimits"
    )


def _unreadable(name: str, error: OSError) -> str:
    reason = error.strerror or type(error).__name__
    remedy = (
        "; change its permissions, for example with `chmod u+r`"
        if isinstance(error, PermissionError)
        else ""
    )
    return f"{name}: cannot be read ({reason}){remedy}"


def marked_encoding(data: bytes) -> tuple[str, int]:
    """Return the encoding that a byte-order mark names and the length of the mark, in bytes.

    Without a mark, the name is empty.
    """
    return next(
        ((name, len(mark)) for mark, name in _BYTE_ORDER_MARKS if data.startswith(mark)), ("", 0)
    )


def decode_text(source: Source) -> str:
    """Decode a text file: UTF-8, or UTF-16 or UTF-32 with a byte-order mark, which is dropped.

    Raises:
        InputError: it has another encoding, or is not text.
    """
    encoding, n_mark = marked_encoding(source.data)
    data = source.data[n_mark:]
    if encoding in ("", "utf-8") and (nul := data.find(b"\0")) >= 0:
        raise nul_error(source.name, f"at byte {n_mark + nul}")
    try:
        return data.decode(encoding or "utf-8")
    except UnicodeDecodeError as error:
        named = (encoding or "utf-8").upper()
        wrong_at = n_mark + error.start
        raise InputError(
            f"{source.name}: not {named} at byte {wrong_at} ({error.reason}); convert it to UTF-8, "
            f"for example with `iconv -f latin1 -t utf-8`"
        ) from error


def read_plain_text(path: str | os.PathLike[str]) -> str:
    """Read a plain text, whatever its name, decoded as a document is.

    Args:
        path: a file, perhaps gzipped, or ``-`` for standard input.

    Raises:
        DiskError: it does not exist, or cannot be read.
        InputError: it is a folder or a device, has another encoding, is no text, is empty, or is
            too long.
    """
    name = display_name(path)
    with read_errors(name), open_bytes(Path(path)) as file:
        data = read_bounded(file, name)
    text = decode_text(Source(name, data))
    if not text.strip():
        raise InputError(f"{name}: is empty; expected text")
    return text


def suffix_of(path: str | os.PathLike[str]) -> str:
    """Return the suffix of a path in lower case, with its dot; empty if it has none."""
    return Path(path).suffix.lower()
