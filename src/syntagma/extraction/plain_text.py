"""Read plain text: paragraphs between blank lines, and list items."""

from __future__ import annotations

import re

from syntagma.errors import InputError
from syntagma.extraction.builder import too_long
from syntagma.extraction.characters import without_controls
from syntagma.extraction.document import Block, Document
from syntagma.extraction.limits import ExtractionLimits
from syntagma.extraction.source import Source, decode_text
from syntagma.text.segmentation.layout import further_lines, is_item

# Possessive quantifiers: a gigabyte of spaces is read once.
_PARAGRAPH_BREAK = re.compile(r"(?>\r\n?|\n)(?:[^\S\r\n]*+(?>\r\n?|\n))++|\u2029")
_VISIBLE = re.compile(r"\S")


def extract_text(source: Source, limits: ExtractionLimits) -> Document:
    """Extract a plain text file, character for character.

    Offsets are those of the file's text without its byte-order mark.  Only control characters are
    replaced, each by one character.

    Raises:
        InputError: it is not text, or is too long.
    """
    text = without_controls(decode_text(source))
    if len(text) > limits.characters:
        raise too_long(source.name, limits)
    document = text_document(text)
    if not document.blocks:
        raise InputError(f"{source.name}: is empty; expected text")
    return document


def text_document(text: str) -> Document:
    """Find the paragraphs and list items of a text.

    Args:
        text: any text; it is kept character for character.
    """
    blocks = tuple(
        block for start, end in _paragraphs(text) for block in _paragraph_blocks(text, start, end)
    )
    return Document(text, blocks)


def _paragraphs(text: str) -> list[tuple[int, int]]:
    """Return the start and end of what is between blank lines, without whitespace around."""
    found = []
    start = 0
    for end, after in [
        *(match.span() for match in _PARAGRAPH_BREAK.finditer(text)),
        (len(text),) * 2,
    ]:
        if (span := _trimmed(text, start, end)) is not None:
            found.append(span)
        start = after
    return found


def _trimmed(text: str, start: int, end: int) -> tuple[int, int] | None:
    first = _VISIBLE.search(text, start, end)
    if first is None:
        return None
    while text[end - 1].isspace():
        end -= 1
    return first.start(), end


def _paragraph_blocks(text: str, start: int, end: int) -> list[Block]:
    """Return a paragraph as a block, or the text before a list and each of its items as one."""
    items = [line.start for line in further_lines(text, start, end) if line.is_item]
    first_line = text[start : items[0] if items else end].split("\n", 1)[0]
    begins_with_item = is_item(first_line) and (bool(items) or not first_line[0].isalpha())
    starts = [start, *items]
    blocks = []
    for number, (begin, after) in enumerate(zip(starts, [*items, end], strict=True)):
        span = _trimmed(text, begin, after)
        if span is not None:
            blocks.append(Block("item" if number or begins_with_item else "paragraph", *span))
    return blocks
