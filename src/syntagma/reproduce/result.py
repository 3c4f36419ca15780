"""An entry as it came out: tables in the paper's layout, and what differs from the paper."""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from syntagma.drawing.tables import aligned, markdown, spread
from syntagma.outputs import write_json, write_text
from syntagma.reproduce.entries import read_papers

__all__ = ["Cell", "Measured", "Part", "Reproduction", "changed", "listed"]


@dataclass(frozen=True, slots=True)
class Cell:
    """A number of ours beside the paper's.

    Args:
        row: its name.
        column: its name.
        ours: a mean over seeds; ``None`` where it was not measured.
        spread: its sample standard deviation, of several seeds.
        paper: the paper's; ``None`` where it has none.
        heading: the line above the row, where the table has such.
        digits: decimal places of ours.
    """

    row: str
    column: str
    ours: float | None = None
    spread: float | None = None
    paper: float | None = None
    heading: str = ""
    digits: int = 2

    def shown(self, places: int = 1) -> str:
        """Ours, and the paper's in parentheses.

        Args:
            places: decimal ones of the paper's number.

        >>> Cell("SG-Net", "EM", 62.284, None, 85.0).shown()
        '62.28 (85.0)'
        >>> Cell("SG-Net", "slope", -0.003).shown()
        '0.00'
        """
        ours = "" if self.ours is None else spread(self.ours, self.spread, self.digits)
        if self.paper is not None:
            paper = f"({self.paper:.{places}f})"
            return paper if self.ours is None else f"{ours} {paper}"
        return ours


@dataclass(frozen=True, slots=True)
class Part:
    """A table.

    Args:
        title: what it shows, where there are several.
        rows: its cells, the head first.
    """

    title: str
    rows: Sequence[Sequence[str]]


@dataclass(frozen=True, slots=True)
class Measured:
    """What the kind of an entry has measured.

    Args:
        parts: as tables.
        cells: the numbers.
        lines: tests of the differences, and the like.
        differs: what differs from the paper, that only the measurement could tell.
        pictures: that were drawn.
    """

    parts: tuple[Part, ...]
    cells: tuple[Cell, ...] = ()
    lines: tuple[str, ...] = ()
    differs: tuple[str, ...] = ()
    pictures: tuple[str, ...] = ()


def listed(heading: str, lines: Iterable[str]) -> str:
    """A heading with a list below it.

    >>> print(listed("What differs:", ["seeds: 1", "parser: linear"]))
    What differs:
    - seeds: 1
    - parser: linear
    """
    return "\n- ".join([heading, *lines])


def changed(settings: Iterable[str]) -> list[str]:
    """Settings as options of the command line.

    >>> changed(["data.limit=100", "guides={heads: 2}"])
    ['--set data.limit=100', "--set 'guides={heads: 2}'"]
    """
    return [f"--set {shlex.quote(setting)}" for setting in settings]


@dataclass(frozen=True, slots=True)
class Reproduction:
    """An entry with our numbers.

    Args:
        paper: whose.
        id: of the entry.
        caption: of the entry.
        scale: of the runs.
        seeds: of each system.
        encoder: of our systems.
        date: of the measurement, as 2026-11-21.
        measured: the numbers.
        differs: what differs from the paper.
        runs: the run folders.
        missing: titles of data sets that were not there.
        settings: what was set otherwise than at its scale, as ``--set`` takes it.
    """

    paper: str
    id: str
    caption: str
    scale: str
    seeds: int
    encoder: str
    date: str
    measured: Measured
    differs: tuple[str, ...]
    runs: tuple[str, ...]
    missing: tuple[str, ...] = ()
    settings: tuple[str, ...] = ()

    @property
    def title(self) -> str:
        """Paper, entry and caption."""
        return f"{read_papers()[self.paper].title}, {self.id}: {self.caption}"

    @property
    def summary(self) -> str:
        """Our numbers in a line: each row's, as far as it has some.

        A row has its heading before it where another one has the same name; the column is named
        where there is only one.
        """
        measured = [(cell, cell.ours) for cell in self.measured.cells if cell.ours is not None]
        if not measured:
            return "drawn" if self.measured.pictures else ""
        headings: dict[str, set[str]] = {}
        for cell, _ in measured:
            headings.setdefault(cell.row, set()).add(cell.heading)
        found: dict[str, list[str]] = {}
        for cell, ours in measured:
            twice = len(headings[cell.row]) > 1
            name = f"{cell.heading}, {cell.row}" if twice else cell.row
            found.setdefault(name, []).append(f"{ours:z.{cell.digits}f}")
        shown = [f"{row} {' / '.join(values)}" for row, values in found.items()]
        columns = {cell.column for cell, _ in measured}
        return "; ".join(shown) + (f" ({columns.pop()})" if len(columns) == 1 else "")

    def table(self) -> str:
        """For a terminal."""
        made = " ".join((self.scale, *changed(self.settings)))
        blocks = [f"{self.title}\nours (the paper's); scale {made}"]
        for part in self.measured.parts:
            title = f"{part.title}\n" if part.title else ""
            blocks.append(title + aligned(part.rows))
        blocks.append("\n".join(self.measured.lines))
        blocks.append(listed("What differs from the paper:", self.differs))
        blocks.append("\n".join(f"→ {path}" for path in self.measured.pictures))
        return "\n\n".join(block for block in blocks if block)

    def markdown(self) -> str:
        """As a page."""
        made = " ".join((self.scale, *changed(self.settings)))
        blocks = [f"# {self.title}", f"Ours (the paper's); scale `{made}`, {self.date}."]
        for part in self.measured.parts:
            blocks += [f"## {part.title}"] if part.title else []
            blocks.append(markdown(part.rows))
        blocks += self.measured.lines
        blocks.append(listed("What differs from the paper:\n", self.differs))
        for path in map(Path, self.measured.pictures):
            blocks.append(
                f"[{path.stem}]({path.name})" if path.suffix == ".html" else f"![]({path.name})"
            )
        return "\n\n".join(blocks) + "\n"

    def as_json(self) -> dict[str, Any]:
        """Plain values."""
        return asdict(self) | {"summary": self.summary}

    def write(self, folder: Path) -> None:
        """Leave the table as Markdown and JSON in a folder."""
        write_text(folder / "table.md", self.markdown())
        write_json(folder / "result.json", self.as_json())
