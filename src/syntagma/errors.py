"""What can go wrong, and whose turn it is to act."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

__all__ = [
    "BusyError",
    "DamagedFileError",
    "InputError",
    "MissingExtraError",
    "SyntagmaError",
    "first_wrong",
    "in_one_line",
]


class SyntagmaError(Exception):
    """Base of every error that this package raises on purpose."""


class InputError(SyntagmaError, ValueError):
    """The user's input or settings cannot be used; the message says what to write instead.

    The command line prints the message as one line and exits with code 2.
    """


class DamagedFileError(InputError):
    """A file that this package wrote earlier can no longer be read as written."""


class BusyError(InputError):
    """Another process is at work in the folder."""


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
def in_one_line() -> Iterator[None]:
    """For scripts: an :class:`InputError` ends the program with its message in one line, code 2."""
    try:
        yield
    except InputError as error:
        print(" ".join(str(error).split()), file=sys.stderr)
        sys.exit(2)
