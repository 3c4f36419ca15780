"""Entries with the same numbers: a table in each version of a paper, a part of a larger one."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from syntagma.reproduce.bases import SCALES, read_bases
from syntagma.reproduce.datasets import read_datasets
from syntagma.reproduce.entries import Column, Entry, read_papers
from syntagma.reproduce.plan import encoders_of
from syntagma.reproduce.runs import Setting

__all__ = ["holders"]

Number = tuple[str, ...]
"""What tells a number of a system from all others: how it is measured, and on which run."""
TABLES = ("table", "lines", "points")
"""Kinds whose numbers are the same, however they are shown."""


def holders(entry: Entry, recorded: Mapping[str, Mapping[str, Any]]) -> list[str]:
    """The recorded entries that together hold every number of another entry.

    Args:
        entry: that is looked for.
        recorded: by name, as :func:`syntagma.reproduce.index.recorded` gives them.

    Returns:
        Their names; none if there is a number that no one holds, or if they are of several scales
        or encoders.
    """
    groups: dict[tuple[str, str], dict[Number, str]] = {}
    for name, result in recorded.items():
        paper, _, id = name.partition(" ")
        scale = result["scale"] if result["scale"] in SCALES else "cpu"
        # At the scale of the papers rows have their own encoders.
        key = (scale, "" if scale == "paper" else result["encoder"])
        encoders = result["encoder"].split(", ")
        held = groups.setdefault(key, {})
        for title, encoder, number in _numbers(read_papers()[paper].entries[id], *key):
            if encoder in encoders and title not in result["missing"]:
                held.setdefault(number, name)
    for key, held in groups.items():
        wanted = [number for _, _, number in _numbers(entry, *key)]
        if wanted and all(number in held for number in wanted):
            return list(dict.fromkeys(held[number] for number in wanted))
    return []


def _numbers(entry: Entry, scale: str, encoder: str) -> Iterator[tuple[str, str, Number]]:
    """The numbers of the rows that are run, each after the title of its data set and its encoder.

    Args:
        entry: whose.
        scale: of the runs.
        encoder: that is asked for; empty for the entry's own.
    """
    encoders = encoders_of(entry, Setting(Path(), Path(), scale, encoder))
    way = () if entry.kind in TABLES else (entry.kind, repr(sorted(entry.options.items())))
    for row in entry.rows:
        if not row.system or row.encoder not in encoders:
            continue
        for column in entry.columns or (Column(""),):
            base = column.base or row.base or entry.base
            if scale != "paper":
                base = read_bases()[base].like or base
            number = (
                *way, base, column.system or row.system, encoders[row.encoder],
                column.metric or row.metric, column.part, repr(column.set), row.parser,
            )  # fmt: skip
            yield read_datasets()[read_bases()[base].data].title, encoders[row.encoder], number
