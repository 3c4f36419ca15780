"""Write files and folders whole or not at all."""

from __future__ import annotations

import errno
import json
import math
import os
import shutil
import stat
import sys
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any
from uuid import uuid4

from filelock import FileLock, Timeout

from syntagma.errors import BusyError, DiskError, InputError
from syntagma.files import split_pair

ELSEWHERE = "give another place"
STANDARD_OUTPUT = "/dev/stdout"


@contextmanager
def disk_errors(path: Path, remedy: str = ELSEWHERE) -> Iterator[None]:
    """Turn a full disk, or one that may not be written to, into one clear line.

    Args:
        path: of what is written.
        remedy: what to do, beside making room.

    Raises:
        DiskError: writing failed inside the block.
    """
    try:
        yield
    except InputError:
        raise
    except OSError as error:
        full = error.errno in (errno.ENOSPC, errno.EDQUOT)
        remedy = f"free some space or {remedy}" if full else remedy
        raise DiskError(_cannot_write(path, error.strerror or str(error), remedy)) from error
    except Exception as error:
        # The writers of tensors report a full disk as errors of their own.
        reason = str(error)
        if not any(sign in reason for sign in ("No space left", "os error", "StreamWriter")):
            raise
        raise DiskError(_cannot_write(path, reason, f"free some space or {remedy}")) from error


def _cannot_write(path: Path, reason: str, remedy: str) -> str:
    return f"{path}: cannot be written ({reason}); {remedy}; nothing was left half-written"


def require_file_place(path: str | Path) -> None:
    """Check that a file can be written, before the work that it is to hold, without writing it.

    Folders above it that are not there would be made.

    Raises:
        InputError: a folder is there, a file where the path has a folder, or nothing can be written
            there.
    """
    path = Path(path)
    if path.is_dir():
        raise InputError(f"{path}: is a folder; give the path of a file")
    for folder in path.parents:
        if folder.exists() and not folder.is_dir():
            raise InputError(f"{path}: {folder} is a file and no folder; give another place")
    if _is_stream(path):
        return
    above = next(folder for folder in path.absolute().parents if folder.exists())
    with disk_errors(path), tempfile.TemporaryFile(dir=above):
        pass


def require_apart(path: str | Path | None, read: Iterable[str | Path]) -> None:
    """Check that a file that is to be written is none of those that are read.

    Args:
        path: of the file; ``None`` if none is written.
        read: files, ``FIRST+SECOND`` and ``FILE#PART`` among them.

    Raises:
        InputError: it would take the place of one.
    """
    if path is None or not Path(path).is_file():
        return
    for name in read:
        for part in split_pair(str(name)):
            for file in (part, part.rpartition("#")[0]):
                if file and Path(file).is_file() and os.path.samefile(file, path):
                    raise InputError(
                        f"{path}: is read here, and what is written would take its place; give "
                        f"another file to write"
                    )


def _is_stream(path: Path) -> bool:
    """Whether it is a device or a pipe, which is written to and cannot be replaced."""
    is_other = path.exists() and not path.is_file() and not path.is_dir()
    return is_other or str(path) == STANDARD_OUTPUT


def _write_stream(path: Path, draft: Path) -> None:
    with open(draft, "rb") as file:
        if str(path) == STANDARD_OUTPUT:
            # Opened by its name it would be written from its beginning.
            sys.stdout.flush()
            shutil.copyfileobj(file, sys.stdout.buffer)
            sys.stdout.buffer.flush()
            return
        with open(path, "wb") as stream:
            shutil.copyfileobj(file, stream)


@contextmanager
def write_file(path: str | Path, remedy: str = ELSEWHERE) -> Iterator[Path]:
    """Write a file that appears under its name only when the block ends without an error.

    A device or a pipe is written to when the block ends.  A file that is replaced leaves its rights
    to the new one; where the name is a link, what it leads to is replaced.

    Args:
        path: of the file.
        remedy: what to do where it cannot be written, beside making room.

    Yields:
        An empty draft with the same ending, beside the file.

    Raises:
        InputError: the place cannot be written to, or the disk is full.
    """
    path = Path(path)
    if _is_stream(path):
        with disk_errors(path, remedy), tempfile.TemporaryDirectory() as folder:
            draft = Path(folder) / path.name
            draft.touch()
            yield draft
            _write_stream(path, draft)
        return
    with disk_errors(path, remedy):
        path = _followed(path)
        path.parent.mkdir(parents=True, exist_ok=True)
        draft = _draft(path, path.suffix)
        draft.touch(exist_ok=False)
        rights = stat.S_IMODE((path if path.exists() else draft).stat().st_mode)
        try:
            yield draft
            # Some writers make a file of their own.
            os.chmod(draft, rights)
            with open(draft, "r+b") as file:
                os.fsync(file.fileno())
            os.replace(draft, path)
        finally:
            draft.unlink(missing_ok=True)


def _followed(path: Path) -> Path:
    """What a link leads to; any other path as it is."""
    return path.resolve() if path.is_symlink() else path


def _draft(path: Path, ending: str = "") -> Path:
    """A hidden name beside a path that no other process has; made by it, rights are the user's."""
    return path.with_name(f".{path.name}.{uuid4().hex[:8]}{ending}")


def write_text(path: str | Path, text: str) -> None:
    """Write a text file whole or not at all; half of a surrogate pair becomes ``?``.

    Raises:
        InputError: the place cannot be written to, or the disk is full.
    """
    with write_file(path) as draft:
        draft.write_text(text, encoding="utf-8", errors="replace", newline="")


def write_json(path: str | Path, value: Any, *, indent: int | None = 2) -> None:
    """Write a JSON file whole or not at all; numbers that JSON does not have become ``null``."""
    try:
        text = json.dumps(value, ensure_ascii=False, indent=indent, allow_nan=False)
    except ValueError:
        text = json.dumps(_finite(value), ensure_ascii=False, indent=indent)
    write_text(path, text + "\n")


def _finite(value: Any) -> Any:
    """Nested values without infinities."""
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, Mapping):
        return {key: _finite(item) for key, item in value.items()}
    return [_finite(item) for item in value] if isinstance(value, list | tuple) else value


def require_absent(folder: str | Path) -> Path:
    """The folder as a path, if nothing is there yet or it is empty.

    Raises:
        InputError: it exists and holds something, or is a file.
    """
    folder = Path(folder)
    if folder.exists() and not folder.is_dir():
        raise InputError(f"{folder}: is a file; name a new folder")
    if folder.exists() and any(folder.iterdir()):
        raise InputError(
            f"{folder}: exists and is not empty; name a new folder or remove this one first"
        )
    return folder


@contextmanager
def hold_folder(
    folder: Path, *, when_busy: Callable[[], None] | None = None, remedy: str = ELSEWHERE
) -> Iterator[None]:
    """Keep other processes that ask for the same out of a folder, which need not be there yet.

    Args:
        folder: to be held.
        when_busy: called where another process has it, before this one waits for it; if not given,
            that is an error.
        remedy: what to do where nothing can be written there.

    Raises:
        BusyError: another process has it.
    """
    # Of a path like `.` too there is a name.
    place = folder.resolve().with_name(f".{folder.resolve().name}.lock")
    lock = FileLock(place)
    with disk_errors(folder, remedy):
        place.parent.mkdir(parents=True, exist_ok=True)
        try:
            lock.acquire(timeout=0)
        except Timeout as error:
            if when_busy is None:
                raise BusyError(
                    f"{folder}: another process is at work there; wait for that one, or name "
                    f"another folder"
                ) from error
            when_busy()
            lock.acquire()
    try:
        yield
    finally:
        # While it is held: whoever has opened this very file finds that it has no name any more
        # and does not take it (filelock from 3.24 on). Windows removes no open file.
        with suppress(OSError):
            place.unlink()
        lock.release()


@contextmanager
def write_folder(folder: str | Path, remedy: str = ELSEWHERE) -> Iterator[Path]:
    """Fill a folder that appears under its name only when the block ends without an error.

    Args:
        folder: absent, or empty.
        remedy: what to do where it cannot be written, besides making room.

    Yields:
        A draft folder beside the final one.

    Raises:
        InputError: the folder exists and holds something, or the disk is full.
    """
    folder = require_absent(folder).resolve()
    with disk_errors(folder, remedy):
        folder.parent.mkdir(parents=True, exist_ok=True)
        draft = _draft(folder)
        draft.mkdir()
        try:
            yield draft
            if folder.exists():
                folder.rmdir()
            os.replace(draft, folder)
        finally:
            shutil.rmtree(draft, ignore_errors=True)
