"""What the files of entity typing and of relations share: mentions as character offsets."""

from __future__ import annotations

from collections.abc import Mapping
from numbers import Integral
from typing import Any

__all__ = ["Mention", "mention_problem", "row_id"]

Mention = tuple[int, int]
"""Offset of the first character, and the one after the last."""


def mention_problem(text: str, mention: Mention) -> str:
    """What is wrong with a mention; empty if nothing is.

    >>> mention_problem("A gull.", (2, 6)), mention_problem("A gull.", (1, 2))
    ('', 'a mention without characters at (1, 2)')
    """
    pair = isinstance(mention, tuple | list) and len(mention) == 2
    if not pair or not all(isinstance(offset, Integral) for offset in mention):
        return f"a mention is two numbers, (start, end), not {mention!r:.60}"
    start, end = mention
    if not 0 <= start <= len(text) or not 0 <= end <= len(text):
        return f"a mention at {mention} outside the text of {len(text)} characters"
    if not text[start:end].strip():
        return f"a mention without characters at {mention}"
    return ""


def row_id(row: Mapping[str, Any], number: int) -> str:
    """The id of a row, or its number where it has none."""
    found = row.get("id")
    return str(number if found is None else found)
