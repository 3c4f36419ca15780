"""Tables that are also drawn: lines over turns or shares of noise, points of an ablation."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import nan
from pathlib import Path
from typing import Any

from syntagma.drawing.plotting import panels
from syntagma.drawing.series import draw_lines
from syntagma.reproduce.figures import draw_figure
from syntagma.reproduce.measurements import measure_table
from syntagma.reproduce.plan import EntryPlan
from syntagma.reproduce.result import Cell, Measurement


@dataclass(frozen=True, slots=True)
class Chart:
    """A panel of a figure.

    Args:
        title: title of the panel.
        places: labels of the horizontal axis, ``[n_places]``.
        systems: scores of each system, NaN where there is none, ``[n_places]``.
        deviations: standard deviations over seeds of each system, 0 for a single seed,
            ``[n_places]``.
    """

    title: str
    places: tuple[str, ...]
    systems: dict[str, tuple[float, ...]]
    deviations: dict[str, tuple[float, ...]]


def measure_lines(plan: EntryPlan) -> Measurement:
    """Measure a table and draw a line for each system, over an ordered axis such as turns.

    See :func:`charts_of` for the options.

    Args:
        plan: plan of the entry.
    """
    return _measure_and_draw(plan, joined=True)


def measure_points(plan: EntryPlan) -> Measurement:
    """Measure a table and draw points with their deviations over seeds, over an unordered axis.

    See :func:`charts_of` for the options.

    Args:
        plan: plan of the entry.
    """
    return _measure_and_draw(plan, joined=False)


def _measure_and_draw(plan: EntryPlan, *, joined: bool) -> Measurement:
    table, options = measure_table(plan), plan.entry.options
    charts = charts_of(table.cells, options)

    def write(picture: Path) -> None:
        with panels(len(charts), picture, width=4.2, height=3.0) as axes:
            for axis, chart in zip(axes, charts, strict=True):
                places = range(len(chart.places))
                draw_lines(axis, places, chart.systems, chart.deviations, joined=joined)
                axis.set_xticks(places, chart.places)
                axis.set_xlim(-0.5, len(places) - 0.5)
                axis.set_xlabel(options.get("x", ""))
                axis.set_ylabel(options.get("y", ""))
                axis.set_title(chart.title, fontsize=9)

    if not charts:
        return table
    pictures, notices = draw_figure(plan, write)
    return replace(table, lines=(*table.lines, *notices), pictures=pictures)


def charts_of(cells: Sequence[Cell], options: dict[str, Any]) -> list[Chart]:
    """Arrange the cells of a table in panels; cells without our number are not drawn.

    Args:
        cells: cells of the table.
        options: ``along`` is ``columns`` for one panel with a line for each row, or ``rows`` for a
            panel for each column with a line for each heading; ``line`` is the name of the line if
            there are no headings.  ``level`` is a row that is drawn as a horizontal line, ``apart``
            names rows that are not drawn.  ``x`` and ``y`` are the labels of the axes.

    >>> cells = [Cell("0 %", "Acc", 73.9), Cell("20 %", "Acc", 73.8), Cell("plain", "Acc", 73.3)]
    >>> (chart,) = charts_of(cells, {"along": "rows", "line": "SG-Net", "level": "plain"})
    >>> chart.places, chart.systems
    (('0 %', '20 %'), {'SG-Net': (73.9, 73.8), 'plain': (73.3, 73.3)})
    """
    # Per panel, our cells by the names of their line and of their place on the axis.
    by_panel: dict[str, dict[tuple[str, str], Cell]] = {}
    for cell in cells:
        if cell.ours is None or cell.row in options.get("apart", ()):
            continue
        if options["along"] == "columns":
            by_panel.setdefault("", {})[cell.row, cell.column] = cell
        else:
            # Rows below the same heading form a line; without headings, all rows form one line.
            line = cell.heading or options.get("line", "")
            by_panel.setdefault(cell.column, {})[line, cell.row] = cell
    level = options.get("level", "")
    return [
        _chart(title if len(by_panel) > 1 else "", each, level) for title, each in by_panel.items()
    ]


def _chart(title: str, cells: dict[tuple[str, str], Cell], level: str) -> Chart:
    """Arrange the cells of one panel; the cell of the place ``level`` is a horizontal line."""
    places = [place for place in dict.fromkeys(place for _, place in cells) if place != level]
    lines: dict[str, list[Cell | None]] = {}
    for line, place in cells:
        is_level = bool(level) and place == level
        lines.setdefault(
            level if is_level else line,
            [cells[line, place] if is_level else cells.get((line, each)) for each in places],
        )
    scores, deviations = {}, {}
    for line, found in lines.items():
        scores[line] = tuple(nan if cell is None or cell.ours is None else cell.ours
                             for cell in found)  # fmt: skip
        deviations[line] = tuple((cell and cell.spread) or 0.0 for cell in found)
    return Chart(title, tuple(places), scores, deviations)
