"""Raw text → sentences → words, with exact character offsets.

Conventions of the English treebanks of Universal Dependencies.  Whatever the text, nothing is
lost: ``text[start:end]`` is the word, words follow one another without overlap and hold no
whitespace, and between them stand only whitespace and characters without width (zero-width
space, byte order mark, direction marks; joiners and soft hyphens where they stand alone).
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Iterator

from syntagma.checks import require_string
from syntagma.errors import InputError
from syntagma.text.segmentation.assemble import Block, block_sentences, sentence_of
from syntagma.text.segmentation.blocks import BATCH_LENGTH, batches, paragraphs, whole_lines
from syntagma.text.segmentation.splitter import WEIGHTS
from syntagma.text.sentence import Sentence

# Parse caches and annotated corpora record this version: it tells which offsets their parses use.
# Raise it by one with every change to this package after which any text is segmented differently.
# New splitter weights alone do not need it, since `segmentation_fingerprint` hashes them.
SEGMENTATION_VERSION = 1

# What segment() takes for a sentence: raw text is split, a line is one, or a line of given words.
MODES = ("raw", "lines", "words")

FindBlocks = Callable[[str, bool], Iterator[Block]]


def segmentation_fingerprint() -> str:
    """Identify the segmentation rules: their version and a hash of the splitter's weights."""
    weights = hashlib.blake2b(WEIGHTS.read_bytes(), digest_size=16).hexdigest()
    return f"{SEGMENTATION_VERSION}:{weights}"


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
        InputError: it is no text, or there is no such mode.

    >>> [sentence.forms for sentence in segment("I can't. Mr. Low can.")]
    [('I', 'ca', "n't", '.'), ('Mr.', 'Low', 'can', '.')]
    """
    require_string(text, "text")
    find_blocks = _block_finder(mode)
    sentences: list[Sentence] = []
    for batch in batches(find_blocks(text, True)):
        for found in block_sentences(text, batch, mode=mode):
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
    return sentence_of(text, start, max(start, end))


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
    n_waiting, enough = 0, BATCH_LENGTH
    for chunk in chunks:
        for first in range(0, len(chunk), BATCH_LENGTH):
            waiting.append(chunk[first : first + BATCH_LENGTH])
            n_waiting += len(waiting[-1])
            if n_waiting < enough:
                continue
            text = "".join(waiting)
            done = 0
            for batch in batches(find_blocks(text, False)):
                yield from _pairs(text, batch, mode)
                done = batch[-1].end
            waiting = [text[done:]]
            n_waiting = len(text) - done
            # What is no paragraph yet is not looked at again before it has doubled.
            enough = max(BATCH_LENGTH, 2 * n_waiting)
    text = "".join(waiting)
    for batch in batches(find_blocks(text, True)):
        yield from _pairs(text, batch, mode)


def _pairs(text: str, batch: list[Block], mode: str) -> Iterator[tuple[str, list[Sentence]]]:
    found = block_sentences(text, batch, mode=mode, local=True)
    for block, sentences in zip(batch, found, strict=True):
        yield text[block.start : block.end], sentences


def _block_finder(mode: str) -> FindBlocks:
    if mode == "raw":
        return paragraphs
    if mode in MODES:
        return whole_lines
    raise InputError(f"mode {mode!r} is unknown; use one of {', '.join(MODES)}")
