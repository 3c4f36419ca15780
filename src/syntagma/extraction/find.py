"""Find the documents in files and folders."""

from __future__ import annotations

import os
import stat
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

from syntagma.checks import require_several
from syntagma.errors import DiskError, InputError
from syntagma.extraction.extract import SUFFIXES, is_supported
from syntagma.extraction.source import display_name, suffix_of
from syntagma.files import require_path

AnyPath = str | os.PathLike[str]

_N_SHOWN = 8
"""Suffixes of skipped files that the message names."""
_LONGEST_SUFFIX = 12


@dataclass(frozen=True, slots=True)
class FoundFile:
    """A document that was found.

    Args:
        path: its path: as it was given, or below the folder that was given.
        size: of the file, in bytes.
        mtime_ns: when it was changed, in nanoseconds since 1970.
    """

    path: str
    size: int
    mtime_ns: int


def find_documents(
    sources: Iterable[AnyPath], *, on_problem: Callable[[str], object]
) -> Iterator[FoundFile]:
    """Yield the documents among files and in folders, in the order of the sources and of names.

    Hidden files and folders are skipped unless they are given.  Links are followed.  A file that is
    reached twice, also by links in a circle, is given once.

    Args:
        sources: files and folders.
        on_problem: is called with a line for each folder or file that cannot be read, and at the
            end with one that counts the files of other kinds.

    Raises:
        InputError: a source does not exist, or is a file of another kind.
    """
    require_several(sources, "files and folders")
    search = _Search(on_problem)
    given = [_checked(source) for source in sources]
    for path, about in given:
        yield from search.found(path, about)
    search.report_skipped()


def _checked(source: AnyPath) -> tuple[str, os.stat_result]:
    """Return the path and the status of a source, once it is known to be usable."""
    require_path(source, "a file or folder")
    path = os.fspath(source)
    name = display_name(path)
    try:
        about = os.stat(path)
    except (FileNotFoundError, NotADirectoryError) as error:
        raise DiskError(
            f"{name}: no such file or folder; give the path of one that exists"
        ) from error
    except (OSError, ValueError) as error:
        raise DiskError(f"{name}: cannot be read ({_reason(error)}); give another path") from error
    if stat.S_ISDIR(about.st_mode):
        return path, about
    if not stat.S_ISREG(about.st_mode):
        raise InputError(f"{name}: is a pipe or a device; save its data to a file")
    if not is_supported(path):
        raise InputError(
            f"{name}: is not a file that can be read; give a folder, or a file with one of the "
            f"suffixes {', '.join(SUFFIXES)}"
        )
    return path, about


class _Search:
    """Remembers what was found."""

    def __init__(self, on_problem: Callable[[str], object]) -> None:
        self._on_problem = on_problem
        self._seen: set[tuple[int, int]] = set()
        self._skipped: Counter[str] = Counter()

    def found(self, path: str, about: os.stat_result) -> Iterator[FoundFile]:
        """Yield a file, or the files in a folder and in its folders."""
        # A list of what is left, not recursion: folders may be nested in any depth.
        left: list[tuple[str, os.stat_result | None]] = [(path, about)]
        while left:
            path, known = left.pop()
            if (status := known or self._status(path)) is None:
                continue
            is_folder = stat.S_ISDIR(status.st_mode)
            if not is_folder and not (stat.S_ISREG(status.st_mode) and is_supported(path)):
                self._skipped[_kind(path, status)] += 1
                continue
            # Two names of the same file have the same content, whether by links or not.
            identity = (status.st_dev, status.st_ino)
            if identity in self._seen:
                continue
            self._seen.add(identity)
            if not is_folder:
                yield FoundFile(path, status.st_size, status.st_mtime_ns)
                continue
            inside = [(os.path.join(path, name), None) for name in self._names(path)]
            left += reversed(inside)

    def _status(self, path: str) -> os.stat_result | None:
        try:
            return os.stat(path)
        except (OSError, ValueError) as error:
            # Links that lead nowhere, or to themselves, and files that are gone meanwhile.
            if is_supported(path) or not os.path.islink(path):
                self._on_problem(
                    f"{display_name(path)}: cannot be read ({_reason(error)}); skipped"
                )
            return None

    def _names(self, folder: str) -> list[str]:
        try:
            return sorted(
                (name for name in os.listdir(folder) if not name.startswith(".")), key=os.fsencode
            )
        except OSError as error:
            self._on_problem(f"{display_name(folder)}: cannot be read ({_reason(error)}); skipped")
            return []

    def report_skipped(self) -> None:
        """Say how many files of other kinds there were, and which, the most frequent first."""
        n_skipped = self._skipped.total()
        if not n_skipped:
            return
        kinds = sorted(self._skipped, key=lambda kind: (-self._skipped[kind], kind))
        shown = kinds[:_N_SHOWN] + (["others"] if len(kinds) > _N_SHOWN else [])
        files = (
            "1 file of another kind was"
            if n_skipped == 1
            else f"{n_skipped} files of other kinds were"
        )
        self._on_problem(f"{files} skipped: {', '.join(shown)}")


def _kind(path: str, about: os.stat_result) -> str:
    if not stat.S_ISREG(about.st_mode):
        return "pipes and devices"
    suffix = display_name(suffix_of(path))
    return suffix[:_LONGEST_SUFFIX] if suffix else "without a suffix"


def _reason(error: OSError | ValueError) -> str:
    return (error.strerror if isinstance(error, OSError) else None) or str(error)
