"""Draw phrase structure trees with the root on top and the words at the bottom.

Below each phrase a horizontal line branches down to its children.  A line stays within the span of
its own words, so that lines never cross.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from syntagma.drawing.svg import Drawing, escape, frame, number, text_line, text_width
from syntagma.text.brackets import format_brackets
from syntagma.text.sentence import Constituent, Parse

# All lengths are in pixels.
WORD_SIZE = 16.0
TAG_SIZE = 11.0
LABEL_SIZE = 13.0
LEVEL_STEP = 28.0
WORD_GAP = 14.0
MARGIN = 12.0
UNKNOWN = "_"


@dataclass(slots=True)
class _Node:
    """A phrase, or a word if it has no label.

    Args:
        label: label of the phrase.
        start: index of its first word.
        end: index after its last word.
        children: its phrases and words, from left to right.
        level: steps above the words; 0 for a word.
        x: x of its middle, in pixels.
    """

    label: str
    start: int
    end: int
    children: list[_Node] = field(default_factory=list)
    level: int = 0
    x: float = 0.0


def phrase_svg(parse: Parse, *, title: str = "", standalone: bool = True) -> str:
    """Draw the phrase structure tree of one sentence.

    Args:
        parse: a parse with ``constituents``; words outside all phrases are drawn unconnected.
        title: title of the figure; defaults to the words.
        standalone: include colours, for a file; otherwise the page styles the figure.

    Returns:
        An ``<svg>`` element.

    Raises:
        ValueError: the parse has no constituents, or they cross or are not in pre-order.
    """
    name = title or "Phrase tree: " + (" ".join(parse.sentence.forms) or "no words")
    return frame(draw_phrases(parse), title=name, role="img", standalone=standalone)


def draw_phrases(parse: Parse) -> Drawing:
    """Draw the elements of a phrase structure tree, without the ``<svg>`` element.

    Raises:
        ValueError: as in :func:`phrase_svg`.
    """
    if parse.constituents is None:
        raise ValueError(
            "expected a parse with constituents, got one without; parse with decoding 'separate' "
            "or 'joint'"
        )
    forms = parse.sentence.forms
    roots = _build(parse.constituents, len(forms))
    tags = parse.xpos if any(tag != UNKNOWN for tag in parse.xpos) else parse.upos
    xs, width = _place_words(forms, tags, parse.constituents)
    for root in roots:
        _place(root, xs)
    highest = max((root.level for root in roots), default=0)
    ground = MARGIN + LABEL_SIZE + highest * LEVEL_STEP
    parts: list[str] = []
    for root in roots:
        _draw(root, ground, parts)
    for x, form, tag in zip(xs, forms, tags, strict=True):
        if tag != UNKNOWN:
            parts.append(text_line("tag", x, ground, TAG_SIZE, tag))
        parts.append(text_line("word", x, ground + WORD_SIZE + 4, WORD_SIZE, form))
    brackets = format_brackets(forms, parse.xpos, parse.constituents) if forms else ""
    body = "\n".join([f"<desc>{escape(brackets)}</desc>", *parts])
    return Drawing(body, width, ground + WORD_SIZE + 4 + MARGIN)


def _build(constituents: Sequence[Constituent], n_words: int) -> list[_Node]:
    """Build trees from phrases in pre-order, including the words."""
    top = _Node("", 0, n_words)
    # The path from the top to the last phrase; pre-order means that a new phrase is inside the
    # lowest one on it that has not ended.
    opened = [top]
    for label, start, end in constituents:
        while opened[-1] is not top and opened[-1].end <= start:
            opened.pop()
        parent = opened[-1]
        known = parent.children[-1].end if parent.children else parent.start
        if not (known <= start < end <= parent.end):
            raise ValueError(
                f"expected phrases in pre-order that do not cross, got {label} over words "
                f"{start + 1} to {end} inside words {parent.start + 1} to {parent.end}"
            )
        node = _Node(label, start, end)
        parent.children.append(node)
        opened.append(node)
    _fill(top)
    return top.children


def _fill(node: _Node) -> None:
    """Add the words that are direct children of a phrase, and set levels, recursively."""
    children: list[_Node] = []
    word = node.start
    # An empty node at the end stands for the right edge, so that trailing words are added too.
    for child in [*node.children, _Node("", node.end, node.end)]:
        children += (_Node("", place, place + 1) for place in range(word, child.start))
        word = child.end
        if child.start < child.end:
            _fill(child)
            children.append(child)
    node.children = children
    node.level = 1 + max((child.level for child in children), default=0)


def _place_words(
    forms: Sequence[str], tags: Sequence[str], constituents: Sequence[Constituent]
) -> tuple[list[float], float]:
    """Return the x of each word's middle, and the width of the figure.

    The width of a phrase's label is divided among its words.
    """
    widths = [
        max(text_width(form, WORD_SIZE), text_width(tag, TAG_SIZE))
        for form, tag in zip(forms, tags, strict=True)
    ]
    for label, start, end in constituents:
        share = text_width(label, LABEL_SIZE) / (end - start)
        widths[start:end] = (max(width, share) for width in widths[start:end])
    xs, right = [], MARGIN
    for width in widths:
        xs.append(right + width / 2)
        right += width + WORD_GAP
    return xs, max(right - WORD_GAP, MARGIN) + MARGIN


def _place(node: _Node, xs: Sequence[float]) -> None:
    """Centre each node over its first and last child."""
    if not node.children:
        node.x = xs[node.start]
        return
    for child in node.children:
        _place(child, xs)
    node.x = (node.children[0].x + node.children[-1].x) / 2


def _draw(node: _Node, ground: float, parts: list[str]) -> None:
    """Append a phrase and the lines to its children."""
    if not node.children:
        return
    y = ground - node.level * LEVEL_STEP
    parts.append(text_line("relation", node.x, y, LABEL_SIZE, node.label))
    bar = y + 5
    line = f"M{number(node.children[0].x)} {number(bar)}H{number(node.children[-1].x)}"
    for child in node.children:
        # A line ends above the label of a phrase, or above the tag of a word.
        top = ground - child.level * LEVEL_STEP - (LABEL_SIZE if child.children else TAG_SIZE)
        line += f"M{number(child.x)} {number(bar)}V{number(top - 1)}"
    parts.append(
        f'<path class="arc" d="{line}" stroke="currentColor" stroke-width="1.2" '
        f'stroke-linecap="square" fill="none"/>'
    )
    for child in node.children:
        _draw(child, ground, parts)
