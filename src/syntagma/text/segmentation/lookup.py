"""Find the sentence at an offset of a text, without segmenting the other paragraphs."""

from __future__ import annotations

from bisect import bisect_right
from functools import lru_cache

from syntagma.text.segmentation.assemble import Block, block_sentences
from syntagma.text.segmentation.blocks import paragraphs
from syntagma.text.segmentation.segmenter import english

KEPT_TEXTS = 8
KEPT_PARAGRAPHS = 64


def sentence_at(text: str, offset: int) -> tuple[int, int] | None:
    """Return the start and end of the sentence that :func:`segment` finds at an offset.

    What was found is kept for the next offset in the same text.

    Args:
        text: any text.
        offset: of a character.

    Returns:
        The offsets without outer white space; ``None`` for white space between sentences.

    >>> sentence_at("Stop! Who goes there?", 8)
    (6, 21)
    """
    blocks = _blocks(text)
    place = bisect_right(blocks, offset, key=lambda block: block.start) - 1
    if place < 0:
        return None
    bounds = _sentences(text, place)
    return next(((start, end) for start, end in bounds if start <= offset < end), None)


@lru_cache(maxsize=KEPT_TEXTS)
def _blocks(text: str) -> tuple[Block, ...]:
    return tuple(paragraphs(text, True, segmenter=english()))


@lru_cache(maxsize=KEPT_PARAGRAPHS)
def _sentences(text: str, place: int) -> tuple[tuple[int, int], ...]:
    """Return the start and end of each sentence in a paragraph, given its place among them."""
    (found,) = block_sentences(text, [_blocks(text)[place]], english(), mode="raw")
    return tuple((sentence.start, sentence.end) for sentence in found)
