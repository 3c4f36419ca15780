"""The kinds of measurement: each knows how to turn the runs of an entry into tables."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from importlib import import_module

from syntagma.errors import InputError, MissingExtraError
from syntagma.report.tables import signed
from syntagma.reproduce.entries import Column, Entry, Row
from syntagma.reproduce.plan import Plan
from syntagma.reproduce.result import Cell, Measured, Part
from syntagma.reproduce.scores import ALPHA, part_scored, score_of, scored_folder

__all__ = ["KINDS", "find_kind", "layout", "measure_table"]

Kind = Callable[[Plan], Measured]

KINDS: dict[str, str] = {
    "table": "syntagma.reproduce.kinds:measure_table",
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
    headings = _headings(entry)
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


def _headings(entry: Entry) -> list[str]:
    """For each row the heading above it; empty where there is none."""
    found, heading = [], ""
    for row in entry.rows:
        if not row.system and not row.paper:
            heading = row.name
        found.append(heading)
    return found


def _places(numbers: Iterable[float | None]) -> int:
    """Decimal places that a column of the paper has."""
    shown = (str(number).partition(".")[2] for number in numbers if number is not None)
    return max(map(len, shown), default=1)


def measure_table(plan: Plan) -> Measured:
    """Rows of systems, columns of metrics."""
    entry = plan.entry
    numbers = {id(row): at for at, row in enumerate(entry.rows)}

    def ours(row: Row, place: int) -> tuple[float, float | None] | None:
        runs = plan.cells[numbers[id(row)], place]
        return score_of(runs, row, entry.columns[place])

    table = layout(plan, ours)
    return Measured(table.parts, table.cells, tuple(_tests(plan)))


def _tests(plan: Plan) -> Iterator[str]:
    """The paper's test of each system against the first one trained on the same."""
    seen: set[tuple[str, ...]] = set()
    times = Counter(row.name for row in plan.entry.rows if row.system)
    names = {
        id(row): f"{heading}, {row.name}" if times[row.name] > 1 else row.name
        for row, heading in zip(plan.entry.rows, _headings(plan.entry), strict=True)
    }
    for place, column in enumerate(plan.columns):
        groups: dict[tuple[str, str, str], dict[tuple[str, ...], str]] = {}
        for row, runs in plan.row_runs(place):
            # What there is no test part of is compared on dev.
            key = (runs[0].base, row.encoder, part_scored(runs[0], column) or "dev")
            folders = tuple(str(scored_folder(run, column)) for run in runs)
            groups.setdefault(key, {}).setdefault(folders, names[id(row)])
        for (base, _, part), systems in groups.items():
            folders = tuple(folder for group in systems for folder in group)
            if len(systems) > 1 and folders not in seen:
                seen.add(folders)
                yield from _compared(column, base, part, systems)
    if seen and plan.entry.significance:
        yield f"The paper: {plan.entry.significance}."


def _compared(
    column: Column, base: str, part: str, systems: dict[tuple[str, ...], str]
) -> Iterator[str]:
    from syntagma.report.compare import compare_runs, show_p

    where = f"{base}, {column.name}" if column.suffix else base
    try:
        found = compare_runs([folder for group in systems for folder in group])
    except MissingExtraError as error:
        yield f"{where}: {error}"
        return
    names = list(systems.values())
    for system, name in list(zip(found.systems, names, strict=True))[1:]:
        assert system.p_value is not None
        assert system.p_holm is not None
        assert system.p_resampled is not None
        holm = f"Holm {show_p(system.p_holm)}, " if len(names) > 2 else ""
        yield (
            f"{where}: {name} against {names[0]} {signed(system.difference)}, "
            f"{system.gained} better, {system.lost} worse, p = {show_p(system.p_value)}, "
            f"{holm}resampled {show_p(system.p_resampled)}"
        )
    yield f"{where}: {found.test}, n = {found.n_examples:,} of {part}"
