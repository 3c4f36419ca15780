"""Mentions as character offsets in data files: shared by entity typing and relations."""

from __future__ import annotations

from collections.abc import Mapping
from numbers import Integral
from typing import Any

Mention = tuple[int, int]
"""Character offsets of a mention: its start, and its end (exclusive)."""


def mention_problem(text: str, mention: Mention) -> str:
    """Describe what is wrong with a mention; empty if nothing is.

    >>> mention_problem("A gull.", (2, 6)), mention_problem("A gull.", (1, 2))
    ('', 'the mention (1, 2) is without characters')
    """
    pair = isinstance(mention, tuple | list) and len(mention) == 2
    if not pair or not all(isinstance(offset, Integral) for offset in mention):
        return f"expected a mention as two integers (start, end), got {mention!r:.60}"
    start, end = mention
    if not 0 <= start <= len(text) or not 0 <= end <= len(text):
        return f"the mention {mention} is outside the text of {len(text)} characters"
    if not text[start:end].strip():
        return f"the mention {mention} is without characters"
    return ""


def row_id(row: Mapping[str, Any], number: int) -> str:
    """Return the id of a row, or its number if it has none."""
    found = row.get("id")
    return str(number if found is None else found)
