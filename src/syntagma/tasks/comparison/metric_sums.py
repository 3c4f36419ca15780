"""Metrics of a set of examples, computed from sums over the examples.

Significance tests and bootstraps need them: these resample examples, and a metric such as BLEU is
not the mean of the examples' scores.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

FloatArray = NDArray[np.float64]


class Sums(NamedTuple):
    """A metric that is computed from sums over examples.

    Args:
        names: keys of the summands in an example's row of ``examples.json``.
        value: computes the metric in per cent, ``[…]``, from the sums, ``[…, n_names]``.
    """

    names: tuple[str, ...]
    value: Callable[[FloatArray], FloatArray]


def bleu_of_sums(sums: FloatArray) -> FloatArray:
    """Compute BLEU, in per cent, smoothed like sacrebleu's (``smooth:exp``, as in mteval).

    Args:
        sums: ``[…, 10]``: matches of 1- to 4-grams, totals of 1- to 4-grams, length, reference
            length.
    """
    matches, totals = sums[..., :4], sums[..., 4:8]
    length, reference = sums[..., 8], sums[..., 9]
    # The first order without a match counts as half a match, the next one as a quarter.
    missed = matches == 0
    counted = np.where(missed, 0.5 ** missed.cumsum(-1), matches)
    # Ratios of nothing are replaced by 1; their BLEU is 0.
    defined = (totals > 0).all(-1) & (matches > 0).any(-1) & (length > 0)
    ratios = np.where(defined[..., None], counted, 1.0) / np.where(defined[..., None], totals, 1.0)
    penalty = np.minimum(0.0, 1 - reference / np.where(defined, length, 1.0))
    values: FloatArray = np.where(defined, 100 * np.exp(np.log(ratios).mean(-1) + penalty), 0.0)
    return values


def f1_of_sums(sums: FloatArray) -> FloatArray:
    """Compute micro F1, in per cent.

    Args:
        sums: ``[…, 3]``: right, predicted and gold labels.
    """
    values: FloatArray = 200 * sums[..., 0] / np.maximum(sums[..., 1] + sums[..., 2], 1)
    return values


def share_of_sums(sums: FloatArray) -> FloatArray:
    """Compute the share of right items, in per cent.

    Args:
        sums: ``[…, 2]``: right items and all items.
    """
    values: FloatArray = 100 * sums[..., 0] / np.maximum(sums[..., 1], 1)
    return values


def loose_macro_of_sums(sums: FloatArray) -> FloatArray:
    """Compute the loose macro F1 of entity typing (Ling and Weld 2012), in per cent.

    Args:
        sums: ``[…, 3]``: mentions, their summed precisions, their summed recalls.
    """
    precision, recall = (sums[..., column] / np.maximum(sums[..., 0], 1) for column in (1, 2))
    values: FloatArray = 200 * precision * recall / np.maximum(precision + recall, 1e-12)
    return values


def macro_f1_of_sums(sums: FloatArray) -> FloatArray:
    """Compute the mean F1 of the classes with a gold label, in per cent.

    Args:
        sums: ``[…, 3 n_classes]``: right, predicted and gold labels of each class.
    """
    counts = sums.reshape(*sums.shape[:-1], -1, 3)  # […, n_classes, 3]
    there = counts[..., 2] > 0
    found = np.where(there, f1_of_sums(counts), 0.0).sum(-1)
    values: FloatArray = found / np.maximum(there.sum(-1), 1)
    return values


def class_sums(names: Iterable[str]) -> Sums:
    """Build the macro F1 over the classes that occur in some rows.

    Args:
        names: keys of the rows; counts of a class have keys such as ``gold:Cause-Effect``, and
            other keys are ignored.
    """
    classes = sorted({name.partition(":")[2] for name in names if ":" in name})
    counts = tuple(f"{count}:{name}" for name in classes for count in MICRO_F1.names)
    return Sums(counts, macro_f1_of_sums)


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
LOOSE_MACRO_F1 = Sums(("mentions", "precisions", "recalls"), loose_macro_of_sums)
ARCS = Sums(("las", "words"), share_of_sums)
HEADS = Sums(("uas", "words"), share_of_sums)
BRACKETS = Sums(("brackets_matched", "brackets_predicted", "brackets_gold"), f1_of_sums)
FOUND_ARCS = Sums(("accuracy", "arcs"), share_of_sums)
