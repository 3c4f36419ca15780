"""Describe line breaks: paragraph ends, list items, and how full the line before is."""

from __future__ import annotations

import re
from collections.abc import Iterator
from enum import IntEnum
from typing import NamedTuple

# Bounds the lookahead: a line break before a megabyte of spaces does not require reading them all.
_MAX_INDENT = 1000
PARAGRAPH_BREAK = re.compile(rf"(?>\r\n?|\n)[^\S\r\n\u2029]{{0,{_MAX_INDENT}}}(?>\r\n?|\n)|\u2029")
PARAGRAPH_BREAK_LENGTH = _MAX_INDENT + 4

_LINE = re.compile(r"[^\r\n]*+(?>\r\n?|\n|\Z)")
# Text is rarely hard-wrapped beyond this many characters; longer lines are whole paragraphs.
_WIDEST_WRAP = 140
# Lines this short are a list, a poem or an address.
_NARROWEST_WRAP = 30
# If a line plus the next word fills at most this share of the width, its break was intended.
_FULL_SHARE = 0.75

_SIGN_BULLET = re.compile(r"[•·▪◦‣●○■□►➤✓✔]\s*\S")
_MARK_BULLET = re.compile(r"(?:[-–—*+]|\(?(?:\d{1,3}|[A-Za-z]|[ivxIVX]{2,5})[.)])\s+\S")
_MARKER = re.compile(r"\(?(?:\d{1,3}|[A-Za-z])[.)][^\S\r\n]{1,100}+(?=\S)")
_STOPPED = re.compile(r"[.!?…。！？][\"'”’)\]»]*\Z")


class Break(IntEnum):
    """What the layout says about a line break before a word.

    The values are row indices into the trained weights of the sentence splitter.
    """

    NONE = 0  # no line break before the word
    WRAPPED = 1  # the line before is as full as the paragraph's lines are
    ROOM = 2  # the line before ends early
    SHORT = 3  # the lines are too short for wrapped text: a list, a poem, an address
    LONG = 4  # the lines are too long for wrapped text: one paragraph per line
    CAPITALS = 5  # there are at least three lines, and none starts in lower case
    CAPITALS_ROOM = 6  # the same, and the line before ends early


class Line(NamedTuple):
    """A line of a paragraph after its first.

    Args:
        start: offset of its first visible character.
        break_: what its layout says about the line break before it.
        is_item: whether it starts a list item, which is always a new sentence.
    """

    start: int
    break_: Break
    is_item: bool


def lines(text: str, start: int = 0, end: int | None = None) -> Iterator[tuple[int, int]]:
    """Yield the start and end offset of each line of ``text[start:end]``, line endings included."""
    for match in _LINE.finditer(text, start, len(text) if end is None else end):
        if match.end() > match.start():
            yield match.span()


def further_lines(text: str, start: int, end: int) -> list[Line]:
    """Describe the lines of a paragraph after the first one.

    Args:
        text: the text.
        start: offset where the paragraph starts.
        end: offset where the paragraph ends.
    """
    if text.find("\n", start, end) < 0 and text.find("\r", start, end) < 0:
        return []
    # Offset and text of each non-blank line, without indentation.
    filled = [
        (offset + len(line) - len(line.lstrip()), line.strip())
        for offset, line in ((first, text[first:last]) for first, last in lines(text, start, end))
        if not line.isspace()
    ]
    content = [line for _, line in filled]
    if len(content) < 2:
        return []
    width = max(map(len, content))
    capitals = len(content) > 2 and not any(line[0].islower() for line in content[1:])
    in_list = sum(map(is_item, content)) > 1
    found = []
    for (offset, line), before in zip(filled[1:], content, strict=False):
        room = len(before) + 1 + len(line.split(None, 1)[0]) <= _FULL_SHARE * width
        if width > _WIDEST_WRAP:
            break_ = Break.LONG
        elif width < _NARROWEST_WRAP:
            break_ = Break.SHORT
        elif capitals:
            break_ = Break.CAPITALS_ROOM if room else Break.CAPITALS
        else:
            break_ = Break.ROOM if room else Break.WRAPPED
        intended = break_ != Break.WRAPPED
        found.append(Line(offset, break_, starts_item(before, line, intended or in_list)))
    return found


def item_text(text: str, start: int) -> int | None:
    """Return the offset after the marker of a list item at ``start`` (*2. Second*), if any."""
    marker = _MARKER.match(text, start)
    return marker.end() if marker else None


def is_item(line: str) -> bool:
    """Whether a line begins like a list item (*- tea*, *2. tea*, *(b) tea*).

    Args:
        line: a line without indentation.
    """
    return bool(_SIGN_BULLET.match(line) or _MARK_BULLET.match(line))


def starts_item(before: str, line: str, likely: bool) -> bool:
    """Whether a line starts a list item, given the line before it.

    Args:
        before: the line before, without whitespace around it; not empty.
        line: the line, without indentation.
        likely: whether the layout suggests it: the line break was intended, or there are items.
    """
    if _SIGN_BULLET.match(line):
        return True
    # A dash or number can be part of the text, so it needs more evidence than a bullet sign.
    return bool(_MARK_BULLET.match(line)) and (
        likely or before[-1] == ":" or bool(_STOPPED.search(before))
    )
