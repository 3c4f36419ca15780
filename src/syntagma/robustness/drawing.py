"""Pictures of what other parses do."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from syntagma.report.plotting import MARKERS, panels, style_of
from syntagma.robustness.noise import NoiseCurve

__all__ = ["write_noise_curves"]


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
            for number, (name, scores) in enumerate(curve.systems.items()):
                style = style_of(number) | {"marker": MARKERS[number % len(MARKERS)]}
                spread = curve.deviations[name]
                axis.errorbar(
                    per_cent, scores, spread if any(spread) else None,
                    label=name, markersize=4, capsize=2, **style,
                )  # fmt: skip
            axis.set_xlabel(f"{curve.kind} replaced in {curve.when}, %")
            axis.set_ylabel(f"{curve.score}, %")
