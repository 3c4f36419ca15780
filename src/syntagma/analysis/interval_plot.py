"""Plot the intervals of a comparison."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from syntagma.analysis.comparison import BOTH, ComparedSystem, Comparison
from syntagma.drawing.intervals import DrawnInterval, draw_intervals
from syntagma.drawing.plotting import draw_panels, shortened, shown_name
from syntagma.errors import InputError

HEIGHT = 0.5
"""Height of a comparison, in inches."""


def write_intervals(comparison: Comparison, out: str | Path) -> None:
    """Plot a row for each comparison: differences, 95 % intervals, and what would have been found.

    Args:
        comparison: a comparison of at least two systems.
        out: path of the figure; its suffix gives the format.

    Raises:
        InputError: there is a single system, or the figure cannot be written.
        MissingExtraError: ``matplotlib`` is not installed.
    """
    if not comparison.others:
        raise InputError(
            f"{out}: a single system has no differences to draw; add runs of another one, or draw "
            f"groups with --by PROPERTY"
        )
    control = shown_name(shortened(comparison.systems[0].name))
    rows = [(system.name, system) for system in comparison.others]
    draw_comparisons([("", rows)], f"Δ {comparison.metric} from {control}", out)


Rows = Sequence[tuple[str, ComparedSystem]]
"""The names of the rows of a panel, and the system of each."""


def draw_comparisons(panels: Sequence[tuple[str, Rows]], label: str, out: str | Path) -> None:
    """Plot a row for each difference of a system from its control, in one panel or several.

    A single panel shows all intervals of a row. Several panels show only the interval over both
    seeds and examples, where a row has one.

    Args:
        panels: title and rows of each panel.
        label: of the axis of differences.
        out: path of the figure; its suffix gives the format.

    Raises:
        InputError: a panel has no rows, or the figure cannot be written.
        MissingExtraError: ``matplotlib`` is not installed.
    """
    for title, rows in panels:
        if not rows:
            of = f"{title}: " if title else ""
            raise InputError(
                f"{out}: {of}there are no comparisons to draw yet; finish some runs first"
            )
    is_single = len(panels) == 1

    def draw(axis: Any, panel: tuple[str, Rows]) -> tuple[str, str]:
        title, rows = panel
        axis.set_title(title)
        drawn = [(name, _intervals(system, every=is_single)) for name, system in rows]
        draw_intervals(axis, drawn)
        return label, ""

    most = max(len(rows) for _, rows in panels)
    height = HEIGHT if is_single else HEIGHT / 2
    draw_panels(panels, draw, out, height=max(1.6, 1.0 + height * most))


def _intervals(system: ComparedSystem, *, every: bool) -> dict[str, DrawnInterval]:
    kept = system.intervals if every or BOTH not in system.intervals else (BOTH,)
    return {
        over: DrawnInterval(system.difference, each.low, each.high, each.detectable)
        for over, each in system.intervals.items()
        if over in kept
    }
