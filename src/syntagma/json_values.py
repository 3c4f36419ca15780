"""Parse JSON strictly, and check the values in it.

Python's ``json`` accepts what JSON lacks (``NaN``, ``Infinity``), reads ``1e999`` as infinite,
keeps the last of two equal keys, and fails with exceptions of several kinds.  Here all of that is
one ``ValueError`` that says what is wrong.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator
from typing import Any

TOO_DEEP = "nested too deeply to be read"

# A string, so that constants inside of strings are passed over, or what JSON lacks.
_TOKEN = re.compile(r'"(?:[^"\\]|\\.)*"|-?(?:NaN|Infinity)', re.DOTALL)
_SPACE = re.compile(r"[ \t\n\r]*")
_SURROGATE = re.compile("[\ud800-\udfff]")
_WHOLE = re.compile(r"\s*([+-]?[0-9]{1,18})\s*")


def parse_json(text: str, *, finite: bool = True) -> Any:
    """Parse a JSON text.

    Args:
        text: the text.
        finite: refuse numbers that are not finite.  Our own settings may be infinite (a reader's
            threshold), and are written with Python's ``Infinity``.

    Raises:
        json.JSONDecodeError: the text is not JSON, or contains NaN or an infinite number.
        ValueError: it cannot be read for another reason: a key occurs twice in an object, the
            nesting is too deep, a number has thousands of digits.

    >>> parse_json('{"a": [1, 2.5]}')
    {'a': [1, 2.5]}
    """
    strict: dict[str, Any] = {"parse_float": _finite, "parse_constant": _refuse} if finite else {}
    try:
        return json.loads(text, object_pairs_hook=_without_repeats, **strict)
    except RecursionError as error:
        raise ValueError(TOO_DEEP) from error
    except _ConstantError as error:
        # The parser does not tell where the constant is.
        found = (match for match in _TOKEN.finditer(text) if match[0][0] != '"')
        position = next((match.start() for match in found), 0)
        raise json.JSONDecodeError(f"{error} is not a number in JSON", text, position) from error


def array_items(text: str) -> Iterator[Any]:
    """Yield the items of a JSON array one by one.

    Args:
        text: the text of the array.

    Raises:
        ValueError: it is not an array, or not JSON; the items before the mistake were yielded.

    >>> [*array_items(' [1, {"a": 2}] ')]
    [1, {'a': 2}]
    """
    decode = json.JSONDecoder().raw_decode

    def after_space(place: int) -> int:
        found = _SPACE.match(text, place)
        assert found is not None
        return found.end()

    place = after_space(0)
    if text[place : place + 1] != "[":
        raise ValueError("not an array")
    place = after_space(place + 1)
    more = text[place : place + 1] != "]"
    while more:
        try:
            _, end = decode(text, place)
        except RecursionError as error:
            raise ValueError(TOO_DEEP) from error
        yield parse_json(text[place:end])
        place = after_space(end)
        more = text[place : place + 1] == ","
        place = after_space(place + 1) if more else place
    if text[place : place + 1] != "]" or after_space(place + 1) != len(text):
        raise ValueError("the array does not end")


class _ConstantError(Exception):
    """The text contains NaN or Infinity."""


def _refuse(constant: str) -> Any:
    raise _ConstantError(constant)


def _finite(digits: str) -> float:
    value = float(digits)
    if math.isinf(value):
        raise ValueError(f"the number {digits:.20} is too large")
    return value


def _without_repeats(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    values = dict(pairs)
    if len(values) < len(pairs):
        seen: set[str] = set()
        for key, _ in pairs:
            if key in seen:
                raise ValueError(f"the key {key!r:.40} occurs twice in an object")
            seen.add(key)
    return values


def whole_number(value: Any) -> int | None:
    """Return a value as a whole number, or ``None`` if it is not one.

    Accepted are a JSON number without a fraction (``1``, ``1.0``) and a text of digits, as table
    cells are.  Not accepted is ``true``, which Python counts as an integer.

    >>> [whole_number(value) for value in (1, "2", 3.0, 1.5, True, "1_0", float("inf"), None)]
    [1, 2, 3, None, None, None, None, None]
    """
    if isinstance(value, bool):
        return None
    if isinstance(value, int):
        return value
    if isinstance(value, float):
        return int(value) if value.is_integer() else None
    match = _WHOLE.fullmatch(value) if isinstance(value, str) else None
    return None if match is None else int(match[1])


def without_surrogates(text: str) -> str:
    """Replace each unpaired surrogate, which JSON can escape but UTF-8 cannot encode.

    Offsets stay the same.

    >>> without_surrogates("a \\ud83d") == "a \\ufffd"
    True
    """
    return text if text.isascii() else _SURROGATE.sub("\ufffd", text)
