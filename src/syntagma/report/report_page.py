"""Write a self-contained report page: sections with tables, plots and cases, and what was skipped.

The page needs neither network nor script.  Plots are embedded as data, and also saved as files next
to the page.
"""

from __future__ import annotations

import base64
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from syntagma.drawing.svg import escape
from syntagma.report.page import render_page, resource


class Section(NamedTuple):
    """A section of the page.

    Args:
        name: heading of the section.
        body: content as HTML; a section without content is not shown.
    """

    name: str
    body: str

    @property
    def anchor(self) -> str:
        """Id of the section, the target of links to it."""
        return "-".join(self.name.lower().split())


def report_page(
    *,
    title: str,
    summary: str,
    sections: Sequence[Section],
    notices: Sequence[str] = (),
    note: str = "",
) -> str:
    """Render the page.

    Args:
        title: title of the page.
        summary: a line that describes the runs.
        sections: the sections in order; those without a body are skipped.
        notices: what was skipped, and why.
        note: a line at the end of the page.

    Returns:
        The page as HTML.
    """
    shown = [section for section in sections if section.body]
    links = "".join(
        f'<li><a href="#{section.anchor}">{escape(section.name)}</a></li>' for section in shown
    )
    content = "\n".join(
        f'<section class="section" id="{each.anchor}"><h2>{escape(each.name)}</h2>\n{each.body}\n'
        "</section>"
        for each in shown
    )
    return render_page(
        f"<main>\n{content}\n</main>",
        title=title,
        summary=summary,
        note=note,
        style=resource("report_page.css"),
        # Plots are embedded as data.
        policy="img-src data:",
        header=f'<nav aria-label="Sections"><ul>{links}</ul></nav>\n{_notices(notices)}',
    )


def _notices(notices: Sequence[str]) -> str:
    """Render the list of what was skipped, without repetitions."""
    # Several runs often give the same notice.
    items = "".join(f"<li>{escape(notice)}</li>" for notice in dict.fromkeys(notices))
    return f'<div class="notices"><p>Skipped</p><ul>{items}</ul></div>' if items else ""


def plot(path: Path, caption: str, *, wide: bool = False) -> str:
    """Embed a plot, with a link to its file.

    As an ``<img>`` with a data URL, its styles and ids cannot clash with those of the page.

    Args:
        path: the ``.svg`` file, in the folder of the page.
        caption: caption of the plot.
        wide: whether it has several panels and needs twice the width.
    """
    data = base64.b64encode(path.read_bytes()).decode()
    return (
        f'<figure class="plot{" wide" * wide}"><img src="data:image/svg+xml;base64,{data}" '
        f'alt="{escape(caption)}"><figcaption>{escape(caption)} '
        f'(<a href="{escape(path.name)}">{escape(path.name)}</a>)</figcaption></figure>'
    )


def plots(figures: Sequence[str]) -> str:
    """Arrange plots side by side as far as there is room."""
    return f'<div class="plots">{"".join(figures)}</div>' if figures else ""


def details(summary: str, body: str, *, open_: bool = False) -> str:
    """Render a collapsible block under a line of text."""
    shown = " open" if open_ else ""
    return f"<details{shown}><summary>{escape(summary)}</summary>{body}</details>"


def commands(lines: Sequence[str]) -> str:
    """Render commands or settings as a block to copy."""
    return f"<pre><code>{escape(chr(10).join(lines))}</code></pre>"
