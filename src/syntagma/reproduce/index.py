"""The index of all tables and figures: what each needs, and what was measured here."""

from __future__ import annotations

import functools
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from syntagma.errors import InputError
from syntagma.files import read_json, read_text, write_json, write_text
from syntagma.report.tables import markdown
from syntagma.reproduce.datasets import find_files, read_datasets
from syntagma.reproduce.entries import Column, Entry, package_file, read_papers
from syntagma.reproduce.plan import data_of

__all__ = ["datasets_of", "index_lines", "index_page", "record", "recorded"]

RECORDED, INTRODUCTION = "recorded.json", "index.md"


@functools.cache
def recorded() -> dict[str, dict[str, Any]]:
    """The results that come with the package, by entry: scale, date, encoder, summary, missing."""
    found: dict[str, dict[str, Any]] = read_json(package_file(RECORDED))
    return found


def datasets_of(entry: Entry) -> list[str]:
    """Names of the data sets that an entry uses, those of the runs that it begins from included."""
    found: dict[str, None] = {}
    for row in entry.rows:
        for column in entry.columns or (Column(""),):
            if row.system:
                base = column.base or row.base or entry.base
                found |= dict.fromkeys(data_of(base, column.system or row.system))
    return list(found)


def _status(entry: Entry, data: Path | None) -> str:
    result = recorded().get(entry.name)
    titles = {name: read_datasets()[name].title for name in datasets_of(entry)}
    if result:
        line = f"{result['summary']} ({result['scale']}, {result['date']})"
        lacking = ", ".join(result["missing"])
        return f"{line}; the rest needs data {lacking}" if lacking else line
    if data is not None:
        lacking = ", ".join(
            dict.fromkeys(t for name, t in titles.items() if not find_files(name, data, data))
        )
        return f"needs data {lacking}" if lacking else "not measured yet, its data are there"
    return f"needs data {', '.join(dict.fromkeys(titles.values()))}"


def index_lines(data: Path | None = None) -> Iterator[str]:
    """A line an entry: paper, entry, caption, status.

    Args:
        data: a folder in which its data are looked for.
    """
    entries = [entry for paper in read_papers().values() for entry in paper.entries.values()]
    rows = [
        (f"{entry.paper:<12}", f"{entry.id:<10}", f"{entry.caption}: {_status(entry, data)}")
        for entry in entries
    ]
    yield from ("  ".join(row) for row in rows)


def index_page() -> str:
    """The index as the page ``docs/reproduce.md``."""
    blocks = [read_text(package_file(INTRODUCTION)).strip()]
    for name, paper in read_papers().items():
        blocks.append(f"## {paper.title}")
        blocks.append(f"*{paper.document}*, `{name}`.")
        rows = [["", "shows", "data", "status"]]
        for entry in paper.entries.values():
            data = "; ".join(dict.fromkeys(map(_data, datasets_of(entry))))
            rows.append([f"`{entry.id}`", entry.caption, data, _status(entry, None)])
        blocks.append(markdown(rows))
        others = ", ".join(f"{id} ({what})" for id, what in paper.others.items())
        blocks.append(f"No results are in {others}.")
    return "\n\n".join(blocks) + "\n"


def _data(name: str) -> str:
    dataset = read_datasets()[name]
    return f"{dataset.title} or a substitute" if len(dataset.choices) > 1 else dataset.title


def record(results: Sequence[Path], page: Path) -> list[str]:
    """Take results into the package's own, and write the page again.

    Args:
        results: ``result.json`` of entries.
        page: ``docs/reproduce.md``.

    Returns:
        The entries' names.

    Raises:
        InputError: a file holds no result, or one of a try.
    """
    known, names = dict(recorded()), []
    for path in results:
        value: Mapping[str, Any] = read_json(path)
        if not {"paper", "id", "scale", "date", "summary", "missing"} <= value.keys():
            raise InputError(f"{path}: no result of reproduce; give a result.json")
        if value["scale"] == "tiny":
            raise InputError(f"{path}: the numbers of --scale tiny mean nothing; run cpu or paper")
        name = f"{value['paper']} {value['id']}"
        kept = ("scale", "date", "encoder", "seeds", "summary", "missing")
        known[name] = {key: value[key] for key in kept}
        names.append(name)
    write_json(package_file(RECORDED), known)
    recorded.cache_clear()
    write_text(page, index_page())
    return names
