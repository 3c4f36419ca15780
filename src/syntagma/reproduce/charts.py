"""Tables that a paper draws: lines over turns or shares of noise, points of an ablation."""

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
from syntagma.reproduce.plan import Plan
from syntagma.reproduce.result import Cell, Measured

__all__ = ["Chart", "charts_of", "measure_lines", "measure_points"]


@dataclass(frozen=True, slots=True)
class Chart:
    """A panel of a picture.

    Args:
        title: of the panel.
        places: names of what stands on the horizontal axis, ``[n_places]``.
        systems: by name the scores, not a number where there is none, ``[n_places]``.
        deviations: by name the standard deviations over seeds, 0 of a single one, ``[n_places]``.
    """

    title: str
    places: tuple[str, ...]
    systems: dict[str, tuple[float, ...]]
    deviations: dict[str, tuple[float, ...]]


def measure_lines(plan: Plan) -> Measured:
    """A table, and a line a system through what is ordered, turns or shares.

    See :func:`charts_of` for the options.
    """
    return _drawn(plan, joined=True)


def measure_points(plan: Plan) -> Measured:
    """A table, and points with the deviations over seeds for what has no order.

    See :func:`charts_of` for the options.
    """
    return _drawn(plan, joined=False)


def _drawn(plan: Plan, *, joined: bool) -> Measured:
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
    """The panels of a table's picture; only what we measured is drawn.

    Args:
        cells: of the table.
        options: ``along``: ``columns``, with a line a row in one panel; or ``rows``, with a panel a
            column and a line a heading, whose name is ``line`` where rows have none. ``level`` is a
            row that is drawn as a level line. (``x`` and ``y`` name the axes.)

    >>> cells = [Cell("0 %", "Acc", 73.9), Cell("20 %", "Acc", 73.8), Cell("plain", "Acc", 73.3)]
    >>> (chart,) = charts_of(cells, {"along": "rows", "line": "SG-Net", "level": "plain"})
    >>> chart.places, chart.systems
    (('0 %', '20 %'), {'SG-Net': (73.9, 73.8), 'plain': (73.3, 73.3)})
    """
    measured = [cell for cell in cells if cell.ours is not None]
    if options["along"] == "columns":
        found = {(cell.row, cell.column): cell for cell in measured}
        return [_chart("", found, level="")] if found else []
    titles = dict.fromkeys(cell.column for cell in measured)
    return [
        _chart(
            title if len(titles) > 1 else "",
            {
                (cell.heading or options.get("line", ""), cell.row): cell
                for cell in measured
                if cell.column == title
            },
            level=options.get("level", ""),
        )
        for title in titles
    ]


def _chart(title: str, found: dict[tuple[str, str], Cell], *, level: str) -> Chart:
    """A panel.

    Args:
        title: of it.
        found: cells by the name of their line and place.
        level: the place whose cell is a line of its own.
    """
    places = tuple(dict.fromkeys(place for _, place in found if place != level))
    lines: dict[str, list[Cell | None]] = {}
    for line, place in found:
        if place == level:
            lines[level] = [found[line, place]] * len(places)
        else:
            lines.setdefault(line, [found.get((line, each)) for each in places])
    return Chart(
        title,
        places,
        {
            name: tuple(nan if cell is None or cell.ours is None else cell.ours for cell in line)
            for name, line in lines.items()
        },
        {
            name: tuple((cell and cell.spread) or 0.0 for cell in line)
            for name, line in lines.items()
        },
    )
