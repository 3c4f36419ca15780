"""Whether a difference is more than chance: the tests that the papers use, and corrections.

Every test is two-sided and compares two systems on the same examples.  Where a system was trained
with several seeds, the score of an example is its mean over them, so that examples stay the units.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from syntagma.errors import MissingExtraError

__all__ = ["holm", "mcnemar", "paired_bootstrap", "paired_t_test", "permutation_test", "sign_test"]

FloatArray = NDArray[np.float64]

RESAMPLES = 9999
"""Of the permutation test."""
BOOTSTRAPS = 1000
"""Of the paired bootstrap, as in Koehn (2004)."""


def _stats() -> Any:
    try:
        from scipy import stats
    except ImportError as error:
        raise MissingExtraError("a significance test", "stats") from error
    return stats


def mcnemar(gained: int, lost: int) -> float:
    """McNemar's exact test (McNemar 1947).

    Args:
        gained: examples that only the one is right on.
        lost: examples that only the other is right on.

    Raises:
        MissingExtraError: scipy is not installed.
    """
    return sign_test(gained, lost)


def sign_test(better: int, worse: int) -> float:
    """The sign test; what is equal under both counts for neither.

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

    Args:
        ours: the score of each example.
        theirs: the same examples under the baseline.

    Raises:
        MissingExtraError: scipy is not installed.
    """
    if list(ours) == list(theirs):
        return 1.0
    return float(_stats().ttest_rel(ours, theirs).pvalue)


def permutation_test(ours: Sequence[float], theirs: Sequence[float], *, seed: int = 0) -> float:
    """The paired permutation test: how often random signs give as large a mean difference.

    Args:
        ours: the score of each example.
        theirs: the same examples under the baseline.
        seed: of the signs.

    Raises:
        MissingExtraError: scipy is not installed.
    """
    if list(ours) == list(theirs):
        return 1.0
    found = _stats().permutation_test(
        (np.asarray(ours, float) - np.asarray(theirs, float),),
        np.mean,
        permutation_type="samples",
        vectorized=True,
        n_resamples=RESAMPLES,
        batch=256,
        rng=np.random.default_rng(seed),
    )
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


def bleu_of_counts(counts: FloatArray) -> FloatArray:
    """BLEU, in per cent, from summed counts.

    Args:
        counts: matches of 1- to 4-grams, their totals, length, reference length, ``[…, 10]``.

    Returns:
        ``[…]``.
    """
    matches, totals = counts[..., :4], counts[..., 4:8]
    length, reference = counts[..., 8], counts[..., 9]
    with np.errstate(divide="ignore", invalid="ignore"):
        means = np.log(matches / totals).mean(-1)
        penalty = np.minimum(0.0, 1 - reference / length)
    values: FloatArray = np.nan_to_num(100 * np.exp(means + penalty), nan=0.0)
    return values


def paired_bootstrap(
    ours: Sequence[FloatArray], theirs: Sequence[FloatArray], *, seed: int = 0
) -> float:
    """Paired bootstrap resampling of BLEU (Koehn 2004).

    The p-value is the share of resamples whose difference departs from the mean of all resamples by
    at least the observed difference, to either side (Riezler & Maxwell 2005); sacrebleu's own test
    counts one side.

    Args:
        ours: the counts of each sentence, ``[n_sentences, 10]`` a seed; see
            :func:`bleu_of_counts`.
        theirs: the same sentences under the baseline.
        seed: of the resampling.
    """
    n_sentences = len(ours[0])
    random = np.random.default_rng(seed)
    even = np.full(n_sentences, 1 / n_sentences)
    times = random.multinomial(n_sentences, even, size=BOOTSTRAPS).astype(float)

    def difference(weights: FloatArray) -> FloatArray:
        means = [
            np.mean([bleu_of_counts(weights @ counts) for counts in system], axis=0)
            for system in (ours, theirs)
        ]
        found: FloatArray = means[0] - means[1]
        return found

    observed = float(difference(np.ones((1, n_sentences)))[0])
    resampled = difference(times)
    if observed == 0:
        return 1.0
    extreme = np.abs(resampled - resampled.mean()) >= abs(observed)
    return float((extreme.sum() + 1) / (BOOTSTRAPS + 1))
