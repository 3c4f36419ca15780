"""An entry as it came out: tables in the paper's layout, and what differs from the paper."""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from syntagma.drawing.tables import aligned, markdown, spread
from syntagma.outputs import write_json, write_text
from syntagma.reproduce.entries import read_papers
from syntagma.reprs import brief


@dataclass(frozen=True, slots=True)
class Cell:
    """A cell of a table, with our number and the paper's.

    Args:
        row: name of the row.
        column: name of the column.
        ours: mean over seeds; ``None`` if it was not measured.
        spread: sample standard deviation over seeds; ``None`` for a single seed.
        paper: the paper's number; ``None`` if it has none.
        heading: heading above the row; empty if there is none.
        digits: number of decimals of our number.
        at: indices of row and column in the entry; ``None`` for other tables.
    """

    row: str
    column: str
    ours: float | None = None
    spread: float | None = None
    paper: float | None = None
    heading: str = ""
    digits: int = 2
    at: tuple[int, int] | None = None

    def shown(self, decimals: int = 1) -> str:
        """Format our number, followed by the paper's in parentheses.

        Args:
            decimals: number of decimals of the paper's number.

        >>> Cell("SG-Net", "EM", 62.284, None, 85.0).shown()
        '62.28 (85.0)'
        >>> Cell("SG-Net", "slope", -0.003).shown()
        '0.00'
        """
        ours = "" if self.ours is None else spread(self.ours, self.spread, self.digits)
        if self.paper is not None:
            paper = f"({self.paper:.{decimals}f})"
            return paper if self.ours is None else f"{ours} {paper}"
        return ours


@dataclass(frozen=True, slots=True)
class ResultTable:
    """A table of a result.

    Args:
        title: title of the table; empty if it is the only one.
        rows: the formatted cells, the header first.
    """

    title: str
    rows: Sequence[Sequence[str]]


@dataclass(frozen=True, slots=True)
class Measurement:
    """What was measured for an entry.

    Args:
        parts: tables.
        cells: numbers.
        lines: messages, such as the tests of the differences.
        differs: differences from the paper that are only known after measuring.
        pictures: paths of figures.
    """

    parts: tuple[ResultTable, ...]
    cells: tuple[Cell, ...] = ()
    lines: tuple[str, ...] = ()
    differs: tuple[str, ...] = ()
    pictures: tuple[str, ...] = ()


def listed(heading: str, lines: Iterable[str]) -> str:
    """Format a heading with a list below it.

    Args:
        heading: the heading.
        lines: the items.

    >>> print(listed("Differences:", ["seeds: 1", "parser: linear"]))
    Differences:
    - seeds: 1
    - parser: linear
    """
    return "\n- ".join([heading, *lines])


def changed(settings: Iterable[str]) -> list[str]:
    """Format settings as command-line options.

    Args:
        settings: settings as ``key=value``.

    >>> changed(["data.limit=100", "guides={heads: 2}"])
    ['--set data.limit=100', "--set 'guides={heads: 2}'"]
    """
    return [f"--set {shlex.quote(setting)}" for setting in settings]


def row_names(cells: Sequence[Cell]) -> dict[tuple[str, str], str]:
    """Return the name of each row, with its heading if another row has the same name.

    Args:
        cells: the cells.

    Returns:
        The names by heading and row.
    """
    headings: dict[str, set[str]] = {}
    for cell in cells:
        headings.setdefault(cell.row, set()).add(cell.heading)
    return {
        (cell.heading, cell.row): (
            f"{cell.heading}, {cell.row}" if len(headings[cell.row]) > 1 else cell.row
        )
        for cell in cells
    }


def summary_of(cells: Iterable[Cell], *, drawn: bool = False) -> str:
    """Format our numbers in one line, row by row.

    If there is only one column, its name comes last.

    Args:
        cells: the cells; those without our number are skipped.
        drawn: whether there are pictures, which is said if there are no numbers.

    >>> summary_of([Cell("plain", "EM", 1.0), Cell("SG-Net", "EM", 2.0)])
    'plain 1.00; SG-Net 2.00 (EM)'
    """
    measured = [(cell, cell.ours) for cell in cells if cell.ours is not None]
    if not measured:
        return "drawn" if drawn else ""
    names = row_names([cell for cell, _ in measured])
    by_row: dict[str, list[str]] = {}
    for cell, ours in measured:
        # The option z turns a rounded -0.00 into 0.00.
        by_row.setdefault(names[cell.heading, cell.row], []).append(f"{ours:z.{cell.digits}f}")
    shown = [f"{row} {' / '.join(values)}" for row, values in by_row.items()]
    columns = {cell.column for cell, _ in measured}
    return "; ".join(shown) + (f" ({columns.pop()})" if len(columns) == 1 else "")


@dataclass(frozen=True, slots=True, repr=False)
class Reproduction:
    """A reproduced entry.

    Args:
        paper: name of the paper.
        id: id of the entry.
        caption: caption of the entry.
        scale: scale of the runs.
        seeds: number of seeds of each system.
        encoder: encoder of our systems.
        date: date of the measurement, as in 2026-11-21.
        measured: our numbers.
        differs: differences from the paper.
        runs: run folders.
        missing: titles of missing datasets.
        settings: settings that were changed from those of the scale, as ``key=value``.
        sources: name, version and digest of the encoder and the parser of each run, by its folder.
    """

    paper: str
    id: str
    caption: str
    scale: str
    seeds: int
    encoder: str
    date: str
    measured: Measurement
    differs: tuple[str, ...]
    runs: tuple[str, ...]
    missing: tuple[str, ...] = ()
    settings: tuple[str, ...] = ()
    sources: dict[str, dict[str, dict[str, str]]] = field(default_factory=dict)

    def __repr__(self) -> str:
        return brief(self, f"{self.paper} {self.id}", f"scale {self.scale}", self.date)

    @property
    def title(self) -> str:
        """The title of the paper, and the id and caption of the entry."""
        return f"{read_papers()[self.paper].title}, {self.id}: {self.caption}"

    @property
    def summary(self) -> str:
        """Our numbers in one line, see :func:`summary_of`."""
        return summary_of(self.measured.cells, drawn=bool(self.measured.pictures))

    def table(self) -> str:
        """Format the result for a terminal."""
        scale = " ".join((self.scale, *changed(self.settings)))
        blocks = [f"{self.title}\nours (the paper's); scale {scale}"]
        for part in self.measured.parts:
            title = f"{part.title}\n" if part.title else ""
            blocks.append(title + aligned(part.rows))
        blocks.append("\n".join(self.measured.lines))
        blocks.append(listed("Differences from the paper:", self.differs))
        blocks.append("\n".join(f"→ {path}" for path in self.measured.pictures))
        return "\n\n".join(block for block in blocks if block)

    def markdown(self) -> str:
        """Format the result as Markdown."""
        scale = " ".join((self.scale, *changed(self.settings)))
        blocks = [f"# {self.title}", f"Ours (the paper's); scale `{scale}`, {self.date}."]
        for part in self.measured.parts:
            blocks += [f"## {part.title}"] if part.title else []
            blocks.append(markdown(part.rows))
        blocks += self.measured.lines
        blocks.append(listed("Differences from the paper:\n", self.differs))
        for path in map(Path, self.measured.pictures):
            blocks.append(
                f"[{path.stem}]({path.name})" if path.suffix == ".html" else f"![]({path.name})"
            )
        return "\n\n".join(blocks) + "\n"

    def to_dict(self) -> dict[str, Any]:
        """Convert to plain values."""
        return asdict(self) | {"summary": self.summary}

    def write(self, folder: Path) -> None:
        """Write ``table.md`` and ``result.json``.

        Args:
            folder: output folder.
        """
        write_text(folder / "table.md", self.markdown())
        write_json(folder / "result.json", self.to_dict())
