"""Blocks of text that are segmented on their own: lines, paragraphs, parts of long paragraphs.

Blocks follow one another without gaps.  Where a block ends depends on nothing behind a bounded
look ahead, so that a stream gives the same blocks as the whole text.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from syntagma.text.assemble import Block, block_sentences
from syntagma.text.layout import PARAGRAPH_BREAK, PARAGRAPH_BREAK_LENGTH, lines

__all__ = ["BATCH_LENGTH", "MAX_PARAGRAPH", "batches", "paragraphs", "whole_lines"]

# A longer paragraph is read in parts that end with a sentence.
MAX_PARAGRAPH = 20_000
# Sentences this near the end of a part are left to the next one, which sees what follows them.
_TAIL = 1_000
# No word is longer: a run beyond is cut.
_MAX_RUN = 1_000_000
# Characters worth a pass: many paragraphs are read at once.
BATCH_LENGTH = 1 << 16

_VISIBLE = re.compile(r"\S")
_SPACE = re.compile(r"\s")


def batches(blocks: Iterable[Block]) -> Iterator[list[Block]]:
    """Blocks that follow one another, put together until they are worth a pass."""
    batch: list[Block] = []
    for block in blocks:
        batch.append(block)
        if block[1] - batch[0][0] >= BATCH_LENGTH:
            yield batch
            batch = []
    if batch:
        yield batch


def whole_lines(text: str, final: bool) -> Iterator[Block]:
    """Lines with their ends; the last only if the text is complete."""
    for start, end in lines(text):
        # A carriage return at the very end may be half of a line end.
        if final or (text[end - 1] in "\r\n" and not (end == len(text) and text[-1] == "\r")):
            yield start, end


def paragraphs(text: str, final: bool) -> Iterator[Block]:
    """Paragraphs, and parts of long ones, with the whitespace around them; no gaps."""
    start = 0
    while start < len(text):
        end = _paragraph_end(text, start, final)
        if end is None:
            return
        yield start, end
        start = end


def _paragraph_end(text: str, start: int, final: bool) -> int | None:
    """Where the paragraph ends that begins at ``start``; ``None`` if more text must come first."""
    visible = _VISIBLE.search(text, start)
    if visible is None:
        return len(text) if final or len(text) - start > MAX_PARAGRAPH else None
    first = visible.start()
    limit = first + MAX_PARAGRAPH
    break_ = PARAGRAPH_BREAK.search(text, first, limit + PARAGRAPH_BREAK_LENGTH)
    if break_ is not None and break_.start() < limit:
        if break_.end() == len(text) and text[-1] == "\r" and not final:
            return None
        return break_.end()
    if final and len(text) <= limit:
        return len(text)
    if not final and len(text) < limit + PARAGRAPH_BREAK_LENGTH:
        return None
    return _part_end(text, first, limit, final)


def _part_end(text: str, first: int, limit: int, final: bool) -> int | None:
    """Where to cut a long paragraph of which ``text[first:limit]`` is looked at."""
    latest = limit - _TAIL
    (sentences,) = block_sentences(text, [(first, limit)], mode="raw")
    for sentence in reversed(sentences):
        if first < sentence.start <= latest:
            return sentence.start
    for sentence in reversed(sentences):
        for start in reversed(sentence.starts):
            if first < start <= latest and text[start - 1].isspace():
                return start
    space = _SPACE.search(text, latest, first + _MAX_RUN)
    if space is not None:
        return space.end()
    if len(text) >= first + _MAX_RUN:
        return first + _MAX_RUN
    return len(text) if final else None
