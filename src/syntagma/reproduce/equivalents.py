"""Find entries with the same numbers, such as a table that every version of a paper contains."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from syntagma.reproduce.bases import SCALES, base_at, read_bases
from syntagma.reproduce.datasets import read_datasets
from syntagma.reproduce.entries import Column, Entry, read_papers
from syntagma.reproduce.plan import encoders_of
from syntagma.reproduce.runs import Setting

Number = tuple[str, ...]
"""Identifies a number of a system: how it is measured, and on which run."""
TABLES = ("table", "lines", "points")
"""Kinds with the same numbers, which differ in how they are shown only."""


def equivalent_entries(entry: Entry, recorded: Mapping[str, Mapping[str, Any]]) -> list[str]:
    """Find recorded entries that contain all numbers of another entry.

    Args:
        entry: the entry to look for.
        recorded: recorded results by name, see :func:`syntagma.reproduce.index.recorded`.

    Returns:
        The name of one entry, or else the names of several that contain all numbers together.
        Empty if a number is missing, or if the entries differ in scale, encoder or number of seeds.
    """
    # Numbers may be combined if they were measured at the same scale, with the same encoder and
    # with equally many seeds.
    groups: dict[tuple[str, str, int], dict[str, set[Number]]] = {}
    for name, result in recorded.items():
        paper, _, id = name.partition(" ")
        # At the paper's scale, each row has an encoder of its own.
        encoder = "" if result["scale"] == "paper" else result["encoder"]
        encoders = result["encoder"].split(", ")
        by_entry = groups.setdefault((result["scale"], encoder, result["seeds"]), {})
        by_entry[name] = {
            number
            for title, row_encoder, number in _numbers(
                read_papers()[paper].entries[id], result["scale"], encoder
            )
            if row_encoder in encoders and title not in result["missing"]
        }
    for (scale, encoder, _), by_entry in groups.items():
        wanted = {number: None for _, _, number in _numbers(entry, scale, encoder)}
        if not wanted or not wanted.keys() <= set().union(*by_entry.values()):
            continue
        for name, numbers in by_entry.items():
            if wanted.keys() <= numbers:
                return [name]
        first = {number: name for name in reversed(by_entry) for number in by_entry[name]}
        return list(dict.fromkeys(first[number] for number in wanted))
    return []


def _numbers(entry: Entry, scale: str, encoder: str) -> Iterator[tuple[str, str, Number]]:
    """Yield the numbers of an entry, each with the title of its dataset and its encoder.

    Args:
        entry: the entry.
        scale: scale of the runs; anything but a known scale (a record made by hand) is treated as
            ``cpu``.
        encoder: the requested encoder; empty for the encoders of the entry.
    """
    scale = scale if scale in SCALES else "cpu"
    encoders = encoders_of(entry, Setting(Path(), Path(), scale, encoder))
    method = () if entry.kind in TABLES else (entry.kind, repr(sorted(entry.options.items())))
    for row in entry.rows:
        if not row.system or row.encoder not in encoders:
            continue
        for column in entry.columns or (Column(""),):
            base = base_at(column.base or row.base or entry.base, scale)
            number = (
                *method, base, column.system_of(row), encoders[row.encoder],
                column.metric or row.metric, column.part, repr(column.set), row.parser,
            )  # fmt: skip
            yield read_datasets()[read_bases()[base].data].title, encoders[row.encoder], number
