"""Significance tests of each system against the first one trained on the same data."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from syntagma.analysis.compare import compare_runs
from syntagma.analysis.comparison import ComparedSystem, show_p
from syntagma.analysis.significance import holm
from syntagma.drawing.tables import signed
from syntagma.errors import MissingExtraError
from syntagma.reproduce.plan import EntryPlan
from syntagma.reproduce.result import ResultTable
from syntagma.reproduce.scores import part_scored, scored_folder

Runs = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class _ComparisonGroup:
    """Systems that were trained on the same data; the first one is the baseline.

    Args:
        where: the base, and the column if its settings differ.
        part: part of the data on which they are scored.
        systems: names of the systems, by the folders of their seeds.
    """

    where: str
    part: str
    systems: dict[Runs, str]


@dataclass(frozen=True, slots=True)
class _Difference:
    """The comparison of a system with the baseline of its group."""

    group: _ComparisonGroup
    names: str
    compared: ComparedSystem
    p_value: float
    n_examples: int
    test: str


def significance(plan: EntryPlan) -> tuple[tuple[ResultTable, ...], tuple[str, ...]]:
    """Test the differences between systems.

    p-values are corrected (Holm) for all comparisons of the entry, across bases.

    Args:
        plan: plan of the entry, with finished runs.

    Returns:
        A table of the differences and a description of the tests; both empty if no two systems can
        be compared.
    """
    groups = list(_groups(plan))
    if not groups:
        return (), ()
    paper = plan.entry.significance
    reported = (f"The paper: {paper}.",) if paper else ()
    try:
        differences = [difference for group in groups for difference in _differences(group)]
    except MissingExtraError as error:
        return (), (f"{error}", *reported)
    return (_table(differences),), (*_tests(differences), *reported)


def _groups(plan: EntryPlan) -> Iterator[_ComparisonGroup]:
    """Yield the groups of systems of all columns, each set of systems once."""
    seen: set[Runs] = set()
    headings = plan.entry.headings()
    occurrences = Counter(row.name for row in plan.entry.rows if row.system)
    names = {
        id(row): f"{heading}, {row.name}" if occurrences[row.name] > 1 else row.name
        for row, heading in zip(plan.entry.rows, headings, strict=True)
    }
    # A row that is drawn as a horizontal line is the baseline, wherever it is in the table.
    level = plan.entry.options.get("level")
    for place, column in enumerate(plan.columns):
        groups: dict[tuple[str, str, str], dict[Runs, str]] = {}
        for row, runs in sorted(plan.row_runs(place), key=lambda pair: pair[0].name != level):
            # Columns without a test set are compared on dev.
            key = (runs[0].base, row.encoder, part_scored(runs[0], column) or "dev")
            folders = tuple(str(scored_folder(run, column)) for run in runs)
            groups.setdefault(key, {}).setdefault(folders, names[id(row)])
        for (base, _, part), systems in groups.items():
            every = tuple(folder for folders in systems for folder in folders)
            if len(systems) > 1 and every not in seen:
                seen.add(every)
                where = f"{base}, {column.name}" if column.suffix else base
                yield _ComparisonGroup(where, part, systems)


def _differences(group: _ComparisonGroup) -> Iterator[_Difference]:
    """Compare the systems of a group with its baseline."""
    comparison = compare_runs([folder for folders in group.systems for folder in folders])
    baseline, *others = group.systems.values()
    for system, name in zip(comparison.systems[1:], others, strict=True):
        assert system.p_value is not None
        names = f"{name} against {baseline}"
        n_examples = comparison.n_examples
        yield _Difference(group, names, system, system.p_value, n_examples, comparison.test)


def _table(differences: list[_Difference]) -> ResultTable:
    """Format the differences as a table, with columns only as far as they are needed."""
    several = len({difference.group.where for difference in differences}) > 1
    corrected = holm([difference.p_value for difference in differences])
    many = len(differences) > 1
    seeds = any(len(difference.compared.runs) > 1 for difference in differences)
    head = ["", "Δ", "+", "−", "p", *(["p (Holm)"] if many else []), "p (resampled)"]
    rows = [[*head, *(["p (seeds)"] if seeds else []), "n"]]
    for difference, p_holm in zip(differences, corrected, strict=True):
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
    return ResultTable("Differences", rows)


def _tests(differences: list[_Difference]) -> Iterable[str]:
    """Yield a line for each test; if there are several, with the bases that it applies to."""
    wheres: dict[str, list[str]] = {}
    for difference in differences:
        places = wheres.setdefault(difference.test, [])
        if difference.group.where not in places:
            places.append(difference.group.where)
    for test, places in wheres.items():
        yield f"{', '.join(places)}: {test}" if len(wheres) > 1 else test
    if len(differences) > 1:
        yield f"Holm: p corrected over the {len(differences)} comparisons; other p are uncorrected"
