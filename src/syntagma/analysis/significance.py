"""Whether a difference is more than chance: the tests that the papers use, and corrections.

Every test is two-sided and compares two systems on the same examples.  Where a system was trained
with several seeds, the score of an example is its mean over them, so that examples stay the units;
Welch's test alone has runs for units.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from syntagma.errors import MissingExtraError
from syntagma.tasks.comparison.metric_sums import Sums

__all__ = [
    "holm",
    "paired_bootstrap",
    "paired_t_test",
    "permutation_test",
    "randomisation_test",
    "rounded",
    "sign_test",
    "welch_test",
]

FloatArray = NDArray[np.float64]

RESAMPLES = 9999
"""Of the permutation test and of approximate randomisation."""
BATCH = 256
"""Resamples that are drawn together."""
BOOTSTRAPS = 1000
"""Of the paired bootstrap, as in Koehn (2004)."""
DIGITS = 12
"""Behind the point of a score."""


def rounded(scores: Sequence[float] | FloatArray) -> FloatArray:
    """Scores without their last digits: in these, equal means differ by the order of summing."""
    found: FloatArray = np.round(np.asarray(scores, float), DIGITS)
    return found


def _differences(ours: Sequence[float], theirs: Sequence[float]) -> FloatArray:
    return rounded(np.asarray(ours, float) - np.asarray(theirs, float))


def _stats() -> Any:
    try:
        from scipy import stats
    except ImportError as error:
        raise MissingExtraError("a significance test", "stats") from error
    return stats


def sign_test(better: int, worse: int) -> float:
    """The sign test; what is equal under both counts for neither.

    Where examples are right or wrong it is McNemar's exact test (McNemar 1947).

    Args:
        better: examples with a higher score.
        worse: examples with a lower one.

    Raises:
        MissingExtraError: scipy is not installed.
    """
    if better + worse == 0:
        return 1.0
    return float(_stats().binomtest(better, better + worse).pvalue)


def paired_t_test(ours: Sequence[float], theirs: Sequence[float]) -> float:
    """The paired t-test over examples; 1 where nothing differs.

    Where all examples differ by the same it is not defined; then it is the sign test.

    Args:
        ours: the score of each example.
        theirs: the same examples under the baseline.

    Raises:
        MissingExtraError: scipy is not installed.
    """
    differences = _differences(ours, theirs)
    if not differences.any():
        return 1.0
    if np.ptp(differences) == 0:
        return sign_test(int((differences > 0).sum()), int((differences < 0).sum()))
    return float(_stats().ttest_1samp(differences, 0).pvalue)


def permutation_test(ours: Sequence[float], theirs: Sequence[float], *, seed: int = 0) -> float:
    """The paired permutation test: how often random signs give as large a mean difference.

    Where there are no more signs to draw than resamples it is exact; else random, and the observed
    signs count as one of the resamples.

    Args:
        ours: the score of each example.
        theirs: the same examples under the baseline.
        seed: of the signs.
    """
    differences = _differences(ours, theirs)
    # The sign of what is equal changes nothing.
    differences = differences[differences != 0]
    n_differing = len(differences)
    # Rounding must not make the observed signs smaller than themselves.
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


def welch_test(ours: Sequence[float], theirs: Sequence[float]) -> float | None:
    """Welch's t-test over runs: whether other seeds would show a difference too.

    Recommended for few seeds by Colas, Sigaud & Oudeyer (2018).

    Args:
        ours: the score of each run.
        theirs: those of the baseline.

    Returns:
        The p-value; ``None`` where it is not defined: with one run of a system, or where neither
        system's runs differ.

    Raises:
        MissingExtraError: scipy is not installed.
    """
    if min(len(ours), len(theirs)) < 2 or np.ptp(rounded(ours)) == np.ptp(rounded(theirs)) == 0:
        return None
    moments = [(np.mean(runs), np.std(runs, ddof=1), len(runs)) for runs in (ours, theirs)]
    found = _stats().ttest_ind_from_stats(*moments[0], *moments[1], equal_var=False)
    return float(found.pvalue)


def holm(p_values: Sequence[float]) -> list[float]:
    """P-values of several comparisons, corrected so that no one in the family is found by chance.

    Holm (1979): the smallest is multiplied by their number, the next by one less, and so on; none
    becomes smaller than one before it, nor larger than 1.

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
    """Approximate randomisation (Yeh 2000), for metrics that are no means over examples.

    How often the systems' answers to random examples, exchanged, give as large a difference.

    Args:
        ours: what each example adds, ``[n_examples, n_names]`` a seed.
        theirs: the same examples under the baseline, with as many seeds.
        sums: the metric.
        seed: of the exchanges.
    """
    random = np.random.default_rng(seed)
    totals = [np.stack([counts.sum(0) for counts in system]) for system in (ours, theirs)]
    observed = abs(float(sums.value(totals[0]).mean() - sums.value(totals[1]).mean()))
    gains = [own - other for own, other in zip(ours, theirs, strict=True)]
    extreme = 0
    for begin in range(0, RESAMPLES, BATCH):
        n_draws = min(BATCH, RESAMPLES - begin)
        swapped = random.random((n_draws, len(ours[0]))) < 0.5
        moved = np.stack([swapped @ gain for gain in gains], axis=1)
        differences = sums.value(totals[0] - moved) - sums.value(totals[1] + moved)
        # Rounding must not make an exchange of nothing smaller than what was observed.
        extreme += int((np.abs(differences.mean(1)) >= observed - 1e-9).sum())
    return (extreme + 1) / (RESAMPLES + 1)


def paired_bootstrap(
    ours: Sequence[FloatArray], theirs: Sequence[FloatArray], sums: Sums, *, seed: int = 0
) -> float:
    """Paired bootstrap resampling of examples (Koehn 2004, for BLEU).

    The p-value is the share of resamples whose difference departs from the mean of all resamples by
    at least the observed difference, to either side (Riezler & Maxwell 2005); sacrebleu's own test
    counts one side.

    Args:
        ours: what each example adds, ``[n_examples, n_names]`` a seed.
        theirs: the same examples under the baseline.
        sums: the metric.
        seed: of the resampling.
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
