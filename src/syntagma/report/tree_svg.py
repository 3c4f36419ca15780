"""Dependency trees as vector pictures: words and tags on a line, labelled arcs above them.

An arc runs from the head to its dependent, where it ends in an arrowhead; the root has an arrow
from above.  Arcs that the parser itself thinks more likely wrong than right are dashed.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from syntagma.report.arc_layout import PlacedArc, TreeLayout, lay_out_tree
from syntagma.report.svg import clean, escape, frame, number, text_width
from syntagma.text.sentence import Parse

__all__ = ["dependency_svg", "document_svg"]

WORD_SIZE = 16.0
TAG_SIZE = 11.0
LABEL_SIZE = 12.0
LEVEL_STEP = 22.0
CORNER = 8.0
TIP = 7.0
MARGIN = 12.0
LEAST_PROBABILITY = 0.5
UNKNOWN = "_"


class Drawing(NamedTuple):
    """Elements of one tree and the room they take, in pixels."""

    body: str
    width: float
    height: float


def dependency_svg(
    parse: Parse, *, title: str = "", alone: bool = True, first_word: int | None = None
) -> str:
    """Draw the dependency tree of one sentence.

    Args:
        parse: the tree; its tags are drawn where they are known.
        title: name of the picture; by default the words.
        alone: with colours of its own, for a file; otherwise for use in a page that styles it.
        first_word: number of the sentence's first word in its text; each word and each arc then
            carries its word's number as ``data-word``, so that a script can find it.

    Returns:
        An ``<svg>`` element; XML even as a part of a page.

    Raises:
        ValueError: a head is out of range, or the word itself.
    """
    drawing = _draw(parse, first_word)
    name = title or "Dependency tree: " + (" ".join(parse.sentence.forms) or "no words")
    body = f"<desc>{escape(_describe(parse))}</desc>\n{drawing.body}"
    return frame(
        body, width=drawing.width, height=drawing.height, title=name, role="img", alone=alone
    )


def document_svg(parses: Sequence[Parse], *, title: str = "") -> str:
    """Draw the trees of a text into one file, one below the other.

    Args:
        parses: the sentences.
        title: name of the picture.

    Raises:
        ValueError: a head is out of range, or the word itself.
    """
    groups, width, height = [], 2 * MARGIN, 0.0
    for index, parse in enumerate(parses, start=1):
        drawing = _draw(parse, None)
        name = f"Sentence {index}: {' '.join(parse.sentence.forms)}"
        groups.append(
            f'<g role="img" transform="translate(0 {number(height)})">\n'
            f"<title>{escape(name)}</title>\n<desc>{escape(_describe(parse))}</desc>\n"
            f"{drawing.body}\n</g>"
        )
        width, height = max(width, drawing.width), height + drawing.height
    return frame(
        "\n".join(groups),
        width=width,
        height=max(height, 2 * MARGIN),
        title=title or f"Dependency trees of {len(parses)} sentences",
        role="group",
        alone=True,
    )


def _describe(parse: Parse) -> str:
    """The tree in words, for those who do not see it."""
    forms = parse.sentence.forms
    arcs = []
    for form, head, relation in zip(forms, parse.heads, parse.relations, strict=True):
        label = "dependent" if relation == UNKNOWN else relation
        arcs.append(f"{form}: {label} of {forms[head - 1]}" if head else f"{form}: root")
    return "; ".join(arcs)


def _draw(parse: Parse, first_word: int | None) -> Drawing:
    """Lay the tree out and write its elements."""
    forms = [clean(form) for form in parse.sentence.forms]
    tags = [row for row in (parse.upos, parse.xpos) if any(tag != UNKNOWN for tag in row)]
    tags = tags[:1] if len(tags) == 2 and tags[0] == tags[1] else tags
    labels = [
        ("" if head else "root") if relation == UNKNOWN else clean(relation)
        for head, relation in zip(parse.heads, parse.relations, strict=True)
    ]
    widths = [text_width(form, WORD_SIZE) for form in forms]
    for row in tags:
        widths = [
            max(width, text_width(tag, TAG_SIZE)) for width, tag in zip(widths, row, strict=True)
        ]
    layout = lay_out_tree(
        parse.heads,
        word_widths=widths,
        label_widths=[text_width(label, LABEL_SIZE) for label in labels],
    )
    ground = MARGIN + (layout.n_levels + 1) * LEVEL_STEP if forms else MARGIN
    marks = ["" if first_word is None else f' data-word="{first_word + i}"' for i in range(len(forms))]
    arcs = [
        _draw_arc(arc, layout, ground, parse, label, mark)
        for arc, label, mark in zip(layout.arcs, labels, marks, strict=True)
    ]
    words = [
        _draw_word(index, x, ground, forms[index], [row[index] for row in tags], marks[index])
        for index, x in enumerate(layout.word_xs)
    ]
    height = ground + (22 + 15 * len(tags) if forms else 0) + MARGIN
    return Drawing("\n".join(arcs + words), layout.width, height)


def _draw_word(
    index: int, x: float, ground: float, form: str, tags: Sequence[str], mark: str
) -> str:
    """A word and its tags below it."""
    place = f'x="{number(x)}"'
    lines = [f'<text class="word" {place} y="{number(ground + 18)}" font-size="16">{escape(form)}</text>']
    for row, tag in enumerate(tags):
        y = number(ground + 34 + 15 * row)
        lines.append(f'<text class="tag" {place} y="{y}" font-size="11">{escape(tag)}</text>')
    return f"<g{mark}>{''.join(lines)}</g>"
