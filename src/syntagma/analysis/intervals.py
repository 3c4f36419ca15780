"""Intervals of a difference between two systems: over seeds, over examples, and over both.

Each interval comes with the p-value of the test that belongs to it, so that 0 is outside the 95 %
interval exactly if p < 0.05, and with the smallest difference that such data would have shown.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from syntagma.analysis.significance import DIGITS, rounded, stats

FloatArray = NDArray[np.float64]

LEVEL = 0.05
"""Two-sided level of the tests; the intervals cover 1 - LEVEL."""
POWER = 0.8
"""Probability with which the detectable difference is found (Card et al. 2020)."""
FEWEST_SEEDS = 3
"""With two seeds the variance over seeds is hardly known: in a simulation, an interval over seeds
and examples then covered 88 % only."""

QUANTILES = 1000
"""Number of quantiles of the variance over which power is averaged."""


@dataclass(frozen=True, slots=True)
class Interval:
    """A 95 % interval of a difference, in the unit of the metric.

    Args:
        low: lower end.
        high: upper end.
        p_value: two-sided p-value of no difference.
        detectable: the smallest true difference that would be found at the level of 5 % with a
            probability of 80 %; ``None`` if nothing varies.
        standard_error: standard error of the difference.
        freedom: degrees of freedom of the standard error.
    """

    low: float
    high: float
    p_value: float
    detectable: float | None
    standard_error: float
    freedom: float


def detectable_difference(standard_error: float, freedom: float) -> float | None:
    """Compute the smallest difference that a two-sided t-test finds with 80 % power at 5 %.

    Args:
        standard_error: standard error of the estimated difference.
        freedom: its degrees of freedom.

    Returns:
        δ with P(|t| > t₀.₉₇₅) = 0.8, where t has a noncentral t distribution with noncentrality
        δ / ``standard_error``; ``None`` if the standard error is 0.

    Raises:
        MissingExtraError: scipy is not installed.
    """
    if standard_error == 0:
        return None
    normal = stats().norm
    from scipy.optimize import brentq

    critical = float(stats().t.isf(LEVEL / 2, freedom))
    # The noncentral t distribution is a mean of normal ones over the estimated variance.  That of
    # scipy gives NaN for one degree of freedom, which is that of two seeds.
    shares = (np.arange(QUANTILES) + 0.5) / QUANTILES
    limits = critical * np.sqrt(stats().chi2.ppf(shares, freedom) / freedom)

    def lacking(noncentrality: float) -> float:
        found = normal.sf(limits - noncentrality) + normal.cdf(-limits - noncentrality)
        return float(found.mean()) - POWER

    # With few degrees of freedom, the noncentrality grows with the critical value.
    high = 3.0
    while lacking(high) < 0:
        high *= 2
    return float(brentq(lacking, 0.0, high, xtol=1e-6)) * standard_error


def t_interval(difference: float, standard_error: float, freedom: float) -> Interval | None:
    """Return the interval of a t-test from the standard error of a difference.

    Args:
        difference: the estimated difference.
        standard_error: its standard error.
        freedom: degrees of freedom of the standard error.

    Returns:
        The interval; ``None`` if it is undefined, because the standard error of a difference other
        than 0 is 0.

    Raises:
        MissingExtraError: scipy is not installed.
    """
    if standard_error == 0:
        none = Interval(0.0, 0.0, 1.0, None, 0.0, freedom)
        return none if difference == 0 else None
    distribution = stats().t
    half = float(distribution.isf(LEVEL / 2, freedom)) * standard_error
    return Interval(
        low=difference - half,
        high=difference + half,
        p_value=2 * float(distribution.sf(abs(difference) / standard_error, freedom)),
        detectable=detectable_difference(standard_error, freedom),
        standard_error=standard_error,
        freedom=freedom,
    )


def paired_seeds(differences: Sequence[float]) -> Interval | None:
    """Return the interval of the paired t-test over seeds.

    Args:
        differences: difference of the metric for each shared seed, ``[n_seeds]``.

    Returns:
        The interval; ``None`` if it is undefined, because there is a single seed, or because all
        seeds differ by the same value, which is not 0.

    Raises:
        MissingExtraError: scipy is not installed.
    """
    values = rounded(differences)
    if len(values) < 2:
        return None
    # The deviation of equal values is not exactly 0.
    error = float(values.std(ddof=1)) / math.sqrt(len(values)) if np.ptp(values) else 0.0
    return t_interval(float(values.mean()), error, len(values) - 1)


def unpaired_seeds(ours: Sequence[float], theirs: Sequence[float]) -> Interval | None:
    """Return the interval of Welch's t-test over the runs of two systems, which are not paired.

    Colas, Sigaud & Oudeyer (2018) recommend it for few seeds.

    Args:
        ours: metric of each run, ``[n_runs]``.
        theirs: metric of each run of the baseline, ``[n_runs]``.

    Returns:
        The interval; ``None`` if it is undefined, because a system has a single run, or because the
        metric varies in neither system.

    Raises:
        MissingExtraError: scipy is not installed.
    """
    scores = [rounded(ours), rounded(theirs)]
    if min(map(len, scores)) < 2 or all(np.ptp(runs) == 0 for runs in scores):
        return None
    variances = [float(runs.var(ddof=1)) / len(runs) for runs in scores]
    freedom = sum(variances) ** 2 / sum(
        variance**2 / (len(runs) - 1) for variance, runs in zip(variances, scores, strict=True)
    )
    difference = float(scores[0].mean() - scores[1].mean())
    return t_interval(difference, math.sqrt(sum(variances)), freedom)


def percentile_interval(resampled: FloatArray, n_clusters: int) -> Interval | None:
    """Return the percentile interval of a bootstrap over clusters, widened for few clusters.

    The percentiles are the "expanded" ones of Hesterberg (2015): for few clusters the bootstrap
    distribution is too narrow, by √((n - 1) / n) and because it knows no t-distribution.  The
    p-value inverts the interval.

    Args:
        resampled: difference in each resample, ``[n_resamples]``.
        n_clusters: number of clusters that were resampled.

    Returns:
        The interval; ``None`` if there are too few clusters for these percentiles, or if all
        resamples have the same difference, which is not 0.

    Raises:
        MissingExtraError: scipy is not installed.
    """
    values = np.sort(np.round(resampled, DIGITS))
    n_resamples, freedom = len(values), n_clusters - 1
    if freedom < 1 or (np.ptp(values) == 0 and values[0] != 0):
        return None
    normal, student = stats().norm, stats().t
    widening = math.sqrt(n_clusters / freedom)
    tail = float(normal.sf(float(student.isf(LEVEL / 2, freedom)) * widening))
    # The n-th smallest value has a share of n / (n_resamples + 1) below it.
    place = math.floor(tail * (n_resamples + 1))
    if place < 1:
        return None
    # The observed difference counts as one resample, so that p is never 0.
    count = 1 + min(int((values <= 0).sum()), int((values >= 0).sum()))
    extreme = float(normal.isf(min(1.0, count / (n_resamples + 1)))) / widening
    error = float(values.std(ddof=1)) * widening
    return Interval(
        low=float(values[place - 1]),
        high=float(values[-place]),
        p_value=min(1.0, 2 * float(student.sf(extreme, freedom))),
        detectable=detectable_difference(error, freedom),
        standard_error=error,
        freedom=freedom,
    )


def joint_interval(
    difference: float, seeds: Interval, examples: Interval, shared: float = 0.0
) -> Interval | None:
    """Return an interval that accounts for the choice of the seeds and of the examples.

    Variances of both directions are added, and what both contain is subtracted once, as in two-way
    clustering (Cameron, Gelbach & Miller 2011).  The degrees of freedom are those of Satterthwaite
    (1946), as in Welch's test.

    Args:
        difference: the estimated difference.
        seeds: the interval over seeds.
        examples: the interval over examples.
        shared: variance that is in both, see :func:`shared_variance`.

    Returns:
        The interval; ``None`` if there are fewer than three seeds, or if nothing varies and the
        difference is not 0.

    Raises:
        MissingExtraError: scipy is not installed.
    """
    if seeds.freedom < FEWEST_SEEDS - 1:
        return None
    over_seeds, over_examples = (each.standard_error**2 for each in (seeds, examples))
    # What is shared is a part of both.  Its estimate may be greater by chance.
    variance = over_examples + over_seeds - min(shared, over_examples, over_seeds)
    if variance == 0:
        return t_interval(difference, 0.0, examples.freedom)
    uncertainty = over_seeds**2 / seeds.freedom + over_examples**2 / examples.freedom
    freedom = max(variance**2 / uncertainty, min(seeds.freedom, examples.freedom))
    return t_interval(difference, math.sqrt(variance), freedom)


def shared_variance(resampled: FloatArray, n_clusters: int) -> float:
    """Compute the variance that both directions contain: that of examples within single runs.

    With an effect of the seed, one of the cluster, and the rest (of a cluster in a run), the mean
    of n runs varies over clusters by cluster + rest / n, and a single run by cluster + rest.  So
    the rest follows from the two.  The variance over seeds contains it too.

    Args:
        resampled: the metric, or the difference, of each run in each resample,
            ``[n_runs, n_resamples]``.
        n_clusters: number of clusters that were resampled.

    Returns:
        rest / n, at least 0; 0 for a single run or cluster.
    """
    n_runs = len(resampled)
    if n_runs < 2 or n_clusters < 2:
        return 0.0
    single = float(resampled.var(axis=1, ddof=1).mean())
    together = float(resampled.mean(axis=0).var(ddof=1))
    return max(0.0, (single - together) / (n_runs - 1)) * n_clusters / (n_clusters - 1)
