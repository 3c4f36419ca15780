"""Metrics of many examples together, computed from the sum of what each example adds."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

__all__ = [
    "ARCS",
    "BLEU",
    "BRACKETS",
    "FOUND_ARCS",
    "MICRO_F1",
    "Sums",
    "bleu_of_sums",
    "f1_of_sums",
]

FloatArray = NDArray[np.float64]


class Sums(NamedTuple):
    """A metric of sums over examples.

    Args:
        names: of what an example adds, in its row of ``examples.json``.
        value: from the sums, ``[…, n_names]``, to the metric in per cent, ``[…]``.
    """

    names: tuple[str, ...]
    value: Callable[[FloatArray], FloatArray]


def bleu_of_sums(sums: FloatArray) -> FloatArray:
    """BLEU, in per cent, smoothed as sacrebleu's is (``smooth:exp``, as in mteval).

    Args:
        sums: matches of 1- to 4-grams, their totals, length, reference length, ``[…, 10]``.
    """
    matches, totals = sums[..., :4], sums[..., 4:8]
    length, reference = sums[..., 8], sums[..., 9]
    # The first order without a match counts as half a one, the next as a quarter.
    missed = matches == 0
    counted = np.where(missed, 0.5 ** missed.cumsum(-1), matches)
    with np.errstate(divide="ignore", invalid="ignore"):
        means = np.log(counted / totals).mean(-1)
        penalty = np.minimum(0.0, 1 - reference / length)
    defined = (totals > 0).all(-1) & (matches > 0).any(-1)
    values: FloatArray = np.where(defined, 100 * np.exp(means + penalty), 0.0)
    return values


def f1_of_sums(sums: FloatArray) -> FloatArray:
    """Micro F1, in per cent.

    Args:
        sums: right labels, predicted ones, gold ones, ``[…, 3]``.
    """
    values: FloatArray = 200 * sums[..., 0] / np.maximum(sums[..., 1] + sums[..., 2], 1)
    return values


def share_of_sums(sums: FloatArray) -> FloatArray:
    """A share, in per cent.

    Args:
        sums: right ones, all, ``[…, 2]``.
    """
    values: FloatArray = 100 * sums[..., 0] / np.maximum(sums[..., 1], 1)
    return values


BLEU = Sums(
    (
        *(f"matches_{order}" for order in range(1, 5)),
        *(f"totals_{order}" for order in range(1, 5)),
        "length",
        "reference_length",
    ),
    bleu_of_sums,
)
MICRO_F1 = Sums(("right", "predicted", "gold"), f1_of_sums)
ARCS = Sums(("las", "words"), share_of_sums)
BRACKETS = Sums(("brackets_matched", "brackets_predicted", "brackets_gold"), f1_of_sums)
FOUND_ARCS = Sums(("accuracy", "arcs"), share_of_sums)
