"""Words of a whole stretch of text at once: each run of characters is cut once and remembered."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import chain
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from syntagma.text.segmentation.gaps import pack
from syntagma.text.segmentation.words import cut_run

__all__ = ["Runs", "Words", "read_tokens", "read_words"]

Integers = npt.NDArray[np.int64]
Record = tuple[tuple[str, ...], tuple[int, ...]]

# Nine of ten runs of a large corpus are then known; some 40 MB.
_MAX_REMEMBERED = 100_000
_LONGEST_REMEMBERED = 40

_IS_SPACE = np.array([chr(code).isspace() for code in range(0x3002)])
# Characters without width that part words: zero-width space, byte order mark, direction marks.
_SEPARATORS = "\u200b\u200e\u200f\u202a-\u202e\u2066-\u2069\ufeff"
# These join what they stand between, and are dropped where there is nothing to join.
_JOINERS = "\u00ad\u200c\u200d\u2060\ufe0e\ufe0f"
_INVISIBLE = re.compile(f"[{_SEPARATORS}{_JOINERS}]")
_GAP = re.compile(f"[{_SEPARATORS}]|(?<![^\\s{_SEPARATORS}])[{_JOINERS}]++(?![^\\s{_SEPARATORS}])")

# Behind these words "its" is possessive or a slip for "it's"; before these it is the slip.
_AFTER_IT_IS = frozenset(
    "a an the not really very just also still been so now in for like all only nothing".split()
)


class Words(NamedTuple):
    """Words with offsets, and what the splitter wants to know of them.

    Args:
        forms: the words, ``[n_words]``.
        starts: offset of each word, ``[n_words]``.
        ends: offset behind each word, ``[n_words]``.
        packed: :func:`syntagma.text.segmentation.gaps.pack` of each word, ``[n_words]``.
        first_of_run: whether whitespace stands before it, ``[n_words]``.
    """

    forms: list[str]
    starts: Integers
    ends: Integers
    packed: Integers
    first_of_run: npt.NDArray[np.bool_]


class _Packs(dict[str, int]):
    """Words → :func:`syntagma.text.segmentation.gaps.pack`, worked out when asked for."""

    def __init__(self, rows: dict[int, int]) -> None:
        super().__init__()
        self._rows = rows

    def __missing__(self, form: str) -> int:
        packed = pack(form, self._rows)
        if len(self) >= _MAX_REMEMBERED:
            self.clear()
        if len(form) <= _LONGEST_REMEMBERED:
            self[form] = packed
        return packed


class Runs(dict[str, Record]):
    """Runs of characters without whitespace → their words; unseen runs are cut when asked for.

    Args:
        rows: fingerprint → row of the words that the splitter knows.
    """

    def __init__(self, rows: dict[int, int]) -> None:
        super().__init__()
        self._packs = _Packs(rows)

    def __missing__(self, run: str) -> Record:
        ends = cut_run(run)
        if len(ends) == 1:
            record = self.record(run)
        else:
            record = self.record(*map(run.__getitem__, map(slice, [0, *ends], ends)))
        if len(run) <= _LONGEST_REMEMBERED:
            if len(self) >= _MAX_REMEMBERED:
                self.clear()
            self[run] = record
        return record

    def record(self, *forms: str) -> Record:
        """The record of a run that consists of these words."""
        return forms, tuple(map(self._packs.__getitem__, forms))


def read_words(text: str, start: int, end: int, runs: Runs) -> Words:
    """The words of ``text[start:end]``."""
    tokens, run_starts = _runs(text, start, end, invisible=True)
    records = list(map(runs.__getitem__, tokens))
    _mend_its(tokens, records, runs)
    forms_of_runs = [record[0] for record in records]
    counts = np.fromiter(map(len, forms_of_runs), np.int64, len(records))
    forms = list(chain.from_iterable(forms_of_runs))
    packed = np.fromiter(
        chain.from_iterable([record[1] for record in records]), np.int64, len(forms)
    )
    # The words of a run follow one another, so their lengths say where they stand.
    lengths = np.fromiter(map(len, forms), np.int64, len(forms))
    without_gaps = np.cumsum(lengths)
    run_of_word = np.repeat(np.arange(len(records)), counts)
    run_lengths = np.fromiter(map(len, tokens), np.int64, len(tokens))
    ends = without_gaps + (run_starts + run_lengths - np.cumsum(run_lengths))[run_of_word]
    first_of_run = np.ones(len(forms), dtype=np.bool_)
    first_of_run[1:] = run_of_word[1:] != run_of_word[:-1]
    return Words(forms, ends - lengths, ends, packed, first_of_run)


def read_tokens(text: str, start: int, end: int) -> Words:
    """What stands between whitespace in ``text[start:end]``, as it is."""
    tokens, starts = _runs(text, start, end, invisible=False)
    lengths = np.fromiter(map(len, tokens), np.int64, len(tokens))
    everywhere = np.ones(len(tokens), dtype=np.bool_)
    return Words(tokens, starts, starts + lengths, np.zeros_like(starts), everywhere)


def _runs(text: str, start: int, end: int, *, invisible: bool) -> tuple[list[str], Integers]:
    """Runs of characters without whitespace, and where they begin."""
    piece = text[start:end]
    if piece.isascii():
        codes: npt.NDArray[np.unsignedinteger] = np.frombuffer(piece.encode("ascii"), np.uint8)
    else:
        if invisible and _INVISIBLE.search(piece):
            piece = _GAP.sub(lambda match: " " * len(match[0]), piece)
        codes = np.frombuffer(piece.encode("utf-32-le", "surrogatepass"), "<u4")
        codes = np.minimum(codes, 0x3001)
    filled = ~_IS_SPACE[codes]
    begins = filled.copy()
    begins[1:] &= ~filled[:-1]
    return piece.split(), np.flatnonzero(begins) + start


def _mend_its(tokens: Sequence[str], records: list[Record], runs: Runs) -> None:
    """Part *its* where it must be *it's*: "its not fair"."""
    for word in ("its", "Its"):
        position = -1
        for _ in range(tokens.count(word)):
            position = tokens.index(word, position + 1)
            if position + 1 < len(tokens) and tokens[position + 1].lower() in _AFTER_IT_IS:
                records[position] = runs.record(word[:2], word[2:])
