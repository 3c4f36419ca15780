"""Entries with the same numbers: a table in each version of a paper, a part of a larger one."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from syntagma.reproduce.bases import SCALES, base_at, read_bases
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
        Their names, a single one if there is one; none if there is a number that no one holds, or
        if they are of several scales, encoders or counts of seeds.
    """
    groups: dict[tuple[str, str, int], dict[str, set[Number]]] = {}
    for name, result in recorded.items():
        paper, _, id = name.partition(" ")
        # At the scale of the papers rows have their own encoders.
        encoder = "" if result["scale"] == "paper" else result["encoder"]
        encoders = result["encoder"].split(", ")
        held = groups.setdefault((result["scale"], encoder, result["seeds"]), {})
        held[name] = {
            number
            for title, own, number in _numbers(
                read_papers()[paper].entries[id], result["scale"], encoder
            )
            if own in encoders and title not in result["missing"]
        }
    for (scale, encoder, _), held in groups.items():
        wanted = {number: None for _, _, number in _numbers(entry, scale, encoder)}
        if not wanted or not wanted.keys() <= set().union(*held.values()):
            continue
        for name, numbers in held.items():
            if wanted.keys() <= numbers:
                return [name]
        first = {number: name for name in reversed(held) for number in held[name]}
        return list(dict.fromkeys(first[number] for number in wanted))
    return []


def _numbers(entry: Entry, scale: str, encoder: str) -> Iterator[tuple[str, str, Number]]:
    """The numbers of the rows that are run, each after the title of its data set and its encoder.

    Args:
        entry: whose.
        scale: of the runs; one that is no scale of ours is about as large as ``cpu``.
        encoder: that is asked for; empty for the entry's own.
    """
    scale = scale if scale in SCALES else "cpu"
    encoders = encoders_of(entry, Setting(Path(), Path(), scale, encoder))
    way = () if entry.kind in TABLES else (entry.kind, repr(sorted(entry.options.items())))
    for row in entry.rows:
        if not row.system or row.encoder not in encoders:
            continue
        for column in entry.columns or (Column(""),):
            base = base_at(column.base or row.base or entry.base, scale)
            number = (
                *way, base, column.system_of(row), encoders[row.encoder],
                column.metric or row.metric, column.part, repr(column.set), row.parser,
            )  # fmt: skip
            yield read_datasets()[read_bases()[base].data].title, encoders[row.encoder], number
