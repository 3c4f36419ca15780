"""Plot the intervals of a comparison."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from syntagma.analysis.comparison import Comparison
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
    height = max(1.6, 1.0 + HEIGHT * len(comparison.others))
    draw_panels([comparison], _draw, out, height=height)


def _draw(axis: Any, comparison: Comparison) -> tuple[str, str]:
    """Draw the panel and return the labels of its axes."""
    rows = [
        (
            system.name,
            {
                over: DrawnInterval(system.difference, each.low, each.high, each.detectable)
                for over, each in system.intervals.items()
            },
        )
        for system in comparison.others
    ]
    draw_intervals(axis, rows)
    control = shown_name(shortened(comparison.systems[0].name))
    return f"Δ {comparison.metric} from {control}", ""
