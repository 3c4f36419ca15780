"""Curves of metrics over the steps of training, a panel a metric."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from syntagma.drawing.plotting import panels, shown_name, style_of
from syntagma.errors import InputError
from syntagma.runs.log import read_records

__all__ = ["TRAINING_LOSS", "read_curve", "write_curves"]

TRAINING_LOSS = "train_loss"


def read_curve(run: str | Path, metric: str) -> list[tuple[int, float]]:
    """Step and value of a metric at each record of a run that has it.

    Args:
        run: its folder.
        metric: as ``metrics.json`` calls it, on the dev files; or ``train_loss``, of the training
            data at each logging step.

    Raises:
        InputError: the folder holds no run.
    """
    key = "loss" if metric == TRAINING_LOSS else f"eval_{metric}"
    return [(row["step"], row[key]) for row in read_records(run) if key in row]


def write_curves(
    runs: Sequence[str | Path],
    metrics: dict[str, tuple[str, str]],
    out: str | Path,
    *,
    names: Sequence[str] | None = None,
) -> None:
    """Draw runs beside one another.

    Args:
        runs: run folders.
        metrics: by title, a metric and the metric that tells what chance gives (or an empty name).
        out: the picture; its ending says which kind.
        names: the labels of the runs; those of one name, seeds of one system, look alike. By
            default the names of their folders.

    Raises:
        InputError: no run has any of the metrics, or the picture cannot be written.
        MissingExtraError: ``matplotlib`` is not installed.
    """
    curves = {
        title: [read_curve(run, metric) for run in runs] for title, (metric, _) in metrics.items()
    }
    shown = [title for title, found in curves.items() if any(found)]
    if not shown:
        missing = ", ".join(metric for metric, _ in metrics.values())
        raise InputError(f"{', '.join(map(str, runs))}: no evaluation with {missing}")
    labels = list(names or (Path(run).name for run in runs))
    styles = {label: style_of(number) for number, label in enumerate(dict.fromkeys(labels))}
    with panels(len(shown), out) as axes:
        for axis, title in zip(axes, shown, strict=True):
            for label, points in zip(labels, curves[title], strict=True):
                if points:
                    # A single evaluation is a point.
                    marker = {"marker": "o", "markersize": 3} if len(points) < 3 else {}
                    style = styles[label] | marker
                    axis.plot(*zip(*points, strict=True), label=shown_name(label), **style)
            chance = [value for run in runs for _, value in read_curve(run, metrics[title][1])]
            if chance:
                axis.axhline(chance[-1], color="#777777", linewidth=0.8)
                axis.annotate("chance", (axis.get_xlim()[0], chance[-1]), fontsize=7, va="bottom")
            axis.set_title(title)
            axis.set_xlabel("steps")
