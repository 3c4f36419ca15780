"""The index of all tables and figures: the data that each needs, and our recorded results."""

from __future__ import annotations

import functools
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from syntagma.drawing.tables import markdown
from syntagma.errors import InputError
from syntagma.files import read_json, read_text
from syntagma.outputs import write_json, write_text
from syntagma.reproduce.bases import data_of
from syntagma.reproduce.datasets import find_files, read_datasets
from syntagma.reproduce.entries import Column, Entry, find_entries, package_file, read_papers
from syntagma.reproduce.equivalents import equivalent_entries
from syntagma.reproduce.result import changed

RECORDED, INTRODUCTION = "recorded.json", "index.md"
KEPT = ("scale", "date", "encoder", "seeds", "summary", "missing", "differs", "settings")


@functools.cache
def recorded() -> dict[str, dict[str, Any]]:
    """Return the results that ship with the package, by entry.

    A result has the fields ``KEPT`` of ``result.json``.  It may also have a ``remark`` that was
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


def _status(entry: Entry, data: Path | None) -> str:
    """Describe an entry: its recorded result, an equivalent entry, or the data that it needs."""
    if result := recorded().get(entry.name):
        seeds = f"{result['seeds']} seed{'s' if result['seeds'] > 1 else ''}"
        scale = " ".join((result["scale"], *changed(result["settings"])))
        made = ", ".join((scale, f"encoder {result['encoder']}", seeds, result["date"]))
        missing = ", ".join(result["missing"])
        line = f"{result['summary']} ({made})"
        line += f"; without {missing} (data missing)" if missing else ""
        return f"{line}; {result['remark']}" if "remark" in result else line
    if equivalents := equivalent_entries(entry, recorded()):
        return f"measured: see {', '.join(equivalents)}"
    needed = datasets_of(entry)
    if data is None:
        return f"not measured; needs {_titles(needed)}"
    absent = [name for name in needed if not find_files(name, data, data)]
    if not absent:
        return "not measured; all data found"
    # An entry can be measured in part, unless every number needs a missing dataset.
    if all(set(absent) & {*names} for names in _datasets(entry)):
        return f"not measured; needs {_titles(absent)}"
    return f"not measured; data found, except for the columns of {_titles(absent)}"


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
        yield f"{entry.paper:<12}  {entry.id:<10}  {entry.caption}: {_status(entry, data)}"


def index_page() -> str:
    """Return the index as Markdown, the content of ``docs/reproduce.md``."""
    blocks = [read_text(package_file(INTRODUCTION)).strip()]
    for name, paper in read_papers().items():
        blocks.append(f"## {paper.title}")
        blocks.append(f"*{paper.document}*, `{name}`.")
        rows, notes = [["", "content", "our result"]], []
        for entry in paper.entries.values():
            rows.append([f"`{entry.id}`", entry.caption, _status(entry, None)])
            differs = recorded().get(entry.name, {}).get("differs", [])
            notes += [f"- `{entry.id}`: {'; '.join(differs)}"] if differs else []
        blocks.append(markdown(rows))
        if notes:
            blocks += ["Differences from the paper:", "\n".join(notes)]
        others = ", ".join(f"{id} ({what})" for id, what in paper.others.items())
        blocks.append(f"Without results: {others}.")
    blocks += ["## Data", markdown(_data_rows())]
    return "\n\n".join(blocks) + "\n"


def _data_rows() -> list[list[str]]:
    """Return a row for each dataset: name, source, files, substitutes."""
    rows: dict[str, list[str]] = {}
    files: dict[str, dict[str, None]] = {}
    for dataset in read_datasets().values():
        official, *others = dataset.choices
        source = f"<{dataset.source}>" if "://" in dataset.source else f"`{dataset.source}`"
        instead = "; ".join(f"{each.differs}: {_listed(each.needed)}" for each in others)
        rows[dataset.title] = [dataset.title, source, "", instead]
        tests = [path.partition("#")[0] for text in official.test for path in text.split("+")]
        files.setdefault(dataset.title, {}).update(dict.fromkeys((*official.needed, *tests)))
    for title, row in rows.items():
        row[2] = _listed(files[title])
    return [["", "source", "files under `--data`, plain or `.gz`", "substitutes"], *rows.values()]


def _listed(paths: Iterable[str]) -> str:
    return ", ".join(f"`{path}`" for path in dict.fromkeys(paths))


def _titles(names: Iterable[str]) -> str:
    found = (read_datasets()[name] for name in names)
    return ", ".join(
        dict.fromkeys(
            f"{each.title} or a substitute" if len(each.choices) > 1 else each.title
            for each in found
        )
    )


def record(results: Sequence[Path], page: Path) -> list[str]:
    """Add results to the recorded ones, and update the page of the index.

    Args:
        results: paths of ``result.json`` files.
        page: path of ``docs/reproduce.md``.

    Returns:
        The names of the entries.

    Raises:
        InputError: a file is not a result, or its scale is ``tiny``.
    """
    known, names = dict(recorded()), []
    for path in results:
        value: Mapping[str, Any] = read_json(path)
        if not {"paper", "id", *KEPT} <= value.keys():
            raise InputError(f"{path}: not a result of reproduce; give a result.json")
        if value["scale"] == "tiny":
            raise InputError(
                f"{path}: numbers of --scale tiny are meaningless; run --scale cpu or paper"
            )
        name = f"{value['paper']} {value['id']}"
        known[name] = {key: value[key] for key in KEPT}
        names.append(name)
    write_json(package_file(RECORDED), known)
    recorded.cache_clear()
    write_text(page, index_page())
    return names
