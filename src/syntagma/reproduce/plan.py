"""Plan the runs that an entry needs."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from syntagma.encoders.default import DEFAULT
from syntagma.errors import InputError
from syntagma.reproduce.bases import base_at, data_of, read_bases
from syntagma.reproduce.datasets import missing_line
from syntagma.reproduce.entries import Column, Entry, Row, read_papers
from syntagma.reproduce.runs import Run, Setting, make_run


def in_order(runs: Iterable[Run]) -> list[Run]:
    """Return runs and those that they start from, each once and after those that it needs.

    Args:
        runs: the runs.
    """
    ordered: dict[Path, Run] = {}

    def add(run: Run) -> None:
        for needed in run.needs:
            add(needed)
        ordered.setdefault(run.folder, run)

    for run in runs:
        add(run)
    return list(ordered.values())


@dataclass(frozen=True, slots=True)
class EntryPlan:
    """The runs of an entry.

    Args:
        entry: the entry.
        setting: what was requested.
        encoders: encoder of the rows to run, by the name of the paper's encoder.
        cells: runs of each cell, one for each seed, by the indices of row and column.
        missing: which data are missing and where to get them, for each base that lacks some.
    """

    entry: Entry
    setting: Setting
    encoders: dict[str, str]
    cells: dict[tuple[int, int], tuple[Run, ...]]
    missing: dict[str, str]

    @property
    def columns(self) -> tuple[Column, ...]:
        """The columns of the entry; an unnamed one if it has none."""
        return self.entry.columns or (Column(""),)

    @property
    def folder(self) -> Path:
        """Output folder for tables and pictures."""
        entry = self.entry
        return self.setting.out / self.setting.scale / "results" / f"{entry.paper}_{entry.id}"

    def runs(self) -> list[Run]:
        """Return all runs: each after those that it needs, and all systems seed by seed."""
        by_seed = range(self.setting.seeds)
        return in_order(
            runs[min(seed, len(runs) - 1)] for seed in by_seed for runs in self.cells.values()
        )

    def row_runs(self, column: int = 0) -> Iterator[tuple[Row, tuple[Run, ...]]]:
        """Yield the rows to run, with their runs in one column.

        Args:
            column: index of the column.
        """
        for number, row in enumerate(self.entry.rows):
            if (number, column) in self.cells:
                yield row, self.cells[number, column]


def encoders_of(entry: Entry, setting: Setting) -> dict[str, str]:
    """Choose the rows to run, and their encoders.

    Args:
        entry: the entry.
        setting: what was requested.

    Returns:
        The encoder of each group of rows to run, by the name of the paper's encoder.
    """
    papers = read_papers()[entry.paper].encoders
    names = list(dict.fromkeys(row.encoder for row in entry.rows if row.system))
    if setting.scale == "paper" and not setting.encoder:
        return {name: papers.get(name, DEFAULT) for name in names}
    for name in names:
        if name and setting.encoder in (name, papers[name]):
            return {name: papers[name]}
    # With any other encoder, rows that differ in the paper's encoder only would be the same.
    return {names[0]: setting.encoder or DEFAULT}


def make_plan(entry: Entry, setting: Setting) -> EntryPlan:
    """Plan the runs of an entry, without cells whose data are missing.

    Args:
        entry: the entry.
        setting: what is requested.

    Raises:
        InputError: the data of all cells are missing, or a setting is invalid.
    """
    if not setting.seeds:
        seeds = read_papers()[entry.paper].seeds if setting.scale == "paper" else 1
        setting = replace(setting, seeds=seeds)
    encoders = encoders_of(entry, setting)
    cells: dict[tuple[int, int], tuple[Run, ...]] = {}
    missing: dict[str, str] = {}
    bases = read_bases()
    for at, row in enumerate(entry.rows):
        for place, column in enumerate(entry.columns or (Column(""),)):
            base = column.base or row.base or entry.base
            if not row.system or row.encoder not in encoders:
                continue
            system = column.system_of(row)
            if line := _missing_data(base, system, setting, fresh=not entry.trains):
                missing[base] = line
                continue
            seeds = 1 if bases[base].one_seed else setting.seeds
            cells[at, place] = tuple(
                make_run(
                    base,
                    system,
                    setting,
                    encoder=encoders[row.encoder],
                    seed=seed,
                    suffix=column.suffix,
                    changes=column.set,
                    fresh=not entry.trains,
                )
                for seed in range(1, seeds + 1)
            )
    if not cells:
        raise InputError(f"{entry.name} {'; '.join(dict.fromkeys(missing.values()))}")
    return EntryPlan(entry, setting, encoders, cells, missing)


def _missing_data(base: str, system: str, setting: Setting, *, fresh: bool) -> str:
    """Say which data of a run are missing, or of the runs it starts from; empty if none are."""
    own = base_at(base, setting.scale)
    # At the paper's scale, no base has a start: the same holds for a run that starts fresh.
    scale = "paper" if fresh or setting.encoder_of(own) else setting.scale
    for data in data_of(own, system, scale):
        if setting.files(data) is None:
            return missing_line(data, setting.data)
    return ""
