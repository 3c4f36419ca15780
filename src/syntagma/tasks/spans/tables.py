"""The cell of a table that a question names by the headings of its row and its column.

A reader sees a table as a line of words, so among cells of one type (prices by day, people by
shift) it often takes a neighbour of the right one.  If all words of the heading of one row and of
one column are in the question, and the reader's best span is another cell of that table, the named
cell is the answer.  Of 8,392 questions from which ``default-reader`` 3.0 did not learn, 600 of them
about made-up tables, this changes 186: its own cell was right for none of them, the named one for
173, and 11 have no answer (``experiments/named_cells.py``).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from itertools import islice
from typing import NamedTuple

from syntagma.tasks.spans.answers import SpanT
from syntagma.tasks.spans.columns import Interval, cells_of, is_row, line_at
from syntagma.tasks.spans.metrics import normalise

MOST_LINES = 200
"""Lines of a table that are looked at, above and below a cell."""
RULE = re.compile(r"[\s|:+=_-]*")
"""A line that separates the heading from the rows below it, or nothing."""
NOTHING = frozenset({"none", "n/a", "nil"})
"""Words of a cell that says that there is nothing."""
ASKS_REASON = frozenset({"why", "reason", "explanation", "cause", "because"})
"""Words of a question for a reason."""
SMALL = frozenset(
    "a an and any are at be by can did do does for from had has have how i in is it its me much"
    " many my of on or our per the their there this to up was we were what when where which who"
    " with you your".split()
)
"""Words that headings and questions may have or lack."""
SAME = {
    "mon": "monday", "tue": "tuesday", "tues": "tuesday", "wed": "wednesday", "thu": "thursday",
    "thur": "thursday", "thurs": "thursday", "fri": "friday", "sat": "saturday", "sun": "sunday",
    "jan": "january", "feb": "february", "mar": "march", "apr": "april", "jun": "june",
    "jul": "july", "aug": "august", "sep": "september", "sept": "september", "oct": "october",
    "nov": "november", "dec": "december",
    "one": "1", "two": "2", "three": "3", "four": "4", "five": "5", "six": "6", "seven": "7",
    "eight": "8", "nine": "9", "ten": "10", "first": "1", "second": "2", "third": "3",
    "fourth": "4", "fifth": "5", "sixth": "6", "1st": "1", "2nd": "2", "3rd": "3", "4th": "4",
    "g": "gram", "kg": "kilo", "kilogram": "kilo", "h": "hour", "hr": "hour", "hrs": "hour",
    "min": "minute", "mins": "minute", "children": "child", "people": "person", "men": "man",
    "women": "woman",
}  # fmt: skip
"""Words that are written in several ways, after their plural ending is gone."""


class Table(NamedTuple):
    """A table whose first line has the headings of its columns.

    Args:
        headings: offsets of the headings, by column; the first column has the headings of rows.
        rows: offsets of the cells of each other line, by column.
    """

    headings: dict[int, Interval]
    rows: list[dict[int, Interval]]


def named_cell(question: str, passage: str, best: Interval) -> Interval | None:
    """Find the cell that a question names, if the best span is another cell of its table.

    Args:
        question: the question.
        passage: the passage.
        best: offsets of the best span.

    Returns:
        The offsets of the cell, or ``None``: the span is in no cell of values, the question does
        not name exactly one row and one column, or the span is in their cell already.
    """
    cell = _other_cell(question, passage, best)
    return None if cell is None or _is_empty(passage[slice(*cell)]) else cell


def names_empty_cell(question: str, passage: str, best: Interval) -> bool:
    """Whether a question names a cell with nothing in it, and the best span is another cell.

    The table has a place for what is asked, and says nothing there.  Not if a reason is asked for:
    that may stand elsewhere.  Of 33 such questions in our files and about made-up tables, 32 have
    no answer (``experiments/named_cells.py``).

    Args:
        question: the question.
        passage: the passage.
        best: offsets of the best span.
    """
    if not ASKS_REASON.isdisjoint(question.casefold().split()):
        return False
    cell = _other_cell(question, passage, best)
    return cell is not None and _is_empty(passage[slice(*cell)])


def _is_empty(text: str) -> bool:
    """Whether a cell says that there is nothing."""
    return not any(map(str.isalnum, text)) or text.casefold().strip(" .()") in NOTHING


def _other_cell(question: str, passage: str, best: Interval) -> Interval | None:
    """Find the cell that a question names, if the best span is another one of its table."""
    table = table_at(passage, best[0])
    if table is None:
        return None
    inside = [
        (number, column)
        for number, row in enumerate(table.rows)
        for column, (start, end) in row.items()
        if column and start <= best[0] and best[1] <= end
    ]
    if not inside:
        return None
    words = set(_words(question))
    heads = {column: passage[slice(*place)] for column, place in table.headings.items() if column}
    labels = {number: passage[slice(*row[0])] for number, row in enumerate(table.rows) if 0 in row}
    column, number = _named(heads, words), _named(labels, words)
    if column is None or number is None or (number, column) == inside[0]:
        return None
    return table.rows[number].get(column)


def in_named_cell(
    question: str,
    passage: str,
    candidates: Sequence[SpanT],
    is_here: Callable[[SpanT], bool] = lambda _: True,
) -> tuple[SpanT, ...]:
    """Put the cell that a question names first, with the score of the best candidate.

    If the cell is among the candidates, the best one takes its place and score; else it is dropped.

    Args:
        question: the question.
        passage: the passage of the best candidate.
        candidates: distinct spans, best first.
        is_here: whether a candidate is in this passage, if some are in others.
    """
    if not candidates:
        return ()
    best = candidates[0]
    cell = named_cell(question, passage, (best.start, best.end))
    if cell is None:
        return tuple(candidates)
    start, end = cell
    first = replace(best, text=passage[start:end], start=start, end=end)
    same = normalise(first.text)
    others: list[SpanT] = []
    has_place = False
    for span in candidates[1:]:
        if is_here(span) and span.start < end and start < span.end:
            # Several candidates may be parts of the cell; the best one is kept once.
            if not has_place:
                others.append(replace(best, score=span.score, probability=span.probability))
            has_place = True
        elif normalise(span.text) != same:
            others.append(span)
    return (first, *others)


def table_at(passage: str, place: int) -> Table | None:
    """Return the table that has a character, with cells by their columns.

    Args:
        passage: the passage.
        place: offset of the character.

    Returns:
        The table; ``None`` if the line is no row of several cells, its columns are not clear, or
        its headings are too far above.
    """
    if not is_row(passage, place):
        return None
    here = line_at(passage, place)
    above = list(islice(_rows_from(passage, here, -1), MOST_LINES))
    lines = [*reversed(above), here, *islice(_rows_from(passage, here, 1), MOST_LINES)]
    if len(lines) < 2 or len(above) == MOST_LINES:  # The headings were not reached.
        return None
    cells = [cells_of(passage, *line) for line in lines]
    if "\t" in passage[slice(*here)] or "|" in passage[slice(*here)]:
        return _by_number(cells)
    return _by_place(lines, cells)


def _rows_from(passage: str, line: Interval, step: int) -> Iterator[Interval]:
    """Yield the rows next to a line, upwards or downwards; a rule between two is left out."""
    was_row = True
    while True:
        at = line[0] - 1 if step < 0 else line[1] + 1
        if not 0 <= at <= len(passage) or (step > 0 and line[1] >= len(passage)):
            return
        line = line_at(passage, at)
        text = passage[slice(*line)]
        if is_row(passage, line[0]):
            yield line
            was_row = True
        elif was_row and text.strip() and RULE.fullmatch(text):
            was_row = False
        else:
            return


def _by_number(cells: Sequence[Sequence[Interval]]) -> Table | None:
    """Columns by their number: all rows have as many cells, the headings may lack the first."""
    counts = {len(row) for row in cells[1:]}
    if len(counts) != 1:
        return None
    missing = counts.pop() - len(cells[0])
    if missing not in (0, 1):
        return None
    headings = {column + missing: cell for column, cell in enumerate(cells[0])}
    return Table(headings, [dict(enumerate(row)) for row in cells[1:]])


def _by_place(lines: Sequence[Interval], cells: Sequence[Sequence[Interval]]) -> Table | None:
    """Columns by where they stand: each cell is below a heading, row headings may have none."""
    top = lines[0][0]
    heads = [(start - top, end - top) for start, end in cells[0]]
    below = [
        [(_column(heads, start - line[0], end - line[0]), (start, end)) for start, end in row]
        for line, row in zip(lines[1:], cells[1:], strict=True)
    ]
    # The first column has a heading of its own, or none.
    has_heading = all(row and row[0][0] == 0 for row in below)
    shift = 0 if has_heading else 1
    headings = {column + shift: cell for column, cell in enumerate(cells[0])}
    rows = []
    for row in below:
        found = {0: row[0][1]} if row else {}
        for column, cell in row[1:]:
            if column is None or column + shift in found:
                continue
            found[column + shift] = cell
        rows.append(found)
    return Table(headings, rows)


def _column(heads: Sequence[Interval], start: int, end: int) -> int | None:
    """Return the heading that most of a cell is below."""
    shared = [min(end, high) - max(start, low) for low, high in heads]
    most = max(shared, default=0)
    return shared.index(most) if most > 0 else None


def _named(labels: dict[int, str], words: set[str]) -> int | None:
    """Return the label all of whose words are among these; of several the longest, if it is one."""
    found: list[tuple[int, int]] = []
    for number, label in labels.items():
        needed = [word for word in _words(label) if word not in SMALL]
        if needed and words.issuperset(needed):
            found.append((len(needed), number))
    longest = max((length for length, _ in found), default=0)
    best = [number for length, number in found if length == longest]
    return best[0] if len(best) == 1 else None


def _words(text: str) -> Iterator[str]:
    """Yield the words of a text in one form each."""
    # "Q1" is the first quarter.
    text = re.sub(r"\bq([1-4])\b", r"quarter \1", text.casefold())
    text = re.sub(r"(?<=\d)(?=[a-z]+\b)(?!st\b|nd\b|rd\b|th\b)", " ", text)
    for word in re.findall(r"\w+(?:[.,:’']\w+)*", text):
        if word.endswith(("'s", "’s")):
            word = word[:-2]
        elif len(word) > 3 and word.endswith("s") and not word.endswith(("ss", "us", "is")):
            word = word[:-3] + "y" if word.endswith("ies") and len(word) > 4 else word[:-1]
        yield SAME.get(word, word)
