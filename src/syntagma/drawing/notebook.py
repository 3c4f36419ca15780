"""Trees in notebooks: arcs above the words, and phrases below."""

from __future__ import annotations

from syntagma.drawing.tree_svg import document_svg
from syntagma.text.sentence import Parse


def parse_svg(parse: Parse) -> str | None:
    """Draw a parse with its arcs and phrases.

    Args:
        parse: the parse of one sentence.

    Returns:
        An ``<svg>`` element with its own colours; ``None`` if heads or phrases are not a tree.
    """
    try:
        return document_svg([parse], title=" ".join(parse.sentence.forms) or "No words")
    except ValueError:
        return None


def parse_html(parse: Parse) -> str | None:
    """Draw a parse as :func:`parse_svg` does, in a box that scrolls sideways.

    Args:
        parse: the parse of one sentence.
    """
    picture = parse_svg(parse)
    return None if picture is None else f'<div style="overflow-x: auto">{picture}</div>'
