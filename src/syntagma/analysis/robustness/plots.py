"""Pictures of what other parses do."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from syntagma.analysis.robustness.noise import NoiseCurve
from syntagma.analysis.robustness.sources import ParserTable
from syntagma.drawing.plotting import panels
from syntagma.drawing.series import draw_bars, draw_lines

__all__ = ["write_noise_curves", "write_parser_table"]


def write_noise_curves(curves: Sequence[NoiseCurve], out: str | Path) -> None:
    """Draw curves, a panel each.

    Args:
        curves: of the same systems.
        out: the picture; its ending says which kind.

    Raises:
        InputError: the picture cannot be written.
        MissingExtraError: ``matplotlib`` is not installed.
    """
    with panels(len(curves), out, width=4.2, height=3.0) as axes:
        for axis, curve in zip(axes, curves, strict=True):
            per_cent = [100 * share for share in curve.shares]
            draw_lines(axis, per_cent, curve.systems, curve.deviations)
            axis.set_xlabel(f"{curve.kind} replaced in {curve.when}, %")
            axis.set_ylabel(f"{curve.score}, %")


def write_parser_table(table: ParserTable, out: str | Path) -> None:
    """Draw a table, a group of bars for each source.

    Args:
        table: of systems by source.
        out: the picture; its ending says which kind.

    Raises:
        InputError: the picture cannot be written.
        MissingExtraError: ``matplotlib`` is not installed.
    """
    with panels(1, out, width=4.2, height=3.0) as (axis,):
        draw_bars(axis, table.parsers, table.systems, table.deviations)
        axis.set_xlabel("parses")
        axis.set_ylabel(f"{table.score}, %")
