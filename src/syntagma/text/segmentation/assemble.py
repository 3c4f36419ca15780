"""Segment blocks of text (paragraphs or lines) into sentences."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import groupby, pairwise
from typing import NamedTuple

import numpy as np

from syntagma.text.segmentation.layout import further_lines, item_text
from syntagma.text.segmentation.runs import Integers, Words, read_tokens, read_words
from syntagma.text.segmentation.segmenter import Segmenter, english
from syntagma.text.segmentation.splitter import Splitter
from syntagma.text.sentence import Sentence


class Block(NamedTuple):
    """A paragraph or line, including surrounding whitespace.

    Args:
        start: offset of its first character.
        end: offset after its last character.
        sentences: its sentences, with offsets into the text, if already segmented.
        is_cut: whether its last sentence goes on in the next block.
    """

    start: int
    end: int
    sentences: list[Sentence] | None = None
    is_cut: bool = False


def sentence_of(text: str, start: int, end: int) -> Sentence:
    """Cut ``text[start:end]`` as one English sentence into words; offsets index into ``text``."""
    words = read_words(text, start, end, english().runs)
    return english().sentence(words.forms, words.starts.tolist(), words.ends.tolist())


def block_sentences(
    text: str, blocks: list[Block], segmenter: Segmenter, *, mode: str, local: bool = False
) -> list[list[Sentence]]:
    """Segment consecutive blocks in one vectorised pass.

    Args:
        text: the text.
        blocks: consecutive blocks without gaps; at least one.
        segmenter: cuts blocks into sentences and words.
        mode: ``raw`` splits blocks into sentences; otherwise each block is one sentence, which the
            mode ``words`` splits at whitespace only.
        local: return offsets into the block instead of the text.

    Returns:
        The sentences of each block; an empty list for a block without words.
    """
    if any(block.sentences is not None for block in blocks):
        return _with_known(text, blocks, segmenter, mode=mode, local=local)
    found: list[list[Sentence]] = [[] for _ in blocks]
    start, end = blocks[0].start, blocks[-1].end
    if mode == "words":
        words = read_tokens(text, start, end)
    else:
        further = [block.start for block in blocks[1:]]
        words = read_words(text, start, end, segmenter.runs, further)
    if not words.forms:
        return found
    # [n_blocks] index of the first word in or after each block
    first_words = np.searchsorted(words.starts, [block.start for block in blocks])
    # Indices of the blocks that contain words; the others keep their empty list.
    filled = np.flatnonzero(np.diff(first_words, append=len(words.forms)))
    first_words = first_words[filled]
    bounds = first_words
    if mode == "raw":
        bounds = _sentence_starts(text, blocks, words, first_words, segmenter.splitter)
    block_of_sentence = filled[np.searchsorted(first_words, bounds, side="right") - 1].tolist()
    starts, ends_ = words.starts, words.ends
    if local:
        origins = np.array([block.start for block in blocks])[filled]
        shift = np.repeat(origins, np.diff(first_words, append=len(words.forms)))
        starts, ends_ = starts - shift, ends_ - shift
    start_list, end_list = starts.tolist(), ends_.tolist()
    edges = [*bounds.tolist(), len(words.forms)]
    for block, (first, end) in zip(block_of_sentence, pairwise(edges), strict=True):
        columns = words.forms[first:end], start_list[first:end], end_list[first:end]
        if mode == "words":
            forms, begins, stops = map(tuple, columns)
            found[block].append(Sentence(forms, begins, stops))
        else:
            found[block].append(segmenter.sentence(*columns))
    if mode != "words":
        whole = iter(segmenter.words([sentence for each in found for sentence in each]))
        found = [[next(whole) for _ in each] for each in found]
    for block, sentences in zip(blocks, found, strict=True):
        if block.is_cut and sentences:
            sentences[-1] = replace(sentences[-1], continues=True)
    return found


def _sentence_starts(
    text: str, blocks: list[Block], words: Words, first_words: Integers, splitter: Splitter
) -> Integers:
    """Return the index of the first word of each sentence in raw text, ``[n_sentences]``."""
    items, breaks = line_breaks(text, [(block.start, block.end) for block in blocks], words)
    fixed = np.concatenate([first_words, items])
    # The splitter must not separate a list marker from its item ("2. Second").
    behind_markers = [
        offset
        for start in words.starts[fixed].tolist()
        if (offset := item_text(text, start)) is not None
    ]
    ends = splitter.ends(words.forms, words.packed, words.first_of_run, first_words, breaks)
    found = np.setdiff1d(ends + 1, np.searchsorted(words.starts, behind_markers))
    return np.union1d(fixed, found)


def line_breaks(
    text: str, paragraphs: Sequence[tuple[int, int]], words: Words
) -> tuple[Integers, Integers]:
    """Find the line breaks in some paragraphs.

    Args:
        text: the text.
        paragraphs: start and end offset of each.
        words: their words.

    Returns:
        The index of the first word of each list item, ``[n_items]``; and the
        :class:`syntagma.text.segmentation.layout.Break` before each word, ``[n_words]``.
    """
    breaks = np.zeros(len(words.forms), dtype=np.int64)
    found = [line for start, end in paragraphs for line in further_lines(text, start, end)]
    if not found:
        return breaks[:0], breaks
    first = np.searchsorted(words.starts, [line.start for line in found])
    # The last lines may contain only zero-width characters, that is, no word.
    kept = first < len(words.forms)
    first = first[kept]
    breaks[first] = np.array([line.break_ for line in found])[kept]
    return first[np.array([line.is_item for line in found])[kept]], breaks


def _with_known(
    text: str, blocks: list[Block], segmenter: Segmenter, *, mode: str, local: bool
) -> list[list[Sentence]]:
    """Do the work of :func:`block_sentences` if some blocks are already segmented."""
    found: list[list[Sentence]] = []
    for known, group in groupby(blocks, key=lambda block: block.sentences is not None):
        if not known:
            found += block_sentences(text, list(group), segmenter, mode=mode, local=local)
            continue
        for block in group:
            sentences = block.sentences or []
            found.append(
                [sentence.shift(-block.start) for sentence in sentences] if local else sentences
            )
    return found
