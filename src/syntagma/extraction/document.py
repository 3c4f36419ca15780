"""The text of a document, and which parts of it are headings, list items or table rows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from syntagma.reprs import brief, counted, quoted

BlockKind = Literal["paragraph", "heading", "item", "row"]


@dataclass(frozen=True, slots=True)
class Block:
    """A part of a document's text: ``text[start:end]``, which is never blank.

    Args:
        kind: what it is.  An item begins with its mark (*-* or *3.*), and the cells of a row are
            separated by ``" | "``.
        start: offset of its first character in :attr:`Document.text`.
        end: offset after its last character.
        level: of a heading, from 1 to 6; 0 for everything else.
        page: number of its page, from 1; ``None`` where the format has no pages.
    """

    kind: BlockKind
    start: int
    end: int
    level: int = 0
    page: int | None = None


@dataclass(frozen=True, slots=True, repr=False)
class Document:
    """The text of a document and its structure.

    Args:
        text: the text.  It has no control characters but tabs and line breaks, and no unpaired
            surrogates.  A blank line is between two blocks, and a single line break between two
            items, between two rows, and between the parts of a paragraph that goes on on the next
            page.  In a plain text file, what is between two blocks is as in the file.
        blocks: its parts in order; they do not overlap.  Outside of them is only whitespace.
        title: the title that the file gives; empty if it gives none.
    """

    text: str
    blocks: tuple[Block, ...]
    title: str = ""

    def __repr__(self) -> str:
        return brief(self, quoted(self.title or self.text), counted(len(self.blocks), "block"))
