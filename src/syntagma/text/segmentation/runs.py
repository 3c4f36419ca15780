"""Tokenize a whole stretch of text at once.

A run is a maximal sequence of characters without whitespace.  Each distinct run is tokenized once
and cached; offsets are then computed for all words together.
"""

from __future__ import annotations

import re
from collections.abc import Container, Sequence
from itertools import chain
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from syntagma.text.limits import SEPARATORS
from syntagma.text.segmentation.gaps import pack_features
from syntagma.text.segmentation.learned.cutter import Cutter
from syntagma.text.segmentation.words import cut_run

Integers = npt.NDArray[np.int64]
# The words of a run and, for each word, its packed features (`gaps.pack`).
Record = tuple[tuple[str, ...], tuple[int, ...]]

# About nine in ten runs of a large corpus hit a cache of this size; it takes some 40 MB.
_MAX_CACHED = 100_000
# Longer runs (links, mostly) rarely repeat.
_LONGEST_CACHED = 40

_IS_SPACE = np.array([chr(code).isspace() for code in range(0x3002)])
# These join the characters on both sides, and are dropped where there is nothing to join.
_JOINERS = "\u00ad\u200c\u200d\u2060\ufe0e\ufe0f"
_INVISIBLE = re.compile(f"[{SEPARATORS}{_JOINERS}]")
_GAP = re.compile(f"[{SEPARATORS}]|(?<![^\\s{SEPARATORS}])[{_JOINERS}]++(?![^\\s{SEPARATORS}])")

# "its" is usually possessive; before one of these words it is a misspelled "it's".
_AFTER_IT_IS = frozenset(
    "a an the not really very just also still been so now in for like all only nothing".split()
)


class Words(NamedTuple):
    """Words with their offsets and the features that the sentence splitter uses.

    Args:
        forms: the words, ``[n_words]``.
        starts: start offset of each word, ``[n_words]``.
        ends: end offset of each word, ``[n_words]``.
        packed: :func:`syntagma.text.segmentation.gaps.pack` of each word, ``[n_words]``.
        first_of_run: whether whitespace precedes the word, ``[n_words]``.
    """

    forms: list[str]
    starts: Integers
    ends: Integers
    packed: Integers
    first_of_run: npt.NDArray[np.bool_]


class _PackCache(dict[str, int]):
    """A cache of :func:`syntagma.text.segmentation.gaps.pack` by word, filled on demand."""

    def __init__(self, rows: dict[int, int]) -> None:
        super().__init__()
        self._rows = rows

    def __missing__(self, form: str) -> int:
        packed = pack_features(form, self._rows)
        # Starting over is cheaper than tracking use, and frequent words come back at once.
        if len(self) >= _MAX_CACHED:
            self.clear()
        if len(form) <= _LONGEST_CACHED:
            self[form] = packed
        return packed


class Runs(dict[str, Record]):
    """A cache of the words of each run.

    A dict is used because a hit then costs no Python call.

    Args:
        rows: embedding row of each word that the splitter knows, by fingerprint.
    """

    def __init__(self, rows: dict[int, int]) -> None:
        super().__init__()
        self._packs = _PackCache(rows)

    def prepare(self, runs: Sequence[str]) -> None:
        """Cut runs that are read next, if that is faster together."""

    def revise(self, runs: Sequence[str], records: list[Record], first: Container[int]) -> None:
        """Change the words of runs that depend on their neighbours.

        Args:
            runs: the runs of consecutive blocks.
            records: the record of each, which is replaced.
            first: index of the first run of each block but the first; it has no neighbour before.
        """

    def _cut(self, run: str, ends: Sequence[int]) -> Record:
        """Build and keep the record of a run whose words end at some offsets."""
        if len(ends) == 1:
            record = self.record(run)
        else:
            record = self.record(*map(run.__getitem__, map(slice, [0, *ends], ends)))
        if len(run) <= _LONGEST_CACHED:
            if len(self) >= _MAX_CACHED:
                self.clear()
            self[run] = record
        return record

    def record(self, *forms: str) -> Record:
        """Build the record of a run that consists of these words."""
        return forms, tuple(map(self._packs.__getitem__, forms))


class EnglishRuns(Runs):
    """Runs cut by the rules for English."""

    def __missing__(self, run: str) -> Record:
        return self._cut(run, cut_run(run))

    def revise(self, runs: Sequence[str], records: list[Record], first: Container[int]) -> None:
        """Cut *its* into *it* + *s* where it must mean *it's*: "its not fair"."""
        for word in ("its", "Its"):
            position = -1
            for _ in range(runs.count(word)):
                position = runs.index(word, position + 1)
                following = position + 1
                if following == len(runs) or following in first:
                    continue
                if runs[following].lower() in _AFTER_IT_IS:
                    records[position] = self.record(word[:2], word[2:])


class LearnedRuns(Runs):
    """Runs cut into tokens by a trained classifier.

    Args:
        rows: embedding row of each word that the splitter knows, by fingerprint.
        cutter: the classifier.
    """

    def __init__(self, rows: dict[int, int], cutter: Cutter) -> None:
        super().__init__(rows)
        self._cutter = cutter
        # Runs that are too long to be kept, of the text that is read now.
        self._long: dict[str, Record] = {}

    def prepare(self, runs: Sequence[str]) -> None:
        """Cut all runs that are not known, in one pass."""
        self._long.clear()
        new = [run for run in dict.fromkeys(runs) if run not in self]
        if len(self) + len(new) >= _MAX_CACHED:
            self.clear()
            new = list(dict.fromkeys(runs))
        for run, ends in zip(new, self._cutter.ends(new), strict=True):
            record = self._cut(run, ends)
            if len(run) > _LONGEST_CACHED:
                self._long[run] = record

    def __missing__(self, run: str) -> Record:
        if run in self._long:
            return self._long[run]
        (ends,) = self._cutter.ends([run])
        return self._cut(run, ends)


def read_words(
    text: str, start: int, end: int, runs: Runs, further_blocks: Sequence[int] = ()
) -> Words:
    """Tokenize ``text[start:end]`` into words.

    Args:
        text: the text.
        start: offset of the first character.
        end: offset after the last character.
        runs: the cache of tokenized runs.
        further_blocks: start offset of each paragraph or line but the first; words do not depend on
            other blocks.
    """
    tokens, run_starts = _runs(text, start, end, invisible=True)
    runs.prepare(tokens)
    records = list(map(runs.__getitem__, tokens))
    runs.revise(tokens, records, set(np.searchsorted(run_starts, further_blocks).tolist()))
    forms_of_runs = [record[0] for record in records]
    counts = np.fromiter(map(len, forms_of_runs), np.int64, len(records))
    forms = list(chain.from_iterable(forms_of_runs))
    packed = np.fromiter(
        chain.from_iterable([record[1] for record in records]), np.int64, len(forms)
    )
    # Words of a run are adjacent, so offsets follow from lengths: first without the gaps between
    # runs, then shifted by the gaps before each run.
    lengths = np.fromiter(map(len, forms), np.int64, len(forms))
    without_gaps = np.cumsum(lengths)
    run_of_word = np.repeat(np.arange(len(records)), counts)
    run_lengths = np.fromiter(map(len, tokens), np.int64, len(tokens))
    ends = without_gaps + (run_starts + run_lengths - np.cumsum(run_lengths))[run_of_word]
    first_of_run = np.ones(len(forms), dtype=np.bool_)
    first_of_run[1:] = run_of_word[1:] != run_of_word[:-1]
    return Words(forms, ends - lengths, ends, packed, first_of_run)


def read_tokens(text: str, start: int, end: int) -> Words:
    """Split ``text[start:end]`` at whitespace only.

    Args:
        text: the text.
        start: offset of the first character.
        end: offset after the last character.
    """
    tokens, starts = _runs(text, start, end, invisible=False)
    lengths = np.fromiter(map(len, tokens), np.int64, len(tokens))
    everywhere = np.ones(len(tokens), dtype=np.bool_)
    return Words(tokens, starts, starts + lengths, np.zeros_like(starts), everywhere)


def _runs(text: str, start: int, end: int, *, invisible: bool) -> tuple[list[str], Integers]:
    """Find the runs of a stretch of text and their start offsets.

    Args:
        text: the text.
        start: offset of the first character.
        end: offset after the last character.
        invisible: whether zero-width characters separate runs too.
    """
    piece = text[start:end]
    if piece.isascii():
        codes: npt.NDArray[np.unsignedinteger] = np.frombuffer(piece.encode("ascii"), np.uint8)
    else:
        if invisible and _INVISIBLE.search(piece):
            piece = _GAP.sub(lambda match: " " * len(match[0]), piece)
        codes = np.frombuffer(piece.encode("utf-32-le", "surrogatepass"), "<u4")
        # No character beyond U+3000 is whitespace, so one table entry stands for all of them.
        codes = np.minimum(codes, 0x3001)
    # `split` returns the runs but not their offsets; a table lookup finds these without a regex.
    filled = ~_IS_SPACE[codes]
    begins = filled.copy()
    begins[1:] &= ~filled[:-1]
    return piece.split(), np.flatnonzero(begins) + start
