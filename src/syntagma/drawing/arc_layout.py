"""Lay out a dependency tree: positions of words, arcs and labels, without drawing anything.

An arc goes up from its head, runs horizontally and comes down on its dependent.  Its two vertical
parts are called legs.  The legs at a word are ordered so that the arcs of a projective tree never
touch, and each label has a stretch of its arc that no leg crosses, not even of crossing arcs.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import count, pairwise

# All lengths are in pixels.
WORD_GAP = 14.0
LEG_GAP = 9.0
LABEL_MARGIN = 5.0
MIN_ARC = 16.0
MARGIN = 12.0

Leg = tuple[int, int]
"""A leg of an arc: the word that it belongs to, and the arc, identified by its dependent."""


@dataclass(frozen=True, slots=True)
class PlacedArc:
    """An arc with its position.

    Args:
        head: 1-based index of the head; 0 for the root marker.
        dependent: 1-based index of the dependent.
        level: height in steps, from 1.
        head_x: x of the leg at the head; equal to ``dependent_x`` for the root.
        dependent_x: x of the leg at the dependent.
        label_x: x of the middle of the label.
    """

    head: int
    dependent: int
    level: int
    head_x: float
    dependent_x: float
    label_x: float


@dataclass(frozen=True, slots=True)
class TreeLayout:
    """The layout of a tree.

    Args:
        width: total width in pixels, including margins.
        n_levels: highest level, including the root marker.
        word_xs: x of the middle of each word, ``[n_words]``.
        arcs: the arc to each word from its head, ``[n_words]``.
    """

    width: float
    n_levels: int
    word_xs: tuple[float, ...]
    arcs: tuple[PlacedArc, ...]


def arc_levels(heads: Sequence[int]) -> tuple[int, ...]:
    """Compute the height of each arc: above the arcs it spans, never level with one it overlaps.

    Levels are as low as these rules allow.  In a projective tree, the level of an arc is the length
    of the longest chain of arcs nested inside it, itself included.

    Args:
        heads: 1-based index of the head of each word, 0 for the root, ``[n_words]``.

    Returns:
        Level of the arc to each word, from 1, ``[n_words]``; 0 for the root.

    Raises:
        ValueError: a head is out of range, or a word is its own head.

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
    # The arcs placed so far above each gap between adjacent words: (level, left, right).
    above: list[list[tuple[int, int, int]]] = [[] for _ in range(len(heads) + 1)]
    # Shortest first, so that all arcs inside an arc already have their level.
    for left, right, dependent in sorted(arcs, key=lambda arc: (arc[1] - arc[0], arc)):
        overlapping = {arc for gap in range(left, right) for arc in above[gap]}
        inside = (level for level, start, end in overlapping if left <= start and end <= right)
        lowest, taken = max(inside, default=0) + 1, {level for level, _, _ in overlapping}
        level = next(level for level in count(lowest) if level not in taken)
        levels[dependent - 1] = level
        for gap in range(left, right):
            above[gap].append((level, left, right))
    return tuple(levels)


def lay_out_tree(
    heads: Sequence[int], *, word_widths: Sequence[float], label_widths: Sequence[float]
) -> TreeLayout:
    """Place all words, legs and labels from left to right, as close together as possible.

    Args:
        heads: 1-based index of the head of each word, 0 for the root, ``[n_words]``.
        word_widths: width of each word with its tags, in pixels, ``[n_words]``.
        label_widths: width of the label on the arc to each word, in pixels, ``[n_words]``.

    Raises:
        ValueError: a head is out of range, or a word is its own head.
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
    xs = _leftmost_positions(widths, label_widths, stretches, offsets)

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
    """Compute how far to the right of the middle of its word each leg is.

    Arcs to the left leave on the left, arcs to the right on the right, and the root marker is
    between them.  On either side, longer arcs leave closer to the middle, so that they do not touch
    shorter ones.
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
    """Find the two legs between which the label of each arc fits best.

    Legs of higher arcs that come down inside an arc cut its line into stretches; these are the legs
    of crossing arcs and of the root marker.  The label goes onto the stretch that spans most words.
    The label of the root is above its only leg.
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


def _leftmost_positions(
    widths: Sequence[float],
    label_widths: Sequence[float],
    stretches: Sequence[tuple[Leg, Leg]],
    offsets: Mapping[Leg, float],
) -> list[float]:
    """Return the smallest x of each word's middle that leaves room for all words and labels."""
    # For each word, the words to its left with the distance that a label needs between them.
    distances: list[list[tuple[int, float]]] = [[] for _ in widths]
    for (left, right), label_width in zip(stretches, label_widths, strict=True):
        if left != right:
            room = max(label_width + 2 * LABEL_MARGIN, MIN_ARC)
            distances[right[0] - 1].append((left[0] - 1, room + offsets[left] - offsets[right]))
    xs: list[float] = []
    for word, width in enumerate(widths):
        x = xs[-1] + (widths[word - 1] + width) / 2 + WORD_GAP if xs else MARGIN + width / 2
        xs.append(max([x, *(xs[left] + distance for left, distance in distances[word])]))
    return xs
