"""Where the arcs, labels and words of a drawn dependency tree stand: pure geometry, no drawing.

An arc rises from its head, runs level and comes down on its dependent.  At each word the legs
stand side by side in such an order that the arcs of a projective tree never touch; every label
has a stretch of its arc to itself that no leg passes through, crossing arcs included.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import count, pairwise

__all__ = ["PlacedArc", "TreeLayout", "arc_levels", "lay_out_tree"]

WORD_GAP = 14.0
LEG_GAP = 9.0
LABEL_MARGIN = 5.0
LEAST_ARC = 16.0
MARGIN = 12.0

Leg = tuple[int, int]
"""Where an arc stands on the ground: the word, and the arc by its dependent."""


@dataclass(frozen=True, slots=True)
class PlacedArc:
    """An arc with its place.

    Args:
        head: 1-based position of the head; 0 for the mark of the root.
        dependent: 1-based position of the dependent.
        level: height in steps, from 1.
        head_x: where the leg at the head stands; ``dependent_x`` for the root.
        dependent_x: where the leg at the dependent stands.
        label_x: middle of the label.
    """

    head: int
    dependent: int
    level: int
    head_x: float
    dependent_x: float
    label_x: float


@dataclass(frozen=True, slots=True)
class TreeLayout:
    """A whole tree with its places.

    Args:
        width: in pixels, margins included.
        n_levels: highest level, the root's mark included.
        word_xs: middle of each word, ``[n_words]``.
        arcs: one a word, in the order of the words, ``[n_words]``.
    """

    width: float
    n_levels: int
    word_xs: tuple[float, ...]
    arcs: tuple[PlacedArc, ...]


def arc_levels(heads: Sequence[int]) -> tuple[int, ...]:
    """Height of each word's arc: above all arcs that it spans, on no level with one it overlaps.

    Levels are as low as that allows: in a projective tree the level is the length of the longest
    chain of nested arcs that ends in this one.

    Args:
        heads: 1-based head of each word, 0 for the root, ``[n_words]``.

    Returns:
        Level of each word's arc, from 1; 0 for a root, ``[n_words]``.

    Raises:
        ValueError: a head is out of range, or the word itself.

    >>> arc_levels([3, 3, 0, 3])
    (2, 1, 0, 1)
    """
    for word, head in enumerate(heads, start=1):
        if not 0 <= head <= len(heads) or head == word:
            raise ValueError(
                f"expected heads from 0 to {len(heads)} other than the word itself, got {head} "
                f"as the head of word {word}"
            )
    levels = [0] * len(heads)
    arcs = [(min(arc), max(arc), arc[0]) for arc in enumerate(heads, start=1) if arc[1]]
    # For each gap between neighbouring words, the arcs above it so far: (level, left, right).
    above: list[list[tuple[int, int, int]]] = [[] for _ in range(len(heads) + 1)]
    for left, right, dependent in sorted(arcs, key=lambda arc: (arc[1] - arc[0], arc)):
        met = {arc for gap in range(left, right) for arc in above[gap]}
        inside = (level for level, start, end in met if left <= start and end <= right)
        lowest, taken = max(inside, default=0) + 1, {level for level, _, _ in met}
        level = next(level for level in count(lowest) if level not in taken)
        levels[dependent - 1] = level
        for gap in range(left, right):
            above[gap].append((level, left, right))
    return tuple(levels)


def lay_out_tree(
    heads: Sequence[int], *, word_widths: Sequence[float], label_widths: Sequence[float]
) -> TreeLayout:
    """Find a place for every word, leg and label, from left to right, as near as they may stand.

    Args:
        heads: 1-based head of each word, 0 for the root, ``[n_words]``.
        word_widths: room that each word and its tags need, in pixels, ``[n_words]``.
        label_widths: room that the label of each word's arc needs, in pixels, ``[n_words]``.

    Raises:
        ValueError: a head is out of range, or the word itself.
    """
    levels = arc_levels(heads)
    offsets = _leg_offsets(heads)
    n_legs = Counter(word for word, _ in offsets)
    widths = [
        max(word_width, n_legs[word] * LEG_GAP, 0.0 if head else label_width)
        for word, (head, word_width, label_width) in enumerate(
            zip(heads, word_widths, label_widths, strict=True), start=1
        )
    ]
    stretches = _free_stretches(heads, levels, offsets)
    xs = _least_places(widths, label_widths, stretches, offsets)

    def leg_x(leg: Leg) -> float:
        return xs[leg[0] - 1] + offsets[leg]

    top = max(levels, default=0) + 1
    arcs = []
    for arc, (head, (left, right)) in enumerate(zip(heads, stretches, strict=True), start=1):
        level = levels[arc - 1] if head else top
        head_x, dependent_x = leg_x((head or arc, arc)), leg_x((arc, arc))
        label_x = (leg_x(left) + leg_x(right)) / 2
        arcs.append(PlacedArc(head, arc, level, head_x, dependent_x, label_x))
    width = xs[-1] + widths[-1] / 2 + MARGIN if xs else 2 * MARGIN
    return TreeLayout(width, top if xs else 0, tuple(xs), tuple(arcs))


def _leg_offsets(heads: Sequence[int]) -> dict[Leg, float]:
    """How far to the right of the middle of its word each leg stands.

    Arcs to the left leave on the left, arcs to the right on the right, the root's mark between
    them; on both sides a longer arc leaves nearer to the middle, so that it clears the shorter.
    """
    sides: dict[int, list[tuple[int, int, int]]] = {}
    for arc, head in enumerate(heads, start=1):
        for word, other in ((arc, head), (head, arc)) if head else ((arc, 0),):
            side = 0 if not other else (-1 if other < word else 1)
            sides.setdefault(word, []).append((side, -other, arc))
    return {
        (word, arc): (place - (len(ends) - 1) / 2) * LEG_GAP
        for word, ends in sides.items()
        for place, (_, _, arc) in enumerate(sorted(ends))
    }


def _free_stretches(
    heads: Sequence[int], levels: Sequence[int], offsets: Mapping[Leg, float]
) -> list[tuple[Leg, Leg]]:
    """For each arc the two neighbouring legs, of different words, between which its label goes.

    Legs of higher arcs that come down inside an arc cut through its line; only the root's mark
    and crossing arcs do.  The root's own label stands over its only leg.
    """
    higher: dict[int, list[tuple[float, int, int]]] = {}
    for (word, arc), offset in offsets.items():
        level = levels[arc - 1] or len(heads) + 1
        higher.setdefault(word, []).append((offset, arc, level))
    stretches = []
    for arc, (head, level) in enumerate(zip(heads, levels, strict=True), start=1):
        if not head:
            stretches.append(((arc, arc), (arc, arc)))
            continue
        left, right = min(arc, head), max(arc, head)
        cuts = [
            (word, other)
            for word in range(left + 1, right)
            for _, other, other_level in sorted(higher[word])
            if other_level > level
        ]
        legs = [(left, arc), *cuts, (right, arc)]
        stretches.append(max(pairwise(legs), key=lambda pair: pair[1][0] - pair[0][0]))
    return stretches


def _least_places(
    widths: Sequence[float],
    label_widths: Sequence[float],
    stretches: Sequence[tuple[Leg, Leg]],
    offsets: Mapping[Leg, float],
) -> list[float]:
    """The middle of each word: the least values that leave room for all words and labels."""
    rooms: list[list[tuple[int, float]]] = [[] for _ in widths]
    for (left, right), label_width in zip(stretches, label_widths, strict=True):
        if left != right:
            room = max(label_width + 2 * LABEL_MARGIN, LEAST_ARC)
            rooms[right[0] - 1].append((left[0] - 1, room + offsets[left] - offsets[right]))
    xs: list[float] = []
    for word, width in enumerate(widths):
        x = xs[-1] + (widths[word - 1] + width) / 2 + WORD_GAP if xs else MARGIN + width / 2
        xs.append(max([x, *(xs[left] + room for left, room in rooms[word])]))
    return xs
