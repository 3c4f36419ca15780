"""Group examples by a property: numbers into groups of equal range or equal size, or by category.

SG-Net's Fig. 4 (journal version) groups questions by length into 20 groups, of equal range and of
equal size, and fits a trend line for each system; its Fig. 5 groups sentences to translate by
length, into groups of equal range.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from typing import Any, NamedTuple

import numpy as np

from syntagma.errors import InputError
from syntagma.settings import nearest
from syntagma.tasks.comparison.properties import ExampleProperty

CUTS = ("range", "size")
"""Ways to group numbers: into equal ranges of values, or into groups of equal size."""
N_GROUPS = 20
"""Maximum number of groups of a number, as in the papers."""
MOST_DIGITS = 18
"""With this precision, any two different floats are formatted differently."""


class Group(NamedTuple):
    """A group of examples.

    Args:
        name: the value, or the smallest and the largest value.
        low: smallest value; for a category its index.
        high: largest value; for a category its index.
        mean: mean of the values, the position of the group on an axis; for a category its index.
        keys: ids of the examples.
    """

    name: str
    low: float
    high: float
    mean: float
    keys: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Grouping:
    """Examples grouped by a property.

    Args:
        property: name of the property.
        is_number: whether the property is numeric rather than categorical.
        groups: the nonempty groups, numbers in ascending order, categories by size.
        cut: ``range`` or ``size`` for groups of numbers of equal range or size.
    """

    property: str
    is_number: bool
    groups: tuple[Group, ...]
    cut: str = ""

    def described(self) -> str:
        """Describe how numbers were grouped; empty for categories."""
        sizes = [len(group.keys) for group in self.groups] or [0]
        if self.cut != "size" or max(sizes) - min(sizes) < 2:
            return f"groups of equal {self.cut}" if self.cut else ""
        one = all(group.low == group.high for group in self.groups)
        return "one group per value" if one else "equal values in the same group"


def group_by(
    property: str,
    examples: Sequence[Any],
    groupings: Mapping[str, ExampleProperty],
    *,
    cut: str = "size",
    n_groups: int = N_GROUPS,
    values: Mapping[str, float] | None = None,
) -> Grouping:
    """Group examples by a property; examples without the property are in no group.

    Args:
        property: a name in ``groupings``, or any name if ``values`` are given.
        examples: the examples, each with an ``id``.
        groupings: the properties that the task defines.
        cut: group numbers into groups of equal ``range`` or equal ``size``.  With equal size,
            examples with the same value may be divided between groups, by a hash of their id, so
            that their order in the file does not matter.  If there are fewer values than groups,
            examples with the same value stay together.
        n_groups: maximum number of groups of numbers.
        values: value of a property that is measured elsewhere, by id.

    Raises:
        InputError: the examples do not have this property, or ``cut`` is unknown.
    """
    check_cut(cut)
    if not examples:
        return Grouping(property, True, (), cut)
    if values is not None:
        numbers = {example.id: float(values[example.id]) for example in examples}
        return Grouping(property, True, _cut(numbers, cut, n_groups), cut)
    if property not in groupings:
        raise InputError(
            f"examples cannot be grouped by {property!r}; {nearest(property, [*groupings])}"
        )
    read, is_number = groupings[property]
    found = {example.id: value for example in examples if (value := read(example)) is not None}
    if is_number:
        numbers = {key: float(value) for key, value in found.items()}
        return Grouping(property, True, _cut(numbers, cut, n_groups), cut)
    categories: dict[str, list[str]] = {}
    for key, value in found.items():
        categories.setdefault(str(value), []).append(key)
    ordered = sorted(categories.items(), key=lambda item: (-len(item[1]), item[0]))
    groups = (Group(name, at, at, at, tuple(keys)) for at, (name, keys) in enumerate(ordered))
    return Grouping(property, False, tuple(groups))


def check_cut(cut: str) -> None:
    """Check that ``cut`` is a known way to group numbers.

    Raises:
        InputError: it is not.
    """
    if cut not in CUTS:
        raise InputError(f"groups of numbers: expected equal {' or '.join(CUTS)}, got {cut!r}")


def _cut(numbers: Mapping[str, float], cut: str, n_groups: int) -> tuple[Group, ...]:
    keys = sorted(numbers, key=lambda key: (numbers[key], sha256(key.encode("utf-8")).digest()))
    if not keys:
        return ()
    values = np.array([numbers[key] for key in keys])
    if cut == "range":
        edges = np.linspace(values[0], values[-1], n_groups + 1)[1:-1]
        owner = np.searchsorted(np.unique(edges), values, side="right")
    elif len(np.unique(values)) >= n_groups:
        owner = np.arange(len(values)) * n_groups // len(values)
    else:
        # Equal values all go to the group of the middle one among them.
        first = np.searchsorted(values, values, side="left")
        last = np.searchsorted(values, values, side="right") - 1
        owner = (first + last) // 2 * n_groups // len(values)
    groups = []
    for number in np.unique(owner):
        inside = values[owner == number]
        low, high = float(inside[0]), float(inside[-1])
        members = tuple(keys[index] for index in np.flatnonzero(owner == number))
        groups.append(Group("", low, high, float(inside.mean()), members))
    names = _names([(group.low, group.high) for group in groups])
    return tuple(group._replace(name=name) for group, name in zip(groups, names, strict=True))


def _names(bounds: Sequence[tuple[float, float]]) -> list[str]:
    """Format the bounds of groups, with as many digits as it takes to distinguish them."""
    for digits in range(3, MOST_DIGITS):
        shown = [tuple(_shown(value, digits) for value in pair) for pair in bounds]
        distinct = all(
            (low == high) == (first == last)
            for (low, high), (first, last) in zip(bounds, shown, strict=True)
        )
        if distinct and len({*shown}) == len({*bounds}):
            break
    return [low if low == high else f"{low}–{high}" for low, high in shown]


def _shown(value: float, digits: int) -> str:
    return f"{value:.0f}" if value.is_integer() else f"{value:.{digits}g}"


def trend(grouping: Grouping, scores: Sequence[float]) -> tuple[float, float]:
    """Fit a line through the group means by least squares, weighted by the sizes of the groups.

    Args:
        grouping: a grouping by a number.
        scores: score of each group, ``[n_groups]``.

    Returns:
        Slope and intercept.
    """
    means = [group.mean for group in grouping.groups]
    sizes = [len(group.keys) for group in grouping.groups]
    if len(set(means)) < 2:
        return 0.0, float(np.average(scores, weights=sizes)) if len(scores) else 0.0
    # `polyfit` multiplies residuals by the weights before it squares them.
    weights = np.sqrt(sizes)
    slope, intercept = np.polyfit(means, scores, 1, w=weights)
    return float(slope), float(intercept)
