"""Raw text → sentences → words, with exact character offsets.

Conventions of the English treebanks of Universal Dependencies.  Whatever the text, nothing is
lost: ``text[start:end]`` is the word, words follow one another without overlap and hold no
whitespace, and between them stand only whitespace and characters without width (zero-width
space, byte order mark, direction marks; joiners and soft hyphens where they stand alone).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from functools import cache
from itertools import pairwise

import numpy as np

from syntagma.errors import InputError
from syntagma.text.layout import (
    PARAGRAPH_BREAK,
    PARAGRAPH_BREAK_LENGTH,
    lines,
    sentence_lines,
)
from syntagma.text.runs import Integers, Runs, read_tokens, read_words
from syntagma.text.sentence import Sentence
from syntagma.text.splitter import load_splitter
from syntagma.text.words import is_abbreviation

__all__ = ["MODES", "segment", "segment_stream", "split_sentences", "split_words"]

# What segment() takes for a sentence: raw text is split, a line is one, or a line of given words.
MODES = ("raw", "lines", "words")

# A longer paragraph is read in parts that end with a sentence.
MAX_PARAGRAPH = 20_000
# Sentences this near the end of a part are left to the next one, which sees what follows them.
_TAIL = 1_000
# No word is longer: a run beyond is cut.
_MAX_RUN = 1_000_000
# Many paragraphs are read at once; a stream hands them out one by one.
_BATCH = 1 << 16

_VISIBLE = re.compile(r"\S")
_SPACE = re.compile(r"\s")
_CLOSERS = frozenset("\"'”’»)]}") | {"''", "’’"}

Block = tuple[int, int]
FindBlocks = Callable[[str, bool], Iterator[Block]]


def segment(text: str, *, mode: str = "raw") -> list[Sentence]:
    """Split a text into sentences and these into words.

    In raw mode a blank line always ends a sentence.  A single line break is whitespace, so that
    hard-wrapped text survives, unless the layout speaks for a new sentence: the line before was
    ended well before the width of its paragraph, or lines are too short (a list, an address) or
    too long (one paragraph a line) for wrapped text, or all lines begin with a capital, and what
    follows does not go on in lower case; or the next line is an item of a list.  A paragraph
    beyond 20,000 characters is read in parts of that size, each ended at a sentence, or between
    two words where there is none.

    Args:
        text: any text, not empty of meaning for being odd: control characters, lone surrogates
            and scripts without spaces go through.
        mode: ``raw`` for running text, ``lines`` for one sentence a line (never joined or split),
            ``words`` for one sentence a line whose words are parted by whitespace (left as they
            are).

    Returns:
        The sentences in order, none without words; offsets index into ``text``.

    Raises:
        InputError: there is no such mode.

    >>> [sentence.forms for sentence in segment("I can't. Mr. Low can.")]
    [('I', 'ca', "n't", '.'), ('Mr.', 'Low', 'can', '.')]
    """
    find_blocks = _block_finder(mode)
    sentences: list[Sentence] = []
    for batch in _batches(find_blocks(text, True)):
        for found in _sentences(text, batch, mode=mode, local=False):
            sentences += found
    return sentences


def split_sentences(text: str) -> list[tuple[int, int]]:
    """Where the sentences of a raw text stand, without the whitespace around them.

    >>> split_sentences("Stop! Who goes there?")
    [(0, 5), (6, 21)]
    """
    return [(sentence.start, sentence.end) for sentence in segment(text)]


def split_words(text: str, start: int = 0, end: int | None = None) -> Sentence:
    """The words of ``text[start:end]`` as one sentence; offsets index into ``text``.

    >>> split_words("They're well-known.").forms
    ('They', "'re", 'well', '-', 'known', '.')
    """
    start, end, _ = slice(start, end).indices(len(text))
    words = read_words(text, start, max(start, end), _runs())
    return _sentence(words.forms, words.starts.tolist(), words.ends.tolist())


def segment_stream(
    chunks: Iterable[str], *, mode: str = "raw"
) -> Iterator[tuple[str, list[Sentence]]]:
    """Segment a text that comes in pieces, in constant memory.

    Gives the sentences that :func:`segment` gives for the whole text, however it was cut.  In
    the modes ``lines`` and ``words`` a line is held as a whole, however long.

    Args:
        chunks: pieces of the text of any size; lines must still have their line ends.
        mode: as for :func:`segment`.

    Yields:
        A paragraph (in the other modes, a line) and its sentences, whose offsets index into it.
        The paragraphs with the whitespace behind them add up to the text.

    Raises:
        InputError: there is no such mode.
    """
    return _stream(chunks, _block_finder(mode), mode)


def _stream(
    chunks: Iterable[str], find_blocks: FindBlocks, mode: str
) -> Iterator[tuple[str, list[Sentence]]]:
    waiting: list[str] = []
    n_waiting, enough = 0, _BATCH
    for chunk in chunks:
        for first in range(0, len(chunk), _BATCH):
            waiting.append(chunk[first : first + _BATCH])
            n_waiting += len(waiting[-1])
            if n_waiting < enough:
                continue
            text = "".join(waiting)
            done = 0
            for batch in _batches(find_blocks(text, False)):
                yield from _pairs(text, batch, mode)
                done = batch[-1][1]
            waiting = [text[done:]]
            n_waiting = len(text) - done
            # What is no paragraph yet is not looked at again before it has doubled.
            enough = max(_BATCH, 2 * n_waiting)
    text = "".join(waiting)
    for batch in _batches(find_blocks(text, True)):
        yield from _pairs(text, batch, mode)


def _pairs(text: str, batch: list[Block], mode: str) -> Iterator[tuple[str, list[Sentence]]]:
    found = _sentences(text, batch, mode=mode, local=True)
    for (start, end), sentences in zip(batch, found, strict=True):
        yield text[start:end], sentences


@cache
def _runs() -> Runs:
    return Runs(load_splitter().rows)


def _block_finder(mode: str) -> FindBlocks:
    if mode == "raw":
        return _paragraphs
    if mode in MODES:
        return _whole_lines
    raise InputError(f"mode {mode!r} is unknown; use one of {', '.join(MODES)}")


def _batches(blocks: Iterable[Block]) -> Iterator[list[Block]]:
    """Blocks that follow one another, put together until they are worth a pass."""
    batch: list[Block] = []
    for block in blocks:
        batch.append(block)
        if block[1] - batch[0][0] >= _BATCH:
            yield batch
            batch = []
    if batch:
        yield batch


def _whole_lines(text: str, final: bool) -> Iterator[Block]:
    """Lines with their ends; the last only if the text is complete."""
    for start, end in lines(text):
        # A carriage return at the very end may be half of a line end.
        if final or (text[end - 1] in "\r\n" and not (end == len(text) and text[-1] == "\r")):
            yield start, end


def _paragraphs(text: str, final: bool) -> Iterator[Block]:
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
    (sentences,) = _sentences(text, [(first, limit)], mode="raw", local=False)
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


def _sentences(text: str, blocks: list[Block], *, mode: str, local: bool) -> list[list[Sentence]]:
    """The sentences of each block; offsets index into the block if ``local``, else the text."""
    found: list[list[Sentence]] = [[] for _ in blocks]
    start, end = blocks[0][0], blocks[-1][1]
    words = (
        read_tokens(text, start, end) if mode == "words" else read_words(text, start, end, _runs())
    )
    if not words.forms:
        return found
    # [n_blocks] index of the first word at or behind the start of each block
    heads = np.searchsorted(words.starts, [block[0] for block in blocks])
    filled = np.flatnonzero(np.diff(heads, append=len(words.forms)))
    heads = heads[filled]
    bounds: Integers = heads
    if mode == "raw":
        ends = load_splitter().ends(words.packed, words.first_of_run, heads)
        new_lines = [offset for block in blocks for offset in sentence_lines(text, *block)]
        bounds = np.unique(
            np.concatenate(
                [heads, np.array(ends, np.int64) + 1, np.searchsorted(words.starts, new_lines)]
            )
        )
    block_of_sentence = filled[np.searchsorted(heads, bounds, side="right") - 1].tolist()
    starts, ends_ = words.starts, words.ends
    if local:
        origins = np.array([block[0] for block in blocks])[filled]
        shift = np.repeat(origins, np.diff(heads, append=len(words.forms)))
        starts, ends_ = starts - shift, ends_ - shift
    start_list, end_list = starts.tolist(), ends_.tolist()
    make = Sentence if mode == "words" else _sentence
    edges = [*bounds.tolist(), len(words.forms)]
    for block, (a, b) in zip(block_of_sentence, pairwise(edges), strict=True):
        spelled = words.forms[a:b], start_list[a:b], end_list[a:b]
        if mode == "words":
            found[block].append(Sentence(*map(tuple, spelled)))
        else:
            found[block].append(_sentence(*spelled))
    return found


def _sentence(forms: list[str], starts: list[int], ends: list[int]) -> Sentence:
    """A sentence whose full stop stands alone, also behind an abbreviation: *etc* + *.*"""
    last = len(forms) - 1
    while last > 0 and forms[last] in _CLOSERS:
        last -= 1
    if last >= 0 and forms[last][-1] == "." and len(forms[last]) > 1:
        word = forms[last][:-1]
        if is_abbreviation(word) and (last > 0 or len(word) > 1):
            forms[last : last + 1] = word, "."
            starts.insert(last + 1, ends[last] - 1)
            ends.insert(last, ends[last] - 1)
    return Sentence(tuple(forms), tuple(starts), tuple(ends))
