"""Plot the scores of several systems: lines, points and grouped bars."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from syntagma.drawing.plotting import HATCHES, MARKERS, shortened, shown_name, style_of

Scores = Mapping[str, Sequence[float]]
"""Scores of each system, ``[n_places]``; NaN for a missing score."""

DODGE = 0.12
"""Horizontal distance between the points of two systems, in data units."""
WIDTH = 0.8
"""Total width of a group of bars, in data units."""
MAX_HORIZONTAL = 50
"""Total number of characters up to which horizontal tick labels fit under a panel."""


def draw_lines(
    axis: Any,
    places: Sequence[float],
    systems: Scores,
    deviations: Scores | None = None,
    *,
    joined: bool = True,
) -> None:
    """Plot a line with markers for each system.

    Args:
        axis: Matplotlib axes of the panel.
        places: x coordinates of the scores, ``[n_places]``.
        systems: scores of each system.
        deviations: standard deviations of the scores, drawn as error bars unless all of a system
            are 0.
        joined: connect the points of each system; otherwise draw points side by side.
    """
    for number, (name, scores) in enumerate(systems.items()):
        style = style_of(number) | {"marker": MARKERS[number % len(MARKERS)]}
        shift = 0.0
        if not joined:
            style["linestyle"] = "none"
            shift = (number - (len(systems) - 1) / 2) * DODGE
        spread = (deviations or {}).get(name, ())
        axis.errorbar(
            [place + shift for place in places], scores, spread if any(spread) else None,
            label=shown_name(name), markersize=4, capsize=2, **style,
        )  # fmt: skip


def draw_bars(
    axis: Any,
    labels: Sequence[str],
    systems: Scores,
    deviations: Scores | None = None,
    *,
    upright: bool = True,
) -> None:
    """Plot a group of bars for each label, with one bar per system.

    Args:
        axis: Matplotlib axes of the panel.
        labels: labels of the groups, ``[n_places]``.
        systems: scores of each system.
        deviations: standard deviations of the scores, drawn as error bars unless all of a system
            are 0.
        upright: draw vertical bars; otherwise horizontal ones, with the first group on top.
    """
    width = WIDTH / len(systems)
    labels = [shown_name(shortened(label)) for label in labels]
    for number, (name, scores) in enumerate(systems.items()):
        shift = (number - (len(systems) - 1) / 2) * width
        places = [place + shift for place in range(len(labels))]
        spread = (deviations or {}).get(name, ())
        style: dict[str, Any] = {
            "label": shown_name(name),
            "color": style_of(number)["color"],
            "hatch": HATCHES[number % len(HATCHES)],
            "edgecolor": "white",
            "linewidth": 0.5,
            "capsize": 2,
            "yerr" if upright else "xerr": spread if any(spread) else None,
        }
        (axis.bar if upright else axis.barh)(places, scores, width, **style)
    if not upright:
        axis.set_yticks(range(len(labels)), labels, fontsize=7)
        # Descending limits put the first group on top.
        axis.set_ylim(len(labels) - 0.5, -0.5)
    elif sum(map(len, labels)) > MAX_HORIZONTAL:
        axis.set_xticks(range(len(labels)), labels, rotation=45, ha="right", fontsize=7)
    else:
        axis.set_xticks(range(len(labels)), labels)
