"""Short representations of results, and the full ones that fingerprints are computed from.

A result is shown in one line that says what it is about.  Lists of words, spans or runs are
counted, not printed: a notebook or a log shows results by the dozen.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from typing import Any

WIDTH = 60
"""Characters of a text that are shown."""

_PLAIN = frozenset({str, int, float, bool, bytes, type(None)})


def quoted(text: str, width: int = WIDTH) -> str:
    """Return a text in quotes, in one line and shortened.

    Args:
        text: any text.
        width: the most characters to show.

    >>> quoted("We can\\nwait."), quoted("abcdef", width=4)
    ("'We can wait.'", "'abc…'")
    """
    # A text may be long: only its beginning is looked at.
    line = " ".join(text[: 4 * width].split())
    return repr(line if len(line) <= width else line[: width - 1] + "…")


def counted(number: int, noun: str) -> str:
    """Return a number with its noun.

    >>> counted(1, "word"), counted(1200, "word")
    ('1 word', '1,200 words')
    """
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def brief(result: object, *parts: str) -> str:
    """Return the representation of a result: its class, and what it is about.

    Args:
        result: the result.
        parts: what to say of it; empty parts are left out.

    >>> brief(ValueError(), "3 words", "")
    '<ValueError 3 words>'
    """
    return f"<{type(result).__name__} {', '.join(filter(None, parts))}>"


def full_repr(value: Any) -> str:
    """Return the representation that dataclasses have by default, with the values of all fields.

    Fingerprints of data are computed from it, so that they depend on all that an example says.

    Args:
        value: a dataclass, or plain values and collections that may contain some.

    >>> full_repr((1, "a")), full_repr([("b",)])
    ("(1, 'a')", "[('b',)]")
    """
    kind = type(value)
    if kind in _PLAIN:
        return repr(value)
    if is_dataclass(value) and not isinstance(value, type):
        shown = (field.name for field in fields(value) if field.repr)
        return f"{kind.__qualname__}({_named(value, shown)})"
    if hasattr(value, "_fields"):
        return f"{kind.__name__}({_named(value, value._fields)})"
    if isinstance(value, tuple | list) and not _PLAIN.issuperset(map(type, value)):
        inside = ", ".join(map(full_repr, value))
        if kind is list:
            return f"[{inside}]"
        return f"({inside},)" if len(value) == 1 else f"({inside})"
    if isinstance(value, Mapping) and kind is dict:
        inside = ", ".join(f"{full_repr(key)}: {full_repr(of)}" for key, of in value.items())
        return f"{{{inside}}}"
    return repr(value)


def _named(value: Any, names: Any) -> str:
    return ", ".join(f"{name}={full_repr(getattr(value, name))}" for name in names)
