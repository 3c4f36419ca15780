"""What every vector picture of the package shares: escaping, text widths, frame and colours.

The pictures draw with ``currentColor`` and class names.  Inside a page they take the page's
colours; a picture that stands alone brings its own paper, for light and dark screens and print.
"""

from __future__ import annotations

import html
import re
import unicodedata
from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple

__all__ = ["Drawing", "clean", "escape", "frame", "number", "stack", "text_line", "text_width"]

FONTS = "'Helvetica Neue', Arial, 'Liberation Sans', 'Noto Sans', 'DejaVu Sans', sans-serif"

# Blue and ink differ in lightness too, so that nothing is lost in grey print.
STYLE = """
.syntagma-svg { color: #1c2128; }
.syntagma-svg .paper { fill: #ffffff; }
.syntagma-svg .arc, .syntagma-svg .tip, .syntagma-svg .cells { color: #0b62a8; }
.syntagma-svg .tag { color: #57606a; }
@media screen and (prefers-color-scheme: dark) {
  .syntagma-svg { color: #e6e9ed; }
  .syntagma-svg .paper { fill: #14181d; }
  .syntagma-svg .arc, .syntagma-svg .tip, .syntagma-svg .cells { color: #79bdf2; }
  .syntagma-svg .tag { color: #a7b0ba; }
}
"""


class Drawing(NamedTuple):
    """Elements and the room they take, in pixels."""

    body: str
    width: float
    height: float


_NOT_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def clean(text: str) -> str:
    """The text with every character that XML forbids replaced, length unchanged.

    >>> clean("a\\x0cb\\x00c")
    'a b�c'
    """
    return _NOT_XML.sub(lambda match: " " if match[0].isspace() else "\ufffd", text)


def escape(text: str) -> str:
    """The text for use between tags or in a quoted attribute, of XML or HTML.

    >>> escape("<b> & 'c'")
    '&lt;b&gt; &amp; &#x27;c&#x27;'
    """
    return html.escape(clean(text), quote=True)


def number(value: float) -> str:
    """A coordinate, to a tenth of a pixel."""
    return f"{value:.1f}".removesuffix(".0")


def text_width(text: str, size: float) -> float:
    """Upper estimate of a text's width in any common sans-serif font.

    No font can be asked here, so that the estimate follows the widest of the usual fallbacks
    (DejaVu Sans, Verdana): too much room looks better than words that touch.

    Args:
        text: one line.
        size: font size in pixels.

    Returns:
        Width in pixels.
    """
    return size * sum(map(_em_width, text))


@lru_cache(maxsize=4096)
def _em_width(character: str) -> float:
    """Width of one character as a share of the font size."""
    if character.isascii():
        if character in "mwMW@%":
            return 1.0
        if character in "fijlrtI.,:;'|!()[]{}`-/ ":
            return 0.42
        return 0.79 if character.isupper() or character in "+<=>&#~^_" else 0.64
    category = unicodedata.category(character)
    if category in ("Mn", "Me", "Cf"):
        return 0.0
    if category == "So" and unicodedata.east_asian_width(character) in "WF":
        return 1.3  # An emoji is wider than high.
    return 0.7 if "LATIN SMALL" in unicodedata.name(character, "") else 1.0


def text_line(
    kind: str,
    x: float,
    y: float,
    size: float,
    text: str,
    *,
    anchor: str = "",
    turn: float = 0.0,
) -> str:
    """One line of text, centred where no other anchor is given.

    Args:
        kind: its class.
        x: of the anchor, in pixels.
        y: of the base line, in pixels.
        size: of the font, in pixels.
        text: not yet escaped.
        anchor: ``start`` or ``end``.
        turn: degrees about the anchor, clockwise.
    """
    place = f'x="{number(x)}" y="{number(y)}" font-size="{number(size)}"'
    if anchor:
        place += f' text-anchor="{anchor}"'
    if turn:
        place += f' transform="rotate({number(turn)} {number(x)} {number(y)})"'
    return f'<text class="{kind}" {place}>{escape(text)}</text>'


def stack(drawings: Sequence[Drawing], *, beside: bool = False, gap: float = 0.0) -> Drawing:
    """Drawings one below the other, or beside one another.

    Args:
        drawings: at least one.
        beside: in one row.
        gap: between two, in pixels.
    """
    groups, x, y = [], 0.0, 0.0
    for drawing in drawings:
        groups.append(f'<g transform="translate({number(x)} {number(y)})">{drawing.body}</g>')
        if beside:
            x += drawing.width + gap
        else:
            y += drawing.height + gap
    width = x - gap if beside else max(drawing.width for drawing in drawings)
    height = max(drawing.height for drawing in drawings) if beside else y - gap
    return Drawing("\n".join(groups), width, height)


def frame(drawing: Drawing, *, title: str, role: str, alone: bool) -> str:
    """The outermost element of a picture.

    Args:
        drawing: what is in it.
        title: its name for screen readers and in tooltips, not yet escaped.
        role: ``img``, or ``group`` where the parts are images of their own.
        alone: with namespace, paper and colours of its own, for a file; otherwise a part of a
            page that styles it.
    """
    width, height = number(drawing.width), number(drawing.height)
    size = f'width="{width}" height="{height}" viewBox="0 0 {width} {height}"'
    namespace = 'xmlns="http://www.w3.org/2000/svg" ' if alone else ""
    lines = [
        f'<svg {namespace}class="syntagma-svg" role="{role}" {size} '
        f'fill="currentColor" font-family="{FONTS}" text-anchor="middle">',
        f"<title>{escape(title)}</title>",
    ]
    if alone:
        lines.append(f"<style>{STYLE}</style>")
        lines.append('<rect class="paper" width="100%" height="100%" fill="#ffffff"/>')
    return "\n".join([*lines, drawing.body, "</svg>"]) + ("\n" if alone else "")
