"""The kinds of measurement, each of which turns the runs of an entry into tables."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from importlib import import_module

from syntagma.errors import InputError
from syntagma.reproduce.entries import Row
from syntagma.reproduce.plan import EntryPlan
from syntagma.reproduce.result import Cell, Measurement, ResultTable
from syntagma.reproduce.scores import ALPHA, score_of
from syntagma.reproduce.significance import significance

Kind = Callable[[EntryPlan], Measurement]

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
"""The function of each kind, imported on demand: some need optional dependencies."""


def find_kind(name: str) -> Kind:
    """Return the function that measures a kind of entry.

    Args:
        name: a key of :data:`KINDS`.

    Raises:
        InputError: the kind is unknown.
    """
    if name not in KINDS:
        raise InputError(f"unknown kind of measurement {name!r}; known: {', '.join(KINDS)}")
    module, _, attribute = KINDS[name].partition(":")
    kind: Kind = getattr(import_module(module), attribute)
    return kind


def paper_table(
    plan: EntryPlan, ours: Callable[[Row, int], tuple[float, float | None] | None]
) -> Measurement:
    """Build a table in the paper's layout.

    Args:
        plan: plan of the entry.
        ours: returns our number and its standard deviation for a row and the index of a column;
            called for cells with runs only.
    """
    entry = plan.entry
    rows = [["", *(column.name for column in entry.columns)]]
    cells = []
    decimals = [_decimals(row.paper[n] for row in entry.rows if n < len(row.paper))
              for n in range(len(entry.columns))]  # fmt: skip
    headings = entry.headings()
    for at, row in enumerate(entry.rows):
        line = [row.name]
        for place, column in enumerate(entry.columns):
            paper = row.paper[place] if place < len(row.paper) else None
            measured = ours(row, place) if (at, place) in plan.cells else None
            value, spread = measured or (None, None)
            digits = 4 if column.metric == ALPHA else 2
            cell = Cell(
                row.name, column.name, value, spread, paper, headings[at], digits, (at, place)
            )  # fmt: skip
            line.append(cell.shown(decimals[place]))
            if value is not None or paper is not None:
                cells.append(cell)
        rows.append(line)
    return Measurement((ResultTable("", rows),), tuple(cells))


def _decimals(numbers: Iterable[float | None]) -> int:
    """Return the number of decimals in a column of the paper."""
    shown = (str(number).partition(".")[2] for number in numbers if number is not None)
    return max(map(len, shown), default=1)


def measure_table(plan: EntryPlan) -> Measurement:
    """Measure a table of systems and metrics, and test the differences between systems.

    Args:
        plan: plan of the entry, with finished runs.
    """
    entry = plan.entry
    # By identity, because rows with the same content would be equal.
    row_numbers = {id(row): number for number, row in enumerate(entry.rows)}

    def ours(row: Row, place: int) -> tuple[float, float | None] | None:
        runs = plan.cells[row_numbers[id(row)], place]
        return score_of(runs, row, entry.columns[place])

    table = paper_table(plan, ours)
    differences, lines = significance(plan)
    return Measurement((*table.parts, *differences), table.cells, lines)
