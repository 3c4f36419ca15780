"""How results show themselves in notebooks: the function for each, found when it is first needed.

Results are plain data in low packages, pictures and pages are made in higher ones, and imports
point one way.  So a result that a higher package draws names its view here.  This table has all
references that point upwards.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any, Literal

VIEWS = {
    "parse_html": "syntagma.drawing.notebook",
    "parse_svg": "syntagma.drawing.notebook",
    "answer_html": "syntagma.report.notebook",
}
"""Module of each view, a function of that name."""

View = Literal["parse_html", "parse_svg", "answer_html"]


def render(view: View, result: Any) -> str | None:
    """Render a result.

    Args:
        view: the name of a view.
        result: the result.

    Returns:
        HTML or SVG; ``None`` if the result cannot be drawn, and the notebook shows its ``repr``.
    """
    found: str | None = getattr(import_module(VIEWS[view]), view)(result)
    return found
