"""Curves of metrics over the steps of training, a panel a metric, as vector pictures."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from syntagma.errors import InputError, MissingExtraError
from syntagma.files import disk_errors, read_lines

__all__ = ["read_curve", "write_curves"]

# Told apart by the colour-blind, and by their dashes in print (after Okabe and Ito).
COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#000000")
COLUMNS = 4
"""Panels beside one another."""
DASHES = ("-", "--", "-.", ":", (0, (5, 1)), (0, (3, 1, 1, 1)), "-")


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
    runs: Sequence[str | Path], panels: dict[str, tuple[str, str]], out: str | Path
) -> None:
    """Draw runs beside one another.

    Args:
        runs: run folders; their names are the labels.
        panels: by title, a metric and the metric that tells what chance gives (or an empty name).
        out: the picture; its ending says which kind (``.svg``, ``.pdf``, ``.png``).

    Raises:
        InputError: no run has any of the metrics, or the picture cannot be written.
        MissingExtraError: ``matplotlib`` is not installed.
    """
    try:
        import matplotlib

        matplotlib.use("Agg")
        from matplotlib import pyplot
    except ImportError as error:
        raise MissingExtraError("pictures of curves", "plot") from error
    curves = {
        title: {str(run): read_curve(run, metric) for run in runs}
        for title, (metric, _) in panels.items()
    }
    shown = [title for title, found in curves.items() if any(found.values())]
    if not shown:
        names = ", ".join(metric for metric, _ in panels.values())
        raise InputError(f"{', '.join(map(str, runs))}: no evaluation with {names}")
    style: Any = {"svg.hashsalt": "syntagma", "svg.fonttype": "none", "font.size": 9}
    with pyplot.rc_context(style):
        n_columns = min(len(shown), COLUMNS)
        n_rows = -(-len(shown) // n_columns)
        figure, axes = pyplot.subplots(
            n_rows,
            n_columns,
            figsize=(3.2 * n_columns, 2.5 * n_rows + 0.4),
            squeeze=False,
            layout="constrained",
        )
        for axis in axes.flat[len(shown) :]:
            axis.remove()
        for axis, title in zip(axes.flat, shown, strict=False):
            for number, run in enumerate(runs):
                points = curves[title][str(run)]
                if points:
                    axis.plot(
                        *zip(*points, strict=True),
                        color=COLOURS[number % len(COLOURS)],
                        linestyle=DASHES[number % len(DASHES)],
                        label=Path(run).name,
                    )
            chance = [value for run in runs for _, value in read_curve(run, panels[title][1])]
            if chance:
                axis.axhline(chance[-1], color="#777777", linewidth=0.8)
                axis.annotate("chance", (axis.get_xlim()[0], chance[-1]), fontsize=7, va="bottom")
            axis.set_title(title)
            axis.set_xlabel("steps")
            axis.spines[["top", "right"]].set_visible(False)
        handles = {
            label: handle
            for axis in axes.flat[: len(shown)]
            for handle, label in zip(*axis.get_legend_handles_labels(), strict=True)
        }
        figure.legend(
            handles.values(), handles.keys(), loc="outside lower center", ncols=3, frameon=False
        )
        with disk_errors(Path(out)):
            figure.savefig(out, metadata={"Date": None} if str(out).endswith(".svg") else None)
        pyplot.close(figure)
