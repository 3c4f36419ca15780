"""Unfinished output: hidden files and folders that vanish even if their process is killed.

Beside a draft lies a lock file, which its process holds.  The operating system frees the lock when
the process ends, however it ends, so a draft whose lock is free is abandoned.  The next call that
writes into the same folder removes it.  A process id in the name would not do: ids are used again,
and mean nothing to another machine that shares the folder.
"""

from __future__ import annotations

import errno
import os
import re
import shutil
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from uuid import uuid4

from filelock import FileLock, Timeout

LOCK = "-lock"
_DRAFT = re.compile(rf"(\..*\.draft-[0-9a-f]{{12}})(?:{LOCK}|\..*)?", re.DOTALL)
_UNLOCKED = re.compile(r"\..+\.[0-9a-f]{12}(?:\..*)?", re.DOTALL)
_LONGEST = 40
"""Characters of the final name that the draft's name repeats; names may have 255 bytes."""
_NO_LOCKS = (errno.ENOSYS, errno.ENOTSUP, errno.EOPNOTSUPP, errno.ENOLCK)
"""Errors of file systems without locks."""


@contextmanager
def new_draft(path: Path, suffix: str = "") -> Iterator[Path]:
    """Give a name for an unfinished file or folder beside its final place.

    Abandoned drafts in the same folder are removed first.

    Args:
        path: the final place; its folder exists.
        suffix: how the name of the draft ends.

    Yields:
        A path at which nothing exists.  What is there when the block ends is removed.
    """
    # `tempfile` would create the file with mode 0600; a name of our own is created with the user's
    # umask.
    remove_abandoned(path.parent)
    base, lock = _claim(path)
    draft = Path(f"{base}{suffix}")
    try:
        yield draft
    finally:
        _remove(draft)
        if lock is not None:
            drop_lock(lock)


def _claim(path: Path) -> tuple[Path, FileLock | None]:
    """Choose a name that no other process uses; the lock is ``None`` where there are no locks."""
    while True:
        name = f".{path.name[:_LONGEST]}.draft-{uuid4().hex[:12]}"
        # A generator may be closed by another thread than the one that started it.
        lock = FileLock(path.with_name(name + LOCK), thread_local=False)
        try:
            lock.acquire(timeout=0)
        except Timeout:
            continue  # Another process is about to remove the new lock file as abandoned.
        except (OSError, NotImplementedError) as error:
            if isinstance(error, OSError) and error.errno not in _NO_LOCKS:
                raise
            Path(lock.lock_file).unlink(missing_ok=True)
            # By its name no process takes it for a draft, as none could tell that it is in use.
            return path.with_name(f".{path.name[:_LONGEST]}.{uuid4().hex[:12]}"), None
        return path.with_name(name), lock


def is_draft(name: str) -> bool:
    """Whether a file or folder has the name of a draft, or of the lock of one."""
    return any(pattern.fullmatch(name) for pattern in (_DRAFT, _UNLOCKED))


def remove_abandoned(folder: Path) -> None:
    """Remove the drafts of killed processes in a folder; those of living ones stay.

    Args:
        folder: need not exist.
    """
    try:
        found = [match for name in os.listdir(folder) if (match := _DRAFT.fullmatch(name))]
    except OSError:
        return
    for base in {match[1] for match in found}:
        with _if_free(folder / f"{base}{LOCK}") as is_free:
            if is_free:
                for match in found:
                    if match[1] == base and match[0] != f"{base}{LOCK}":
                        _remove(folder / match[0])


def remove_free_locks(folder: Path, pattern: str) -> None:
    """Remove lock files that no process holds.

    Args:
        folder: need not exist.
        pattern: of the names of lock files whose users wait if they find one locked.
    """
    for path in folder.glob(pattern):
        with _if_free(path):
            pass


@contextmanager
def _if_free(path: Path) -> Iterator[bool]:
    """Hold a lock inside the block, if it is free, and then remove its file."""
    lock = FileLock(path, thread_local=False)
    try:
        lock.acquire(timeout=0)
    except (Timeout, OSError, NotImplementedError):
        # Held, or in a folder that is not ours to change.
        yield False
        return
    try:
        yield True
    finally:
        drop_lock(lock)


def drop_lock(lock: FileLock) -> None:
    """Release a lock and remove its file.

    Args:
        lock: held by the caller.
    """
    # Unlink before releasing.  A process that has already opened the lock file notices (from
    # filelock 3.24) that the file is gone and retries instead of locking an unlinked file.
    with suppress(OSError):
        os.unlink(lock.lock_file)
    lock.release()
    if os.name == "nt":
        # An open file cannot be removed there, neither by this process before nor by another now.
        with suppress(OSError):
            os.unlink(lock.lock_file)


def _remove(path: Path) -> None:
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path, ignore_errors=True)
    else:
        with suppress(OSError):
            path.unlink()
