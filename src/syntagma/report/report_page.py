"""One self-contained page about runs: parts with tables, plots and cases, and what was left out.

The page needs neither network nor script; plots stand in it as data, and beside it as files.
"""

from __future__ import annotations

import base64
from collections.abc import Sequence
from importlib.resources import files
from pathlib import Path
from string import Template
from typing import NamedTuple

from syntagma.drawing.svg import escape

__all__ = ["Part", "commands", "details", "plot", "plots", "report_page"]


class Part(NamedTuple):
    """A part of the page.

    Args:
        name: its heading.
        body: HTML.
    """

    name: str
    body: str

    @property
    def anchor(self) -> str:
        """Where links into the page find it."""
        return "-".join(self.name.lower().split())


def report_page(
    *, title: str, summary: str, parts: Sequence[Part], notices: Sequence[str] = (), note: str = ""
) -> str:
    """Write the page.

    Args:
        title: of the page.
        summary: what it is about, in a line.
        parts: in their order; those without a body are left out.
        notices: what was left out, and why.
        note: a line at its end.

    Returns:
        HTML.
    """
    shown = [part for part in parts if part.body]
    links = "".join(f'<li><a href="#{part.anchor}">{escape(part.name)}</a></li>' for part in shown)
    sections = "\n".join(
        f'<section class="part" id="{part.anchor}"><h2>{escape(part.name)}</h2>\n{part.body}\n'
        "</section>"
        for part in shown
    )
    return Template(_resource("report_page.html")).substitute(
        title=escape(title),
        summary=escape(summary),
        style=_resource("page.css") + _resource("report_page.css"),
        contents=f"<ul>{links}</ul>",
        notices=_notices(notices),
        sections=sections,
        note=escape(note),
    )


def _resource(name: str) -> str:
    """A file that ships beside this one."""
    return files("syntagma.report").joinpath(name).read_text("utf-8")


def _notices(notices: Sequence[str]) -> str:
    items = "".join(f"<li>{escape(notice)}</li>" for notice in dict.fromkeys(notices))
    return f'<div class="notices"><p>Left out</p><ul>{items}</ul></div>' if items else ""


def plot(path: Path, caption: str, *, wide: bool = False) -> str:
    """A plot that was written beside the page.

    Args:
        path: the ``.svg``.
        caption: what it shows.
        wide: whether it has panels beside one another, so that it needs the room of two.
    """
    data = base64.b64encode(path.read_bytes()).decode()
    return (
        f'<figure class="plot{" wide" * wide}"><img src="data:image/svg+xml;base64,{data}" '
        f'alt="{escape(caption)}"><figcaption>{escape(caption)} '
        f'(<a href="{escape(path.name)}">{escape(path.name)}</a>)</figcaption></figure>'
    )


def plots(figures: Sequence[str]) -> str:
    """Plots beside one another as far as there is room."""
    return f'<div class="plots">{"".join(figures)}</div>' if figures else ""


def details(summary: str, body: str, *, open_: bool = False) -> str:
    """What is folded away under a line."""
    shown = " open" if open_ else ""
    return f"<details{shown}><summary>{escape(summary)}</summary>{body}</details>"


def commands(lines: Sequence[str]) -> str:
    """Commands to copy."""
    return f"<pre><code>{escape(chr(10).join(lines))}</code></pre>"
