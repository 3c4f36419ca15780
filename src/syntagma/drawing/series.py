"""Scores of several systems at the same places: lines, points, and bars side by side."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from syntagma.drawing.plotting import HATCHES, MARKERS, shortened, shown_name, style_of

__all__ = ["draw_bars", "draw_lines"]

Scores = Mapping[str, Sequence[float]]
"""By system a score at each place, ``[n_places]``; not a number where there is none."""

BESIDE = 0.12
"""How far points of systems that no line joins are apart, where places are 1 apart."""
WIDTH = 0.8
"""Of the bars of a place together."""
BESIDE_ONE_ANOTHER = 50
"""Characters of labels that have room beside one another under a panel."""


def draw_lines(
    axis: Any,
    places: Sequence[float],
    systems: Scores,
    deviations: Scores | None = None,
    *,
    joined: bool = True,
) -> None:
    """A line a system, with a marker at each score.

    Args:
        axis: of the panel.
        places: from left to right, ``[n_places]``.
        systems: the scores.
        deviations: standard deviations of the scores, as whiskers; none for a system whose are
            all 0.
        joined: whether scores of a system are joined; else they stand beside those of others.
    """
    for number, (name, scores) in enumerate(systems.items()):
        style = style_of(number) | {"marker": MARKERS[number % len(MARKERS)]}
        shift = 0.0
        if not joined:
            style["linestyle"] = "none"
            shift = (number - (len(systems) - 1) / 2) * BESIDE
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
    """A group of bars a label, a bar a system.

    Args:
        axis: of the panel.
        labels: of the groups, ``[n_places]``.
        systems: the scores.
        deviations: standard deviations of the scores, as whiskers; none for a system whose are
            all 0.
        upright: whether bars stand; else they lie, the first group above.
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
        axis.set_ylim(len(labels) - 0.5, -0.5)
    elif sum(map(len, labels)) > BESIDE_ONE_ANOTHER:
        axis.set_xticks(range(len(labels)), labels, rotation=45, ha="right", fontsize=7)
    else:
        axis.set_xticks(range(len(labels)), labels)
