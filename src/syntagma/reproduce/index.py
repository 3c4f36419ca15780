"""The list of all tables and figures: the data that each needs, and our recorded results."""

from __future__ import annotations

import functools
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from syntagma.errors import InputError
from syntagma.files import read_json
from syntagma.outputs import write_text
from syntagma.reproduce.bases import data_of
from syntagma.reproduce.datasets import find_files, read_datasets
from syntagma.reproduce.entries import Column, Entry, find_entries, package_file
from syntagma.reproduce.equivalents import measured_cells, with_cells
from syntagma.reproduce.result import changed, summary_of

RECORDED = "recorded.json"
KEPT = ("scale", "date", "encoder", "seeds", "missing", "differs", "settings")


@functools.cache
def recorded() -> dict[str, dict[str, Any]]:
    """Return the results that ship with the package, by entry.

    A result has the fields ``KEPT`` of ``result.json`` and the ``cells`` with our numbers, those of
    a table by the indices of row and column.  It may also have a ``remark`` that was
    added by hand, for example that the entry is measured differently now.  Recording the entry
    again drops the remark.
    """
    results: dict[str, dict[str, Any]] = read_json(package_file(RECORDED))
    return results


def datasets_of(entry: Entry) -> list[str]:
    """Return the names of the datasets that an entry needs, also for runs that others start from.

    Args:
        entry: the entry.
    """
    return list(dict.fromkeys(name for names in _datasets(entry) for name in names))


def _datasets(entry: Entry) -> Iterator[list[str]]:
    """Yield the names of the datasets that each of our numbers needs."""
    for row in entry.rows:
        for column in entry.columns or (Column(""),):
            if row.system:
                base = column.base or row.base or entry.base
                yield data_of(base, column.system_of(row))


def status(entry: Entry, data: Path | None) -> str:
    """Describe an entry: its recorded result, an equivalent entry, or the data that it needs."""
    measured = measured_cells(entry, recorded())
    rest = f"; not measured: {', '.join(measured.unmeasured)}" if measured.unmeasured else ""
    if entry.name in recorded():
        numbers = summary_of(measured.cells, drawn=True)
        return f"{numbers} ({made_with(entry.name)}){rest}"
    if measured.sources:
        part = "measured in part" if measured.unmeasured else "measured"
        return f"{part}: see {', '.join(measured.sources)}{rest}"
    needed = datasets_of(entry)
    if data is None:
        return f"not measured; needs {titles(needed)}"
    absent = [name for name in needed if not find_files(name, data, data)]
    if not absent:
        return "not measured; all data found"
    # An entry can be measured in part, unless every number needs a missing dataset.
    if all(set(absent) & {*names} for names in _datasets(entry)):
        return f"not measured; needs {titles(absent)}"
    return f"not measured; data found, except for the columns of {titles(absent)}"


def index_lines(data: Path | None = None, paper: str = "", name: str = "") -> Iterator[str]:
    """Yield a line for each entry, with its paper, id, caption and status.

    Args:
        data: data folder in which to look for the data of entries.
        paper: name of a paper; all papers if empty.
        name: name of an entry of the paper; all entries if empty.

    Raises:
        InputError: there is no such paper or entry.
    """
    for entry in find_entries(paper, name):
        yield f"{entry.paper:<12}  {entry.id:<10}  {entry.caption}: {status(entry, data)}"


def made_with(name: str) -> str:
    """Describe how a recorded result was measured.

    Args:
        name: name of the recorded entry.
    """
    result = recorded()[name]
    seeds = f"{result['seeds']} seed{'s' if result['seeds'] > 1 else ''}"
    scale = " ".join((result["scale"], *changed(result["settings"])))
    made = ", ".join((scale, f"encoder {result['encoder']}", seeds, result["date"]))
    missing = ", ".join(result["missing"])
    made += f"; without {missing} (data missing)" if missing else ""
    return f"{made}; {result['remark']}" if "remark" in result else made


def titles(names: Iterable[str]) -> str:
    """List datasets by their titles.

    Args:
        names: names of the datasets.
    """
    found = (read_datasets()[name] for name in names)
    return ", ".join(
        dict.fromkeys(
            f"{each.title} or a substitute" if len(each.choices) > 1 else each.title
            for each in found
        )
    )


def record(results: Sequence[Path]) -> list[str]:
    """Add results to the recorded ones.

    Args:
        results: paths of ``result.json`` files.

    Returns:
        The names of the entries.

    Raises:
        InputError: a file is not a result, or its scale is ``tiny``.
    """
    known, names = dict(recorded()), []
    for path in results:
        value = read_json(path)
        if not isinstance(value, dict) or not {"paper", "id", "measured", *KEPT} <= value.keys():
            raise InputError(f"{path}: not a result of reproduce; give a result.json")
        if value["scale"] == "tiny":
            raise InputError(
                f"{path}: numbers of --scale tiny are meaningless; run --scale cpu or paper"
            )
        name = f"{value['paper']} {value['id']}"
        known[name] = {key: value[key] for key in KEPT} | {"cells": with_cells(value)}
        names.append(name)
    if names:
        write_text(package_file(RECORDED), one_item_a_line(known))
        recorded.cache_clear()
    return names


def one_item_a_line(results: Mapping[str, Mapping[str, Any]]) -> str:
    """Format recorded results as JSON with a line for each number, so that changes are easy to see.

    Args:
        results: results by the name of their entry.

    >>> print(one_item_a_line({"sg-net table4": {"seeds": 3, "cells": [{"ours": 73.41}]}}), end="")
    {
    "sg-net table4": {
      "seeds": 3,
      "cells": [
        {"ours": 73.41}
      ]
    }
    }
    """

    def field(key: str, value: Any) -> str:
        text = json.dumps(value, ensure_ascii=False)
        if isinstance(value, list) and value:
            items = (f"    {json.dumps(item, ensure_ascii=False)}" for item in value)
            text = "[\n" + ",\n".join(items) + "\n  ]"
        return f"  {json.dumps(key)}: {text}"

    entries = (
        f"{json.dumps(name)}: {{\n"
        + ",\n".join(field(key, value) for key, value in result.items())
        + "\n}"
        for name, result in results.items()
    )
    return "{\n" + ",\n".join(entries) + "\n}\n"
