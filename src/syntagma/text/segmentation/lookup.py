"""Find the sentence at an offset of a text, without segmenting the other paragraphs."""

from __future__ import annotations

from bisect import bisect_right
from functools import lru_cache

from syntagma.text.segmentation.assemble import Block, block_sentences
from syntagma.text.segmentation.blocks import paragraphs
from syntagma.text.segmentation.segmenter import english

KEPT_TEXTS = 8

Bounds = tuple[tuple[int, int], ...]


def sentence_at(text: str, offset: int) -> tuple[int, int] | None:
    """Return the start and end of the sentence at an offset.

    It is the one that :func:`syntagma.text.segmentation.segment.segment` finds.  What was
    found is kept for the next offset in the same text.

    Args:
        text: any text.
        offset: of a character.

    Returns:
        The offsets without outer white space; ``None`` for white space between sentences.

    >>> sentence_at("Stop! Who goes there?", 8)
    (6, 21)
    """
    blocks, known = _read(text)
    place = bisect_right(blocks, offset, key=lambda block: block.start) - 1
    if place < 0:
        return None
    if place not in known:
        (found,) = block_sentences(text, [blocks[place]], english(), mode="raw")
        known[place] = tuple((sentence.start, sentence.end) for sentence in found)
    return next(((start, end) for start, end in known[place] if start <= offset < end), None)


@lru_cache(maxsize=KEPT_TEXTS)
def _read(text: str) -> tuple[list[Block], dict[int, Bounds]]:
    """Return the paragraphs of a text, and room for the sentences of those that are looked up."""
    return list(paragraphs(text, True, segmenter=english())), {}
