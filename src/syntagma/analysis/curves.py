"""Plot metrics over training steps, with a panel for each metric."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from syntagma.drawing.plotting import panels, shown_name, style_of
from syntagma.errors import InputError
from syntagma.runs.log import read_records

TRAINING_LOSS = "train_loss"


def read_curve(run: str | Path, metric: str) -> list[tuple[int, float]]:
    """Read the values of a metric with their training steps.

    Args:
        run: path of the run folder.
        metric: name of a metric on the dev files, as in ``metrics.json``; or ``train_loss``, the
            loss on the training data.

    Returns:
        Step and value of each record that has the metric.

    Raises:
        InputError: the folder does not contain a run.
    """
    key = "loss" if metric == TRAINING_LOSS else f"eval_{metric}"
    return [(row["step"], row[key]) for row in read_records(run) if key in row]


def write_curves(
    folders: Sequence[str | Path],
    metrics: dict[str, tuple[str, str]],
    out: str | Path,
    *,
    names: Sequence[str] | None = None,
) -> None:
    """Plot the curves of runs together.

    Args:
        folders: run folders.
        metrics: title of each panel with its metric and the metric of the chance level (or an empty
            string).
        out: path of the figure; its suffix gives the format.
        names: labels of the runs; runs with the same label, such as the seeds of one system, have
            the same style. Defaults to the names of the folders.

    Raises:
        InputError: no run has any of the metrics, or the figure cannot be written.
        MissingExtraError: ``matplotlib`` is not installed.
    """
    curves = {
        title: [read_curve(run, metric) for run in folders]
        for title, (metric, _) in metrics.items()
    }
    shown = [title for title, found in curves.items() if any(found)]
    if not shown:
        missing = ", ".join(metric for metric, _ in metrics.values())
        raise InputError(
            f"{', '.join(map(str, folders))}: expected records with {missing}, found none; give "
            f"runs that log it"
        )
    labels = list(names or (Path(run).name for run in folders))
    styles = {label: style_of(number) for number, label in enumerate(dict.fromkeys(labels))}
    with panels(len(shown), out) as axes:
        for axis, title in zip(axes, shown, strict=True):
            for label, points in zip(labels, curves[title], strict=True):
                if points:
                    # A line through one or two evaluations is hard to see, so mark them.
                    marker = {"marker": "o", "markersize": 3} if len(points) < 3 else {}
                    style = styles[label] | marker
                    axis.plot(*zip(*points, strict=True), label=shown_name(label), **style)
            chance = [value for run in folders for _, value in read_curve(run, metrics[title][1])]
            if chance:
                axis.axhline(chance[-1], color="#777777", linewidth=0.8)
                axis.annotate("chance", (axis.get_xlim()[0], chance[-1]), fontsize=7, va="bottom")
            axis.set_title(title)
            axis.set_xlabel("steps")
