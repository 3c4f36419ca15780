"""Texts as callers give them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from numbers import Real
from typing import Any

from syntagma.errors import InputError

__all__ = [
    "checked_rows",
    "require_number",
    "require_several",
    "require_string",
    "require_text",
    "row_problem",
    "text_problem",
]


def text_problem(text: Any, name: str) -> str:
    """What is wrong with a text that is to be read; empty if nothing is.

    Args:
        text: what is given.
        name: what the text is to the caller.

    >>> text_problem("A gull.", "passage"), text_problem(" ", "passage")
    ('', 'the passage is empty; expected text')
    >>> text_problem(None, "question")
    'the question is no text; expected a string, got None'
    """
    if not isinstance(text, str):
        return f"the {name} is no text; expected a string, got {text!r:.60}"
    return "" if text.strip() else f"the {name} is empty; expected text"


def require_string(text: Any, name: str) -> None:
    """Check that it is a text, if an empty one.

    Args:
        text: what is given.
        name: what the text is to the caller.

    Raises:
        InputError: it is no text.
    """
    if not isinstance(text, str):
        raise InputError(text_problem(text, name))


def require_text(text: Any, name: str) -> None:
    """Check that there is something to read.

    Args:
        text: what is given.
        name: what the text is to the caller.

    Raises:
        InputError: it is no text, or empty.
    """
    if problem := text_problem(text, name):
        raise InputError(problem)


def row_problem(row: Any, *names: str) -> str:
    """What is wrong with texts that belong together; empty if they are so many.

    Args:
        row: what is given.
        names: what each text is to the caller.

    >>> row_problem(("A gull.", "Who?"), "passage", "question")
    ''
    >>> row_problem({"passage": "A gull."}, "passage", "question")
    "expected (passage, question), got {'passage': 'A gull.'}"
    """
    if isinstance(row, tuple | list) and len(row) == len(names):
        return ""
    return f"expected ({', '.join(names)}), got {row!r:.60}"


def checked_rows(rows: Any, *names: str, called: str) -> Iterator[Any]:
    """Texts that belong together as they come.

    Args:
        rows: what is given.
        names: what each text of a row is to the caller.
        called: what a row is to the caller.

    Raises:
        InputError: there are not several rows, or one is something else; its number is told.
    """
    require_several(rows, f"({', '.join(names)})")
    for number, row in enumerate(rows, start=1):
        if problem := row_problem(row, *names):
            raise InputError(f"{called} {number}: {problem}")
        yield row


def require_several(given: Any, wanted: str) -> None:
    """Check that it is several things: not one text, whose letters would be read, nor a mapping.

    Args:
        given: what is given.
        wanted: what there should be several of.

    Raises:
        InputError: it is something else.
    """
    if isinstance(given, str | Mapping) or not isinstance(given, Iterable):
        raise InputError(f"expected a list of {wanted}, got {given!r:.60}")


def require_number(value: Any, name: str) -> None:
    """Check that it is a number, if an infinite one.

    Args:
        value: what is given.
        name: what the number is to the caller.

    Raises:
        InputError: it is none.
    """
    if isinstance(value, bool) or not isinstance(value, Real) or value != value:
        raise InputError(f"{name}: expected a number, got {value!r:.60}")
