"""Write files and folders atomically: completely or not at all."""

from __future__ import annotations

import json
import math
import os
import re
import shutil
import stat
import sys
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from filelock import FileLock, Timeout

from syntagma.drafts import drop_lock, new_draft
from syntagma.errors import DISK_FULL, BusyError, DiskError, InputError
from syntagma.file_names import split_pair
from syntagma.files import STANDARD_OUTPUTS

ELSEWHERE = "give another path"
# Separators of paths, and what Windows refuses in names.
_NOT_IN_NAMES = re.compile(r'[<>:"/\\|?*\x00-\x1f\x7f]+')
_DEVICE = re.compile(r"(?:con|prn|aux|nul|com\d|lpt\d)(?:\.|\Z)", re.IGNORECASE)


@contextmanager
def disk_errors(path: Path, remedy: str = ELSEWHERE) -> Iterator[None]:
    """Turn write errors in the block (full disk, no permission) into one-line messages.

    Args:
        path: file or folder being written.
        remedy: what the user can do, apart from freeing disk space.

    Raises:
        DiskError: writing failed inside the block.
    """
    try:
        yield
    except InputError:
        raise
    except OSError as error:
        reason = error.strerror or str(error)
        place = Path(error.filename) if isinstance(error.filename, str) else path
        if error.errno in DISK_FULL:
            remedy = f"free some space or {remedy}"
        elif place.is_symlink() and not place.exists():
            # "File exists" would be all that the system says.
            reason = f"{place} is a link to {os.readlink(place)}, which does not exist"
            remedy = f"create that folder or {remedy}"
        raise DiskError(_cannot_write(path, reason, remedy)) from error
    except Exception as error:
        # torch and safetensors raise their own exception types when the disk is full; only the
        # message tells.
        reason = str(error)
        if not any(sign in reason for sign in ("No space left", "os error", "StreamWriter")):
            raise
        raise DiskError(_cannot_write(path, reason, f"free some space or {remedy}")) from error


def _cannot_write(path: Path, reason: str, remedy: str) -> str:
    return f"{path}: cannot be written ({reason}); {remedy}; no partial output was left"


def portable_name(text: str) -> str:
    """Turn a text into a name that files can have on Linux, macOS and Windows.

    Two texts may get the same name, and on many systems names that differ only in case are the
    same; callers keep them apart.

    Args:
        text: a text, such as the name of a model.

    >>> portable_name("conllu:a/b.txt"), portable_name("nul"), portable_name("etc.")
    ('conllu_a_b.txt', '_nul', 'etc')
    """
    name = _NOT_IN_NAMES.sub("_", text).rstrip(" .")
    return f"_{name}" if not name or _DEVICE.match(name) else name


def require_file_place(path: str | Path) -> None:
    """Check that a file can be written, before starting the work that produces its contents.

    Nothing is created; missing parent folders are fine, since writing creates them.

    Raises:
        InputError: the path is a folder, one of its parents is a file, the folder is not writable,
            or it is a link that cannot be followed.
    """
    path = Path(path)
    # First: there may be a folder called "-".
    if is_stream(path):
        return
    if path.is_dir():
        raise InputError(f"{path}: is a folder; give the path of a file")
    target = followed(path)
    for folder in target.parents:
        if folder.exists() and not folder.is_dir():
            raise InputError(f"{path}: {folder} is a file, not a folder; give another path")
    # Trying to write is the only reliable test: permission bits say nothing about read-only mounts.
    above = next(folder for folder in target.absolute().parents if folder.exists())
    with disk_errors(path), tempfile.TemporaryFile(dir=above):
        pass


def require_apart(path: str | Path | None, read: Iterable[str | Path]) -> None:
    """Check that an output file is not one of the input files.

    Args:
        path: the output file, or ``None``.
        read: the input files; may include ``FIRST+SECOND`` and ``FILE#PART``.

    Raises:
        InputError: writing the output would overwrite an input.
    """
    if path is None or not Path(path).is_file():
        return
    for name in read:
        for part in split_pair(str(name)):
            for file in (part, part.rpartition("#")[0]):
                if file and Path(file).is_file() and os.path.samefile(file, path):
                    raise InputError(
                        f"{path}: is an input of this command and would be overwritten; give "
                        f"another output file"
                    )


def is_stream(path: Path) -> bool:
    """Whether the path is standard output, a device or a pipe, which cannot be replaced."""
    if path.as_posix() in STANDARD_OUTPUTS:
        return True
    return path.exists() and not path.is_file() and not path.is_dir()


def _write_stream(path: Path, draft: Path) -> None:
    # A reader that closes the pipe, such as `head`, has what it wants: that is no failure.
    with open(draft, "rb") as file, suppress(BrokenPipeError):
        if path.as_posix() in STANDARD_OUTPUTS:
            # Opening /dev/stdout anew would start at offset 0 and, if it is redirected to a file,
            # overwrite what was already printed.
            sys.stdout.flush()
            shutil.copyfileobj(file, sys.stdout.buffer)
            sys.stdout.buffer.flush()
            return
        with open(path, "wb") as stream:
            shutil.copyfileobj(file, stream)


@contextmanager
def write_file(path: str | Path, remedy: str = ELSEWHERE) -> Iterator[Path]:
    """Write a file atomically: it appears under its name only if the block succeeds.

    Standard output (``-``), devices and pipes are written to when the block ends.  The permissions
    of an existing file are kept; if the path is a symbolic link, its target is replaced.  What
    killed processes left in the folder is removed (:mod:`syntagma.drafts`).

    Args:
        path: the file to write.
        remedy: what the user can do if writing fails, apart from freeing disk space.

    Yields:
        An empty draft file in the same folder, with the same suffix.

    Raises:
        InputError: the path is not writable, or the disk is full.
    """
    path = Path(path)
    if is_stream(path):
        elsewhere = Path(tempfile.gettempdir()) / "syntagma"
        with disk_errors(path, remedy), new_draft(elsewhere) as folder:
            folder.mkdir(mode=0o700)
            draft = folder / path.name
            draft.touch()
            yield draft
            _write_stream(path, draft)
        return
    with disk_errors(path, remedy):
        path = followed(path)
        path.parent.mkdir(parents=True, exist_ok=True)
        with new_draft(path, path.suffix) as draft:
            draft.touch(exist_ok=False)
            permissions = stat.S_IMODE((path if path.exists() else draft).stat().st_mode)
            yield draft
            # Some writers replace the draft with a new file, whose permissions may differ.
            os.chmod(draft, permissions)
            # Flush before renaming; otherwise a crash could leave an empty file under the name.
            with open(draft, "r+b") as file:
                os.fsync(file.fileno())
            os.replace(draft, path)


def followed(path: Path) -> Path:
    """Resolve a symbolic link to its target; return any other path unchanged.

    Raises:
        InputError: the link leads to itself, or cannot be followed.
    """
    if not path.is_symlink():
        return path
    try:
        return path.resolve()
    except (OSError, RuntimeError) as error:  # Python raises either for links in a circle.
        raise InputError(
            f"{path}: is a link that cannot be followed ({error}); give another path"
        ) from error


def write_text(path: str | Path, text: str) -> None:
    """Write a text file atomically as UTF-8; unpaired surrogates become ``?``.

    Raises:
        InputError: the path is not writable, or the disk is full.
    """
    with write_file(path) as draft:
        draft.write_text(text, encoding="utf-8", errors="replace", newline="")


def write_json(
    path: str | Path, value: Any, *, indent: int | None = 2, finite: bool = True
) -> None:
    """Write a JSON file atomically.

    Args:
        path: the file.
        value: its content.
        indent: spaces of each level; ``None`` for one line.
        finite: whether NaN and infinities, which JSON lacks, become ``null``; otherwise they are
            written as Python's ``json`` writes them, for files that only this package reads.
    """
    if not finite:
        write_text(path, json.dumps(value, ensure_ascii=False, indent=indent) + "\n")
        return
    try:
        text = json.dumps(value, ensure_ascii=False, indent=indent, allow_nan=False)
    except ValueError:
        text = json.dumps(_finite(value), ensure_ascii=False, indent=indent)
    write_text(path, text + "\n")


def _finite(value: Any) -> Any:
    """Replace NaN and infinities in nested values with ``None``."""
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, Mapping):
        return {key: _finite(item) for key, item in value.items()}
    return [_finite(item) for item in value] if isinstance(value, list | tuple) else value


def require_absent(folder: str | Path) -> Path:
    """Return the folder as a path, after checking that it is missing or empty.

    Raises:
        InputError: the path is a file or a folder with contents.
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
    """Lock a folder, which does not need to exist yet, for the duration of the block.

    The lock is advisory: it excludes only other callers of this function.

    Args:
        folder: to be held.
        when_busy: called if another process holds the lock, before waiting for it; without it,
            that is an error.
        remedy: what to do if nothing can be written there, for the message.

    Raises:
        BusyError: another process holds the lock.
    """
    # Resolve first: a path such as `.` has no name to derive the lock file from.
    lock_file = folder.resolve().with_name(f".{folder.resolve().name}.lock")
    lock = FileLock(lock_file)
    with disk_errors(folder, remedy):
        lock_file.parent.mkdir(parents=True, exist_ok=True)
        try:
            lock.acquire(timeout=0)
        except Timeout as error:
            if when_busy is None:
                raise BusyError(
                    f"{folder}: another process is working in this folder; wait until it has "
                    f"finished, or give another folder"
                ) from error
            when_busy()
            lock.acquire()
    try:
        yield
    finally:
        drop_lock(lock)


@contextmanager
def write_folder(folder: str | Path, remedy: str = ELSEWHERE) -> Iterator[Path]:
    """Write a folder atomically: it appears under its name only if the block succeeds.

    Args:
        folder: absent, or empty.
        remedy: what to do if it cannot be written, for the message.

    Yields:
        A draft folder next to the final one.

    Raises:
        InputError: the folder exists and is not empty, or the disk is full.
    """
    folder = require_absent(folder).resolve()
    with disk_errors(folder, remedy):
        folder.parent.mkdir(parents=True, exist_ok=True)
        with new_draft(folder) as draft:
            draft.mkdir()
            yield draft
            # An empty folder was accepted above, but a rename cannot replace it on Windows.
            if folder.exists():
                folder.rmdir()
            os.replace(draft, folder)
