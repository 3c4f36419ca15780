"""Significance tests that the papers use, and a correction for several comparisons.

Every test is two-sided and compares two systems on the same examples.  If a system was trained with
several seeds, the score of an example is its mean over them, so that the examples remain the units
of the test.  Tests over runs are in :mod:`syntagma.analysis.intervals`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from syntagma.errors import MissingExtraError
from syntagma.tasks.comparison.metric_sums import Sums

FloatArray = NDArray[np.float64]

RESAMPLES = 9999
"""Number of resamples of the permutation test and of approximate randomisation."""
BATCH = 256
"""Number of resamples drawn at once."""
BOOTSTRAPS = 1000
"""Number of resamples of the paired bootstrap, as in Koehn (2004)."""
DIGITS = 12
"""Decimals to which scores are rounded."""


def rounded(scores: Sequence[float] | FloatArray) -> FloatArray:
    """Round scores, because equal means may differ in their last digits by the order of summing."""
    found: FloatArray = np.round(np.asarray(scores, float), DIGITS)
    return found


def _differences(ours: Sequence[float], theirs: Sequence[float]) -> FloatArray:
    return rounded(np.asarray(ours, float) - np.asarray(theirs, float))


def stats() -> Any:
    """Return ``scipy.stats``.

    Raises:
        MissingExtraError: scipy is not installed.
    """
    try:
        from scipy import stats as found
    except ImportError as error:
        raise MissingExtraError("a significance test", "stats") from error
    return found


def sign_test(better: int, worse: int) -> float:
    """Compute the p-value of the sign test, which ignores ties.

    For scores of 0 and 1 it is McNemar's exact test (McNemar 1947).

    Args:
        better: number of examples with a higher score.
        worse: number of examples with a lower score.

    Raises:
        MissingExtraError: scipy is not installed.
    """
    if better + worse == 0:
        return 1.0
    return float(stats().binomtest(better, better + worse).pvalue)


def paired_t_test(ours: Sequence[float], theirs: Sequence[float]) -> float:
    """Compute the p-value of the paired t-test over examples; 1 if no example differs.

    If all examples differ by the same value, the t-test is undefined and the sign test is used.

    Args:
        ours: score of each example, ``[n_examples]``.
        theirs: score of each example with the baseline, ``[n_examples]``.

    Raises:
        MissingExtraError: scipy is not installed.
    """
    differences = _differences(ours, theirs)
    if not differences.any():
        return 1.0
    if np.ptp(differences) == 0:
        return sign_test(int((differences > 0).sum()), int((differences < 0).sum()))
    return float(stats().ttest_1samp(differences, 0).pvalue)


def permutation_test(ours: Sequence[float], theirs: Sequence[float], *, seed: int = 0) -> float:
    """Compute the p-value of the paired permutation test over examples.

    It is the fraction of random sign flips of the differences whose mean is at least as large.  All
    sign flips are enumerated if there are few enough; otherwise they are drawn at random, and the
    observed signs count as one of the resamples.

    Args:
        ours: score of each example, ``[n_examples]``.
        theirs: score of each example with the baseline, ``[n_examples]``.
        seed: random seed of the sign flips.
    """
    differences = _differences(ours, theirs)
    # Flipping the sign of a tie changes nothing.
    differences = differences[differences != 0]
    n_differing = len(differences)
    # The tolerance makes the observed signs count even if their sum is rounded differently.
    observed = abs(differences.sum()) - 1e-9
    if 2**n_differing <= RESAMPLES:
        chosen = np.arange(2**n_differing)[:, None] >> np.arange(n_differing) & 1
        return float((np.abs((1 - 2 * chosen) @ differences) >= observed).mean())
    random = np.random.default_rng(seed)
    extreme = 0
    for begin in range(0, RESAMPLES, BATCH):
        n_draws = min(BATCH, RESAMPLES - begin)
        signs = 1 - 2.0 * random.integers(2, size=(n_draws, n_differing), dtype=np.int8)
        extreme += int((np.abs(signs @ differences) >= observed).sum())
    return (extreme + 1) / (RESAMPLES + 1)


def holm(p_values: Sequence[float]) -> list[float]:
    """Correct the p-values of several comparisons with the method of Holm (1979).

    The smallest of n values is multiplied by n, the next by n - 1, and so on; none becomes smaller
    than the previous one or larger than 1.  This controls the family-wise error rate.

    >>> holm([0.01, 0.04, 0.03])
    [0.03, 0.06, 0.06]
    """
    corrected = [0.0] * len(p_values)
    highest = 0.0
    for rank, index in enumerate(np.argsort(p_values, kind="stable").tolist()):
        highest = max(highest, min(1.0, (len(p_values) - rank) * p_values[index]))
        corrected[index] = highest
    return corrected


def randomisation_test(
    ours: Sequence[FloatArray], theirs: Sequence[FloatArray], sums: Sums, *, seed: int = 0
) -> float:
    """Compute the p-value of approximate randomisation (Yeh 2000).

    It is for metrics that are not means over examples, and is the fraction of random exchanges of
    the two systems' predictions that give at least as large a difference.

    Args:
        ours: counts that each example adds to the metric, ``[n_examples, n_names]`` per seed.
        theirs: the same for the baseline, with as many seeds.
        sums: computes the metric from summed counts.
        seed: random seed of the exchanges.
    """
    random = np.random.default_rng(seed)
    totals = [np.stack([counts.sum(0) for counts in system]) for system in (ours, theirs)]
    observed = abs(float(sums.value(totals[0]).mean() - sums.value(totals[1]).mean()))
    gains = [ours_ - theirs_ for ours_, theirs_ in zip(ours, theirs, strict=True)]
    extreme = 0
    for begin in range(0, RESAMPLES, BATCH):
        n_draws = min(BATCH, RESAMPLES - begin)
        swapped = random.random((n_draws, len(ours[0]))) < 0.5
        moved = np.stack([swapped @ gain for gain in gains], axis=1)
        differences = sums.value(totals[0] - moved) - sums.value(totals[1] + moved)
        # The tolerance makes an exchange of nothing count even if it is rounded differently.
        extreme += int((np.abs(differences.mean(1)) >= observed - 1e-9).sum())
    return (extreme + 1) / (RESAMPLES + 1)


def paired_bootstrap(
    ours: Sequence[FloatArray], theirs: Sequence[FloatArray], sums: Sums, *, seed: int = 0
) -> float:
    """Compute the p-value of paired bootstrap resampling of examples (Koehn 2004, for BLEU).

    It is the fraction of resamples whose difference deviates from the mean of all resamples by at
    least the observed difference, in either direction (Riezler & Maxwell 2005).  The test of
    sacrebleu counts only one direction.

    Args:
        ours: counts that each example adds to the metric, ``[n_examples, n_names]`` per seed.
        theirs: the same for the baseline.
        sums: computes the metric from summed counts.
        seed: random seed of the resampling.
    """
    n_examples = len(ours[0])
    random = np.random.default_rng(seed)
    even = np.full(n_examples, 1 / n_examples)
    times = random.multinomial(n_examples, even, size=BOOTSTRAPS).astype(float)

    def difference(weights: FloatArray) -> FloatArray:
        means = [
            np.mean([sums.value(weights @ counts) for counts in system], axis=0)
            for system in (ours, theirs)
        ]
        found: FloatArray = means[0] - means[1]
        return found

    observed = float(difference(np.ones((1, n_examples)))[0])
    resampled = difference(times)
    if observed == 0:
        return 1.0
    extreme = np.abs(resampled - resampled.mean()) >= abs(observed)
    return float((extreme.sum() + 1) / (BOOTSTRAPS + 1))
