"""Our recorded numbers of an entry, also if they were recorded for another entry.

Every version of a paper may contain the same table, and an ablation contains the main result.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from syntagma.reproduce.bases import SCALES, base_at
from syntagma.reproduce.entries import Column, Entry, find_entry
from syntagma.reproduce.plan import encoders_of
from syntagma.reproduce.result import Cell
from syntagma.reproduce.runs import Setting

Number = tuple[str, ...]
"""Identifies a number of a system: how it is measured, and on which run."""
Place = tuple[int, int]
"""Indices of a row and a column of an entry."""
Recorded = Mapping[str, Mapping[str, Any]]
TABLES = ("table", "lines", "points")
"""Kinds with the same numbers, which differ in how they are shown only."""
CONDITIONS = ("scale", "encoder", "seeds", "settings")
"""Numbers are only combined if these are equal."""


@dataclass(frozen=True, slots=True)
class Measured:
    """Our numbers of an entry.

    Args:
        sources: names of the recorded entries that the numbers are from; empty if there are none.
        cells: the numbers, with those of the paper.
        unmeasured: names of the rows, and of columns, without any number that should have some.
    """

    sources: tuple[str, ...] = ()
    cells: tuple[Cell, ...] = ()
    unmeasured: tuple[str, ...] = ()


def measured_cells(entry: Entry, recorded: Recorded) -> Measured:
    """Collect our numbers of an entry: its own ones, or else those of recorded entries.

    Args:
        entry: the entry.
        recorded: recorded results by name, see :func:`syntagma.reproduce.index.recorded`.
    """
    if entry.name in recorded:
        result = recorded[entry.name]
        return _measured(entry, result, (entry.name,), result["cells"])
    best = Measured()
    for sources in _groups(recorded).values():
        found = _from_group(entry, sources)
        if len(found.cells) > len(best.cells):
            best = found
    return best


def cells_of(entry: Entry, cells: list[dict[str, Any]]) -> list[Cell]:
    """Return recorded cells with the names and numbers of the paper.

    Args:
        entry: the entry.
        cells: the cells as recorded: those of a table by their place, others by their names.
    """
    headings, found = entry.headings(), []
    for cell in cells:
        if (at := cell.get("at")) is not None:
            row, place = entry.rows[at[0]], at[1]
            column = entry.columns[place].name if entry.columns else ""
            paper = row.paper[place] if place < len(row.paper) else None
            assert cell.get("row", row.name) == row.name, f"{entry.name}: record it again"
            names = {"row": row.name, "column": column, "heading": headings[at[0]], "paper": paper}
            cell = names | cell | {"at": tuple(at)}
        found.append(Cell(**cell))
    return found


def _groups(recorded: Recorded) -> dict[str, dict[str, Mapping[str, Any]]]:
    """Group recorded results by the conditions under which they were measured."""
    groups: dict[str, dict[str, Mapping[str, Any]]] = {}
    for name, result in recorded.items():
        # At the paper's scale, each row has an encoder of its own.
        conditions = [
            result[key] for key in CONDITIONS if key != "encoder" or not _at_paper(result)
        ]
        groups.setdefault(repr(conditions), {})[name] = result
    return groups


def _at_paper(result: Mapping[str, Any]) -> bool:
    return bool(result["scale"] == "paper")


def _from_group(entry: Entry, sources: Mapping[str, Mapping[str, Any]]) -> Measured:
    """Collect the numbers of an entry from results with equal conditions."""
    result = next(iter(sources.values()))
    wanted = _numbers(entry, result)
    known = {name: _recorded_numbers(name, result) for name, result in sources.items()}
    numbers_wanted = {*wanted.values()}
    covered = {name: numbers_wanted & numbers.keys() for name, numbers in known.items()}
    # Prefer the entry with the most numbers, so that few entries are referred to.
    names = sorted(sources, key=lambda name: -len(covered[name]))
    cells, used = [], []
    for place, number in wanted.items():
        name = next((each for each in names if number in covered[each]), "")
        if not name:
            continue
        cell = known[name][number]
        if name not in used:
            used.append(name)
        if cell is None:
            # The numbers of such kinds have no places: they are those of the whole entry.
            if numbers_wanted <= covered[name]:
                return _measured(entry, result, (name,), sources[name]["cells"])
            return Measured()
        values = {key: cell[key] for key in ("ours", "spread", "digits") if key in cell}
        cells.append({"at": place} | values)
    return _measured(entry, result, tuple(used), cells)


def _measured(
    entry: Entry, result: Mapping[str, Any], sources: tuple[str, ...], cells: list[dict[str, Any]]
) -> Measured:
    """Complete recorded cells, and name the rows that have none."""
    found = tuple(cells_of(entry, cells))
    if any(cell.at is None for cell in found) or not found:
        return Measured(sources, found)
    have = {cell.at for cell in found if cell.at}
    headings, missing = entry.headings(), []
    for at, column in _numbers(entry, result):
        row = entry.rows[at]
        if at not in {row for row, _ in have}:
            same = sum(other.name == row.name for other in entry.rows if other.system)
            missing.append(f"{headings[at]}, {row.name}" if same > 1 else row.name)
        elif column not in {column for _, column in have}:
            missing.append(f"column {entry.columns[column].name}")
    return Measured(sources, found, tuple(dict.fromkeys(missing)))


def _recorded_numbers(name: str, result: Mapping[str, Any]) -> dict[Number, dict[str, Any] | None]:
    """Return the cell of each number of a recorded entry; ``None`` if it has no place."""
    entry = find_entry(*name.split(" ", 1))
    numbers = _numbers(entry, result)
    cells = {tuple(cell["at"]): cell for cell in result["cells"] if "at" in cell}
    if not cells:
        return dict.fromkeys(numbers.values())
    return {number: cells[place] for place, number in numbers.items() if place in cells}


def _numbers(entry: Entry, result: Mapping[str, Any]) -> dict[Place, Number]:
    """Return the numbers that an entry has under the conditions of a result, by their place."""
    # A record made by hand has the experiments that it was measured with in place of a scale.
    scale = result["scale"] if result["scale"] in SCALES else "cpu"
    encoder = "" if _at_paper(result) else result["encoder"]
    encoders = encoders_of(entry, Setting(Path(), Path(), scale, encoder))
    method = () if entry.kind in TABLES else (entry.kind, repr(sorted(entry.options.items())))
    return {
        place: (
            *method, base_at(column.base or row.base or entry.base, scale), column.system_of(row),
            encoders[row.encoder], column.metric or row.metric, column.part, repr(column.set),
            row.parser,
        )
        for place, row, column in _places(entry)
        if row.encoder in encoders
    }  # fmt: skip


def _places(entry: Entry) -> Iterator[tuple[Place, Any, Column]]:
    """Yield the places of an entry that a system is run for."""
    for at, row in enumerate(entry.rows):
        for number, column in enumerate(entry.columns or (Column(""),)):
            if row.system:
                yield (at, number), row, column


def with_cells(value: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return the cells of a ``result.json`` as they are recorded: what the entry does not have.

    Args:
        value: content of the file.
    """
    cells = []
    for cell in value["measured"]["cells"]:
        if cell["ours"] is None:
            continue
        # The name of the row shows that the places are still those of the entry.
        keys = ("at", "row") if cell["at"] is not None else ("row", "column", "heading", "paper")
        kept = {key: cell[key] for key in (*keys, "ours", "spread") if cell[key] not in (None, "")}
        cells.append(kept | ({"digits": cell["digits"]} if cell["digits"] != 2 else {}))
    return cells
