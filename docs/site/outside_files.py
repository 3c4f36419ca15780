"""Pages that lie outside `docs`, and links to files that are not pages."""

from __future__ import annotations

import os
import re
import shutil
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from sphinx.application import Sphinx

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"

PAGES = {"changelog": "CHANGELOG.md", "contributing": "CONTRIBUTING.md"}
"""Pages of the site whose text is a file of the repository's root."""

COPIED = ("squad10k",)
"""Folders of `docs` that are copied as they are: HTML pages with what they show."""

# [text](target#anchor) with a target in the repository.
LINK = re.compile(r"(?<!!)\[(?P<text>[^\]]*)\]\((?P<target>[^)#:]+)(?P<anchor>#[^)]*)?\)")


def read_page(app: Sphinx, name: str, source: list[str]) -> None:
    """Give Sphinx the text of a page, with links that work in the site.

    Args:
        app: the build.
        name: name of the page, without its suffix.
        source: its text, changed in place.
    """
    path = Path(app.env.doc2path(name))
    if name in PAGES:
        outside = ROOT / PAGES[name]
        app.env.note_dependency(str(outside), docname=name)
        source[0] = links_from_root(outside.read_text(encoding="utf-8"))
    if path.suffix == ".md":
        source[0] = LINK.sub(lambda link: site_link(link, path.parent), source[0])


def links_from_root(text: str) -> str:
    """Rewrite the links of a page in the repository's root as links of a page in `docs`.

    Args:
        text: the page.
    """
    names = {file: f"{name}.md" for name, file in PAGES.items()}

    def moved(link: re.Match[str]) -> str:
        target = names.get(link["target"]) or os.path.relpath(ROOT / link["target"], DOCS)
        return f"[{link['text']}]({target}{link['anchor'] or ''})"

    return LINK.sub(moved, text)


def site_link(link: re.Match[str], folder: Path) -> str:
    """Rewrite a link to what is not a page, or whose text is the name of a file.

    Args:
        link: a match of :data:`LINK`.
        folder: the folder of the page.
    """
    text, target = link["text"], link["target"]
    path = Path(os.path.normpath(folder / target))
    if text.endswith(".md") and path.suffix == ".md" and path.name == Path(text).name:
        text = ""  # The title of the page or section, in place of the name of a file.
    if path.is_relative_to(DOCS):
        inside = path.relative_to(DOCS)
        # A page of its own: shown as it is, not offered as a download.
        as_it_is = inside.parts[0] in COPIED and path.suffix == ".html"
        scheme = "as-it-is:" if as_it_is else ""
        return f"[{text}]({scheme}{target}{link['anchor'] or ''})"
    if path.is_dir():
        return text  # The site has no listing of folders; the text names it.
    return f"[{text}](path:{target})"


def copy_folders(app: Sphinx, error: Exception | None) -> None:
    """Copy the folders of :data:`COPIED` into a finished site.

    Args:
        app: the build.
        error: why it failed; ``None`` if it did not.
    """
    if error is None and app.builder.name == "html":
        for name in COPIED:
            shutil.copytree(DOCS / name, Path(app.outdir) / name, dirs_exist_ok=True)


def setup(app: Sphinx) -> dict[str, Any]:
    """Register with Sphinx.

    Args:
        app: the build.
    """
    app.connect("source-read", read_page)
    app.connect("build-finished", copy_folders)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
