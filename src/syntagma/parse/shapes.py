"""Word shapes: the capitalisation that an uncased encoder cannot see.

Capitals distinguish proper nouns from common nouns.  Each word gets a small class index, computed
for a whole batch at once from its code points.
"""

from __future__ import annotations

import functools
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

N_SHAPES = 24
_N_CODE_POINTS = 0x10000


@functools.cache
def _tables() -> tuple[NDArray[np.bool_], NDArray[np.bool_], NDArray[np.bool_]]:
    """Return which code points of the basic plane are upper-case, lower-case and digits."""
    characters = [chr(code) for code in range(_N_CODE_POINTS)]
    return (
        np.array([character.isupper() for character in characters]),
        np.array([character.islower() for character in characters]),
        np.array([character.isdigit() for character in characters]),
    )


def word_shapes(forms: Sequence[str]) -> NDArray[np.int64]:
    """Return the shape class of each word.

    The class combines the case of the word (none, lower, Capitalised, ALL CAPITALS, a single
    capital, miXed) with whether it contains digits and whether it contains other characters.

    Args:
        forms: words.

    Returns:
        Classes from 0 to :data:`N_SHAPES` − 1, ``[n_words]``.

    >>> word_shapes(["the", "The", "THE", "3"]).tolist()
    [4, 8, 12, 2]
    """
    lengths = np.fromiter(map(len, forms), np.int64, count=len(forms))
    codes = np.frombuffer("".join(forms).encode("utf-32-le", "surrogatepass"), np.uint32)
    # Characters outside the tables count as neither letters nor digits, like code point 0.
    codes = np.where(codes < _N_CODE_POINTS, codes, 0)
    ends = np.concatenate([[0], np.cumsum(lengths)])

    def count(flags: NDArray[np.bool_]) -> NDArray[np.int64]:
        # Differences of cumulative sums count the flags within each word.
        sums = np.concatenate([[0], np.cumsum(flags)])
        return np.asarray(sums[ends[1:]] - sums[ends[:-1]], np.int64)

    upper_table, lower_table, digit_table = _tables()
    upper_flags = upper_table[codes]
    upper, lower = count(upper_flags), count(lower_table[codes])
    digits = count(digit_table[codes])
    first = np.minimum(ends[:-1], max(len(codes) - 1, 0))
    capital = upper_flags[first] & (lengths > 0) if len(codes) else np.zeros(len(forms), bool)
    case = np.select(
        [
            (upper == 0) & (lower == 0),
            upper == 0,
            (upper == 1) & (lower == 0),
            lower == 0,
            capital & (upper == 1),
        ],
        [0, 1, 4, 3, 2],
        default=5,
    )
    other = upper + lower + digits < lengths
    return np.asarray(case * 4 + (digits > 0) * 2 + other, np.int64)
