"""Plot intervals of differences: a row for each comparison, and a line at no difference."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from syntagma.drawing.plotting import MARKERS, shortened, shown_name, style_of

OFFSET = 0.22
"""Vertical distance between the intervals of a comparison, in rows."""


class DrawnInterval(NamedTuple):
    """An interval of a difference.

    Args:
        point: the difference.
        low: lower end.
        high: upper end.
        detectable: size of the smallest detectable difference, marked on both sides of 0; ``None``
            to mark nothing.
    """

    point: float
    low: float
    high: float
    detectable: float | None = None


def draw_intervals(axis: Any, rows: Sequence[tuple[str, Mapping[str, DrawnInterval]]]) -> None:
    """Plot a row of intervals for each comparison, the first one on top.

    Args:
        axis: Matplotlib axes of the panel.
        rows: name of each comparison, and its intervals by what they are over.
    """
    kinds = list(dict.fromkeys(kind for _, intervals in rows for kind in intervals))
    named: set[str] = set()
    for place, (_, intervals) in enumerate(rows):
        for kind, interval in intervals.items():
            number = kinds.index(kind)
            height = place + (number - (len(kinds) - 1) / 2) * OFFSET
            colour = style_of(number)["color"]
            reach = [[interval.point - interval.low], [interval.high - interval.point]]
            label = {} if kind in named else {"label": shown_name(kind)}
            named.add(kind)
            axis.errorbar(
                [interval.point], [height], xerr=reach, color=colour, linestyle="none",
                marker=MARKERS[number % len(MARKERS)], markersize=4, capsize=2, **label,
            )  # fmt: skip
            if interval.detectable is not None:
                ends = [-interval.detectable, interval.detectable]
                axis.plot(ends, [height] * 2, "|", color=colour, alpha=0.8, markersize=11)
    axis.axvline(0.0, color="0.4", linewidth=0.8, zorder=0)
    axis.set_yticks(range(len(rows)), [shown_name(shortened(name)) for name, _ in rows])
    # Descending limits put the first comparison on top.
    axis.set_ylim(len(rows) - 0.5, -0.5)
