"""The scores of systems by groups of examples, read from finished runs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from syntagma.errors import InputError
from syntagma.report.groups import Grouping, group_by, properties_of, trend
from syntagma.report.parse_properties import PARSE_PROPERTIES, measure_parses
from syntagma.report.plotting import MARKERS, panels, style_of
from syntagma.report.runs import read_systems
from syntagma.report.series import draw_bars
from syntagma.report.tables import aligned, markdown
from syntagma.settings import nearest

__all__ = ["Breakdown", "break_down", "write_breakdowns"]

GOLD_CLASSES = ("label", "relation")
"""Properties that are what is to be predicted."""


@dataclass(frozen=True, slots=True)
class Breakdown:
    """Scores by group.

    Args:
        grouping: of the dev examples.
        score: what is shown.
        systems: by name the score of each group in per cent, a mean over seeds, ``[n_groups]``.
        title: of its panel in a picture.
    """

    grouping: Grouping
    score: str
    systems: dict[str, tuple[float, ...]]
    title: str = ""

    def rows(self) -> list[list[str]]:
        """The cells of a table, its head first; numbers have a last row with the trend."""
        names = list(self.systems)
        rows = [[self.grouping.property, "n", *names]]
        for number, group in enumerate(self.grouping.groups):
            scores = (f"{self.systems[name][number]:.1f}" for name in names)
            rows.append([group.name, str(len(group.keys)), *scores])
        if self.grouping.is_number:
            slopes = (trend(self.grouping, self.systems[name])[0] for name in names)
            rows.append(["slope", "", *(f"{slope:+.3f}" for slope in slopes)])
        return rows

    def table(self) -> str:
        """A table for a terminal."""
        return aligned(self.rows())

    def markdown(self) -> str:
        """The table in Markdown."""
        return markdown(self.rows())


def write_breakdowns(breakdowns: Sequence[Breakdown], out: str | Path) -> None:
    """Draw breakdowns, a panel each: points and trend lines for numbers, bars for kinds.

    Args:
        breakdowns: of the same systems.
        out: the picture; its ending says which kind.

    Raises:
        InputError: the picture cannot be written.
        MissingExtraError: ``matplotlib`` is not installed.
    """
    with panels(len(breakdowns), out, width=4.2, height=3.0) as axes:
        for axis, breakdown in zip(axes, breakdowns, strict=True):
            draw = _draw_numbers if breakdown.grouping.is_number else _draw_kinds
            draw(axis, breakdown)
            axis.set_xlabel(breakdown.grouping.property.replace("_", " "))
            axis.set_ylabel(f"{breakdown.score}, %")
            axis.set_title(breakdown.title, fontsize=9)


def _draw_numbers(axis: Any, breakdown: Breakdown) -> None:
    groups = breakdown.grouping.groups
    middles = [group.middle for group in groups]
    for number, (name, scores) in enumerate(breakdown.systems.items()):
        style = style_of(number) | {"marker": MARKERS[number % len(MARKERS)], "markersize": 3}
        axis.plot(middles, scores, **style | {"linestyle": "none"})
        slope, height = trend(breakdown.grouping, scores)
        ends = [middles[0], middles[-1]]
        # The line has no points of its own; the legend shows both.
        lines = [height + slope * end for end in ends]
        axis.plot(ends, lines, label=name, markevery=[], **style)


def _draw_kinds(axis: Any, breakdown: Breakdown) -> None:
    groups = breakdown.grouping.groups
    labels = [f"{group.name} ({len(group.keys)})" for group in groups]
    draw_bars(axis, labels, breakdown.systems)
    axis.set_xticks(range(len(groups)), labels, rotation=45, ha="right", fontsize=7)


def break_down(
    folders: Sequence[str | Path],
    property: str,
    *,
    cut: str = "size",
    n_groups: int = 20,
    values: Mapping[str, float] | None = None,
) -> Breakdown:
    """Split the scores of runs by a property of the examples.

    Args:
        folders: run folders over the same data; those that differ in the seed alone are one system.
        property: see :func:`syntagma.report.groups.group_by`; or one of
            :data:`syntagma.report.parse_properties.PARSE_PROPERTIES`, which parses the examples.
        cut: see there.
        n_groups: see there.
        values: see there.

    Raises:
        InputError: runs or data cannot be used, or the examples do not have this property.
    """
    systems = read_systems(folders)
    examples = systems[0].runs[0].examples()
    known = [*properties_of(examples[0]), *PARSE_PROPERTIES]
    if values is None and property not in known:
        raise InputError(f"examples cannot be grouped by {property!r}; {nearest(property, known)}")
    if values is None and property in PARSE_PROPERTIES:
        values = measure_parses(examples)[property]
    grouping = group_by(property, examples, cut=cut, n_groups=n_groups, values=values)
    plan = systems[0].plan
    if property in GOLD_CLASSES and plan.score != plan.metric:
        # Within a gold class there is no precision: what was taken for it stands in other groups.
        systems = [replace(system, plan=plan._replace(sums=None)) for system in systems]
        plan = plan._replace(metric=plan.score)
    scores = {
        system.name: tuple(system.value(group.keys) for group in grouping.groups)
        for system in systems
    }
    return Breakdown(grouping, plan.metric, scores)
