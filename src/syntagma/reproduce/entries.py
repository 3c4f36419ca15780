"""What there is to reproduce: an entry a table or figure, read from ``papers/*.yaml``.

The entries are data.  A row names a system (``bases.yaml``) and holds the paper's numbers, a column
names a metric; how they are measured is the business of a handful of kinds
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

__all__ = [
    "Column",
    "Entry",
    "Paper",
    "Row",
    "find_entries",
    "find_entry",
    "package_file",
    "read_papers",
]

PAPERS = ("sg-net", "sg-net-aaai", "sg-net-first", "seprem", "poi-net")
"""In the order of the index."""
PARTS = ("dev", "test", "test_or_dev")


@dataclass(frozen=True)
class Row:
    """A line of a table.

    Args:
        name: as in the paper.
        system: what we train for it; without one the paper's numbers stand alone, and without
            these the line is a heading.
        encoder: the paper's, a key of :attr:`Paper.encoders`.
        base: what it is trained on, where the entry and its column do not say so.
        metric: of the columns that have none.
        parser: changes the parses on which it is scored: ``noisy:0.2``, put before the parser.
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
        name: as in the paper.
        metric: a name of ``metrics.json``; ``alpha`` is SEPREM's, from the model's weights.
        base: what is trained on, where it is not the entry's.
        system: instead of the row's.
        instead: for systems that are the same in this column, the one that is trained for all.
        part: what is scored on: ``dev``, ``test``, or ``test_or_dev``: the paper's is the test
            part, and where there is none ours is dev.
        suffix: of the names of its runs, where their settings differ from other columns'.
        set: these settings.
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
            raise InputError(f"part is one of {', '.join(PARTS)}, got {self.part!r}")

    def system_of(self, row: Row) -> str:
        """What is trained for a row in this column."""
        return self.system or self.instead.get(row.system, row.system)


@dataclass(frozen=True)
class Entry:
    """A table or figure, or a section with numbers.

    Args:
        caption: what it shows.
        kind: how it is measured, a name of :data:`syntagma.reproduce.measurements.KINDS`.
        base: what is trained on, a name of ``bases.yaml``.
        columns: what is shown.
        rows: of what.
        significance: what the paper says of its differences.
        notes: what differs from the paper, beyond what can be told from the settings.
        options: of the kind.
        reference: the paper's table, its head first, where our rows are only found in the answers.
        id: ``table3``, ``figure4``, ``section7.6``.
        paper: whose.
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
                raise InputError(f"row {row.name!r} has more numbers than there are columns")

    @property
    def trains(self) -> bool:
        """Whether it is measured on finished runs; what things cost, fresh models tell."""
        return self.kind != "cost"

    @property
    def name(self) -> str:
        """As it is asked for on the command line."""
        return f"{self.paper} {self.id}"

    def headings(self) -> list[str]:
        """For each row the heading above it; empty where there is none."""
        found, heading = [], ""
        for row in self.rows:
            if not row.system and not row.paper:
                heading = row.name
            found.append(heading)
        return found


@dataclass(frozen=True)
class Paper:
    """One of the documents.

    Args:
        title: of the system, with the version.
        document: the paper's title.
        parser: what it parses or tags with.
        encoders: its encoders on the hub, by the names that rows use.
        entries: by id.
        others: tables and figures without results, and what they are.
        seeds: that its results are means over.
    """

    title: str
    document: str
    parser: str
    encoders: dict[str, str]
    entries: dict[str, Entry]
    others: dict[str, str] = field(default_factory=dict)
    seeds: int = 1


def package_file(name: str) -> Path:
    """A file that comes with this part of the package."""
    return Path(str(resources.files("syntagma.reproduce"))) / name


@functools.cache
def read_papers() -> dict[str, Paper]:
    """The papers by name, each with its entries."""
    papers = {}
    for name in PAPERS:
        path = package_file(f"papers/{name}.yaml")
        paper = build(Paper, load_yaml(path), where=path.name)
        entries = {id: replace(entry, id=id, paper=name) for id, entry in paper.entries.items()}
        papers[name] = replace(paper, entries=entries)
    return papers


def find_entries(paper: str = "", name: str = "") -> list[Entry]:
    """The entries of all papers, of one, or one of its entries.

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
    """The entry of a name; ``fig. 4`` and ``Table 3`` are understood too.

    Raises:
        InputError: there is no such paper or entry; the nearest one is named.
    """
    found = _find_paper(paper)
    entries, others = found.entries, found.others
    wanted = re.sub(r"[\s_-]", "", name.lower())
    wanted = re.sub(r"^(?:fig\.?|figure)(?=\d)", "figure", wanted)
    wanted = re.sub(r"^(?:tab\.?|table)(?=\d)", "table", wanted)
    wanted = re.sub(r"^(?:sec\.?|section|§)(?=\d)", "section", wanted)
    if wanted in others:
        raise InputError(f"{paper} {wanted} reports no results ({others[wanted]})")
    if wanted not in entries:
        raise InputError(f"{paper} has no {name!r}; {nearest(wanted, list(entries))}")
    return entries[wanted]
