"""The pages about the papers: an index, the data, and a page for each paper."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Sequence

from syntagma.drawing.tables import markdown, signed, spread
from syntagma.files import read_text
from syntagma.reproduce.datasets import read_datasets
from syntagma.reproduce.entries import Entry, Paper, package_file, read_papers
from syntagma.reproduce.equivalents import Measured, measured_cells
from syntagma.reproduce.index import datasets_of, made_with, recorded, titles
from syntagma.reproduce.result import Cell, listed, row_names

INTRODUCTION, DATA = "usage.md", "data.md"
WIDTH = 120
NOTE = "<!-- Written by experiments/record_results.py -->"


def reproduce_pages() -> dict[str, str]:
    """Return the pages as Markdown, by their paths below ``docs``."""
    pages = {"reproduce.md": _index(), "reproduce/data.md": _data()}
    for name, paper in read_papers().items():
        pages[f"reproduce/{name}.md"] = _paper(name, paper)
    return pages


def _index() -> str:
    rows = [["paper", "measured", "in part", "not measured"]]
    for name, paper in read_papers().items():
        by_state: dict[str, list[str]] = {
            "measured": [],
            "measured in part": [],
            "not measured": [],
        }
        for entry in paper.entries.values():
            link = f"[{entry.id}](reproduce/{name}.md#{_anchor(entry)})"
            by_state[_state(_found(entry))].append(link)
        links = (", ".join(each) for each in by_state.values())
        rows.append([f"[{paper.title}](reproduce/{name}.md), `{name}`", *links])
    introduction = read_text(package_file(INTRODUCTION)).strip()
    more = (
        "The data of each entry are listed in [reproduce/data.md](reproduce/data.md). Further "
        "numbers, with their interpretation, are in [results.md](results.md)."
    )
    return "\n\n".join((introduction, "## Papers", markdown(rows), more)) + "\n"


def _found(entry: Entry) -> Measured:
    return measured_cells(entry, recorded())


def _state(measured: Measured) -> str:
    if not measured.sources:
        return "not measured"
    return "measured in part" if measured.unmeasured else "measured"


def _anchor(entry: Entry) -> str:
    """Return the anchor of an entry's heading; Markdown drops the dot of ``section7.6``."""
    return entry.id.replace(".", "")


def _paper(name: str, paper: Paper) -> str:
    purpose = (
        f"This page sets our numbers next to those of *{paper.document}* (`{name}` on the command "
        "line). The difference is ours minus the paper's, on another encoder and usually on less "
        "data, which is listed below each table; whether a system is better than its baseline is "
        "in [results.md](../results.md)."
    )
    blocks = [f"# {paper.title}", NOTE, purpose]
    for entry in paper.entries.values():
        blocks += [f"## {entry.id}", f"{entry.caption[0].upper()}{entry.caption[1:]}."]
        blocks += _entry(entry)
    blocks.append(
        listed("## Without results\n", (f"{i}: {what}" for i, what in paper.others.items()))
    )
    return "\n\n".join(blocks) + "\n"


def _entry(entry: Entry) -> Iterable[str]:
    """Yield what is known of an entry: its state, a table, and differences from the paper."""
    measured = _found(entry)
    command = f"    syntagma reproduce {entry.name} --data data"
    if not measured.sources:
        yield f"Not measured; needs {titles(datasets_of(entry))}."
        yield command
        return
    lines = [f"{_state(measured)}: {made_with(name)}" for name in measured.sources]
    if measured.sources != (entry.name,):
        lines = [f"{_state(measured)}, see {', '.join(map(_link, measured.sources))}"]
    if measured.unmeasured:
        lines.append(f"not measured: {'; '.join(measured.unmeasured)}")
    yield "\n".join(f"- {line}" for line in lines)
    if measured.cells:
        yield markdown(_rows(measured.cells))
    else:
        yield "The figure was drawn; it has no numbers."
    if differs := recorded().get(entry.name, {}).get("differs"):
        yield listed("Differences from the paper:\n", map(_wrapped, differs))
    yield command


def _wrapped(line: str) -> str:
    """Break a long item of a list between words."""
    lines = textwrap.wrap(line, WIDTH - 2, break_long_words=False, break_on_hyphens=False)
    return "\n  ".join(lines)


def _link(name: str) -> str:
    paper, _, id = name.partition(" ")
    return f"[{name}]({paper}.md#{id.replace('.', '')})"


def _rows(cells: Sequence[Cell]) -> list[list[str]]:
    """Return a row for each number: the paper's, ours, and their difference."""
    rows = [["row", "column", "paper", "ours", "difference"]]
    names = row_names(cells)
    for cell in cells:
        assert cell.ours is not None
        ours = spread(cell.ours, cell.spread, cell.digits)
        paper, difference = "", ""
        if cell.paper is not None:
            paper = f"{cell.paper:g}"
            difference = signed(cell.ours - cell.paper, cell.digits)
        rows.append([names[cell.heading, cell.row], cell.column, paper, ours, difference])
    return rows


def _data() -> str:
    introduction = read_text(package_file(DATA)).strip()
    title, _, rest = introduction.partition("\n")
    blocks = [title, NOTE, rest.strip()]
    seen: dict[str, list[str]] = {}
    for dataset in read_datasets().values():
        official, *others = dataset.choices
        source = f"<{dataset.source}>" if "://" in dataset.source else f"`{dataset.source}`"
        tests = [path.partition("#")[0] for text in official.test for path in text.split("+")]
        lines = seen.setdefault(dataset.title, [f"- from {source}"])
        lines += [f"- `{path}`" for path in (*official.needed, *tests)]
        for other in others:
            files = ", ".join(f"`{path}`" for path in dict.fromkeys(other.needed))
            lines.append(f"- substitute: {other.differs}: {files}")
    for name, lines in seen.items():
        # Datasets of the same title differ in some files only.
        blocks += [f"## {name[0].upper()}{name[1:]}", "\n".join(dict.fromkeys(lines))]
    return "\n\n".join(blocks) + "\n"
