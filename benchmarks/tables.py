"""Tables of measurements: printed, saved as JSON, and several runs of one table as one.

A cell is a text or a number.  A number that must keep a bar is a :class:`Measured`: the bar is
printed beside it.  Of several runs, the median and the range of each number are kept.
"""

from __future__ import annotations

import json
import os
import re
import statistics
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, TypeAlias

Row: TypeAlias = Mapping[str, object]


@dataclass(frozen=True)
class Measured:
    """A number, the bar that it is to keep, and its range if it was measured several times."""

    value: float
    at_most: float | None = None
    at_least: float | None = None
    lowest: float | None = None
    highest: float | None = None

    @property
    def kept(self) -> bool:
        """Whether the bar holds; always if there is none."""
        low = self.at_least is None or self.value >= self.at_least
        return low and (self.at_most is None or self.value <= self.at_most)

    def __str__(self) -> str:
        text = short(self.value)
        if self.lowest is not None and self.highest is not None:
            text += f" ({short(self.lowest)} to {short(self.highest)})"
        if self.at_most is None and self.at_least is None:
            return text
        sign, bar = ("≤", self.at_most) if self.at_most is not None else ("≥", self.at_least)
        return f"{text} {sign} {bar:g}" if self.kept else f"{text}, not {sign} {bar:g}"


def short(value: float) -> str:
    """A number in three digits, or all digits of a large one, with separators of thousands."""
    return f"{value:,.0f}" if abs(value) >= 100 else f"{value:.3g}"


def machine() -> str:
    """Describe the machine in one line."""
    import torch

    info = Path("/proc/cpuinfo")
    text = info.read_text(encoding="utf-8") if info.exists() else ""
    name = re.search(r"^model name\s*: (.+)$", text, re.MULTILINE)
    flags = set((re.search(r"^flags\s*: (.+)$", text, re.MULTILINE) or [" "])[0].split())
    features = {
        "AVX-512": "avx512f" in flags,
        "AVX-512 VNNI": "avx512_vnni" in flags,
        "AVX-512 bfloat16": "avx512_bf16" in flags,
        "AMX": "amx_tile" in flags,
    }
    found = [feature for feature, there in features.items() if there]
    if flags and not features["AMX"]:
        found.append("no AMX")
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    processor = name[1].strip() if name else "processor not named"
    return ", ".join(
        [processor, f"{cores} cores", *found, f"{torch.get_num_threads()} threads",
         f"torch {torch.__version__}"]
    )  # fmt: skip


def show(title: str, rows: Sequence[Row], measurements: object | None = None) -> Path:
    """Print a table, and write it as JSON to ``$SYNTAGMA_BENCH`` (default ``runs/bench``).

    Args:
        title: title of the table, from which the name of the file is made.
        rows: cells of each row by column.
        measurements: what the rows were computed from, to be written too.

    Returns:
        The path of the file.
    """
    record: dict[str, Any] = {"title": title, "machine": machine(), "rows": _saved(rows)}
    if measurements is not None:
        record["measurements"] = measurements
    print(f"\n{text_of(record)}")
    return save(record, Path(os.environ.get("SYNTAGMA_BENCH", "runs/bench")))


def save(record: Mapping[str, Any], folder: Path) -> Path:
    """Write a table as JSON, under the name of its title; the cells are also there as text."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{name_of(record['title'])}.json"
    content = {**record, "text": cells_of(record["rows"])}
    path.write_text(json.dumps(content, indent=1, default=str, ensure_ascii=False) + "\n", "utf-8")
    return path


def name_of(title: str) -> str:
    """The name of the file of a table."""
    return re.sub(r"\W+", "_", title.lower()).strip("_")


def text_of(record: Mapping[str, Any]) -> str:
    """A saved table as text, its columns aligned."""
    lines = cells_of(record["rows"])
    widths = [max(len(line[i]) for line in lines) for i in range(len(lines[0]))]
    aligned = (
        "  ".join(
            cell.rjust(width) if i else cell.ljust(width)
            for i, (cell, width) in enumerate(zip(line, widths, strict=True))
        ).rstrip()
        for line in lines
    )
    return "\n".join([f"{record['title']} ({record['machine']})", *aligned])


def cells_of(rows: Sequence[Row]) -> list[list[str]]:
    """The header and the cells of a saved table, as text."""
    columns = list(rows[0])
    return [columns, *([_text(row.get(column, "")) for column in columns] for row in rows)]


def merged(records: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Several runs of one table as one: of each number, the median and the range.

    Raises:
        ValueError: if the runs have different rows.
    """
    firsts = [[_text(next(iter(row.values()))) for row in each["rows"]] for each in records]
    if any(first != firsts[0] for first in firsts):
        raise ValueError(f"{records[0]['title']}: the runs have different rows, {firsts}")
    rows = [
        {column: _merged([row[column] for row in same]) for column in same[0]}
        for same in zip(*(each["rows"] for each in records), strict=True)
    ]
    return {**records[0], "runs": len(records), "rows": rows}


def measured_in(record: Mapping[str, Any]) -> Iterator[tuple[str, str, Measured]]:
    """Yield the numbers of a saved table with their row and column."""
    for row in record["rows"]:
        name = _text(next(iter(row.values())))
        for column, cell in row.items():
            if isinstance(found := _read(cell), Measured):
                yield name, column, found


def _merged(cells: Sequence[Any]) -> Any:
    measured = [each for each in (_read(cell) for cell in cells) if isinstance(each, Measured)]
    if not measured:
        return cells[0]
    values = [each.value for each in measured]
    first = measured[0]
    if len(set(values)) == 1:
        return cells[0]
    return asdict(
        Measured(statistics.median(values), first.at_most, first.at_least, min(values), max(values))
    )


def _saved(rows: Sequence[Row]) -> list[dict[str, object]]:
    return [
        {key: asdict(cell) if isinstance(cell, Measured) else cell for key, cell in row.items()}
        for row in rows
    ]


def _read(cell: object) -> object:
    """A cell as it was before it was saved; a plain number is one without a bar."""
    if isinstance(cell, dict):
        return Measured(**cell)
    return Measured(float(cell)) if isinstance(cell, float) else cell


def _text(cell: object) -> str:
    return str(_read(cell))
