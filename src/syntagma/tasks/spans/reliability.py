"""How well probabilities agree with what happens: reliability and expected calibration error."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

BINS = 15
RESAMPLES = 1000


class ReliabilityBin(NamedTuple):
    """A group of questions with similar probabilities.

    Args:
        predicted: mean of their probabilities.
        observed: share of them for which it happened.
        size: number of questions.
    """

    predicted: float
    observed: float
    size: int


class CalibrationError(NamedTuple):
    """An expected calibration error, and how sure it is.

    Args:
        value: the error.
        low: lower end of its 95 % bootstrap interval.
        high: upper end.
        by_chance: the error to expect of perfectly calibrated probabilities, given so few
            questions.
    """

    value: float
    low: float
    high: float
    by_chance: float


def reliability(
    probabilities: Sequence[float], happened: Sequence[bool | int], *, bins: int = BINS
) -> list[ReliabilityBin]:
    """Group questions by their probabilities, into bins with the same number of questions.

    Args:
        probabilities: predicted probabilities, ``[n]``.
        happened: whether it happened, ``[n]``.
        bins: number of bins; fewer if there are fewer questions.

    Returns:
        The bins by rising probability; if ``n`` is not a multiple of ``bins``, the first ones have
        one question more.
    """
    predicted = np.asarray(probabilities, float)
    observed = np.asarray(happened, float)
    order = np.argsort(predicted, kind="stable")
    return [
        ReliabilityBin(float(predicted[part].mean()), float(observed[part].mean()), len(part))
        for part in np.array_split(order, min(bins, len(order)) or 1)
        if len(part)
    ]


def calibration_error(
    probabilities: Sequence[float], happened: Sequence[bool | int], *, bins: int = BINS
) -> float:
    """Compute the expected calibration error (ECE) over bins of equal mass.

    It is the mean over the questions of the distance between the mean probability of their bin and
    the share for which it happened, from 0 to 1 (Nguyen & O'Connor 2015).

    Args:
        probabilities: predicted probabilities, ``[n]``.
        happened: whether it happened, ``[n]``.
        bins: number of bins.
    """
    groups = reliability(probabilities, happened, bins=bins)
    total = sum(group.size for group in groups)
    return sum(g.size * abs(g.predicted - g.observed) for g in groups) / max(total, 1)


def bootstrap_error(
    probabilities: Sequence[float], happened: Sequence[bool | int], *, seed: int = 0
) -> CalibrationError:
    """Compute the ECE with a 95 % interval over resampled questions.

    Args:
        probabilities: predicted probabilities, ``[n]``.
        happened: whether it happened, ``[n]``.
        seed: seed of the resampling.
    """
    random = np.random.default_rng(seed)
    predicted = np.asarray(probabilities, float)
    observed = np.asarray(happened, float)
    errors, chance = [], []
    for _ in range(RESAMPLES):
        drawn = random.integers(0, len(predicted), len(predicted))
        errors.append(calibration_error(predicted[drawn], observed[drawn]))  # type: ignore[arg-type]
        simulated = random.random(len(predicted)) < predicted
        chance.append(calibration_error(probabilities, simulated))  # type: ignore[arg-type]
    value = calibration_error(probabilities, happened)
    # Resampling adds noise, which raises every error: the interval has the spread of the resampled
    # errors around the measured one.
    shift = value - float(np.mean(errors))
    low, high = (np.quantile(errors, (0.025, 0.975)) + shift).tolist()
    return CalibrationError(value, max(low, 0.0), high, float(np.mean(chance)))
