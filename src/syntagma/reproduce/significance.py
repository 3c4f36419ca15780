"""Significance tests of each system against the first one trained on the same data."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from syntagma.analysis.compare import compare_named, correct
from syntagma.analysis.comparison import (
    BOTH,
    EXAMPLES,
    OVER,
    ComparedSystem,
    Comparison,
    interval_notes,
    show_p,
)
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
    """The comparison of a system with the baseline of its group, and what it is a part of."""

    group: _ComparisonGroup
    names: str
    compared: ComparedSystem
    comparison: Comparison


def significance(plan: EntryPlan) -> tuple[tuple[ResultTable, ...], tuple[str, ...]]:
    """Test the differences between systems.

    Runs with the same seed and training data are paired, as by ``syntagma compare``; the papers'
    tests are only for others.  p-values are corrected (Holm) for all comparisons of the entry,
    across bases.

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
        differences = _corrected([each for group in groups for each in _differences(group)])
    except MissingExtraError as error:
        return (), (f"{error}", *reported)
    return (_table(differences),), (*_explained(differences), *reported)


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
    groups = [(name, folders) for folders, name in group.systems.items()]
    comparison = compare_named(groups)
    baseline, *others = group.systems.values()
    for compared, name in zip(comparison.others, others, strict=True):
        yield _Difference(group, f"{name} against {baseline}", compared, comparison)


def _corrected(differences: Sequence[_Difference]) -> list[_Difference]:
    """Correct the p-values over all comparisons of the entry."""
    systems = correct([difference.compared for difference in differences])
    return [
        replace(difference, compared=system)
        for difference, system in zip(differences, systems, strict=True)
    ]


def _table(differences: Sequence[_Difference]) -> ResultTable:
    """Format the differences as a table, with a row for each interval."""
    several = len({difference.group.where for difference in differences}) > 1
    rows = [["", "Δ", "+", "−", "over", "95 %", "p", "p (Holm)", "detectable", "n"]]
    for difference in differences:
        system, group = difference.compared, difference.group
        name = f"{group.where}: {difference.names}" if several else difference.names
        head = [name, signed(system.difference), str(system.gained), str(system.lost)]
        tests = list(_tested(system))
        for place, tested in enumerate(tests or [("–",) * 5]):
            n_examples = f"{difference.comparison.n_examples:,} of {group.part}"
            rows.append(
                [*(["", "", "", ""] if place else head), *tested, "" if place else n_examples]
            )
    if len(differences) == 1:
        rows = [[*row[:7], *row[8:]] for row in rows]
    return ResultTable("Differences", rows)


def _tested(system: ComparedSystem) -> Iterator[tuple[str, ...]]:
    """Yield the cells of each interval; of runs that are not paired, also the papers' test."""
    for over in OVER:
        if over in system.intervals:
            yield over, *system.interval_cells(over)
    if not system.paired:
        yield "the papers' test", "", show_p(system.p_value), show_p(system.p_holm), ""


def _explained(differences: Sequence[_Difference]) -> Iterator[str]:
    """Yield a line for each test; if there are several, with the bases that it applies to."""
    wheres: dict[str, dict[str, None]] = {}
    for difference in differences:
        for line in _lines(difference):
            wheres.setdefault(line, {})[difference.group.where] = None
    bases = {difference.group.where for difference in differences}
    for line, places in wheres.items():
        yield line if len(places) == len(bases) else f"{', '.join(places)}: {line}"
    if len(differences) > 1:
        yield f"Holm: p corrected over the {len(differences)} comparisons"


def _lines(difference: _Difference) -> Iterator[str]:
    system, comparison = difference.compared, difference.comparison
    yield from interval_notes(
        [system.seeds_test],
        comparison.bootstrap if EXAMPLES in system.intervals else "",
        both=BOTH in system.intervals,
    )
    if not system.paired:
        yield f"not paired, since {system.pairing}; the papers' test: {comparison.test}"
