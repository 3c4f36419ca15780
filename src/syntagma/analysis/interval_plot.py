"""Plot the intervals of a comparison."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from syntagma.analysis.comparison import ComparedSystem, Comparison
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
    draw_comparisons(rows, f"Δ {comparison.metric} from {control}", out)


def draw_comparisons(
    rows: Sequence[tuple[str, ComparedSystem]], label: str, out: str | Path
) -> None:
    """Plot a row for each difference of a system from its control.

    Args:
        rows: name of each row, and the system.
        label: of the axis of differences.
        out: path of the figure; its suffix gives the format.

    Raises:
        InputError: there are no rows, or the figure cannot be written.
        MissingExtraError: ``matplotlib`` is not installed.
    """
    if not rows:
        raise InputError(f"{out}: there are no comparisons to draw yet; finish some runs first")

    def draw(axis: Any, drawn: Sequence[tuple[str, ComparedSystem]]) -> tuple[str, str]:
        draw_intervals(axis, [(name, _intervals(system)) for name, system in drawn])
        return label, ""

    draw_panels([rows], draw, out, height=max(1.6, 1.0 + HEIGHT * len(rows)))


def _intervals(system: ComparedSystem) -> dict[str, DrawnInterval]:
    return {
        over: DrawnInterval(system.difference, each.low, each.high, each.detectable)
        for over, each in system.intervals.items()
    }
