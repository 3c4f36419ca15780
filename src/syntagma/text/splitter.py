"""Where sentences end: a small trained classifier over the gaps between words.

A gap is a candidate if what stands before it looks like an end or what follows like a start.  The
eight words around a candidate are looked up as vectors (word, look, last letters, space before),
what is known about the paragraph adds to one hidden layer, and one number comes out.  The weights
(``splitter.safetensors``) were trained by ``experiments/train_splitter.py``.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import numpy as np
import numpy.typing as npt

from syntagma.text.shapes import Shape, shape_of

__all__ = ["CONTEXT_SIZES", "WINDOW", "GapFeatures", "Splitter", "gap_features", "load_splitter"]

Integers = npt.NDArray[np.int64]
Booleans = npt.NDArray[np.bool_]

WEIGHTS = Path(__file__).with_name("splitter.safetensors")
# Words looked at before and behind a gap.
WINDOW = 4
N_SUFFIXES = 512
OUTSIDE_ROW, UNKNOWN_ROW = 0, 1
# Words since the last full stop, until the next one, lower-case words since, words before and
# behind the gap in the paragraph, flags: how many values each has.
CONTEXT_SIZES = (10, 10, 7, 9, 9, 8)
# A sentence that ends without a mark must be surer than one that ends with a full stop: ordinary
# prose holds few headings, and many names.
BARE_THRESHOLD = 1.5
QUOTE_THRESHOLD = -0.4

_DISTANCE_BUCKET = np.array([0, 1, 1, 2, 3, 4, 5, 5, 6, 6, 6, *[7] * 5, *[8] * 8, 9])


def _table(*shapes: Shape) -> Booleans:
    table = np.zeros(len(Shape), dtype=np.bool_)
    table[list(shapes)] = True
    return table


_STOPS = (
    Shape.PERIOD,
    Shape.QUESTION,
    Shape.EXCLAMATION,
    Shape.ELLIPSIS,
    Shape.FULL_WIDTH_END,
)
_STOP_OR_OUTSIDE = _table(*_STOPS, Shape.OUTSIDE)
_CLOSER = _table(Shape.CLOSING, Shape.CLOSING_QUOTE)
# With a space behind it, such a word ends a sentence only if the next word looks like a start.
_PLAIN = _table(
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
_NO_START = _table(
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
_NEVER_START = _table(
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
_GLUED_END = _table(
    *_STOPS,
    Shape.CLOSING,
    Shape.CLOSING_QUOTE,
    Shape.FACE,
    Shape.DOUBLE_QUOTE,
    Shape.SINGLE_QUOTE,
)
_LETTERED = _table(
    Shape.TITLE, Shape.CAPITALS, Shape.CAPITAL, Shape.MIXED, Shape.INITIAL, Shape.ACRONYM
)
_STOP_OR_FACE = _table(*_STOPS, Shape.FACE)


def fingerprint(form: str) -> int:
    """A 32-bit number for a word, whatever its case, the same in every process."""
    return zlib.crc32(form.lower().encode("utf-8", "surrogatepass"))


def suffix_row(form: str) -> int:
    """The row of a word's last three letters."""
    return zlib.crc32(form.lower()[-3:].encode("utf-8", "surrogatepass")) % N_SUFFIXES


def pack(form: str, rows: dict[int, int]) -> int:
    """What the splitter knows of one word as one number: its row, its suffix and its shape."""
    row = rows.get(fingerprint(form), UNKNOWN_ROW)
    return row << 20 | suffix_row(form) << 8 | shape_of(form)


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


class Splitter:
    """The trained classifier.

    Args:
        weights: ``vocabulary`` (fingerprints of known words), ``words``, ``shapes``, ``suffixes``,
            ``spaces`` (vectors), ``hidden`` and ``hidden_bias``, ``context_0`` … ``context_5``,
            ``output`` and ``output_bias``; see ``experiments/train_splitter.py``.
    """

    def __init__(self, weights: dict[str, npt.NDArray[np.generic]]) -> None:
        self.rows = {
            int(number): row for row, number in enumerate(weights["vocabulary"], UNKNOWN_ROW + 1)
        }
        self._weights = {
            name: values.astype(np.float32)
            for name, values in weights.items()
            if name != "vocabulary"
        }

    def ends(
        self, packed: Integers, space_before: Booleans, first_words: Integers
    ) -> Iterable[int]:
        """Indices of the words that end a sentence inside their paragraph, ascending.

        Args:
            packed: :func:`pack` of each word, ``[n_words]``.
            space_before: whether whitespace stands before each word, ``[n_words]``.
            first_words: index of each paragraph's first word, ``[n_paragraphs]``.
        """
        features = gap_features(packed, space_before, first_words)
        if not len(features.gaps):
            return []
        last = features.shapes[features.centers]
        second_last = features.shapes[features.centers - 1]
        stopped = _STOP_OR_FACE[last] | (_CLOSER[last] & _STOP_OR_FACE[second_last])
        threshold = np.where(stopped, 0.0, BARE_THRESHOLD)
        quoted = (last == Shape.CLOSING_QUOTE) & (second_last == Shape.PERIOD)
        threshold[quoted] = QUOTE_THRESHOLD
        # Full-width marks end a sentence in every script that has them; no treebank here does.
        full_width = (last == Shape.FULL_WIDTH_END) | (
            _CLOSER[last] & (second_last == Shape.FULL_WIDTH_END)
        )
        # Rounded, so that the size of the batch never decides.
        ends = (np.round(self.scores(features), 3) > threshold) | full_width
        found: list[int] = features.gaps[ends].tolist()
        return found

    def scores(self, features: GapFeatures) -> npt.NDArray[np.float32]:
        """The score of each candidate gap, positive for a likely end, ``[n_gaps]``."""
        weights = self._weights
        vectors = weights["words"][features.words]
        vectors += weights["shapes"][features.shapes]
        vectors += weights["suffixes"][features.suffixes]
        vectors += weights["spaces"][features.spaces]
        around = vectors[features.windows].reshape(len(features.gaps), -1)
        hidden = around @ weights["hidden"] + weights["hidden_bias"]
        for number in range(len(CONTEXT_SIZES)):
            hidden += weights[f"context_{number}"][features.contexts[:, number]]
        np.maximum(hidden, 0, out=hidden)
        scores: npt.NDArray[np.float32] = hidden @ weights["output"] + weights["output_bias"]
        return scores


@cache
def load_splitter() -> Splitter:
    """The splitter that ships with the package."""
    from safetensors.numpy import load_file

    return Splitter(load_file(WEIGHTS))
