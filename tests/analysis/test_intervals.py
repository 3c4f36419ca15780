"""Intervals against scipy, by simulation, and the agreement of each with its p-value."""

from __future__ import annotations

import numpy as np
import pytest

pytest.importorskip("scipy")

from scipy import stats

from syntagma.analysis.cluster_bootstrap import MEAN, cluster_sums, resample_clusters
from syntagma.analysis.intervals import (
    detectable_difference,
    joint_interval,
    paired_seeds,
    percentile_interval,
    shared_variance,
    t_interval,
    unpaired_seeds,
)
from syntagma.tasks.comparison.metric_sums import MICRO_F1

OURS, THEIRS = [60.1, 59.4, 61.0, 60.2], [58.9, 59.3, 59.6, 60.0]


def test_the_paired_t_test_agrees_with_scipy():
    found = paired_seeds(np.subtract(OURS, THEIRS))
    expected = stats.ttest_rel(OURS, THEIRS)
    assert found.p_value == pytest.approx(expected.pvalue)
    low, high = expected.confidence_interval(0.95)
    assert (found.low, found.high) == pytest.approx((low, high))
    swapped = paired_seeds(np.subtract(THEIRS, OURS))
    assert (swapped.low, swapped.high) == pytest.approx((-high, -low))
    assert swapped.detectable == pytest.approx(found.detectable)
    again = paired_seeds(np.subtract(OURS, THEIRS)[::-1])
    assert (again.low, again.p_value) == pytest.approx((found.low, found.p_value))


def test_welchs_interval_agrees_with_scipy():
    found = unpaired_seeds(OURS, THEIRS[:3])
    expected = stats.ttest_ind(OURS, THEIRS[:3], equal_var=False)
    assert found.p_value == pytest.approx(expected.pvalue)
    low, high = expected.confidence_interval(0.95)
    assert (found.low, found.high) == pytest.approx((low, high))


def test_an_interval_over_seeds_may_be_undefined():
    assert paired_seeds([1.0]) is None
    assert paired_seeds([0.1 + 0.2, 0.3]) is None
    assert unpaired_seeds([60.0], THEIRS) is None
    assert unpaired_seeds([60.0, 60.0], [59.0, 59.0]) is None
    assert unpaired_seeds([0.1 + 0.2, 0.3], [1, 1]) is None
    assert unpaired_seeds([60.0, 60.0], THEIRS[:2]) is not None
    same = paired_seeds([0.0, 0.0, 0.0])
    assert (same.low, same.high, same.p_value, same.detectable) == (0, 0, 1, None)


def test_0_is_outside_the_interval_exactly_if_p_is_below_5_per_cent():
    random = np.random.default_rng(1)
    outside = 0
    for _ in range(30):
        differences = random.normal(1.0, 1.0, random.integers(2, 8))
        for found in (paired_seeds(differences), unpaired_seeds(differences, differences[:2] / 9)):
            assert (found.low > 0 or found.high < 0) == (found.p_value < 0.05)
            outside += found.p_value < 0.05
    assert 5 < outside < 55


def test_the_bootstraps_p_value_inverts_its_interval():
    """The p-value of an interval whose end is at 0 is 5 %, also with few clusters."""
    draws = np.random.default_rng(2).normal(0, 1, 9999)
    for n_clusters in (8, 30, 2000):
        base = percentile_interval(draws, n_clusters)
        found = percentile_interval(draws - base.low, n_clusters)
        assert found.low == pytest.approx(0, abs=1e-9)
        assert found.p_value == pytest.approx(0.05, abs=0.004)
        assert percentile_interval(draws - base.low + 0.05, n_clusters).p_value < 0.05
        assert percentile_interval(draws - base.low - 0.05, n_clusters).p_value > 0.05


def test_few_clusters_widen_the_interval():
    """For normal draws, the ends are those of a t-interval with the unbiased deviation."""
    draws = np.random.default_rng(2).normal(0, 1, 99_999)
    found = percentile_interval(draws, 8)
    expected = stats.t.isf(0.025, 7) * np.sqrt(8 / 7)
    assert (found.low, found.high) == pytest.approx((-expected, expected), rel=0.05)
    assert percentile_interval(draws, 1) is None
    assert percentile_interval(draws[:999], 3) is None
    assert percentile_interval(np.full(999, 2.0), 100) is None
    same = percentile_interval(np.zeros(999), 100)
    assert (same.low, same.high, same.p_value, same.detectable) == (0, 0, 1, None)


@pytest.mark.parametrize("freedom", [2, 4, 40])
def test_the_detectable_difference_has_a_power_of_80_per_cent(freedom):
    found = detectable_difference(0.7, freedom)
    critical, noncentrality = stats.t.isf(0.025, freedom), found / 0.7
    power = stats.nct.sf(critical, freedom, noncentrality)
    power += stats.nct.cdf(-critical, freedom, noncentrality)
    assert power == pytest.approx(0.8, abs=1e-3)


@pytest.mark.parametrize("n_seeds", [2, 5])
def test_the_detectable_difference_is_found_in_80_per_cent_of_simulations(n_seeds):
    random = np.random.default_rng(3)
    true = detectable_difference(1 / np.sqrt(n_seeds), n_seeds - 1)
    draws = true + random.normal(0, 1, (4000, n_seeds))
    p_values = stats.ttest_1samp(draws, 0, axis=1).pvalue
    assert (p_values < 0.05).mean() == pytest.approx(0.8, abs=0.03)


def simulated(random, n_clusters=30, n_seeds=1, seed_effect=0.0, cluster_effect=1.5):
    """Draw differences between two systems whose true difference is 0, with clusters of 4."""
    shape = (n_seeds, n_clusters, 4)
    found = random.normal(0, 1, shape) + random.normal(0, cluster_effect, shape[1])[:, None]
    return (found + random.normal(0, seed_effect, n_seeds)[:, None, None]).reshape(n_seeds, -1)


def bootstrapped(runs, owner, seed):
    """Resample the mean of each run."""
    tables = [
        cluster_sums(np.stack([run, np.ones_like(run)], 1), owner, owner.max() + 1) for run in runs
    ]
    return resample_clusters(tables, MEAN, n_resamples=799, seed=seed)


def test_the_interval_over_clusters_covers_what_the_one_over_examples_misses():
    random = np.random.default_rng(4)
    clusters, examples = np.repeat(np.arange(30), 4), np.arange(120)
    covered = {"clusters": 0, "examples": 0}
    for trial in range(100):
        run = simulated(random)
        for name, owner in (("clusters", clusters), ("examples", examples)):
            draws = bootstrapped(run, owner, trial)[0]
            found = percentile_interval(draws, owner.max() + 1)
            covered[name] += found.low <= 0 <= found.high
    assert 89 <= covered["clusters"] <= 99
    assert covered["examples"] < 80


def test_the_joint_interval_covers_other_seeds_and_other_examples():
    random = np.random.default_rng(5)
    owner = np.repeat(np.arange(30), 4)
    covered = {"seeds": 0, "examples": 0, "both": 0}
    for trial in range(80):
        runs = simulated(random, n_seeds=4, seed_effect=0.3, cluster_effect=0.8)
        draws = bootstrapped(runs, owner, trial)
        seeds, examples = paired_seeds(runs.mean(1)), percentile_interval(draws.mean(0), 30)
        # The bootstrap's mean is in per cent.
        seeds_ = t_interval(100 * runs.mean(), 100 * seeds.standard_error, seeds.freedom)
        both = joint_interval(100 * runs.mean(), seeds_, examples, shared_variance(draws, 30))
        for name, found in (("seeds", seeds), ("examples", examples), ("both", both)):
            covered[name] += found.low <= 0 <= found.high
    shares = {name: count / 80 for name, count in covered.items()}
    assert 0.9 <= shares["both"] <= 1
    assert max(shares["seeds"], shares["examples"]) < shares["both"]


def test_what_seeds_and_examples_share_is_subtracted_once():
    """Without an effect of the seed, the variance over seeds is that of the rest."""
    random = np.random.default_rng(6)
    runs = simulated(random, n_clusters=300, n_seeds=6, cluster_effect=0.5)
    draws = bootstrapped(runs, np.repeat(np.arange(300), 4), 0) / 100
    # A cluster in a run: 1 / 4; mean of 300 clusters and 6 runs.
    assert shared_variance(draws, 300) == pytest.approx(1 / 4 / 300 / 6, rel=0.15)
    assert shared_variance(draws[:1], 300) == 0


def test_two_seeds_are_too_few_for_a_joint_interval():
    examples = percentile_interval(np.random.default_rng(7).normal(0, 1, 999), 50)
    assert joint_interval(1.0, paired_seeds([0.5, 1.5]), examples) is None
    assert joint_interval(1.0, paired_seeds([0.5, 1.5, 1.0]), examples) is not None


def test_the_joint_standard_error_is_at_least_that_of_either():
    """Also where what they share is estimated as greater than one of them."""
    seeds = paired_seeds([2.0, -1.0, 0.5, 1.0])
    for spread, shared in ((0.1, 9.0), (2.0, 9.0), (1.0, 0.1), (1.0, 0.0)):
        examples = percentile_interval(np.random.default_rng(7).normal(0, spread, 999), 50)
        found = joint_interval(0.6, seeds, examples, shared)
        assert found.standard_error >= max(seeds.standard_error, examples.standard_error) - 1e-12
        assert found.freedom >= 3


def test_resampling_gives_the_metric_of_the_drawn_clusters():
    """Each resample is the metric of a multiset of clusters, computed in plain loops."""
    counts = np.random.default_rng(8).integers(1, 5, (7, 3)).astype(float)
    owner = np.array([0, 1, 1, 2, 0, 2, 2])
    tables = [cluster_sums(counts, owner, 3), cluster_sums(counts * 2, owner, 3)]
    drawn = np.random.default_rng(9).integers(3, size=(50, 3))
    found = resample_clusters(tables, MICRO_F1, n_resamples=50, seed=9)
    for place, clusters in enumerate(drawn):
        sums = sum(counts[owner == cluster].sum(0) for cluster in clusters)
        assert found[0, place] == pytest.approx(200 * sums[0] / (sums[1] + sums[2]))
    # F1 of twice the counts is the same: the resamples of all runs are the same.
    assert found[1] == pytest.approx(found[0])
