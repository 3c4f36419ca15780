"""Curves of metrics over the steps of training, a panel a metric."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

from syntagma.errors import InputError
from syntagma.files import read_lines
from syntagma.report.plotting import panels, style_of

__all__ = ["read_curve", "write_curves"]


def read_curve(run: str | Path, metric: str) -> list[tuple[int, float]]:
    """Step and value of a metric on the dev files, at each evaluation of a run.

    Args:
        run: its folder.
        metric: as ``metrics.json`` calls it.

    Raises:
        InputError: the folder holds no run.
    """
    path = Path(run) / "metrics.jsonl"
    if not path.is_file():
        raise InputError(f"{run}: no run (it has no metrics.jsonl); give a folder that train wrote")
    rows = [json.loads(line) for line in read_lines(path) if line.rstrip().endswith("}")]
    key = f"eval_{metric}"
    return [(row["step"], row[key]) for row in rows if key in row]


def write_curves(
    runs: Sequence[str | Path], metrics: dict[str, tuple[str, str]], out: str | Path
) -> None:
    """Draw runs beside one another.

    Args:
        runs: run folders; their names are the labels.
        metrics: by title, a metric and the metric that tells what chance gives (or an empty name).
        out: the picture; its ending says which kind.

    Raises:
        InputError: no run has any of the metrics, or the picture cannot be written.
        MissingExtraError: ``matplotlib`` is not installed.
    """
    curves = {
        title: [read_curve(run, metric) for run in runs] for title, (metric, _) in metrics.items()
    }
    shown = [title for title, found in curves.items() if any(found)]
    if not shown:
        names = ", ".join(metric for metric, _ in metrics.values())
        raise InputError(f"{', '.join(map(str, runs))}: no evaluation with {names}")
    with panels(len(shown), out) as axes:
        for axis, title in zip(axes, shown, strict=True):
            for number, (run, points) in enumerate(zip(runs, curves[title], strict=True)):
                if points:
                    axis.plot(*zip(*points, strict=True), label=Path(run).name, **style_of(number))
            chance = [value for run in runs for _, value in read_curve(run, metrics[title][1])]
            if chance:
                axis.axhline(chance[-1], color="#777777", linewidth=0.8)
                axis.annotate("chance", (axis.get_xlim()[0], chance[-1]), fontsize=7, va="bottom")
            axis.set_title(title)
            axis.set_xlabel("steps")
