"""Validate text arguments of the public API."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from numbers import Integral, Real
from typing import Any, Protocol, TypeVar

from syntagma.errors import InputError

T = TypeVar("T")


class HasText(Protocol):
    """An object with a text, such as a ``Doc`` or a ``Span`` of spaCy."""

    @property
    def text(self) -> str:
        """The text."""


def text_of(given: T | HasText) -> T | str:
    """Return the text of an object that has one, and anything else unchanged.

    Args:
        given: a text, or an object with the attribute ``text``.

    >>> text_of("A gull.")
    'A gull.'
    """
    text = getattr(given, "text", None)
    return text if isinstance(text, str) else given  # type: ignore[return-value]


def text_problem(text: Any, name: str) -> str:
    """Describe what is wrong with a text argument; empty if it is a non-blank string.

    Args:
        text: the value to check.
        name: the argument's role, for the message ("passage").

    >>> text_problem("A gull.", "passage"), text_problem(" ", "passage")
    ('', 'the passage is empty; expected text')
    >>> text_problem(None, "question")
    'the question must be a string, got None'
    """
    if not isinstance(text, str):
        return f"the {name} must be a string, got {text!r:.60}"
    return "" if text.strip() else f"the {name} is empty; expected text"


def require_string(text: Any, name: str) -> None:
    """Check that an argument is a string; it may be empty.

    Args:
        text: the value to check.
        name: the argument's role, for the message.

    Raises:
        InputError: the value is not a string.
    """
    if not isinstance(text, str):
        raise InputError(text_problem(text, name))


def require_text(text: Any, name: str) -> None:
    """Check that an argument is a string with visible text.

    Args:
        text: the value to check.
        name: the argument's role, for the message.

    Raises:
        InputError: the value is not a string, or is blank.
    """
    if problem := text_problem(text, name):
        raise InputError(problem)


def row_problem(row: Any, *names: str) -> str:
    """Describe what is wrong with a tuple of texts; empty if it has one item per name.

    Only the length is checked, not the items.

    Args:
        row: the value to check.
        names: the role of each item.

    >>> row_problem(("A gull.", "Who?"), "passage", "question")
    ''
    >>> row_problem({"passage": "A gull."}, "passage", "question")
    "expected (passage, question), got {'passage': 'A gull.'}"
    """
    if isinstance(row, tuple | list) and len(row) == len(names):
        return ""
    return f"expected ({', '.join(names)}), got {row!r:.60}"


def checked_rows(rows: Any, *names: str, called: str) -> Iterator[Any]:
    """Yield tuples of texts, checking each for its length on the way.

    Args:
        rows: the value to check.
        names: the role of each item of a row.
        called: the role of a row, for the message ("pair").

    Raises:
        InputError: the value is not a list, or a row has the wrong shape; the message gives its
            number.
    """
    require_several(rows, f"({', '.join(names)})")
    for number, row in enumerate(rows, start=1):
        if problem := row_problem(row, *names):
            raise InputError(f"{called} {number}: {problem}")
        yield row


def require_several(given: Any, wanted: str) -> None:
    """Check that an argument is an iterable of items.

    A single string is rejected, since it would be iterated character by character; so are bytes
    and a mapping.

    Args:
        given: the value to check.
        wanted: the items, for the message ("sentences").

    Raises:
        InputError: the value is a string, bytes, a mapping or not iterable.
    """
    if isinstance(given, bytes | bytearray):
        raise InputError(
            f"expected a list of {wanted}, got bytes: {given!r:.60}; decode them, as in "
            f"data.decode('utf-8')"
        )
    if isinstance(given, str | Mapping) or not isinstance(given, Iterable):
        raise InputError(f"expected a list of {wanted}, got {given!r:.60}")


def is_count(value: Any) -> bool:
    """Whether a value is a whole number; ``True`` is none, though Python counts with it.

    Args:
        value: the value to check.
    """
    return isinstance(value, Integral) and not isinstance(value, bool)


def require_count(value: Any, name: str, *, least: int = 1) -> int:
    """Return an argument, after checking that it is a whole number, and not too small.

    Args:
        value: the value to check.
        name: name of the argument, for the message.
        least: the smallest number that is allowed.

    Raises:
        InputError: it is not a whole number, or is smaller.
    """
    if not is_count(value) or value < least:
        raise InputError(f"{name}: expected a whole number of at least {least}, got {value!r:.60}")
    return int(value)


def require_choice(value: Any, name: str, choices: Iterable[str]) -> None:
    """Check that an argument is one of some names.

    Args:
        value: the value to check.
        name: name of the argument, for the message.
        choices: the names.

    Raises:
        InputError: it is none of them.
    """
    known = list(choices)
    if value not in known:
        raise InputError(f"{name}: expected {' or '.join(known)}, got {value!r:.60}")


def require_number(value: Any, name: str) -> None:
    """Check that an argument is a real number; infinities are allowed.

    Args:
        value: the value to check.
        name: name of the argument, for the message.

    Raises:
        InputError: the value is not a number, or is NaN.
    """
    # NaN is the only number that differs from itself.
    if isinstance(value, bool) or not isinstance(value, Real) or value != value:
        raise InputError(f"{name}: expected a number, got {value!r:.60}")
