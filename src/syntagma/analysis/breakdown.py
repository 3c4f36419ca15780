"""The scores of systems by groups of examples, read from finished runs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from syntagma.analysis.groups import (
    N_GROUPS,
    Grouping,
    check_cut,
    group_by,
    trend,
)
from syntagma.analysis.parse_properties import PARSE_PROPERTIES, measure_parses
from syntagma.analysis.systems import System, read_systems
from syntagma.drawing.plotting import MARKERS, panels, shown_name, style_of
from syntagma.drawing.series import draw_bars
from syntagma.drawing.tables import aligned, signed
from syntagma.errors import InputError
from syntagma.settings import nearest
from syntagma.tasks import TASKS, find_task

GOLD_CLASSES = ("label", "relation")
"""Properties that are what is to be predicted."""
MOST_UPRIGHT = 12
"""Kinds whose bars stand."""
INCHES_A_KIND = 0.22
UNITS = {"parse_confidence": ", %"}
"""Of properties that are no count."""


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

    @property
    def caption(self) -> str:
        """What is shown, in a line."""
        cut = f", {how}" if (how := self.grouping.described()) else ""
        return f"{self.score} (%) by {self.grouping.property}{cut}"

    def rows(self) -> list[list[str]]:
        """The cells of a table, its head first; numbers have a last row with the trend."""
        names = list(self.systems)
        rows = [[self.grouping.property, "n", *names]]
        for number, group in enumerate(self.grouping.groups):
            scores = (f"{self.systems[name][number]:.1f}" for name in names)
            rows.append([group.name, str(len(group.keys)), *scores])
        if self.grouping.is_number:
            slopes = (trend(self.grouping, self.systems[name])[0] for name in names)
            rows.append(["slope", "", *(signed(slope, 3) for slope in slopes)])
        return rows

    def as_json(self) -> dict[str, Any]:
        """Plain values: each group with its scores, and the trend lines of numbers."""
        names = list(self.systems)
        groups = [
            group._asdict()
            | {
                "keys": list(group.keys),
                "scores": {name: self.systems[name][number] for name in names},
            }
            for number, group in enumerate(self.grouping.groups)
        ]
        found: dict[str, Any] = {
            "property": self.grouping.property,
            "cut": self.grouping.cut,
            "score": self.score,
            "groups": groups,
        }
        if self.grouping.is_number:
            lines = {name: trend(self.grouping, self.systems[name]) for name in names}
            found["trends"] = {
                name: {"slope": slope, "height": height} for name, (slope, height) in lines.items()
            }
        return found

    def table(self) -> str:
        """A table for a terminal."""
        return f"{self.caption}\n{aligned(self.rows())}"


def write_breakdowns(breakdowns: Sequence[Breakdown], out: str | Path) -> None:
    """Draw breakdowns, a panel each: points and trend lines for numbers, bars for kinds.

    Args:
        breakdowns: of the same systems.
        out: the picture; its ending says which kind.

    Raises:
        InputError: the picture cannot be written.
        MissingExtraError: ``matplotlib`` is not installed.
    """
    most = max((len(each.grouping.groups) for each in breakdowns if _lies(each)), default=0)
    with panels(len(breakdowns), out, width=4.2, height=max(3.0, INCHES_A_KIND * most)) as axes:
        for axis, breakdown in zip(axes, breakdowns, strict=True):
            if breakdown.grouping.is_number:
                _draw_numbers(axis, breakdown)
            else:
                _draw_kinds(axis, breakdown)
            name = breakdown.grouping.property
            names = [name.replace("_", " ") + UNITS.get(name, ""), f"{breakdown.score}, %"]
            across, up = names[::-1] if _lies(breakdown) else names
            axis.set_xlabel(across)
            axis.set_ylabel(up)
            axis.set_title(breakdown.title, fontsize=9)


def _lies(breakdown: Breakdown) -> bool:
    """Whether there are too many kinds for their names to stand beside one another."""
    grouping = breakdown.grouping
    return not grouping.is_number and len(grouping.groups) > MOST_UPRIGHT


def _draw_numbers(axis: Any, breakdown: Breakdown) -> None:
    groups = breakdown.grouping.groups
    places = [group.mean for group in groups]
    for number, (name, scores) in enumerate(breakdown.systems.items()):
        style = style_of(number) | {
            # Open marks, the later ones smaller: points on one another can still be told apart.
            "marker": MARKERS[number % len(MARKERS)],
            "markersize": max(3.0, 6.5 - 1.2 * number),
            "markerfacecolor": "none",
        }
        axis.plot(places, scores, **style | {"linestyle": "none"})
        slope, height = trend(breakdown.grouping, scores)
        ends = [places[0], places[-1]]
        # The line has no points of its own; the legend shows both.
        lines = [height + slope * end for end in ends]
        axis.plot(ends, lines, label=shown_name(name), markevery=[], **style)


def _draw_kinds(axis: Any, breakdown: Breakdown) -> None:
    labels = [f"{group.name} ({len(group.keys)})" for group in breakdown.grouping.groups]
    draw_bars(axis, labels, breakdown.systems, upright=not _lies(breakdown))


def break_down(
    folders: Sequence[str | Path],
    property: str,
    *,
    cut: str = "size",
    n_groups: int = N_GROUPS,
    values: Mapping[str, float] | None = None,
    metric: str = "",
) -> Breakdown:
    """Split the scores of runs by a property of the examples.

    Args:
        folders: run folders over the same data; those that differ in the seed alone are one system.
        property: see :func:`syntagma.analysis.groups.group_by`; or one of
            :data:`syntagma.analysis.parse_properties.PARSE_PROPERTIES`, which parses the examples.
        cut: see there.
        n_groups: see there.
        values: see there.
        metric: to show, if not that by which the task's paper compares.

    Raises:
        InputError: runs or data cannot be used, or the examples do not have this property.
    """
    systems = read_systems(folders, metric=metric)
    examples = systems[0].runs[0].examples()
    return break_down_systems(
        systems, examples, property, cut=cut, n_groups=n_groups, values=values
    )


def break_down_by(
    systems: Sequence[System], properties: Sequence[str], *, cut: str = "size"
) -> list[Breakdown]:
    """Split scores by several properties; what a parser measures, it measures once.

    Args:
        systems: over the same data.
        properties: see :func:`break_down`.
        cut: see there.

    Raises:
        InputError: as there.
    """
    examples = systems[0].runs[0].examples()
    wanted = [name for name in PARSE_PROPERTIES if name in properties]
    measured = measure_parses(examples, wanted) if wanted else {}
    return [
        break_down_systems(systems, examples, name, cut=cut, values=measured.get(name))
        for name in properties
    ]


def check_properties(names: Sequence[str], cut: str) -> None:
    """Check that some examples could be grouped by properties, before any are read.

    Raises:
        InputError: there is no such property, or no such cut.
    """
    check_cut(cut)
    known = list(dict.fromkeys(name for task in TASKS.values() for name in task.groupings))
    known += PARSE_PROPERTIES
    for name in names:
        if name not in known:
            raise InputError(f"examples cannot be grouped by {name!r}; {nearest(name, known)}")


def break_down_systems(
    systems: Sequence[System],
    examples: Sequence[Any],
    property: str,
    *,
    cut: str = "size",
    n_groups: int = N_GROUPS,
    values: Mapping[str, float] | None = None,
) -> Breakdown:
    """The same of systems whose runs and dev examples have been read.

    Args:
        systems: over the same data.
        examples: that they were scored on.
        property: see :func:`break_down`.
        cut: see there.
        n_groups: see there.
        values: see there.

    Raises:
        InputError: the examples do not have this property.
    """
    groupings = find_task(systems[0].runs[0].task).groupings
    known = [*groupings, *PARSE_PROPERTIES]
    if values is None and property not in known:
        raise InputError(f"examples cannot be grouped by {property!r}; {nearest(property, known)}")
    if values is None and property in PARSE_PROPERTIES:
        values = measure_parses(examples, [property])[property]
    grouping = group_by(property, examples, groupings, cut=cut, n_groups=n_groups, values=values)
    if not grouping.groups:
        raise InputError(f"no example has {property!r}; group by another property")
    compared = systems[0].compared
    if property in GOLD_CLASSES and compared.score != compared.metric:
        # A gold class has no precision: the false positives are in the groups of other classes.
        compared = compared._replace(metric=compared.score, sums=None)
        systems = [replace(system, compared=compared) for system in systems]
    scores = {
        system.name: tuple(system.value(group.keys) for group in grouping.groups)
        for system in systems
    }
    return Breakdown(grouping, compared.metric, scores)
