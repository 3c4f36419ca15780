"""Hashes of 64 bits for features and words, the same in every process."""

from __future__ import annotations

from collections.abc import Sequence
from zlib import crc32

import numpy as np
import numpy.typing as npt

Booleans = npt.NDArray[np.bool_]
Integers = npt.NDArray[np.int64]
Hashes = npt.NDArray[np.uint64]

ODD = np.uint64(0x9E3779B97F4A7C15)
_MASK = (1 << 64) - 1


def mix(values: Hashes, template: int) -> Hashes:
    """Hash numbers, differently for each template."""
    mixed = (values ^ np.uint64(template * 0x5851F42D4C957F2D & _MASK)) * ODD
    mixed ^= mixed >> np.uint64(29)
    mixed *= np.uint64(0xBF58476D1CE4E5B9)
    return mixed ^ (mixed >> np.uint64(32))


def text_hashes(texts: Sequence[str], template: int) -> Hashes:
    """Hash texts, differently for each template, ``[n_texts]``."""
    coded = [each.encode("utf-8", "surrogatepass") for each in texts]
    values = np.fromiter((crc32(each) for each in coded), np.uint64, len(coded))
    return mix(values, template)


def position(known: Hashes, hashes: Hashes) -> Integers:
    """Return the place of each number among sorted ones, from 1; 0 if it is not there."""
    if not len(known):
        return np.zeros(hashes.shape, np.int64)
    place = np.minimum(np.searchsorted(known, hashes), len(known) - 1)
    return np.where(known[place] == hashes, place + 1, 0)
