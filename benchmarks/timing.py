"""Time callables in turn, so that a machine that changes its speed changes all of them."""

from __future__ import annotations

import json
import os
import platform
import statistics
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import torch


def rounds(callables: Mapping[str, Callable[[], object]], *, repeat: int = 5) -> dict[str, float]:
    """Median seconds of each callable; they are called in turn, once before measuring."""
    for call in callables.values():
        call()
    seconds: dict[str, list[float]] = {name: [] for name in callables}
    for _ in range(repeat):
        for name, call in callables.items():
            begin = time.perf_counter()
            call()
            seconds[name].append(time.perf_counter() - begin)
    return {name: statistics.median(values) for name, values in seconds.items()}


def machine() -> str:
    """What the numbers were measured on, in a line."""
    return f"{platform.machine()}, {torch.get_num_threads()} threads, torch {torch.__version__}"


def show(title: str, rows: Sequence[Mapping[str, object]]) -> None:
    """Print a table and keep it in ``$SYNTAGMA_BENCH`` (``runs/bench``) as JSON."""
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
    record = {"title": title, "machine": machine(), "rows": rows}
    (folder / f"{name}.json").write_text(json.dumps(record, indent=2, default=str))


def _cell(value: object) -> str:
    return f"{value:,.3g}" if isinstance(value, float) else str(value)
