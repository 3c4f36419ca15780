"""Examples in groups by a property: by length in groups of equal range or of equal size, by kind.

SG-Net's Fig. 4 (journal version) puts questions into 20 groups by their length, once with equal
steps of length and once with equally many questions, and draws a line through each system; its
Fig. 5 does so with sentences to translate, in equal steps.
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
"""How numbers are put into groups: in equal steps, or with equally many examples."""
N_GROUPS = 20
"""The most of a number, as in the papers."""
MOST_DIGITS = 18
"""With these any two numbers look different."""


class Group(NamedTuple):
    """Some of the examples.

    Args:
        name: a value, or the least and the greatest one.
        low: least value, or the number of the kind.
        high: greatest value, or the number of the kind.
        mean: of the values, where the group stands on an axis; or the number of the kind.
        keys: ids of the examples.
    """

    name: str
    low: float
    high: float
    mean: float
    keys: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Grouping:
    """All examples in groups by one property.

    Args:
        property: its name.
        is_number: whether groups stand in an order with distances.
        groups: those that are not empty, in order.
        cut: of numbers, whether the groups are of equal ``range`` or of equal ``size``.
    """

    property: str
    is_number: bool
    groups: tuple[Group, ...]
    cut: str = ""

    def described(self) -> str:
        """How numbers were put into groups, in words; empty for kinds."""
        sizes = [len(group.keys) for group in self.groups] or [0]
        if self.cut != "size" or max(sizes) - min(sizes) < 2:
            return f"groups of equal {self.cut}" if self.cut else ""
        one = all(group.low == group.high for group in self.groups)
        return "a group a value" if one else "equal values together"


def group_by(
    property: str,
    examples: Sequence[Any],
    groupings: Mapping[str, ExampleProperty],
    *,
    cut: str = "size",
    n_groups: int = N_GROUPS,
    values: Mapping[str, float] | None = None,
) -> Grouping:
    """Put examples into groups.

    Args:
        property: a name in ``groupings``, or any where values are given.
        examples: with an ``id`` each.
        groupings: the properties of such examples, those of their task.
        cut: numbers in groups of equal ``range`` or of equal ``size``.  Of equal size, examples of
            one value are shared out between groups by chance, always alike and whatever their
            order in the file; but where there are fewer values than groups, they stand together.
        n_groups: the most groups of numbers.
        values: a number for each id, for properties that are measured elsewhere.

    Examples that do not have the number stand in no group.

    Raises:
        InputError: the examples do not have this property, or the cut is unknown.
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
    kinds: dict[str, list[str]] = {}
    for key, value in found.items():
        kinds.setdefault(str(value), []).append(key)
    ordered = sorted(kinds.items(), key=lambda item: (-len(item[1]), item[0]))
    groups = (Group(name, at, at, at, tuple(keys)) for at, (name, keys) in enumerate(ordered))
    return Grouping(property, False, tuple(groups))


def check_cut(cut: str) -> None:
    """Check that numbers can be put into groups so.

    Raises:
        InputError: they cannot.
    """
    if cut not in CUTS:
        raise InputError(f"groups are cut by {' or '.join(CUTS)}, got {cut!r}")


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
        # Equal values share the place of the middle one of them.
        first = np.searchsorted(values, values, side="left")
        last = np.searchsorted(values, values, side="right") - 1
        owner = (first + last) // 2 * n_groups // len(values)
    groups = []
    for number in np.unique(owner):
        inside = values[owner == number]
        low, high = float(inside[0]), float(inside[-1])
        own = tuple(keys[place] for place in np.flatnonzero(owner == number))
        groups.append(Group("", low, high, float(inside.mean()), own))
    names = _names([(group.low, group.high) for group in groups])
    return tuple(group._replace(name=name) for group, name in zip(groups, names, strict=True))


def _names(bounds: Sequence[tuple[float, float]]) -> list[str]:
    """Names of groups, with as many digits as tell groups, and the bounds of each, apart."""
    for digits in range(3, MOST_DIGITS):
        shown = [tuple(_shown(value, digits) for value in pair) for pair in bounds]
        apart = all(
            (low == high) == (first == last)
            for (low, high), (first, last) in zip(bounds, shown, strict=True)
        )
        if apart and len({*shown}) == len({*bounds}):
            break
    return [low if low == high else f"{low}–{high}" for low, high in shown]


def _shown(value: float, digits: int) -> str:
    return f"{value:.0f}" if value.is_integer() else f"{value:.{digits}g}"


def trend(grouping: Grouping, scores: Sequence[float]) -> tuple[float, float]:
    """The straight line through groups, at the mean of their values and weighed by their sizes.

    By least squares.

    Args:
        grouping: by a number.
        scores: of each group, ``[n_groups]``.

    Returns:
        Its slope, and its height at 0.
    """
    places = [group.mean for group in grouping.groups]
    sizes = [len(group.keys) for group in grouping.groups]
    if len(set(places)) < 2:
        return 0.0, float(np.average(scores, weights=sizes)) if len(scores) else 0.0
    weights = np.sqrt(sizes)
    slope, height = np.polyfit(places, scores, 1, w=weights)
    return float(slope), float(height)
