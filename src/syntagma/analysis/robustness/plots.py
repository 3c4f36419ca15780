"""Plot scores with noisy parses and with parses of other sources."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from syntagma.analysis.robustness.noise import NoiseCurve
from syntagma.analysis.robustness.sources import ParserTable
from syntagma.drawing.intervals import DrawnInterval, draw_intervals
from syntagma.drawing.plotting import draw_panels
from syntagma.drawing.series import draw_bars, draw_lines
from syntagma.parse.sources.load import NOISY

ROW_HEIGHT = 0.2
"""Height of an interval, in inches."""


def write_noise_curves(curves: Sequence[NoiseCurve], out: str | Path) -> None:
    """Plot noise curves, with a panel for each.

    Args:
        curves: curves of the same systems.
        out: path of the figure; its suffix gives the format.

    Raises:
        InputError: the figure cannot be written.
        MissingExtraError: ``matplotlib`` is not installed.
    """
    draw_panels(curves, _draw_curve, out)


def write_parser_table(table: ParserTable, out: str | Path) -> None:
    """Plot the scores of a table, with a group of bars for each parse source.

    If there are intervals, the differences from the first source with these instead.

    Args:
        table: scores of systems with the parses of several sources.
        out: path of the figure; its suffix gives the format.

    Raises:
        InputError: the figure cannot be written.
        MissingExtraError: ``matplotlib`` is not installed.
    """
    if table.over:
        height = max(1.6, 1.0 + ROW_HEIGHT * (len(table.parsers) - 1) * len(table.intervals))
        draw_panels([table], _draw_differences, out, height=height)
    else:
        draw_panels([table], _draw_table, out)


def _draw_curve(axis: Any, curve: NoiseCurve) -> tuple[str, str]:
    per_cent = [100 * share for share in curve.shares]
    draw_lines(axis, per_cent, curve.systems, curve.deviations)
    return f"{curve.kind} replaced in {curve.when}, %", f"{curve.score}, %"


def _draw_table(axis: Any, table: ParserTable) -> tuple[str, str]:
    draw_bars(axis, table.parsers, table.systems, table.deviations)
    return "parses", f"{table.score}, %"


def _draw_differences(axis: Any, table: ParserTable) -> tuple[str, str]:
    first, *labels = _labels(table.parsers)
    rows = []
    for place, label in enumerate(labels, start=1):
        found = {}
        for name in table.intervals:
            if (of := table.interval(name, place)) is not None:
                difference = table.systems[name][place] - table.systems[name][0]
                found[name] = DrawnInterval(difference, of.low, of.high, of.detectable)
        rows.append((label, found))
    draw_intervals(axis, rows)
    return f"Δ {table.score} from {first}", ""


def _labels(parsers: Sequence[str]) -> Sequence[str]:
    """Shorten ``noisy:0.3:PARSER`` to ``noisy:0.3`` if the labels remain distinct."""
    short = [
        name.rpartition(":")[0] if name.startswith(tuple(NOISY.values())) else name
        for name in parsers
    ]
    return short if len({*short}) == len(short) else parsers
