"""Building blocks of all SVG figures: escaping, text widths, stacking, frame and colours.

Figures use ``currentColor`` and class names.  Embedded in a page they take the colours of the page;
a standalone figure includes a style sheet and a background, for light and dark screens and print.
"""

from __future__ import annotations

import html
import re
import unicodedata
from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple

FONTS = "'Helvetica Neue', Arial, 'Liberation Sans', 'Noto Sans', 'DejaVu Sans', sans-serif"

# The accent and text colours also differ in lightness, so that greyscale print loses nothing.
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
    """SVG elements with the size of their bounding box in pixels."""

    body: str
    width: float
    height: float


# Characters that XML 1.0 does not allow, not even escaped.
_NOT_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def clean(text: str) -> str:
    """Replace every character that XML forbids, one by one, so that offsets stay valid.

    >>> clean("a\\x0cb\\x00c")
    'a b�c'
    """
    return _NOT_XML.sub(lambda match: " " if match[0].isspace() else "\ufffd", text)


def escape(text: str) -> str:
    """Escape text for use between tags or in a quoted attribute, in XML or HTML.

    >>> escape("<b> & 'c'")
    '&lt;b&gt; &amp; &#x27;c&#x27;'
    """
    return html.escape(clean(text), quote=True)


def number(value: float) -> str:
    """Format a coordinate to a tenth of a pixel, without a trailing ``.0``."""
    return f"{value:.1f}".removesuffix(".0")


def text_width(text: str, size: float) -> float:
    """Estimate an upper bound of a text's width in any common sans-serif font.

    The viewer's font is unknown here.  The estimate follows the widest of the usual fallbacks
    (DejaVu Sans, Verdana), since too much space looks better than words that touch.

    Args:
        text: a single line.
        size: font size in pixels.

    Returns:
        Width in pixels.
    """
    return size * sum(map(_em_width, text))


@lru_cache(maxsize=4096)
def _em_width(character: str) -> float:
    """Estimate the width of a character relative to the font size."""
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
        return 1.3  # Emoji are wider than they are high.
    return 0.7 if "LATIN SMALL" in unicodedata.name(character, "") else 1.0


def text_line(
    kind: str,
    x: float,
    y: float,
    size: float,
    text: str,
    *,
    anchor: str = "",
    rotation: float = 0.0,
) -> str:
    """Draw one line of text.

    Args:
        kind: class name of the element.
        x: x of the anchor in pixels.
        y: y of the baseline in pixels.
        size: font size in pixels.
        text: the text, not escaped.
        anchor: ``start`` or ``end``; centred by default.
        rotation: degrees clockwise around the anchor.
    """
    place = f'x="{number(x)}" y="{number(y)}" font-size="{number(size)}"'
    if anchor:
        place += f' text-anchor="{anchor}"'
    if rotation:
        place += f' transform="rotate({number(rotation)} {number(x)} {number(y)})"'
    return f'<text class="{kind}" {place}>{escape(text)}</text>'


def stack(drawings: Sequence[Drawing], *, horizontal: bool = False, gap: float = 0.0) -> Drawing:
    """Combine drawings vertically, or in a row.

    Args:
        drawings: at least one.
        horizontal: place them side by side instead of one below the other.
        gap: space between two drawings in pixels.
    """
    groups, x, y = [], 0.0, 0.0
    for drawing in drawings:
        groups.append(f'<g transform="translate({number(x)} {number(y)})">{drawing.body}</g>')
        if horizontal:
            x += drawing.width + gap
        else:
            y += drawing.height + gap
    width = x - gap if horizontal else max(drawing.width for drawing in drawings)
    height = max(drawing.height for drawing in drawings) if horizontal else y - gap
    return Drawing("\n".join(groups), width, height)


def frame(drawing: Drawing, *, title: str, role: str, standalone: bool) -> str:
    """Wrap a drawing in an ``<svg>`` element.

    Args:
        drawing: the content.
        title: title for screen readers and tooltips, not escaped.
        role: ``img``, or ``group`` if the parts are images themselves.
        standalone: include namespace, background and colours, for a file; otherwise the page styles
            the figure.
    """
    width, height = number(drawing.width), number(drawing.height)
    size = f'width="{width}" height="{height}" viewBox="0 0 {width} {height}"'
    namespace = 'xmlns="http://www.w3.org/2000/svg" ' if standalone else ""
    lines = [
        f'<svg {namespace}class="syntagma-svg" role="{role}" {size} '
        f'fill="currentColor" font-family="{FONTS}" text-anchor="middle">',
        f"<title>{escape(title)}</title>",
    ]
    if standalone:
        lines.append(f"<style>{STYLE}</style>")
        # The attribute is for viewers without style sheets.
        lines.append('<rect class="paper" width="100%" height="100%" fill="#ffffff"/>')
    return "\n".join([*lines, drawing.body, "</svg>"]) + ("\n" if standalone else "")
