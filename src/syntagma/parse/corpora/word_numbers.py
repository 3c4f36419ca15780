"""The numbers of words in shards: as narrow as possible, and offsets as differences."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

IntArray = NDArray[np.integer[Any]]
INTEGER_TYPES = ("|u1", "|i1", "<u2", "<i2", "<i4")


def offsets_of(
    gaps: IntArray, lengths: IntArray, bounds: IntArray, first: IntArray
) -> tuple[IntArray, IntArray]:
    """Compute the character offsets of all words.

    Args:
        gaps: characters between each word and the previous one, ``[n_words]``.
        lengths: characters of each word, ``[n_words]``.
        bounds: first word of each sentence, then the number of words, ``[n_sentences + 1]``.
        first: offset of each sentence, ``[n_sentences]``.

    Returns:
        Start and end of each word, ``[n_words]`` each.
    """
    if not len(gaps):
        return gaps, lengths
    # The running sum over a whole shard may overflow and wrap around.  That does no harm, because
    # only differences within a record are used, and these fit.
    ends = np.add(gaps, lengths, dtype=np.int32)
    np.cumsum(ends, dtype=ends.dtype, out=ends)
    before = np.where(bounds[:-1] > 0, ends[bounds[:-1] - 1], 0).astype(ends.dtype)
    ends += np.repeat(first - before, np.diff(bounds))
    return ends - lengths, ends


def narrow(values: IntArray) -> IntArray:
    """Convert to the narrowest integer type that can hold all values.

    Args:
        values: the numbers of a column.
    """
    low, high = int(values.min(initial=0)), int(values.max(initial=0))
    for name in INTEGER_TYPES:
        limits = np.iinfo(name)
        if limits.min <= low and high <= limits.max:
            return values.astype(name)
    raise ValueError(f"values from {low} to {high} do not fit into 32 bits")
