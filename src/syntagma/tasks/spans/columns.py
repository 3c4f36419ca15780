"""Columns and rows of text that is laid out with spaces, tabs or bars.

Tokenizers drop white space, so a reader does not see where a cell ends: its best span may run from
one cell into the next.  Of the 14,778 answers in the training parts of ``experiments/everyday``,
484 of whose 1,330 texts have columns, one runs over cells as they are found here.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

Interval = tuple[int, int]

GAP = re.compile(r"(?<=\S)(?: *\t[ \t]*| +\| +| {2,})(?=\S)")
"""White space within a line that may separate two cells."""
WIDE = 4
"""Spaces that separate cells even if no line next to them has a gap there."""
OVERLAP = 2
"""Columns of characters that a narrower gap shares with a gap of a line next to it."""
LONGEST_LINE = 1000
"""Characters of a line that are looked at, so that the time stays bounded."""
UNIT = re.compile(r"[^\w\s]{1,3}|[A-Z]{1,3}|[a-zµ°%/²³]{1,5}\.?")
"""A currency before its number, or a unit after it, which may be set apart within one cell."""


def crosses_cells(passage: str, start: int, end: int) -> bool:
    """Whether an interval runs from a cell of a table into another one.

    Args:
        passage: the passage.
        start: character offset of its start.
        end: character offset of its end (exclusive).
    """
    text = passage[start:end]
    breaks = [gap.span() for gap in GAP.finditer(text)]
    gaps = [(a, b) for a, b in breaks if _separates(passage, start + a, start + b)]
    edges = [0, *(place for gap in gaps for place in gap), len(text)]
    cells = [text[a:b].strip() for a, b in zip(edges[::2], edges[1::2], strict=True)]
    if sum(not UNIT.fullmatch(cell) for cell in cells) > 1:
        return True
    return any(
        is_row(passage, start + place) and is_row(passage, start + place + 1)
        for place, character in enumerate(text)
        if character == "\n"
    )


def within_cells(passage: str, intervals: Sequence[Interval]) -> list[int]:
    """Find, for each interval that runs over several cells, one of the others that does not.

    Args:
        passage: the passage.
        intervals: of candidates, best first.

    Returns:
        For each interval the number of that one: the first that overlaps it and stays in a cell.
        It is its own number if it stays in a cell itself, or if there is no such other.
    """
    crossing = [crosses_cells(passage, *interval) for interval in intervals]
    found = []
    for number, (start, end) in enumerate(intervals):
        inside = (
            other
            for other, (a, b) in enumerate(intervals)
            if not crossing[other] and a < end and start < b
        )
        found.append(next(inside, number) if crossing[number] else number)
    return found


def cells_of(passage: str, start: int, end: int) -> list[Interval]:
    """Return the cells of a line, without white space and bars around them.

    Args:
        passage: the passage.
        start: character offset of the start of the line.
        end: character offset of its end (exclusive).
    """
    breaks = (gap.span() for gap in GAP.finditer(passage[start:end]))
    gaps = [(start + a, start + b) for a, b in breaks if _separates(passage, start + a, start + b)]
    edges = [start, *(place for gap in gaps for place in gap), end]
    found = []
    for low, high in zip(edges[::2], edges[1::2], strict=True):
        text = passage[low:high]
        kept = text.strip(" \t\r|")
        if kept:
            first = low + text.index(kept)
            found.append((first, first + len(kept)))
    return found


def row_at(passage: str, place: int) -> Interval | None:
    """Return the row of a table that has a character, without white space around it.

    Args:
        passage: the passage.
        place: offset of the character.

    Returns:
        Its offsets; ``None`` if the line is no row of several cells.
    """
    if not is_row(passage, place):
        return None
    start, end = line_at(passage, place)
    line = passage[start:end]
    return start + len(line) - len(line.lstrip()), start + len(line.rstrip())


def line_at(passage: str, place: int) -> Interval:
    """Return the line that has a character; a line break belongs to the line that it ends.

    Args:
        passage: the passage.
        place: offset of the character.
    """
    low, high = max(place - LONGEST_LINE, 0), min(place + LONGEST_LINE, len(passage))
    start = passage.rfind("\n", low, place) + 1
    end = passage.find("\n", place, high)
    return max(start, low), high if end < 0 else end


def is_row(passage: str, place: int) -> bool:
    """Whether the line that has a character is a row of several cells.

    Args:
        passage: the passage.
        place: offset of the character.
    """
    start, end = line_at(passage, place)
    return any(
        _separates(passage, start + gap.start(), start + gap.end())
        for gap in GAP.finditer(passage[start:end])
    )


def _separates(passage: str, start: int, end: int) -> bool:
    """Whether white space in a line separates cells, and is not a double space in prose."""
    gap = passage[start:end]
    if gap.strip(" ") or len(gap) >= WIDE:
        return True
    line_start, line_end = line_at(passage, start)
    low, high = start - line_start, end - line_start
    for other_start, other_end in (
        line_at(passage, line_start - 1) if line_start else (0, 0),
        line_at(passage, line_end + 1) if line_end + 1 < len(passage) else (0, 0),
    ):
        for other in GAP.finditer(passage[other_start:other_end]):
            if min(high, other.end()) - max(low, other.start()) >= OVERLAP:
                return True
    return False
