"""The index of all tables and figures: what each needs, and what was measured here."""

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
from syntagma.reproduce.equivalents import holders
from syntagma.reproduce.result import changed

__all__ = ["datasets_of", "index_lines", "index_page", "record", "recorded"]

RECORDED, INTRODUCTION = "recorded.json", "index.md"
KEPT = ("scale", "date", "encoder", "seeds", "summary", "missing", "differs", "settings")


@functools.cache
def recorded() -> dict[str, dict[str, Any]]:
    """The results that come with the package, by entry: the ``KEPT`` of ``result.json``.

    A ``remark`` was added by hand, such as that it is measured otherwise now; the entry's next
    record is without it.
    """
    found: dict[str, dict[str, Any]] = read_json(package_file(RECORDED))
    return found


def datasets_of(entry: Entry) -> list[str]:
    """Names of the data sets that an entry uses, those of the runs that it begins from included."""
    return list(dict.fromkeys(name for names in _datasets(entry) for name in names))


def _datasets(entry: Entry) -> Iterator[list[str]]:
    """What each number of ours needs."""
    for row in entry.rows:
        for column in entry.columns or (Column(""),):
            if row.system:
                base = column.base or row.base or entry.base
                yield data_of(base, column.system_of(row))


def _status(entry: Entry, data: Path | None) -> str:
    """The numbers and on what they were measured, or who has them, or which data are wanted."""
    if result := recorded().get(entry.name):
        seeds = f"{result['seeds']} seed{'s' if result['seeds'] > 1 else ''}"
        scale = " ".join((result["scale"], *changed(result["settings"])))
        made = ", ".join((scale, f"encoder {result['encoder']}", seeds, result["date"]))
        lacking = ", ".join(result["missing"])
        line = f"{result['summary']} ({made})"
        line += f"; without {lacking}, whose data are missing" if lacking else ""
        return f"{line}; {result['remark']}" if "remark" in result else line
    if found := holders(entry, recorded()):
        return f"measured: see {', '.join(found)}"
    needed = datasets_of(entry)
    if data is None:
        return f"not measured; needs {_titles(needed)}"
    absent = [name for name in needed if not find_files(name, data, data)]
    if not absent:
        return "not measured; its data are there"
    if all(set(absent) & {*names} for names in _datasets(entry)):
        return f"not measured; needs {_titles(absent)}"
    return f"not measured; its data are there, but for the columns of {_titles(absent)}"


def index_lines(data: Path | None = None, paper: str = "", name: str = "") -> Iterator[str]:
    """A line an entry: paper, entry, caption, status.

    Args:
        data: a folder in which its data are looked for.
        paper: of this one alone.
        name: of this entry of it alone.

    Raises:
        InputError: there is no such paper or entry.
    """
    for entry in find_entries(paper, name):
        yield f"{entry.paper:<12}  {entry.id:<10}  {entry.caption}: {_status(entry, data)}"


def index_page() -> str:
    """The index as the page ``docs/reproduce.md``."""
    blocks = [read_text(package_file(INTRODUCTION)).strip()]
    for name, paper in read_papers().items():
        blocks.append(f"## {paper.title}")
        blocks.append(f"*{paper.document}*, `{name}`.")
        rows, notes = [["", "shows", "measured here"]], []
        for entry in paper.entries.values():
            rows.append([f"`{entry.id}`", entry.caption, _status(entry, None)])
            differs = recorded().get(entry.name, {}).get("differs", [])
            notes += [f"- `{entry.id}`: {'; '.join(differs)}"] if differs else []
        blocks.append(markdown(rows))
        if notes:
            blocks += ["In what the measured ones differ from the paper:", "\n".join(notes)]
        others = ", ".join(f"{id} ({what})" for id, what in paper.others.items())
        blocks.append(f"No results are in {others}.")
    blocks += ["## Data", markdown(_data_rows())]
    return "\n\n".join(blocks) + "\n"


def _data_rows() -> list[list[str]]:
    """A row a source: its name, where it is published, its files, what may stand for it."""
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
    return [["", "from", "under `--data`, plain or `.gz`", "otherwise taken"], *rows.values()]


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
        if not {"paper", "id", *KEPT} <= value.keys():
            raise InputError(f"{path}: no result of reproduce; give a result.json")
        if value["scale"] == "tiny":
            raise InputError(f"{path}: the numbers of --scale tiny mean nothing; run cpu or paper")
        name = f"{value['paper']} {value['id']}"
        known[name] = {key: value[key] for key in KEPT}
        names.append(name)
    write_json(package_file(RECORDED), known)
    recorded.cache_clear()
    write_text(page, index_page())
    return names
