"""From blocks of text (paragraphs or lines) to their sentences."""

from __future__ import annotations

from functools import cache
from itertools import pairwise

import numpy as np

from syntagma.text.layout import sentence_lines
from syntagma.text.runs import Runs, read_tokens, read_words
from syntagma.text.sentence import Sentence
from syntagma.text.splitter import load_splitter
from syntagma.text.words import is_abbreviation

__all__ = ["Block", "block_sentences", "sentence_of"]

# Where a paragraph or a line stands, the whitespace around it included.
Block = tuple[int, int]

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
    bounds = heads
    if mode == "raw":
        ends = load_splitter().ends(words.packed, words.first_of_run, heads)
        new_lines = [offset for block in blocks for offset in sentence_lines(text, *block)]
        bounds = np.unique(
            np.concatenate([heads, ends + 1, np.searchsorted(words.starts, new_lines)])
        )
    block_of_sentence = filled[np.searchsorted(heads, bounds, side="right") - 1].tolist()
    starts, ends_ = words.starts, words.ends
    if local:
        origins = np.array([block[0] for block in blocks])[filled]
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
