"""Check the pages of the built site: links, anchors, and that nothing is loaded from elsewhere.

    python scripts/check_site.py build/site

Sphinx checks the links that it makes. This script checks what came of them, and everything that
themes and executed notebooks put into the pages: each link to a file of the site must lead to a
file, each anchor to an element, and each script, style, font and picture must come from the site.
"""

from __future__ import annotations

import argparse
import functools
import re
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

LOADED = {("script", "src"), ("img", "src"), ("iframe", "src"), ("link", "href"), ("source", "src")}
"""Attributes whose target is loaded together with the page."""

OUTSIDE = re.compile(r"(?:https?:)?//")
STYLE_URL = re.compile(r"""url\(\s*["']?([^"')]+)|@import\s+["']([^"']+)""")


class Page(HTMLParser):
    """What a page links to and loads, and the anchors that it has."""

    def __init__(self, path: Path) -> None:
        super().__init__()
        self.links: list[str] = []
        self.loaded: list[str] = []
        self.anchors: set[str] = {"", "top"}
        self.feed(path.read_text(encoding="utf-8"))

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Collect the targets and the anchors of an element."""
        for name, value in attrs:
            if name == "id" or (tag, name) == ("a", "name"):
                self.anchors.add(value or "")
            elif (tag, name) in LOADED:
                self.loaded.append(value or "")
            elif name == "href":
                self.links.append(value or "")
            elif name == "style":
                self.loaded += style_urls(value or "")


def style_urls(style: str) -> list[str]:
    """Return what a style sheet loads.

    Args:
        style: the text of the style sheet.
    """
    return ["".join(found) for found in STYLE_URL.findall(style)]


@functools.cache
def read_page(path: Path) -> Page:
    """Read a page once.

    Args:
        path: its file.
    """
    return Page(path)


def problems_of(page: Path, site: Path) -> Iterator[str]:
    """Yield what is wrong with the links of a page.

    Args:
        page: an HTML file.
        site: the folder of the whole site.
    """
    found = read_page(page)
    for target in found.loaded:
        if OUTSIDE.match(target):
            yield f"loads {target} from another host; put the file into the site"
    for target in [*found.links, *found.loaded]:
        parts = urlsplit(target)
        if parts.scheme or parts.netloc:
            continue
        path = (page.parent / unquote(parts.path)).resolve() if parts.path else page
        path = path / "index.html" if path.is_dir() else path
        if not path.is_relative_to(site):
            yield f"links to {target}, which is not in the site"
        elif not path.is_file():
            yield f"links to {target}: there is no such file"
        elif path.suffix == ".html" and unquote(parts.fragment) not in read_page(path).anchors:
            yield f"links to {target}: the page has no such anchor"


def check(site: Path) -> list[str]:
    """Return what is wrong with a site, a line each; empty if nothing is.

    Args:
        site: its folder.
    """
    site = site.resolve()
    found = [
        f"{page.relative_to(site)}: {problem}"
        for page in sorted(site.rglob("*.html"))
        for problem in dict.fromkeys(problems_of(page, site))
    ]
    for sheet in sorted(site.rglob("*.css")):
        for target in style_urls(sheet.read_text(encoding="utf-8")):
            if OUTSIDE.match(target):
                found.append(f"{sheet.relative_to(site)}: loads {target} from another host")
    return found


def main() -> None:
    """Run the script."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("site", type=Path, help="the folder of the built site")
    given = parser.parse_args()
    if not (given.site / "index.html").is_file():
        raise SystemExit(f"{given.site} has no index.html; build the site first: make docs")
    if found := check(given.site):
        raise SystemExit("\n".join(found))
    print(f"{len([*given.site.rglob('*.html')])} pages: links and anchors are right")


if __name__ == "__main__":
    main()
