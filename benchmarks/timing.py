"""Time functions in turn, so that changes in the speed of the machine affect all of them."""

from __future__ import annotations

import json
import os
import platform
import statistics
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import torch


def timings(
    callables: Mapping[str, Callable[[], object]], *, repeat: int = 5
) -> dict[str, list[float]]:
    """Return the times of each function in seconds, ``[repeat]``, after a warm-up call of each."""
    for call in callables.values():
        call()
    seconds: dict[str, list[float]] = {name: [] for name in callables}
    for _ in range(repeat):
        for name, call in callables.items():
            start = time.perf_counter()
            call()
            seconds[name].append(time.perf_counter() - start)
    return seconds


def rounds(callables: Mapping[str, Callable[[], object]], *, repeat: int = 5) -> dict[str, float]:
    """Return the median time of each function in seconds, after a warm-up call of each."""
    found = timings(callables, repeat=repeat)
    return {name: statistics.median(values) for name, values in found.items()}


def machine() -> str:
    """Describe the machine in one line."""
    return f"{platform.machine()}, {torch.get_num_threads()} threads, torch {torch.__version__}"


def show(
    title: str, rows: Sequence[Mapping[str, object]], measurements: object | None = None
) -> Path:
    """Print a table, and write it as JSON to ``$SYNTAGMA_BENCH`` (default ``runs/bench``).

    Args:
        title: title of the table, from which the name of the file is made.
        rows: cells of each row by column.
        measurements: what the rows were computed from, to be written too.

    Returns:
        The path of the file.
    """
    columns = list(rows[0])
    cells = [columns, *([_cell(row[column]) for column in columns] for row in rows)]
    widths = [max(len(line[i]) for line in cells) for i in range(len(columns))]
    print(f"\n{title} ({machine()})")
    for line in cells:
        print(
            "  ".join(
                cell.rjust(width) if i else cell.ljust(width)
                for i, (cell, width) in enumerate(zip(line, widths, strict=True))
            )
        )
    folder = Path(os.environ.get("SYNTAGMA_BENCH", "runs/bench"))
    folder.mkdir(parents=True, exist_ok=True)
    name = title.lower().replace(" ", "_").replace(",", "")
    record: dict[str, object] = {"title": title, "machine": machine(), "rows": rows}
    if measurements is not None:
        record["measurements"] = measurements
    path = folder / f"{name}.json"
    path.write_text(json.dumps(record, indent=2, default=str))
    return path


def _cell(value: object) -> str:
    return f"{value:,.3g}" if isinstance(value, float) else str(value)
