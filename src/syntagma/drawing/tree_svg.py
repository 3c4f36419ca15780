"""Draw dependency trees, and phrase structure trees below them.

Words and tags are on a line, with labelled arcs above.  An arc runs from the head to an arrowhead
at the dependent; an arrow from above marks the root.  Arcs with a probability below one half are
dashed.  If a parse has phrases, they are drawn as a separate tree below.
"""

from __future__ import annotations

from collections.abc import Sequence

from syntagma.drawing.arc_layout import PlacedArc, lay_out_tree
from syntagma.drawing.phrase_svg import draw_phrases
from syntagma.drawing.svg import Drawing, escape, frame, number, stack, text_line, text_width
from syntagma.text.sentence import Parse

# All lengths are in pixels.
WORD_SIZE = 16.0
TAG_SIZE = 11.0
TAG_STEP = 15.0
LABEL_SIZE = 12.0
LEVEL_STEP = 22.0
CORNER = 8.0
TIP = 7.0
MARGIN = 12.0
DASHED_BELOW = 0.5
UNKNOWN = "_"


def dependency_svg(
    parse: Parse, *, title: str = "", standalone: bool = True, first_word: int | None = None
) -> str:
    """Draw the dependency tree of one sentence.

    Args:
        parse: the tree; known tags are drawn below the words.
        title: title of the figure; defaults to the words.
        standalone: include colours, for a file; otherwise the page styles the figure.
        first_word: number of the sentence's first word in the text.  If given, each word and its
            arc get their number as ``data-word``, so that a script can find them.

    Returns:
        An ``<svg>`` element, valid XML also inside an HTML page.

    Raises:
        ValueError: a head is out of range, or a word is its own head.
    """
    drawing = _draw(parse, first_word)
    name = title or "Dependency tree: " + (" ".join(parse.sentence.forms) or "no words")
    body = f"<desc>{escape(_describe(parse))}</desc>\n{drawing.body}"
    return frame(drawing._replace(body=body), title=name, role="img", standalone=standalone)


def document_svg(parses: Sequence[Parse], *, title: str = "") -> str:
    """Draw the trees of a text into one figure, one below the other.

    Args:
        parses: the parses of the sentences.
        title: title of the figure.

    Raises:
        ValueError: a head is out of range, or a word is its own head.
    """
    groups, width, height = [], 2 * MARGIN, 0.0
    for index, parse in enumerate(parses, start=1):
        drawing = _draw(parse, None)
        if parse.constituents:
            drawing = stack([drawing, draw_phrases(parse)])
        name = f"Sentence {index}: {' '.join(parse.sentence.forms)}"
        groups.append(
            f'<g role="img" transform="translate(0 {number(height)})">\n'
            f"<title>{escape(name)}</title>\n<desc>{escape(_describe(parse))}</desc>\n"
            f"{drawing.body}\n</g>"
        )
        width, height = max(width, drawing.width), height + drawing.height
    name = title or f"Dependency trees of {len(parses)} sentences"
    drawing = Drawing("\n".join(groups), width, max(height, 2 * MARGIN))
    return frame(drawing, title=name, role="group", standalone=True)


def _describe(parse: Parse) -> str:
    """Describe the tree in words, for screen readers."""
    forms = parse.sentence.forms
    arcs = []
    for form, head, relation in zip(forms, parse.heads, parse.relations, strict=True):
        label = "dependent" if relation == UNKNOWN else relation
        arcs.append(f"{form}: {label} of {forms[head - 1]}" if head else f"{form}: root")
    return "; ".join(arcs)


def _draw(parse: Parse, first_word: int | None) -> Drawing:
    """Lay out a tree and draw its elements."""
    forms = parse.sentence.forms
    tags = _known_tags(parse)
    labels = _labels(parse)
    # The 0.0 is for sentences without tags: `max` does not accept a single number.
    word_widths = [
        max(text_width(form, WORD_SIZE), *(text_width(row[word], TAG_SIZE) for row in tags), 0.0)
        for word, form in enumerate(forms)
    ]
    label_widths = [text_width(label, LABEL_SIZE) for label in labels]
    layout = lay_out_tree(parse.heads, word_widths=word_widths, label_widths=label_widths)
    ground = MARGIN + (layout.n_levels + 1) * LEVEL_STEP if forms else MARGIN
    marks = [
        "" if first_word is None else f' data-word="{first_word + word}"'
        for word in range(len(forms))
    ]
    arcs = [
        f'<g class="edge"{mark}>{_draw_arc(arc, parse, label, ground)}</g>'
        for arc, label, mark in zip(layout.arcs, labels, marks, strict=True)
    ]
    words = [
        f'<g class="node"{mark}>{_draw_word(x, form, [row[word] for row in tags], ground)}</g>'
        for word, (x, form, mark) in enumerate(zip(layout.word_xs, forms, marks, strict=True))
    ]
    height = ground + WORD_SIZE + TAG_STEP * len(tags) + MARGIN
    return Drawing("\n".join(arcs + words), layout.width, height)


def _known_tags(parse: Parse) -> list[tuple[str, ...]]:
    """Return the rows of tags to draw: those with known tags, without repeating equal rows."""
    rows = [row for row in (parse.upos, parse.xpos) if any(tag != UNKNOWN for tag in row)]
    return rows[:1] if len(set(rows)) == 1 else rows


def _labels(parse: Parse) -> list[str]:
    """Return the label of each arc: its relation if known; the root is always labelled."""
    return [
        relation if relation != UNKNOWN else ("" if head else "root")
        for head, relation in zip(parse.heads, parse.relations, strict=True)
    ]


def _draw_word(x: float, form: str, tags: Sequence[str], ground: float) -> str:
    """Draw a word with its tags below."""
    y = ground + WORD_SIZE
    texts = [text_line("word", x, y, WORD_SIZE, form)]
    for row, tag in enumerate(tags, start=1):
        texts.append(text_line("tag", x, y + row * TAG_STEP, TAG_SIZE, tag))
    return "".join(texts)


def _draw_arc(arc: PlacedArc, parse: Parse, label: str, ground: float) -> str:
    """Draw an arc with its arrowhead, label and tooltip."""
    top = ground - arc.level * LEVEL_STEP
    end = arc.dependent_x
    if arc.head:
        turn = CORNER if arc.head_x < end else -CORNER
        # Up from the head, a rounded corner, along the level, a corner, down to the arrowhead.
        line = (
            f"M{number(arc.head_x)} {number(ground)}V{number(top + CORNER)}"
            f"q0 {number(-CORNER)} {number(turn)} {number(-CORNER)}H{number(end - turn)}"
            f"q{number(turn)} 0 {number(turn)} {number(CORNER)}V{number(ground - TIP)}"
        )
    else:
        line = f"M{number(end)} {number(top)}V{number(ground - TIP)}"
    tip = f"M{number(end)} {number(ground)}l-3.5 {number(-TIP)}h7z"
    probability = parse.probabilities[arc.dependent - 1] if parse.probabilities else 1.0
    dashes = ' stroke-dasharray="4 3"' if probability < DASHED_BELOW else ""
    # A heavier line marks the root without relying on colour.
    weight = "1.5" if arc.head else "2.5"
    return (
        f"<title>{escape(_tooltip(arc, parse, label))}</title>"
        f'<path class="arc" d="{line}" fill="none" stroke="currentColor" stroke-width="{weight}"'
        f'{dashes}/><path class="tip" d="{tip}"/>'
        + (text_line("relation", arc.label_x, top - 4, LABEL_SIZE, label) if label else "")
    )


def _tooltip(arc: PlacedArc, parse: Parse, label: str) -> str:
    """Describe an arc in words, with its probability if there is one."""
    forms = parse.sentence.forms
    head = f" of {forms[arc.head - 1]}" if arc.head else ""
    odds = (
        f", probability {parse.probabilities[arc.dependent - 1]:.2f}" if parse.probabilities else ""
    )
    return f"{forms[arc.dependent - 1]}: {label or 'dependent'}{head}{odds}"
