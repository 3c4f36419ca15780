"""Break the scores of finished runs down by groups of examples."""

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
from syntagma.drawing.plotting import MARKERS, draw_panels, shown_name, style_of
from syntagma.drawing.series import draw_bars
from syntagma.drawing.tables import aligned, signed
from syntagma.errors import InputError
from syntagma.reprs import brief, counted
from syntagma.settings import nearest
from syntagma.tasks import TASKS, find_task

GOLD_CLASSES = ("label", "relation")
"""Properties that are the gold label itself."""
MAX_VERTICAL = 12
"""Maximum number of categories for which bars are vertical; more do not fit side by side."""
CATEGORY_HEIGHT = 0.22
"""Height of a category with horizontal bars, in inches."""
UNITS = {"parse_confidence": ", %"}
"""Units of properties that are not counts."""


@dataclass(frozen=True, slots=True, repr=False)
class Breakdown:
    """Scores of systems on groups of examples.

    Args:
        grouping: the groups of the dev examples.
        score: name of the score.
        systems: score of each system on each group in per cent, mean over seeds, ``[n_groups]``.
        title: title of the panel in a figure.
    """

    grouping: Grouping
    score: str
    systems: dict[str, tuple[float, ...]]
    title: str = ""

    def __repr__(self) -> str:
        return brief(self, self.caption, counted(len(self.systems), "system"))

    @property
    def caption(self) -> str:
        """Describe score and grouping in a line."""
        cut = f", {how}" if (how := self.grouping.described()) else ""
        return f"{self.score} (%) by {self.grouping.property}{cut}"

    def rows(self) -> list[list[str]]:
        """Return the cells of a table, header first; for numbers the last row has the trends."""
        names = list(self.systems)
        rows = [[self.grouping.property, "n", *names]]
        for number, group in enumerate(self.grouping.groups):
            scores = (f"{self.systems[name][number]:.1f}" for name in names)
            rows.append([group.name, str(len(group.keys)), *scores])
        if self.grouping.is_number:
            slopes = (trend(self.grouping, self.systems[name])[0] for name in names)
            rows.append(["slope", "", *(signed(slope, 3) for slope in slopes)])
        return rows

    def to_dict(self) -> dict[str, Any]:
        """Return plain values: each group with its scores, and trend lines for numbers."""
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
        """Format as a table for a terminal."""
        return f"{self.caption}\n{aligned(self.rows())}"


def write_breakdowns(breakdowns: Sequence[Breakdown], out: str | Path) -> None:
    """Plot breakdowns in a panel each: points and trend lines for numbers, bars for categories.

    Args:
        breakdowns: breakdowns of the scores of the same systems.
        out: path of the figure; its suffix gives the format.

    Raises:
        InputError: the figure cannot be written.
        MissingExtraError: ``matplotlib`` is not installed.
    """
    most = max((len(each.grouping.groups) for each in breakdowns if _horizontal(each)), default=0)
    draw_panels(breakdowns, _draw, out, height=max(3.0, CATEGORY_HEIGHT * most))


def _horizontal(breakdown: Breakdown) -> bool:
    """Whether bars are horizontal, because the names of the categories need a line each."""
    grouping = breakdown.grouping
    return not grouping.is_number and len(grouping.groups) > MAX_VERTICAL


def _draw(axis: Any, breakdown: Breakdown) -> tuple[str, str]:
    """Draw a panel and return the labels of its axes."""
    if breakdown.grouping.is_number:
        _draw_numbers(axis, breakdown)
    else:
        groups = breakdown.grouping.groups
        names = [f"{group.name} ({len(group.keys)})" for group in groups]
        draw_bars(axis, names, breakdown.systems, upright=not _horizontal(breakdown))
    axis.set_title(breakdown.title, fontsize=9)
    name = breakdown.grouping.property
    labels = name.replace("_", " ") + UNITS.get(name, ""), f"{breakdown.score}, %"
    return labels[::-1] if _horizontal(breakdown) else labels


def _draw_numbers(axis: Any, breakdown: Breakdown) -> None:
    means = [group.mean for group in breakdown.grouping.groups]
    for number, (name, scores) in enumerate(breakdown.systems.items()):
        style = style_of(number) | {
            # Hollow markers, smaller for later systems, so that coinciding points stay visible.
            "marker": MARKERS[number % len(MARKERS)],
            "markersize": max(3.0, 6.5 - 1.2 * number),
            "markerfacecolor": "none",
        }
        axis.plot(means, scores, **style | {"linestyle": "none"})
        slope, intercept = trend(breakdown.grouping, scores)
        ends = [means[0], means[-1]]
        line = [intercept + slope * end for end in ends]
        # The trend line has no markers, but its style includes one, so the legend shows both.
        axis.plot(ends, line, label=shown_name(name), markevery=[], **style)


def break_down(
    folders: Sequence[str | Path],
    property: str,
    *,
    cut: str = "size",
    n_groups: int = N_GROUPS,
    values: Mapping[str, float] | None = None,
    metric: str = "",
) -> Breakdown:
    """Break the scores of runs down by a property of the examples.

    Args:
        folders: run folders on the same data; runs that differ only in their seed form one system.
        property: see :func:`syntagma.analysis.groups.group_by`; or one of
            :data:`syntagma.analysis.parse_properties.PARSE_PROPERTIES`, which parses the examples.
        cut: see :func:`syntagma.analysis.groups.group_by`.
        n_groups: see :func:`syntagma.analysis.groups.group_by`.
        values: see :func:`syntagma.analysis.groups.group_by`.
        metric: metric to show; defaults to that of the task's paper.

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
    """Break scores down by several properties, parsing the examples at most once.

    Args:
        systems: systems evaluated on the same data.
        properties: see :func:`break_down`.
        cut: see :func:`break_down`.

    Raises:
        InputError: see :func:`break_down`.
    """
    examples = systems[0].runs[0].examples()
    wanted = [name for name in PARSE_PROPERTIES if name in properties]
    measured = measure_parses(examples, wanted) if wanted else {}
    return [
        break_down_systems(systems, examples, name, cut=cut, values=measured.get(name))
        for name in properties
    ]


def check_properties(names: Sequence[str], cut: str) -> None:
    """Check properties before any examples are read: some task must define each.

    Args:
        names: names of properties.
        cut: see :func:`break_down`.

    Raises:
        InputError: a property or ``cut`` is unknown.
    """
    check_cut(cut)
    known = list(dict.fromkeys(name for _, task in TASKS.usable() for name in task.groupings))
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
    """Break scores down as :func:`break_down`, for runs and dev examples that are already read.

    Args:
        systems: systems evaluated on the same data.
        examples: the examples that they were evaluated on.
        property: see :func:`break_down`.
        cut: see :func:`break_down`.
        n_groups: see :func:`break_down`.
        values: see :func:`break_down`.

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
        # On the examples of one gold class, metrics from sums such as F1 are misleading: false
        # positives of the class are in the groups of other classes.  Show the score per example.
        compared = compared._replace(metric=compared.score, sums=None)
        systems = [replace(system, compared=compared) for system in systems]
    scores = {
        system.name: tuple(system.value(group.keys) for group in grouping.groups)
        for system in systems
    }
    return Breakdown(grouping, compared.metric, scores)
