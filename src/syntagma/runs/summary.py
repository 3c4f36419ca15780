"""A run in one table: its settings and its metrics."""

from __future__ import annotations

from pathlib import Path

from syntagma.drawing.svg import escape
from syntagma.drawing.tables import Rows, html_table, spread
from syntagma.files import read_json
from syntagma.runs.folder import RunFolder, read_experiment
from syntagma.runs.names import METRICS

SHOWN = 20
"""Number of metrics in the table."""


def setting_rows(run: RunFolder) -> Rows:
    """Return the settings that tell runs apart, header first.

    Args:
        run: a run that was at least started.

    Raises:
        InputError: the settings cannot be read.
    """
    settings = read_experiment(run.path)
    rows = {
        "state": run.state,
        "task": settings.task,
        "encoder": settings.encoder,
        "preset": settings.preset,
        "guides": ", ".join(name for name, of in settings.guides.items() if of is not False),
        "parser": settings.parser,
        "trained on": ", ".join(settings.data.train),
        "seed": str(settings.training.seed),
    }
    return [["setting", "value"], *([key, value] for key, value in rows.items() if value)]


def metric_rows(folder: Path) -> Rows:
    """Return the metrics of a finished run, header first.

    Args:
        folder: path of the run folder.
    """
    values = read_json(folder / METRICS)
    numbers = {key: of for key, of in values.items() if isinstance(of, int | float)}
    rows = [["metric", "value"]]
    for key, value in list(numbers.items())[:SHOWN]:
        rows.append([key, f"{value:,}" if isinstance(value, int) else spread(value)])
    if len(numbers) > SHOWN:
        rows.append([f"… {len(numbers) - SHOWN} more in {METRICS}", ""])
    return rows


def run_html(run: RunFolder) -> str:
    """Render a run for a notebook.

    Args:
        run: the run folder.

    Raises:
        InputError: its settings or metrics cannot be read.
    """
    parts = [f"<p><b>{escape(str(run.path))}</b></p>"]
    if run.state == "to do":
        parts.append("<p>not started</p>")
    else:
        parts.append(html_table(setting_rows(run)))
    if run.state == "done":
        parts.append(html_table(metric_rows(run.path)))
    return f'<div class="syntagma-run">{"".join(parts)}</div>'
