"""Candidate sentence boundaries (gaps between words) and their features.

A gap is a candidate if the word before it looks like a sentence end or the word after it looks like
a sentence start; every gap is one for a language that is written without such signs.
"""

from __future__ import annotations

import zlib
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from syntagma.text.segmentation.layout import Break
from syntagma.text.segmentation.shapes import Shape, shape_of

Integers = npt.NDArray[np.int64]
Booleans = npt.NDArray[np.bool_]

# Context words on each side of a gap.
WINDOW = 4
# Buckets for hashed suffixes.
N_SUFFIXES = 512
# Embedding rows for positions outside the paragraph and for unknown words.
OUTSIDE_ROW, UNKNOWN_ROW = 0, 1
# Number of values of each context feature: distance to the last full stop, distance to the next
# one, lower-case words since the last one, words before and after the gap in the paragraph, flags,
# line break.
CONTEXT_SIZES = (10, 10, 7, 9, 9, 8, len(Break))
# Distances 0 to 24 in words → bucket, ever coarser; a change needs retrained weights.
_DISTANCE_BUCKET = np.array([0, 1, 1, 2, 3, 4, 5, 5, 6, 6, 6, *[7] * 5, *[8] * 8, 9])

STOPS = (
    Shape.PERIOD,
    Shape.QUESTION,
    Shape.EXCLAMATION,
    Shape.ELLIPSIS,
    Shape.FULL_WIDTH_END,
)


def shape_table(*shapes: Shape) -> Booleans:
    """Return a lookup table that is true for the given shapes, ``[n_shapes]``."""
    table = np.zeros(len(Shape), dtype=np.bool_)
    table[list(shapes)] = True
    return table


_STOP_OR_OUTSIDE = shape_table(*STOPS, Shape.OUTSIDE)
# After such a word and a space, a gap is a candidate only if the next word looks like a start.
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
# Unlikely to start a sentence.
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
# Cannot start a sentence, whatever comes before.
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
# May end a sentence even without a following space.
_GLUED_END = shape_table(
    *STOPS,
    Shape.CLOSING,
    Shape.CLOSING_QUOTE,
    Shape.FACE,
    Shape.DOUBLE_QUOTE,
    Shape.SINGLE_QUOTE,
)
# Words with a capital letter.
_CAPITALISED = shape_table(
    Shape.TITLE, Shape.CAPITALS, Shape.CAPITAL, Shape.MIXED, Shape.INITIAL, Shape.ACRONYM
)


def fingerprint(form: str) -> int:
    """Hash a word to 32 bits, ignoring case.

    Unlike ``hash``, the value is the same in every process: the vocabulary of the weights is stored
    as these hashes.
    """
    return zlib.crc32(form.lower().encode("utf-8", "surrogatepass"))


def pack_features(form: str, rows: dict[int, int]) -> int:
    """Pack the splitter's features of a word (row, suffix, shape) into one integer.

    One integer per word is cheap to cache and to gather into arrays.

    Args:
        form: the word.
        rows: embedding row of each known word, by fingerprint.
    """
    row = rows.get(fingerprint(form), UNKNOWN_ROW)
    suffix = fingerprint(form[-3:]) % N_SUFFIXES
    return row << 20 | suffix << 8 | shape_of(form)


@dataclass(frozen=True, slots=True)
class GapFeatures:
    """Features of the candidate gaps of some paragraphs.

    Args:
        gaps: index of the word before each candidate gap, ``[n_gaps]``.
        words: embedding row of each word, with ``WINDOW`` rows of padding around each paragraph,
            ``[n_padded]``.
        shapes: shape of each word, padded likewise, ``[n_padded]``.
        suffixes: suffix bucket of each word, padded likewise, ``[n_padded]``.
        spaces: 1 if whitespace precedes the word, else 0, padded likewise, ``[n_padded]``.
        centers: position in the padded arrays of the word before each candidate gap, ``[n_gaps]``.
        contexts: context features of each gap, see :data:`CONTEXT_SIZES`, ``[n_gaps, 7]``.
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
        """Positions in the padded arrays of the words around each gap, ``[n_gaps, 2 * WINDOW]``."""
        return self.centers[:, None] + np.arange(1 - WINDOW, WINDOW + 1)

    def at(self, chosen: Integers) -> GapFeatures:
        """Return the features of some of the gaps.

        Args:
            chosen: their indices, ``[n_chosen]``.
        """
        return replace(
            self,
            gaps=self.gaps[chosen],
            centers=self.centers[chosen],
            contexts=self.contexts[chosen],
        )


def gap_features(
    packed: Integers,
    space_before: Booleans,
    first_words: Integers,
    breaks: Integers,
    *,
    everywhere: bool = False,
) -> GapFeatures:
    """Find the candidate gaps of some paragraphs and extract their features.

    Args:
        packed: :func:`pack` of each word, ``[n_words]``.
        space_before: whether whitespace precedes each word, ``[n_words]``.
        first_words: index of the first word of each paragraph, ascending, ``[n_paragraphs]``; no
            paragraph is empty.
        breaks: :class:`syntagma.text.segmentation.layout.Break` before each word, ``[n_words]``.
        everywhere: whether every gap is a candidate.
    """
    # Padding between paragraphs keeps each window inside its own paragraph without a loop.
    n_words = len(packed)
    paragraph = np.zeros(n_words, dtype=np.int64)
    paragraph[first_words] = 1
    position = np.arange(n_words) + WINDOW * np.cumsum(paragraph)
    n_padded = n_words + WINDOW * (len(first_words) + 1)

    def pad(values: npt.NDArray[np.generic], fill: int) -> Integers:
        padded = np.full(n_padded, fill, dtype=np.int64)
        padded[position] = values
        return padded

    raw_shapes = pad(packed & 0xFF, Shape.OUTSIDE)
    spaces = pad(space_before, 1)
    after = np.append(spaces[1:], 1)
    # A straight quote opens if there is a space before it only, and closes if only after it.
    shapes = raw_shapes.copy()
    straight = (raw_shapes == Shape.DOUBLE_QUOTE) | (raw_shapes == Shape.SINGLE_QUOTE)
    shapes[straight & (spaces > after)] = Shape.OPENING_QUOTE
    shapes[straight & (spaces < after)] = Shape.CLOSING_QUOTE

    before, following = shapes[:-1], shapes[1:]
    spaced = (~_PLAIN[before]) | (~_NO_START[following])
    glued = _GLUED_END[before] & (~_NO_START[following] | (following == Shape.LOWER))
    lines = pad(breaks, Break.NONE)
    # Where a line break looks intended, any word may end a sentence: headings, list lines.
    spaced |= lines[1:] > Break.WRAPPED
    likely = everywhere | np.where(spaces[1:] > 0, spaced, glued)
    candidate = likely & ~_NEVER_START[following]
    candidate &= before != Shape.OUTSIDE
    centers = np.flatnonzero(candidate)
    return GapFeatures(
        gaps=np.searchsorted(position, centers),
        words=pad(packed >> 20, OUTSIDE_ROW),
        shapes=shapes,
        suffixes=pad(packed >> 8 & 0xFFF, N_SUFFIXES),
        spaces=spaces,
        centers=centers,
        contexts=_contexts(shapes, raw_shapes == Shape.DOUBLE_QUOTE, lines, centers),
    )


def _contexts(
    shapes: Integers, double_quotes: Booleans, lines: Integers, centers: Integers
) -> Integers:
    """Return bucketed features of the paragraph beyond the window, ``[n_gaps, 7]``."""
    index = np.arange(len(shapes))
    stop = _STOP_OR_OUTSIDE[shapes]
    outside = shapes == Shape.OUTSIDE
    # Running maxima and minima give the nearest stop on either side of every word.
    last_stop = np.maximum.accumulate(np.where(stop, index, 0))[centers - 2]
    next_stop = np.minimum.accumulate(np.where(stop, index, len(shapes))[::-1])[::-1][centers + 1]
    start = np.maximum.accumulate(np.where(outside, index, 0))[centers]
    end = np.minimum.accumulate(np.where(outside, index, len(shapes))[::-1])[::-1][centers]
    n_lower = np.cumsum(shapes == Shape.LOWER)
    n_quotes = np.cumsum(double_quotes)
    depth = np.cumsum((shapes == Shape.OPENING).astype(np.int64) - (shapes == Shape.CLOSING))
    n_capitals = np.cumsum(_CAPITALISED[shapes])
    # Bits: inside straight quotes; inside brackets; the paragraph has capital letters.
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
            lines[centers + 1],
        ],
        axis=-1,
    )
