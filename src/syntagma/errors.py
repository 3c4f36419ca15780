"""What can go wrong, and whose turn it is to act."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

__all__ = [
    "BadExampleError",
    "BusyError",
    "DamagedFileError",
    "DiskError",
    "InputError",
    "MachineError",
    "MissingExtraError",
    "SyntagmaError",
    "TrainingError",
    "first_wrong",
    "how_to_skip",
    "in_one_line",
]


class SyntagmaError(Exception):
    """Base of every error that this package raises on purpose."""


class InputError(SyntagmaError, ValueError):
    """The user's input or settings cannot be used; the message says what to write instead.

    The command line prints the message as one line and exits with code 2.
    """


class BadExampleError(InputError):
    """An example is not as its format says; the others can be read without it."""


class DamagedFileError(InputError):
    """A file that this package wrote earlier can no longer be read as written."""


class MachineError(InputError):
    """What was asked for can be done by the same call, once the machine is in another state."""


class BusyError(MachineError):
    """Another process is at work in the folder."""


class DiskError(MachineError):
    """A file cannot be written, or one that is wanted is not there or cannot be read."""


class TrainingError(InputError):
    """Training came to nothing with these settings, which could not be told before."""


class MissingExtraError(InputError):
    """An optional dependency is needed for what was asked.

    Args:
        purpose: what it is needed for, as the start of a sentence ("training").
        extra: name of the extra in ``pip install 'syntagma[extra]'``.
    """

    def __init__(self, purpose: str, extra: str) -> None:
        super().__init__(f"{purpose} needs an extra: pip install 'syntagma[{extra}]'")


def first_wrong(wrong: Sequence[str]) -> str:
    """The end of a message that nothing could be used: what was wrong with the first, if any was.

    >>> first_wrong(["a.json, entry 1: expected a passage, got None"])
    '; a.json, entry 1: expected a passage, got None'
    """
    return f"; {wrong[0]}" if wrong else ""


@contextmanager
def how_to_skip(setting: str) -> Iterator[None]:
    """Where an example is bad, say also how such ones are skipped.

    Args:
        setting: what the user has to write for that.
    """
    try:
        yield
    except BadExampleError as error:
        raise BadExampleError(f"{error} (or skip such ones: {setting})") from error


@contextmanager
def in_one_line() -> Iterator[None]:
    """For scripts: an :class:`InputError` ends the program with its message in one line, code 2."""
    try:
        yield
    except InputError as error:
        print(" ".join(str(error).split()), file=sys.stderr)
        sys.exit(2)
