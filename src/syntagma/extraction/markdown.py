"""Read Markdown (CommonMark with tables): turned into HTML, which is then read."""

from __future__ import annotations

import re

from syntagma.extraction.builder import LONGEST_TITLE
from syntagma.extraction.document import Document
from syntagma.extraction.html import read_html
from syntagma.extraction.limits import ExtractionLimits
from syntagma.extraction.source import Source, decode_text

# It begins with a key: otherwise the first line is a rule between paragraphs.
_FRONT_MATTER = re.compile(
    r"\A---[ \t]*\r?\n((?:[\w\"'-]+[ \t]*:|#).*?\r?\n)(?:---|\.\.\.)[ \t]*(?:\r?\n|\Z)", re.DOTALL
)
_DEEPEST = 100
# With the indented lines below it, which belong to the value.
_TITLE = re.compile(r"^title[ \t]{0,9}:([^\n]{0,999}(?:\n[ \t][^\n]{0,999}){0,20})", re.MULTILINE)


def extract_markdown(source: Source, limits: ExtractionLimits) -> Document:
    """Extract a Markdown file; its front matter gives the title, or its first heading.

    Raises:
        InputError: it is not text, or has no text or too much.
    """
    from markdown_it import MarkdownIt

    text = decode_text(source)
    title = ""
    front = _FRONT_MATTER.match(text)
    if front is not None:
        named = _TITLE.search(front[1])
        title = _value(named[1]) if named else ""
        text = text[front.end() :]
    # What is nested deeper is dropped; the preset would do so after 20 levels.
    parser = MarkdownIt("commonmark", {"maxNesting": _DEEPEST}).enable(["table", "strikethrough"])
    page = parser.render(text)
    document = read_html(page, source.name, limits)
    if not title:
        first = next((block for block in document.blocks if block.kind == "heading"), None)
        if first is not None and first.level == 1:
            title = document.text[first.start : first.end]
    title = " ".join(title.split())[:LONGEST_TITLE]
    return Document(document.text, document.blocks, title or document.title)


def _value(written: str) -> str:
    """Return a value of the front matter, which is YAML; as written, if it is no text there."""
    import yaml

    try:
        # This loader makes texts of numbers and dates.
        value = yaml.load(f"title: {written.strip(' ')}", Loader=yaml.BaseLoader)["title"]
    except (yaml.YAMLError, RecursionError):
        value = None
    return value if isinstance(value, str) else written.strip().strip("\"'")
