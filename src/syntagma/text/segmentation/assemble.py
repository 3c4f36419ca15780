"""From blocks of text (paragraphs or lines) to their sentences."""

from __future__ import annotations

from functools import cache
from itertools import groupby, pairwise
from typing import NamedTuple

import numpy as np

from syntagma.text.segmentation.layout import item_text, sentence_lines
from syntagma.text.segmentation.runs import Integers, Runs, Words, read_tokens, read_words
from syntagma.text.segmentation.splitter import load_splitter
from syntagma.text.segmentation.words import is_abbreviation
from syntagma.text.sentence import Sentence

__all__ = ["Block", "block_sentences", "sentence_of"]


class Block(NamedTuple):
    """A paragraph or a line, the whitespace around it included.

    Args:
        start: where it begins.
        end: where it ends.
        sentences: its sentences if they are known already, offsets into the text.
    """

    start: int
    end: int
    sentences: list[Sentence] | None = None


_CLOSERS = frozenset("\"'”’»)]}") | {"''", "’’"}


@cache
def _runs() -> Runs:
    return Runs(load_splitter().rows)


def sentence_of(text: str, start: int, end: int) -> Sentence:
    """The words of ``text[start:end]`` as one sentence; offsets index into ``text``."""
    words = read_words(text, start, end, _runs())
    return _sentence(words.forms, words.starts.tolist(), words.ends.tolist())


def block_sentences(
    text: str, blocks: list[Block], *, mode: str, local: bool = False
) -> list[list[Sentence]]:
    """The sentences of blocks that follow one another.

    Args:
        text: the text.
        blocks: where they stand, at least one, without gaps.
        mode: ``raw`` splits blocks into sentences; else each is one, in mode ``words`` of what
            stands between whitespace.
        local: whether offsets index into the block instead of the text.

    Returns:
        A list for each block, empty where there are no words.
    """
    if any(block.sentences is not None for block in blocks):
        return _with_known(text, blocks, mode=mode, local=local)
    found: list[list[Sentence]] = [[] for _ in blocks]
    start, end = blocks[0].start, blocks[-1].end
    words = (
        read_tokens(text, start, end) if mode == "words" else read_words(text, start, end, _runs())
    )
    if not words.forms:
        return found
    # [n_blocks] index of the first word at or behind the start of each block
    heads = np.searchsorted(words.starts, [block.start for block in blocks])
    filled = np.flatnonzero(np.diff(heads, append=len(words.forms)))
    heads = heads[filled]
    bounds = _first_words(text, blocks, words, heads) if mode == "raw" else heads
    block_of_sentence = filled[np.searchsorted(heads, bounds, side="right") - 1].tolist()
    starts, ends_ = words.starts, words.ends
    if local:
        origins = np.array([block.start for block in blocks])[filled]
        shift = np.repeat(origins, np.diff(heads, append=len(words.forms)))
        starts, ends_ = starts - shift, ends_ - shift
    start_list, end_list = starts.tolist(), ends_.tolist()
    edges = [*bounds.tolist(), len(words.forms)]
    for block, (a, b) in zip(block_of_sentence, pairwise(edges), strict=True):
        spelled = words.forms[a:b], start_list[a:b], end_list[a:b]
        if mode == "words":
            found[block].append(Sentence(*map(tuple, spelled)))
        else:
            found[block].append(_sentence(*spelled))
    return found


def _first_words(text: str, blocks: list[Block], words: Words, heads: Integers) -> Integers:
    """Index of the first word of each sentence in raw text, ``[n_sentences]``."""
    new_lines = [
        offset for block in blocks for offset in sentence_lines(text, block.start, block.end)
    ]
    fixed = np.concatenate([heads, np.searchsorted(words.starts, new_lines)])
    # The last lines may hold nothing but characters without width.
    fixed = fixed[fixed < len(words.forms)]
    behind_markers = [
        offset
        for start in words.starts[fixed].tolist()
        if (offset := item_text(text, start)) is not None
    ]
    ends = load_splitter().ends(words.packed, words.first_of_run, heads)
    found = np.setdiff1d(ends + 1, np.searchsorted(words.starts, behind_markers))
    return np.union1d(fixed, found)


def _with_known(text: str, blocks: list[Block], *, mode: str, local: bool) -> list[list[Sentence]]:
    """As :func:`block_sentences`, where the sentences of some blocks are known."""
    found: list[list[Sentence]] = []
    for known, group in groupby(blocks, key=lambda block: block.sentences is not None):
        if not known:
            found += block_sentences(text, list(group), mode=mode, local=local)
            continue
        for block in group:
            sentences = block.sentences or []
            found.append(
                [sentence.shift(-block.start) for sentence in sentences] if local else sentences
            )
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
