"""The kinds of measurement: each knows how to turn the runs of an entry into tables."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from importlib import import_module

from syntagma.errors import InputError
from syntagma.reproduce.entries import Row
from syntagma.reproduce.plan import Plan
from syntagma.reproduce.result import Cell, Measured, Part
from syntagma.reproduce.scores import ALPHA, score_of
from syntagma.reproduce.significance import significance

__all__ = ["KINDS", "find_kind", "layout", "measure_table"]

Kind = Callable[[Plan], Measured]

KINDS: dict[str, str] = {
    "table": "syntagma.reproduce.measurements:measure_table",
    "lines": "syntagma.reproduce.charts:measure_lines",
    "points": "syntagma.reproduce.charts:measure_points",
    "groups": "syntagma.reproduce.figures:measure_groups",
    "tags": "syntagma.reproduce.tags:count_tags",
    "wrong_tags": "syntagma.reproduce.tags:count_wrong_tags",
    "pictures": "syntagma.reproduce.figures:draw_pictures",
    "cases": "syntagma.reproduce.cases:find_gains",
    "cost": "syntagma.reproduce.costs:measure_costs",
}
"""Where each kind lives; nothing is imported before it is asked for."""


def find_kind(name: str) -> Kind:
    """The measurement of a kind.

    Raises:
        InputError: there is none.
    """
    if name not in KINDS:
        raise InputError(f"unknown kind of measurement {name!r}; known: {', '.join(KINDS)}")
    module, _, attribute = KINDS[name].partition(":")
    kind: Kind = getattr(import_module(module), attribute)
    return kind


def layout(plan: Plan, ours: Callable[[Row, int], tuple[float, float | None] | None]) -> Measured:
    """A table in the paper's layout.

    Args:
        plan: of the entry.
        ours: our number for a row that is run and the number of a column, with its deviation.
    """
    entry = plan.entry
    rows = [["", *(column.name for column in entry.columns)]]
    cells = []
    places = [_places(row.paper[n] for row in entry.rows if n < len(row.paper))
              for n in range(len(entry.columns))]  # fmt: skip
    headings = entry.headings()
    for at, row in enumerate(entry.rows):
        line = [row.name]
        for place, column in enumerate(entry.columns):
            paper = row.paper[place] if place < len(row.paper) else None
            found = ours(row, place) if (at, place) in plan.cells else None
            value, spread = found or (None, None)
            digits = 4 if column.metric == ALPHA else 2
            cell = Cell(row.name, column.name, value, spread, paper, headings[at], digits)
            line.append(cell.shown(places[place]))
            if value is not None or paper is not None:
                cells.append(cell)
        rows.append(line)
    return Measured((Part("", rows),), tuple(cells))


def _places(numbers: Iterable[float | None]) -> int:
    """Decimal places that a column of the paper has."""
    shown = (str(number).partition(".")[2] for number in numbers if number is not None)
    return max(map(len, shown), default=1)


def measure_table(plan: Plan) -> Measured:
    """Rows of systems, columns of metrics, and the tests of their differences."""
    entry = plan.entry
    numbers = {id(row): at for at, row in enumerate(entry.rows)}

    def ours(row: Row, place: int) -> tuple[float, float | None] | None:
        runs = plan.cells[numbers[id(row)], place]
        return score_of(runs, row, entry.columns[place])

    table = layout(plan, ours)
    differences, lines = significance(plan)
    return Measured((*table.parts, *differences), table.cells, lines)
