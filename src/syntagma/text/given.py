"""Texts as callers give them."""

from __future__ import annotations

from typing import Any

from syntagma.errors import InputError

__all__ = ["require_string", "require_text", "text_problem"]


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
