"""Exception hierarchy.  Each class tells who can fix the problem."""

from __future__ import annotations

import errno
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from importlib import metadata

DISK_FULL = (errno.ENOSPC, errno.EDQUOT)
"""Error numbers of a disk or quota that is full."""


class SyntagmaError(Exception):
    """Base class of all errors that this package raises on purpose."""


class InputError(SyntagmaError, ValueError):
    """The user's input or settings cannot be used; the message says what to write instead.

    The command line prints the message as one line and exits with code 2.
    """


class BadExampleError(InputError):
    """A single example violates its file format; reading can continue without it."""


class DamagedFileError(InputError):
    """A file written earlier by this package is corrupt, incomplete or changed."""


class MachineError(InputError):
    """The request is valid but the environment is not ready (lock, disk, missing file).

    The same call can succeed later, unchanged.
    """


class BusyError(MachineError):
    """Another process holds the lock of the folder."""


class DiskError(MachineError):
    """A file cannot be written, is missing, or cannot be read."""


class TrainingError(InputError):
    """Training failed at run time (divergence, out of memory); the settings alone look valid."""


def install_command(*extras: str) -> str:
    """Return the command that installs extras, from where the package itself came.

    >>> install_command("train", "stats").startswith("pip install ")
    True
    """
    named = f"[{','.join(extras)}]"
    return f"pip install 'syntagma{named}'" if _is_from_index() else f"pip install -e '.{named}'"


def how_to_install(*extras: str) -> str:
    """Say how extras are installed, and where the command must be run if that matters."""
    where = "" if _is_from_index() else " in the folder of Syntagma's source"
    return f"run{where}: {install_command(*extras)}"


def _is_from_index() -> bool:
    """Whether the package was installed from a package index.

    Installers record the place of everything that comes from somewhere else (PEP 610).
    """
    try:
        return metadata.distribution("syntagma").read_text("direct_url.json") is None
    except metadata.PackageNotFoundError:
        return False


class MissingExtraError(InputError, ImportError):
    """An optional dependency of the requested feature is not installed.

    It is an :class:`ImportError` too: importing a name that needs the dependency raises it.

    Args:
        purpose: the feature, as it reads before "needs" ("training").
        extra: name of the extra in ``pyproject.toml``.
    """

    def __init__(self, purpose: str, extra: str) -> None:
        super().__init__(
            f"{purpose} needs optional packages that are not installed (extra {extra}); "
            f"{how_to_install(extra)}"
        )


def first_wrong(wrong: Sequence[str]) -> str:
    """Return the first problem as the tail of a "nothing was usable" message, or nothing.

    >>> first_wrong(["a.json, entry 1: expected a passage, got None"])
    '; a.json, entry 1: expected a passage, got None'
    """
    return f"; {wrong[0]}" if wrong else ""


@contextmanager
def how_to_skip(setting: str) -> Iterator[None]:
    """Add a hint on skipping invalid examples to every :class:`BadExampleError` in the block.

    Args:
        setting: the option that skips them, as the user writes it.
    """
    try:
        yield
    except BadExampleError as error:
        raise BadExampleError(f"{error} (or skip invalid examples: {setting})") from error


@contextmanager
def in_one_line() -> Iterator[None]:
    """Exit a script with code 2 and a one-line message on :class:`InputError`."""
    try:
        yield
    except InputError as error:
        print(" ".join(str(error).split()), file=sys.stderr)
        sys.exit(2)
