"""Cut text into blocks that are segmented independently: lines, paragraphs, parts of paragraphs.

Blocks follow one another without gaps.  The end of a block depends only on a bounded lookahead, so
that a stream yields the same blocks as the whole text.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from syntagma.text.limits import MAX_CHARACTERS, MAX_PARAGRAPH
from syntagma.text.segmentation.assemble import Block, block_sentences
from syntagma.text.segmentation.layout import PARAGRAPH_BREAK, PARAGRAPH_BREAK_LENGTH, lines
from syntagma.text.segmentation.segmenter import Segmenter

# Sentences this close to the end of a part go to the next part, where their right context is known.
_TAIL = 1_000
# A part covers at least this share of a paragraph's limit: smaller ones would be segmented over and
# over with the same text behind them, which takes quadratic time.
_LEAST_SHARE = 1 / 8
# Longer runs without whitespace are cut, so that memory stays bounded.
_MAX_RUN = 1_000_000
# Short paragraphs are batched up to this many characters, since a NumPy pass has a fixed cost.
BATCH_LENGTH = 1 << 16

_VISIBLE = re.compile(r"\S")
_SPACE = re.compile(r"\s")
_LONG_RUN = re.compile(rf"(?<!\S)\S{{{MAX_CHARACTERS + 1},}}+")


def batches(blocks: Iterable[Block]) -> Iterator[list[Block]]:
    """Group consecutive blocks into batches of about :data:`BATCH_LENGTH` characters."""
    batch: list[Block] = []
    for block in blocks:
        batch.append(block)
        if block.end - batch[0].start >= BATCH_LENGTH:
            yield batch
            batch = []
    if batch:
        yield batch


def whole_lines(text: str, final: bool) -> Iterator[Block]:
    """Yield lines with their line endings.

    Args:
        text: the text so far.
        final: whether the text is complete; otherwise its last line may still grow and is omitted.
    """
    for start, end in lines(text):
        # A carriage return at the very end may be the first half of a CRLF.
        if final or (text[end - 1] in "\r\n" and not (end == len(text) and text[-1] == "\r")):
            yield Block(start, end)


def paragraphs(text: str, final: bool, *, segmenter: Segmenter) -> Iterator[Block]:
    """Yield paragraphs, or parts of long paragraphs, with surrounding whitespace.

    Args:
        text: the text so far.
        final: whether the text is complete; otherwise an unfinished last paragraph is omitted.
        segmenter: finds the sentences of a long paragraph, which is cut between two.
    """
    start = 0
    while start < len(text):
        block = _paragraph(text, start, final, segmenter)
        if block is None:
            return
        yield block
        start = block.end


def _paragraph(
    text: str, start: int, final: bool, segmenter: Segmenter, *, limit: int | None = None
) -> Block | None:
    """Return the paragraph that starts at ``start``, or ``None`` if more text is needed.

    Args:
        text: the text so far.
        start: offset of its first character.
        final: whether the text is complete.
        segmenter: finds its sentences.
        limit: offset before which it must end; by default as many characters as
            :data:`MAX_PARAGRAPH` allows.
    """
    visible = _VISIBLE.search(text, start)
    if visible is None:
        done = final or len(text) - start > MAX_PARAGRAPH
        return Block(start, len(text)) if done else None
    first = visible.start()
    limit = limit or first + MAX_PARAGRAPH
    break_ = PARAGRAPH_BREAK.search(text, first, limit + PARAGRAPH_BREAK_LENGTH)
    if break_ is not None and break_.start() < limit:
        # The break may still be extended by a line feed.
        if break_.end() == len(text) and text[-1] == "\r" and not final:
            return None
        return Block(start, break_.end())
    if final and len(text) <= limit:
        return Block(start, len(text))
    if not final and len(text) < limit + PARAGRAPH_BREAK_LENGTH:
        return None
    if limit == first + MAX_PARAGRAPH and (longer := _limit_beyond(text, first, final)) != limit:
        return None if longer is None else _paragraph(text, start, final, segmenter, limit=longer)
    part = _sentences_of_part(text, start, first, limit, segmenter)
    if part is not None:
        return part
    end = _forced_end(text, first, limit - _TAIL, final)
    return None if end is None else Block(start, end, is_cut=not (final and end == len(text)))


def _limit_beyond(text: str, first: int, final: bool) -> int | None:
    """Return the limit of a paragraph in which long words do not count.

    So a sentence is not cut just because it contains a long word.  The result depends only on the
    text up to the limit; ``None`` means that more text is needed.
    """
    limit, position = first + MAX_PARAGRAPH, first
    while (run := _LONG_RUN.search(text, position, limit)) is not None:
        space = _SPACE.search(text, run.end(), first + _MAX_RUN)
        if space is None:
            # An endless word: cut as any text without spaces is.
            enough = final or len(text) >= first + _MAX_RUN
            return min(len(text), first + _MAX_RUN) if enough else None
        position = space.start()
        limit += position - run.start()
    return min(limit, first + _MAX_RUN)


def _sentences_of_part(
    text: str, start: int, first: int, limit: int, segmenter: Segmenter
) -> Block | None:
    """Return the sentences of a long paragraph that end well before ``limit``, if there are any."""
    (sentences,) = block_sentences(text, [Block(first, limit)], segmenter, mode="raw")
    least = first + _LEAST_SHARE * MAX_PARAGRAPH
    for index in range(len(sentences) - 1, 0, -1):
        if least <= sentences[index].start <= limit - _TAIL:
            return Block(start, sentences[index].start, sentences[:index])
    return None


def _forced_end(text: str, first: int, latest: int, final: bool) -> int | None:
    """Find where to cut an overlong sentence: between two words, or inside an endless word."""
    before = text[first:latest]
    last_run = "" if before[-1].isspace() else before.split()[-1]
    if len(last_run) < len(before):
        return latest - len(last_run)
    space = _SPACE.search(text, latest, first + _MAX_RUN)
    if space is not None:
        return space.end()
    if len(text) >= first + _MAX_RUN:
        return first + _MAX_RUN
    return len(text) if final else None
