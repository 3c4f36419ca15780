"""Cut the text of a document into passages."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from syntagma.extraction.document import Block, Document
from syntagma.text.segmentation.segment import segment

MOST_WORDS = 160
"""Words of the longest passage: about what the sentence encoder reads, and what readers are trained
on."""
SEPARATOR = " › "
_WORD = re.compile(
    r"[\u2e80-\u9fff\uac00-\ud7af\uf900-\ufaff]|[^\s\u2e80-\u9fff\uac00-\ud7af\uf900-\ufaff]{1,20}"
)
"""What counts as a word: a run of characters without a space, in parts of 20 characters, or one
character of a script that is written without spaces."""


class Cut(NamedTuple):
    """Where a passage lies in its document.

    Args:
        start: character offset of its start.
        end: character offset of its end (exclusive).
        heading: the headings above it, outermost first, joined by :data:`SEPARATOR`.
        page: the page on which it starts; ``None`` without pages.
    """

    start: int
    end: int
    heading: str
    page: int | None


class _Unit(NamedTuple):
    """A block, or a part of a long one: never cut further."""

    start: int
    end: int
    n_words: int
    page: int | None


def cut(document: Document, *, most: int = MOST_WORDS) -> list[Cut]:
    """Cut a document into passages that together hold all of its blocks.

    A passage has whole blocks where they fit, and never goes past a heading, which begins one.  A
    long block is cut between sentences, a long sentence between words.

    Args:
        document: the document.
        most: the greatest number of words of a passage.
    """
    found: list[Cut] = []
    for heading, blocks in _sections(document):
        units: list[_Unit] = []
        n_words = 0
        for unit in (unit for block in blocks for unit in _units(document.text, block, most)):
            if units and n_words + unit.n_words > most:
                found.append(_cut(units, heading))
                units, n_words = [], 0
            units.append(unit)
            n_words += unit.n_words
        if units:
            found.append(_cut(units, heading))
    return found


def _cut(units: Sequence[_Unit], heading: str) -> Cut:
    return Cut(units[0].start, units[-1].end, heading, units[0].page)


def _sections(document: Document) -> Iterator[tuple[str, list[Block]]]:
    """Yield the blocks up to the next heading, with the headings above them.

    Headings that follow one another, such as a title and a subtitle, begin one section.
    """
    above: list[Block] = []
    section: list[Block] = []
    for block in document.blocks:
        if block.kind == "heading":
            if any(earlier.kind != "heading" for earlier in section):
                yield _joined(document, above), section
                section = []
            above = [*(higher for higher in above if higher.level < block.level), block]
        section.append(block)
    if section:
        yield _joined(document, above), section


def _joined(document: Document, headings: Sequence[Block]) -> str:
    return SEPARATOR.join(
        " ".join(document.text[block.start : block.end].split()) for block in headings
    )


def _units(text: str, block: Block, most: int) -> Iterator[_Unit]:
    """Yield a block, or its parts if it has too many words."""
    n_words = len(_WORD.findall(text, block.start, block.end))
    if n_words <= most:
        yield _Unit(block.start, block.end, n_words, block.page)
        return
    for sentence in segment(text[block.start : block.end]):
        start, end = sentence.starts[0] + block.start, sentence.ends[-1] + block.start
        yield from _word_runs(text, start, end, most, block.page)


def _word_runs(text: str, start: int, end: int, most: int, page: int | None) -> Iterator[_Unit]:
    """Yield a sentence, or stretches of it if it has too many words."""
    words = [match.span() for match in _WORD.finditer(text, start, end)]
    for first in range(0, len(words), most):
        run = words[first : first + most]
        yield _Unit(run[0][0], run[-1][1], len(run), page)
