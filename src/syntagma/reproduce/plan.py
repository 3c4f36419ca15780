"""Which runs an entry needs, and which of them are there."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from syntagma.encoders.default import DEFAULT
from syntagma.errors import InputError
from syntagma.reproduce.bases import base_at, data_of, read_bases
from syntagma.reproduce.datasets import missing_line
from syntagma.reproduce.entries import Column, Entry, Row, read_papers
from syntagma.reproduce.runs import Run, Setting, make_run

__all__ = ["Plan", "encoders_of", "make_plan"]


@dataclass(frozen=True, slots=True)
class Plan:
    """The runs of an entry.

    Args:
        entry: what is reproduced.
        setting: what was asked for.
        encoders: of the rows that are run, by the paper's name of theirs.
        cells: the runs of each row and column, a seed each; by their numbers.
        missing: for each base without data, what to fetch.
    """

    entry: Entry
    setting: Setting
    encoders: dict[str, str]
    cells: dict[tuple[int, int], tuple[Run, ...]]
    missing: dict[str, str]

    @property
    def columns(self) -> tuple[Column, ...]:
        """Those of the entry, at least one."""
        return self.entry.columns or (Column(""),)

    @property
    def folder(self) -> Path:
        """Where its tables and pictures go."""
        entry = self.entry
        return self.setting.out / self.setting.scale / "results" / f"{entry.paper}_{entry.id}"

    def runs(self) -> list[Run]:
        """All runs, each after those that it needs, all systems with one seed before the next."""
        found: dict[Path, Run] = {}

        def add(run: Run) -> None:
            for needed in run.needs:
                add(needed)
            found.setdefault(run.folder, run)

        for seed in range(self.setting.seeds):
            for runs in self.cells.values():
                add(runs[min(seed, len(runs) - 1)])
        return list(found.values())

    def row_runs(self, column: int = 0) -> Iterator[tuple[Row, tuple[Run, ...]]]:
        """The rows that are run, with their runs in a column."""
        for number, row in enumerate(self.entry.rows):
            if (number, column) in self.cells:
                yield row, self.cells[number, column]


def encoders_of(entry: Entry, setting: Setting) -> dict[str, str]:
    """The encoders of the rows that are run, by the paper's names of theirs."""
    own = read_papers()[entry.paper].encoders
    names = list(dict.fromkeys(row.encoder for row in entry.rows if row.system))
    if setting.scale == "paper" and not setting.encoder:
        return {name: own.get(name, DEFAULT) for name in names}
    for name in names:
        if name and setting.encoder in (name, own[name]):
            return {name: own[name]}
    return {names[0]: setting.encoder or DEFAULT}


def make_plan(entry: Entry, setting: Setting) -> Plan:
    """The runs of an entry; cells whose data are not there are left out.

    Raises:
        InputError: the data of no cell are there, or a setting is impossible.
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
            if lacking := _lacking(base, system, setting, fresh=not entry.trains):
                missing[base] = lacking
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
    return Plan(entry, setting, encoders, cells, missing)


def _lacking(base: str, system: str, setting: Setting, *, fresh: bool) -> str:
    """What to fetch for a system, or for those that it begins from; empty if all is there."""
    own = base_at(base, setting.scale)
    scale = "paper" if fresh or setting.encoder_of(own) else setting.scale
    for data in data_of(own, system, scale):
        if setting.files(data) is None:
            return missing_line(data, setting.data)
    return ""
