"""The intervals of the difference between a system and the baseline."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import mean

import numpy as np
from numpy.typing import NDArray

from syntagma.analysis.cluster_bootstrap import MEAN, cluster_sums, resample_clusters
from syntagma.analysis.clusters import Clusters
from syntagma.analysis.intervals import (
    Interval,
    joint_interval,
    paired_seeds,
    percentile_interval,
    shared_variance,
    unpaired_seeds,
)
from syntagma.analysis.pairing import Pairing
from syntagma.analysis.run_scores import RunScores, counts_of
from syntagma.tasks.comparison.comparisons import ComparedMetric

FloatArray = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Resampled:
    """A metric of several runs on the same resamples of the clusters.

    Args:
        metric: the metric of each run in each resample, ``[n_resamples]``, by the folder of its
            scores.
        n_clusters: number of clusters.
    """

    metric: dict[Path, FloatArray]
    n_clusters: int

    @classmethod
    def of(
        cls,
        pairings: Sequence[Pairing],
        metric: ComparedMetric,
        clusters: Clusters,
        n_resamples: int,
    ) -> Resampled:
        """Resample the metric of all runs that are compared.

        Args:
            pairings: the runs of each comparison.
            metric: the metric.
            clusters: the clusters of the examples.
            n_resamples: number of resamples.
        """
        runs = {run.scored: run for each in pairings for run in (*each.theirs, *each.ours)}
        tables = [sums_of(run.rows, metric, clusters) for run in runs.values()]
        values = resample_clusters(tables, metric.sums or MEAN, n_resamples=n_resamples)
        return cls(dict(zip(runs, values, strict=True)), clusters.number)

    def runs(self, runs: Sequence[RunScores]) -> FloatArray:
        """Return the metric of some runs, ``[n_runs, n_resamples]``."""
        return np.stack([self.metric[run.scored] for run in runs])


def sums_of(
    rows: Mapping[str, Mapping[str, float]], metric: ComparedMetric, clusters: Clusters
) -> FloatArray:
    """Add what the examples of each cluster contribute to a metric.

    Args:
        rows: scores of each example, by id.
        metric: the metric.
        clusters: the clusters of the examples.

    Returns:
        The sums, ``[n_clusters, n_names]``: of the counts of ``metric.sums``, or of the scores and
        the number of examples.
    """
    if metric.sums is not None:
        counts = counts_of(rows, clusters.keys, metric.sums.names)
    else:
        scores = counts_of(rows, clusters.keys, [metric.score])
        counts = np.hstack([scores, np.ones_like(scores)])
    return cluster_sums(counts, clusters.owner, clusters.number)


def intervals_of(pairing: Pairing, metric: str, resampled: Resampled) -> dict[str, Interval]:
    """Compute the intervals of a difference over seeds, over examples, and over both.

    Args:
        pairing: the runs of the system and of the baseline.
        metric: name of the metric.
        resampled: the metric on resamples of the examples.

    Returns:
        The intervals by what they are over; those that are undefined are missing.

    Raises:
        MissingExtraError: scipy is not installed.
    """
    ours, theirs = (
        [run.metrics[metric] for run in runs] for runs in (pairing.ours, pairing.theirs)
    )
    draws, before = resampled.runs(pairing.ours), resampled.runs(pairing.theirs)
    number = resampled.n_clusters
    if pairing.paired:
        differences = [a - b for a, b in zip(ours, theirs, strict=True)]
        return paired_intervals(differences, draws - before, number)
    seeds = unpaired_seeds(ours, theirs)
    examples = percentile_interval(draws.mean(0) - before.mean(0), number)
    shared = shared_variance(draws, number) + shared_variance(before, number)
    return _defined(mean(ours) - mean(theirs), seeds, examples, shared)


def paired_intervals(
    differences: Sequence[float], resampled: FloatArray, n_clusters: int
) -> dict[str, Interval]:
    """Compute the intervals of a mean difference over pairs of runs.

    Args:
        differences: the difference of the metric of each pair, ``[n_runs]``.
        resampled: the same on resamples of the examples, ``[n_runs, n_resamples]``.
        n_clusters: number of clusters that were resampled.

    Returns:
        The intervals by what they are over; those that are undefined are missing.

    Raises:
        MissingExtraError: scipy is not installed.
    """
    return _defined(
        mean(differences),
        paired_seeds(differences),
        percentile_interval(resampled.mean(0), n_clusters),
        shared_variance(resampled, n_clusters),
    )


def _defined(
    difference: float, seeds: Interval | None, examples: Interval | None, shared: float
) -> dict[str, Interval]:
    """Return the intervals that are defined, with the one over both."""
    both = None
    if seeds is not None and examples is not None:
        both = joint_interval(difference, seeds, examples, shared)
    found = {"seeds": seeds, "examples": examples, "both": both}
    return {over: interval for over, interval in found.items() if interval is not None}
