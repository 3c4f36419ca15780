"""Drop what repeats at the top and bottom of pages: running heads and page numbers."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator
from typing import NamedTuple, TypeVar

from syntagma.extraction.builder import CELL_BREAK
from syntagma.extraction.pdf_lines import Line

_Key = TypeVar("_Key", str, int)
_N_EDGE = 2
"""Lines at the top and at the bottom of a page that can be a running head."""
_N_PAGES = 3
"""Pages on which a line must repeat; on both of two pages is enough."""
_NUMBER_SHARE = 0.5
"""Share of all pages that must have a number before it is theirs: tables have numbers too."""
_NUMBER = re.compile(r"(?<!\w)(?:\d{1,5}|[ivxlc]{1,8})(?!\w)")
_HERE = 4.0
"""Lines of which the lowest points differ by less than this, in points, are at the same place."""


class _EdgeLine(NamedTuple):
    """A line at the edge of a page: index of its page, and where it is."""

    page: int
    place: tuple[str, int]
    line: Line


def without_running_heads(pages: list[list[Line]]) -> list[list[Line]]:
    """Return the lines of each page without running heads and page numbers.

    A line near the edge of a page is one if it repeats, at the same place, on at least three pages,
    or on both of two; or if it begins or ends with a number that counts at least half of the pages.

    Args:
        pages: the lines of each page.
    """
    edges = list(_edge_lines(pages))
    n_needed = min(_N_PAGES, max(2, len(pages)))
    repeated = _pages_with((edge, edge.line.text) for edge in edges)
    counted = _pages_with((edge, offset) for edge in edges for offset in _offsets(edge))
    n_counted = max(n_needed, _NUMBER_SHARE * len(pages))
    dropped = {
        id(edge.line)
        for edge in edges
        if len(repeated[edge.place, edge.line.text]) >= n_needed
        or any(len(counted[edge.place, offset]) >= n_counted for offset in _offsets(edge))
    }
    return [[line for line in lines if id(line) not in dropped] for lines in pages]


def _edge_lines(pages: list[list[Line]]) -> Iterator[_EdgeLine]:
    for page, lines in enumerate(pages):
        by_height = sorted(lines, key=lambda line: -line.top)
        for edge, found in (("top", by_height[:_N_EDGE]), ("bottom", by_height[-_N_EDGE:])):
            for line in filter(lambda line: line.is_marginal, found):
                yield _EdgeLine(page, (edge, round(line.bottom / _HERE)), line)


def _offsets(edge: _EdgeLine) -> set[int]:
    """Return the first and the last number of a line, less the number of its page."""
    if edge.line.text.count(CELL_BREAK) > 1:
        return set()  # a table row
    numbers = list(_NUMBER.finditer(edge.line.text))
    ends = {numbers[0].group(), numbers[-1].group()} if numbers else set()
    return {int(number) - edge.page if number.isdecimal() else _ROMAN for number in ends}


_ROMAN = -(10**9)
"""Stands for all Roman numerals: those of prefaces need not be read to be dropped."""


def _pages_with(
    found: Iterable[tuple[_EdgeLine, _Key]],
) -> dict[tuple[tuple[str, int], _Key], set[int]]:
    """Return the pages on which something is at the same place."""
    pages: dict[tuple[tuple[str, int], _Key], set[int]] = defaultdict(set)
    for edge, key in found:
        pages[edge.place, key].add(edge.page)
    return pages
