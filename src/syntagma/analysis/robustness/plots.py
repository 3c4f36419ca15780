"""Plot scores with noisy parses and with parses of other sources."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from syntagma.analysis.robustness.noise import NoiseCurve
from syntagma.analysis.robustness.sources import ParserTable
from syntagma.drawing.plotting import draw_panels
from syntagma.drawing.series import draw_bars, draw_lines


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

    Args:
        table: scores of systems with the parses of several sources.
        out: path of the figure; its suffix gives the format.

    Raises:
        InputError: the figure cannot be written.
        MissingExtraError: ``matplotlib`` is not installed.
    """
    draw_panels([table], _draw_table, out)


def _draw_curve(axis: Any, curve: NoiseCurve) -> tuple[str, str]:
    per_cent = [100 * share for share in curve.shares]
    draw_lines(axis, per_cent, curve.systems, curve.deviations)
    return f"{curve.kind} replaced in {curve.when}, %", f"{curve.score}, %"


def _draw_table(axis: Any, table: ParserTable) -> tuple[str, str]:
    draw_bars(axis, table.parsers, table.systems, table.deviations)
    return "parses", f"{table.score}, %"
