"""The paper's test of each system against the first one that was trained on the same."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from syntagma.analysis.compare import ComparedSystem, compare_runs, show_p
from syntagma.analysis.significance import holm
from syntagma.drawing.tables import signed
from syntagma.errors import MissingExtraError
from syntagma.reproduce.plan import Plan
from syntagma.reproduce.result import Part
from syntagma.reproduce.scores import part_scored, scored_folder

__all__ = ["significance"]

Runs = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class _Group:
    """Systems that were trained on the same, the first of them the baseline.

    Args:
        where: what they were trained on, and the column where that makes a difference.
        part: what they are scored on.
        systems: their names, by the folders of their seeds.
    """

    where: str
    part: str
    systems: dict[Runs, str]


@dataclass(frozen=True, slots=True)
class _Difference:
    """A system against the baseline of its group."""

    group: _Group
    names: str
    compared: ComparedSystem
    p_value: float
    n_examples: int
    test: str


def significance(plan: Plan) -> tuple[tuple[Part, ...], tuple[str, ...]]:
    """A table of the differences, and what was tested; nothing where there are no two systems.

    p is corrected (Holm) for all comparisons of the entry, on whatever they were trained.

    Args:
        plan: whose runs are finished.
    """
    groups = list(_groups(plan))
    if not groups:
        return (), ()
    paper = plan.entry.significance
    said = (f"The paper: {paper}.",) if paper else ()
    try:
        found = [difference for group in groups for difference in _differences(group)]
    except MissingExtraError as error:
        return (), (f"{error}", *said)
    return (_table(found),), (*_tests(found), *said)


def _groups(plan: Plan) -> Iterator[_Group]:
    """Each pair of a base and a column whose systems have not been seen together yet."""
    seen: set[Runs] = set()
    headings = plan.entry.headings()
    times = Counter(row.name for row in plan.entry.rows if row.system)
    names = {
        id(row): f"{heading}, {row.name}" if times[row.name] > 1 else row.name
        for row, heading in zip(plan.entry.rows, headings, strict=True)
    }
    # A row that is drawn as a level line is what the others are measured against.
    level = plan.entry.options.get("level")
    for place, column in enumerate(plan.columns):
        groups: dict[tuple[str, str, str], dict[Runs, str]] = {}
        for row, runs in sorted(plan.row_runs(place), key=lambda pair: pair[0].name != level):
            # What there is no test part of is compared on dev.
            key = (runs[0].base, row.encoder, part_scored(runs[0], column) or "dev")
            folders = tuple(str(scored_folder(run, column)) for run in runs)
            groups.setdefault(key, {}).setdefault(folders, names[id(row)])
        for (base, _, part), systems in groups.items():
            every = tuple(folder for folders in systems for folder in folders)
            if len(systems) > 1 and every not in seen:
                seen.add(every)
                where = f"{base}, {column.name}" if column.suffix else base
                yield _Group(where, part, systems)


def _differences(group: _Group) -> Iterator[_Difference]:
    comparison = compare_runs([folder for folders in group.systems for folder in folders])
    baseline, *others = group.systems.values()
    for system, name in zip(comparison.systems[1:], others, strict=True):
        assert system.p_value is not None
        names = f"{name} against {baseline}"
        n_examples = comparison.n_examples
        yield _Difference(group, names, system, system.p_value, n_examples, comparison.test)


def _table(found: list[_Difference]) -> Part:
    several = len({difference.group.where for difference in found}) > 1
    corrected = holm([difference.p_value for difference in found])
    many = len(found) > 1
    seeds = any(len(difference.compared.runs) > 1 for difference in found)
    head = ["", "Δ", "+", "−", "p", *(["p (Holm)"] if many else []), "p (resampled)"]
    rows = [[*head, *(["p (seeds)"] if seeds else []), "n"]]
    for difference, p_holm in zip(found, corrected, strict=True):
        system, group = difference.compared, difference.group
        shown: list[float | None] = [difference.p_value, *([p_holm] if many else [])]
        shown += [system.p_resampled, *([system.p_seeds] if seeds else [])]
        rows.append(
            [
                f"{group.where}: {difference.names}" if several else difference.names,
                signed(system.difference),
                str(system.gained),
                str(system.lost),
                *map(show_p, shown),
                f"{difference.n_examples:,} of {group.part}",
            ]
        )
    return Part("Differences", rows)


def _tests(found: list[_Difference]) -> Iterable[str]:
    """A line for each test, with what it holds for where there are several."""
    wheres: dict[str, list[str]] = {}
    for difference in found:
        places = wheres.setdefault(difference.test, [])
        if difference.group.where not in places:
            places.append(difference.group.where)
    for test, places in wheres.items():
        yield f"{', '.join(places)}: {test}" if len(wheres) > 1 else test
    if len(found) > 1:
        yield f"Holm: p over the {len(found)} comparisons; the others are as they are"
