"""Render the common frame of all pages: head, header and footer."""

from __future__ import annotations

from importlib.resources import files
from string import Template

from syntagma.drawing.svg import escape


def resource(name: str) -> str:
    """Read a file that ships with this package."""
    return files("syntagma.report").joinpath(name).read_text("utf-8")


def render_page(
    content: str,
    *,
    title: str,
    summary: str,
    note: str,
    style: str,
    policy: str,
    header: str = "",
    scripts: str = "",
) -> str:
    """Render a self-contained page.

    Args:
        content: HTML between header and footer.
        title: title of the page, not escaped.
        summary: a line below the title, not escaped.
        note: a line at the end of the page, not escaped.
        style: CSS rules in addition to those of all pages.
        policy: what the Content-Security-Policy allows in addition to styles; everything else is
            forbidden.
        header: more HTML for the header.
        scripts: HTML of the scripts.

    Returns:
        The page as HTML.
    """
    return Template(resource("page.html")).substitute(
        content=content,
        title=escape(title),
        summary=escape(summary),
        note=escape(note),
        style=resource("page.css") + style,
        policy=policy,
        header=header and f"\n{header}",
        scripts=scripts and f"\n{scripts}",
    )
