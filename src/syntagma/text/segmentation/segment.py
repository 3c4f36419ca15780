"""Segment raw text into sentences and words with exact character offsets.

Without another segmenter, words follow the conventions of the English treebanks of Universal
Dependencies.  Segmentation is lossless for any text: words do not overlap, contain no whitespace,
and are what is at their offsets, ``text[start:end]``.  There are two exceptions, which a segmenter
can learn from a treebank: words of a multi-word token that does not spell them, and words with
spaces inside, each a plain space for any whitespace of the text.  Between words there are only
whitespace and zero-width characters (zero-width space, byte-order mark, direction marks, and
joiners or soft hyphens that join nothing).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import partial

from syntagma.checks import require_string
from syntagma.errors import InputError
from syntagma.text.segmentation.assemble import Block, block_sentences, sentence_of
from syntagma.text.segmentation.blocks import BATCH_LENGTH, batches, paragraphs, whole_lines
from syntagma.text.segmentation.segmenter import Segmenter, english
from syntagma.text.sentence import Sentence

# Parse caches and annotated corpora depend on this version, through the parser's fingerprint.
# Raise it by one whenever a code change makes any text segment differently.  New splitter weights
# alone do not need it: `segmentation_fingerprint` hashes them.
SEGMENTATION_VERSION = 4

# Input of segment(): running text, one sentence per line, or one sentence of given words per line.
MODES = ("raw", "lines", "words")

FindBlocks = Callable[[str, bool], Iterator[Block]]


def segmentation_fingerprint(segmenter: Segmenter | None = None) -> str:
    """Identify the segmentation: the version of the code and a hash of the weights.

    Args:
        segmenter: as for :func:`segment`.
    """
    return f"{SEGMENTATION_VERSION}:{(segmenter or english()).fingerprint}"


def segment(text: str, *, mode: str = "raw", segmenter: Segmenter | None = None) -> list[Sentence]:
    """Split a text into sentences and words.

    In raw mode a blank line always ends a sentence, and a list item always starts one.  At any
    other line break the trained splitter decides, which knows how full the line before is (see
    :class:`syntagma.text.segmentation.layout.Break`): hard-wrapped text is joined, headings and
    list lines end.

    Paragraphs of more than 20,000 characters are processed in parts of at most that size, each
    ending at a sentence end, or between two words if there is none.  Longer stretches without a
    space than anybody writes are one word (:mod:`syntagma.text.limits`).

    Args:
        text: any text; control characters, unpaired surrogates and scripts without spaces are
            allowed.
        mode: ``raw`` for running text, ``lines`` for one sentence per line (never joined or split),
            ``words`` for one tokenized sentence per line, with whitespace between words (never
            split further).
        segmenter: what a treebank taught; the rules for English if not given.

    Returns:
        The sentences in order, each with at least one word; offsets index into ``text``.

    Raises:
        InputError: ``text`` is not a string, or the mode is unknown.

    >>> [sentence.forms for sentence in segment("I can't. Mr. Low can.")]
    [('I', 'ca', "n't", '.'), ('Mr.', 'Low', 'can', '.')]
    """
    require_string(text, "text")
    segmenter = segmenter or english()
    find_blocks = _block_finder(mode, segmenter)
    sentences: list[Sentence] = []
    for batch in batches(find_blocks(text, True)):
        for found in block_sentences(text, batch, segmenter, mode=mode):
            sentences += found
    return sentences


def split_sentences(text: str) -> list[tuple[int, int]]:
    """Return the start and end offset of each sentence of a raw text, without outer whitespace.

    >>> split_sentences("Stop! Who goes there?")
    [(0, 5), (6, 21)]
    """
    return [(sentence.start, sentence.end) for sentence in segment(text)]


def split_words(text: str, start: int = 0, end: int | None = None) -> Sentence:
    """Split ``text[start:end]``, taken as one sentence, into words; offsets index into ``text``.

    >>> split_words("They're well-known.").forms
    ('They', "'re", 'well', '-', 'known', '.')
    """
    # Resolves `None` and negative positions as slicing does.
    start, end, _ = slice(start, end).indices(len(text))
    return sentence_of(text, start, max(start, end))


def segment_stream(
    chunks: Iterable[str], *, mode: str = "raw", segmenter: Segmenter | None = None
) -> Iterator[tuple[str, list[Sentence]]]:
    """Segment a text that arrives in chunks, in constant memory.

    The sentences are the same as :func:`segment` returns for the whole text, wherever the chunk
    boundaries are.  In the modes ``lines`` and ``words`` a line is kept in memory as a whole.

    Args:
        chunks: consecutive parts of the text, of any size, with line endings included.
        mode: as for :func:`segment`.
        segmenter: as for :func:`segment`.

    Yields:
        A paragraph (in the other modes, a line) and its sentences, whose offsets index into it.
        Each paragraph includes the whitespace that follows it; concatenated, they give the text.

    Raises:
        InputError: the mode is unknown.
    """
    # Not a generator itself, so that an unknown mode is reported at the call, not at the first
    # iteration.
    segmenter = segmenter or english()
    return _stream(chunks, _block_finder(mode, segmenter), mode, segmenter)


def _stream(
    chunks: Iterable[str], find_blocks: FindBlocks, mode: str, segmenter: Segmenter
) -> Iterator[tuple[str, list[Sentence]]]:
    buffer: list[str] = []
    n_buffered, threshold = 0, BATCH_LENGTH
    for chunk in chunks:
        for first in range(0, len(chunk), BATCH_LENGTH):
            buffer.append(chunk[first : first + BATCH_LENGTH])
            n_buffered += len(buffer[-1])
            if n_buffered < threshold:
                continue
            text = "".join(buffer)
            done = 0
            for batch in batches(find_blocks(text, False)):
                yield from _pairs(text, batch, mode, segmenter)
                done = batch[-1].end
            buffer = [text[done:]]
            n_buffered = len(text) - done
            # An unfinished block is not scanned again before it has doubled: linear time overall.
            threshold = max(BATCH_LENGTH, 2 * n_buffered)
    text = "".join(buffer)
    for batch in batches(find_blocks(text, True)):
        yield from _pairs(text, batch, mode, segmenter)


def _pairs(
    text: str, batch: list[Block], mode: str, segmenter: Segmenter
) -> Iterator[tuple[str, list[Sentence]]]:
    """Yield the text of each block and its sentences, with offsets into the block."""
    found = block_sentences(text, batch, segmenter, mode=mode, local=True)
    for block, sentences in zip(batch, found, strict=True):
        yield text[block.start : block.end], sentences


def _block_finder(mode: str, segmenter: Segmenter) -> FindBlocks:
    if mode == "raw":
        return partial(paragraphs, segmenter=segmenter)
    if mode in MODES:
        return whole_lines
    raise InputError(f"mode {mode!r} is unknown; use one of {', '.join(MODES)}")
