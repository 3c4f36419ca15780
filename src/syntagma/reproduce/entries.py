"""The entries to reproduce, one for each table or figure, read from ``papers/*.yaml``.

Entries are data.  A row names a system (see ``bases.yaml``) and holds the paper's numbers; a column
names a metric.  The kind of an entry decides how it is measured
(:mod:`syntagma.reproduce.measurements`).
"""

from __future__ import annotations

import functools
import re
from dataclasses import dataclass, field, replace
from importlib import resources
from pathlib import Path
from typing import Any

from syntagma.errors import InputError
from syntagma.settings import build, load_yaml, nearest

PAPERS = ("sg-net", "sg-net-aaai", "sg-net-first", "seprem", "poi-net")
"""The papers in the order of the index."""
PARTS = ("dev", "test", "test_or_dev")


@dataclass(frozen=True)
class Row:
    """A row of a table.

    Args:
        name: name of the row in the paper.
        system: the system to train.  A row without one only shows the paper's numbers; if it has no
            numbers either, it is a heading.
        encoder: the paper's encoder, a key of :attr:`Paper.encoders`.
        base: the base to train on, if neither the column nor the entry has one.
        metric: metric of the columns that have none.
        parser: prefix of the parse source to score with, such as ``noisy:0.2``.
        paper: the paper's number in each column.
    """

    name: str
    system: str = ""
    encoder: str = ""
    base: str = ""
    metric: str = ""
    parser: str = ""
    paper: tuple[float | None, ...] = ()


@dataclass(frozen=True)
class Column:
    """A column of a table.

    Args:
        name: name of the column in the paper.
        metric: a key of ``metrics.json``, or ``alpha`` for SEPREM's α, which is read from the
            weights.
        base: the base to train on, if it is not that of the entry.
        system: the system to train instead of the row's.
        instead: for systems that are identical in this column, the one to train in their place.
        part: ``dev``; ``test``; or ``test_or_dev``, for test scores of the paper that are compared
            with dev scores if there is no test set.
        suffix: suffix of the names of the column's runs, if their settings differ from those of
            other columns.
        set: the settings that differ.
    """

    name: str
    metric: str = ""
    base: str = ""
    system: str = ""
    instead: dict[str, str] = field(default_factory=dict)
    part: str = "dev"
    suffix: str = ""
    set: dict[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if self.part not in PARTS:
            raise InputError(f"part must be one of {', '.join(PARTS)}, got {self.part!r}")

    def system_of(self, row: Row) -> str:
        """Return the system to train for a row in this column."""
        return self.system or self.instead.get(row.system, row.system)


@dataclass(frozen=True)
class Entry:
    """A table, a figure, or a section with numbers.

    Args:
        caption: what the entry shows.
        kind: how it is measured, a key of :data:`syntagma.reproduce.measurements.KINDS`.
        base: the base to train on, a name from ``bases.yaml``.
        columns: the columns.
        rows: the rows.
        significance: what the paper says about the significance of its differences.
        notes: differences from the paper that the settings do not show.
        options: options of the kind.
        reference: the paper's table with its header, if our rows are not known beforehand.
        id: ``table3``, ``figure4``, ``section7.6``.
        paper: name of the paper.
    """

    caption: str
    rows: tuple[Row, ...]
    kind: str = "table"
    base: str = ""
    columns: tuple[Column, ...] = ()
    significance: str = ""
    notes: tuple[str, ...] = ()
    options: dict[str, Any] = field(default_factory=dict)
    reference: tuple[tuple[Any, ...], ...] = ()
    id: str = ""
    paper: str = ""

    def __post_init__(self) -> None:
        for row in self.rows:
            if len(row.paper) > max(len(self.columns), 1):
                raise InputError(f"row {row.name!r} has more numbers than the entry has columns")

    @property
    def trains(self) -> bool:
        """Whether it is measured on trained runs; costs are measured on new models."""
        return self.kind != "cost"

    @property
    def name(self) -> str:
        """The name of the entry on the command line."""
        return f"{self.paper} {self.id}"

    def headings(self) -> list[str]:
        """Return the heading above each row; empty if there is none."""
        headings, heading = [], ""
        for row in self.rows:
            if not row.system and not row.paper:
                heading = row.name
            headings.append(heading)
        return headings


@dataclass(frozen=True)
class Paper:
    """A paper, or one version of it.

    Args:
        title: name of the system, with the version.
        document: title of the paper.
        parser: the parser or tagger that the paper uses.
        encoders: hub names of the paper's encoders, by the names that rows use.
        entries: the entries by id.
        others: tables and figures without results, and what they show.
        seeds: number of seeds that its results are means of.
        stated: what it says of the settings of guides, as :attr:`Base.stated`.
        readings: where the code follows one reading of a text that allows another.
    """

    title: str
    document: str
    parser: str
    encoders: dict[str, str]
    entries: dict[str, Entry]
    others: dict[str, str] = field(default_factory=dict)
    seeds: int = 1
    stated: dict[str, Any] = field(default_factory=dict)
    readings: tuple[str, ...] = ()


def package_file(name: str) -> Path:
    """Return the path of a data file of this subpackage."""
    return Path(str(resources.files("syntagma.reproduce"))) / name


@functools.cache
def read_papers() -> dict[str, Paper]:
    """Return the papers by name."""
    papers = {}
    for name in PAPERS:
        path = package_file(f"papers/{name}.yaml")
        paper = build(Paper, load_yaml(path), where=path.name)
        # The files do not repeat the id and the paper in each entry.
        entries = {id: replace(entry, id=id, paper=name) for id, entry in paper.entries.items()}
        papers[name] = replace(paper, entries=entries)
    return papers


def find_entries(paper: str = "", name: str = "") -> list[Entry]:
    """Return the entries of all papers, those of one paper, or a single one.

    Args:
        paper: name of a paper; all papers if empty.
        name: name of an entry of the paper; all entries if empty.

    Raises:
        InputError: as :func:`find_entry`.
    """
    if name:
        return [find_entry(paper, name)]
    papers = [_find_paper(paper)] if paper else read_papers().values()
    return [entry for each in papers for entry in each.entries.values()]


def _find_paper(name: str) -> Paper:
    papers = read_papers()
    if name not in papers:
        raise InputError(f"unknown paper {name!r}; {nearest(name, list(papers))}")
    return papers[name]


def find_entry(paper: str, name: str) -> Entry:
    """Find an entry by name.

    Args:
        paper: name of the paper.
        name: name of the entry; spellings such as ``fig. 4`` or ``Table 3`` are accepted.

    Raises:
        InputError: there is no such paper or entry; the message suggests the closest name.
    """
    entries, others = _find_paper(paper).entries, read_papers()[paper].others
    # "Fig. 4", "figure-4" and "figure4" are the same.
    wanted = re.sub(r"[\s_-]", "", name.lower())
    wanted = re.sub(r"^(?:fig\.?|figure)(?=\d)", "figure", wanted)
    wanted = re.sub(r"^(?:tab\.?|table)(?=\d)", "table", wanted)
    wanted = re.sub(r"^(?:sec\.?|section|§)(?=\d)", "section", wanted)
    if wanted in others:
        raise InputError(f"{paper} {wanted} reports no results ({others[wanted]})")
    if wanted not in entries:
        raise InputError(f"{paper} has no {name!r}; {nearest(wanted, list(entries))}")
    return entries[wanted]
