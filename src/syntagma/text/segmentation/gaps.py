"""What the sentence splitter knows of the gaps between words: candidates and their features.

A gap is a candidate if what stands before it looks like an end or what follows like a start.
"""

from __future__ import annotations

import zlib
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from syntagma.text.segmentation.shapes import Shape, shape_of

__all__ = [
    "CONTEXT_SIZES",
    "N_SUFFIXES",
    "STOPS",
    "UNKNOWN_ROW",
    "WINDOW",
    "GapFeatures",
    "fingerprint",
    "gap_features",
    "pack",
    "shape_table",
]

Integers = npt.NDArray[np.int64]
Booleans = npt.NDArray[np.bool_]

# Words looked at before and behind a gap.
WINDOW = 4
N_SUFFIXES = 512
OUTSIDE_ROW, UNKNOWN_ROW = 0, 1
# Words since the last full stop, until the next one, lower-case words since, words before and
# behind the gap in the paragraph, flags: how many values each has.
CONTEXT_SIZES = (10, 10, 7, 9, 9, 8)
_DISTANCE_BUCKET = np.array([0, 1, 1, 2, 3, 4, 5, 5, 6, 6, 6, *[7] * 5, *[8] * 8, 9])

STOPS = (
    Shape.PERIOD,
    Shape.QUESTION,
    Shape.EXCLAMATION,
    Shape.ELLIPSIS,
    Shape.FULL_WIDTH_END,
)


def shape_table(*shapes: Shape) -> Booleans:
    """Whether a shape is one of these, ``[n_shapes]``."""
    table = np.zeros(len(Shape), dtype=np.bool_)
    table[list(shapes)] = True
    return table


_STOP_OR_OUTSIDE = shape_table(*STOPS, Shape.OUTSIDE)
# With a space behind it, such a word ends a sentence only if the next word looks like a start.
_PLAIN = shape_table(
    Shape.LOWER,
    Shape.TITLE,
    Shape.CAPITALS,
    Shape.CAPITAL,
    Shape.MIXED,
    Shape.DIGITS,
    Shape.NUMBER,
    Shape.CODE,
    Shape.COMMA,
    Shape.SYMBOL,
    Shape.CLITIC,
    Shape.UNCASED,
    Shape.OPENING,
    Shape.OPENING_QUOTE,
)
_NO_START = shape_table(
    Shape.LOWER,
    Shape.COMMA,
    Shape.SEMICOLON,
    Shape.COLON,
    Shape.CLOSING,
    Shape.CLOSING_QUOTE,
    Shape.PERIOD,
    Shape.QUESTION,
    Shape.EXCLAMATION,
    Shape.ELLIPSIS,
    Shape.CLITIC,
)
_NEVER_START = shape_table(
    Shape.COMMA,
    Shape.SEMICOLON,
    Shape.CLOSING,
    Shape.CLOSING_QUOTE,
    Shape.PERIOD,
    Shape.QUESTION,
    Shape.EXCLAMATION,
    Shape.FULL_WIDTH_END,
    Shape.CLITIC,
    Shape.OUTSIDE,
)
# What may end a sentence with no space behind it.
_GLUED_END = shape_table(
    *STOPS,
    Shape.CLOSING,
    Shape.CLOSING_QUOTE,
    Shape.FACE,
    Shape.DOUBLE_QUOTE,
    Shape.SINGLE_QUOTE,
)
_LETTERED = shape_table(
    Shape.TITLE, Shape.CAPITALS, Shape.CAPITAL, Shape.MIXED, Shape.INITIAL, Shape.ACRONYM
)


def fingerprint(form: str) -> int:
    """A 32-bit number for a word, whatever its case, the same in every process."""
    return zlib.crc32(form.lower().encode("utf-8", "surrogatepass"))


def pack(form: str, rows: dict[int, int]) -> int:
    """What the splitter knows of one word as one number: its row, its suffix and its shape."""
    row = rows.get(fingerprint(form), UNKNOWN_ROW)
    suffix = fingerprint(form[-3:]) % N_SUFFIXES
    return row << 20 | suffix << 8 | shape_of(form)


@dataclass(frozen=True, slots=True)
class GapFeatures:
    """What is known about the candidate gaps of some paragraphs.

    Args:
        gaps: index of the word before each candidate gap, ``[n_gaps]``.
        words: rows of the words, with ``WINDOW`` rows of nothing around each paragraph,
            ``[n_padded]``; likewise ``shapes``, ``suffixes`` and ``spaces`` (space before: 0, 1).
        centers: index into those of the word before each candidate gap, ``[n_gaps]``.
        contexts: one row of :data:`CONTEXT_SIZES` numbers a gap, ``[n_gaps, 6]``.
    """

    gaps: Integers
    words: Integers
    shapes: Integers
    suffixes: Integers
    spaces: Integers
    centers: Integers
    contexts: Integers

    @property
    def windows(self) -> Integers:
        """Indices of the words around each gap, ``[n_gaps, 2 * WINDOW]``."""
        return self.centers[:, None] + np.arange(1 - WINDOW, WINDOW + 1)


def gap_features(packed: Integers, space_before: Booleans, first_words: Integers) -> GapFeatures:
    """Find the candidate gaps of some paragraphs and what is known about them.

    Args:
        packed: :func:`pack` of each word, ``[n_words]``.
        space_before: whether whitespace stands before each word, ``[n_words]``.
        first_words: index of each paragraph's first word, ascending, no paragraph empty,
            ``[n_paragraphs]``.
    """
    n_words = len(packed)
    paragraph = np.zeros(n_words, dtype=np.int64)
    paragraph[first_words] = 1
    place = np.arange(n_words) + WINDOW * np.cumsum(paragraph)
    n_padded = n_words + WINDOW * (len(first_words) + 1)

    def spread(values: npt.NDArray[np.generic], nothing: int) -> Integers:
        padded = np.full(n_padded, nothing, dtype=np.int64)
        padded[place] = values
        return padded

    raw_shapes = spread(packed & 0xFF, Shape.OUTSIDE)
    spaces = spread(space_before, 1)
    after = np.append(spaces[1:], 1)
    shapes = raw_shapes.copy()
    straight = (raw_shapes == Shape.DOUBLE_QUOTE) | (raw_shapes == Shape.SINGLE_QUOTE)
    shapes[straight & (spaces > after)] = Shape.OPENING_QUOTE
    shapes[straight & (spaces < after)] = Shape.CLOSING_QUOTE

    before, behind = shapes[:-1], shapes[1:]
    apart = (~_PLAIN[before]) | (~_NO_START[behind])
    glued = _GLUED_END[before] & (~_NO_START[behind] | (behind == Shape.LOWER))
    candidate = np.where(spaces[1:] > 0, apart, glued) & ~_NEVER_START[behind]
    candidate &= before != Shape.OUTSIDE
    centers = np.flatnonzero(candidate)
    return GapFeatures(
        gaps=np.searchsorted(place, centers),
        words=spread(packed >> 20, OUTSIDE_ROW),
        shapes=shapes,
        suffixes=spread(packed >> 8 & 0xFFF, N_SUFFIXES),
        spaces=spaces,
        centers=centers,
        contexts=_contexts(shapes, raw_shapes == Shape.DOUBLE_QUOTE, centers),
    )


def _contexts(shapes: Integers, double_quotes: Booleans, centers: Integers) -> Integers:
    """What lies further off than the window, in buckets, ``[n_gaps, 6]``."""
    index = np.arange(len(shapes))
    stop = _STOP_OR_OUTSIDE[shapes]
    outside = shapes == Shape.OUTSIDE
    last_stop = np.maximum.accumulate(np.where(stop, index, 0))[centers - 2]
    next_stop = np.minimum.accumulate(np.where(stop, index, len(shapes))[::-1])[::-1][centers + 1]
    start = np.maximum.accumulate(np.where(outside, index, 0))[centers]
    end = np.minimum.accumulate(np.where(outside, index, len(shapes))[::-1])[::-1][centers]
    n_lower = np.cumsum(shapes == Shape.LOWER)
    n_quotes = np.cumsum(double_quotes)
    depth = np.cumsum((shapes == Shape.OPENING).astype(np.int64) - (shapes == Shape.CLOSING))
    n_capitals = np.cumsum(_LETTERED[shapes])
    flags = (
        (n_quotes[centers] - n_quotes[start]) % 2
        + 2 * (depth[centers] > depth[start])
        + 4 * (n_capitals[end] > n_capitals[start])
    )
    return np.stack(
        [
            _DISTANCE_BUCKET[np.clip(centers - last_stop, 0, 24)],
            _DISTANCE_BUCKET[np.clip(next_stop - centers, 0, 24)],
            np.clip(n_lower[centers] - n_lower[last_stop], 0, 6),
            np.clip(centers - start, 0, 8),
            np.clip(end - centers - 1, 0, 8),
            flags,
        ],
        axis=-1,
    )
