"""Cluster bootstrap: resample whole clusters of examples, for all runs alike.

Questions about one paragraph are right or wrong together.  A test that takes them to be
independent counts too many examples, and its interval is too narrow.  Resampling paragraphs instead
of questions keeps what the questions of a paragraph have in common (Field & Welsh 2007).
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from syntagma.tasks.comparison.metric_sums import Sums, share_of_sums

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]

RESAMPLES = 9999
"""Number of resamples by default."""
FEWEST = 999
"""Fewest resamples whose 2.5 % percentiles are stable enough to be shown."""
CELLS = 2**20
"""Number of weights that are held at once."""
MEAN = Sums(("score", "examples"), share_of_sums)
"""A metric that is the mean of the examples' scores, in per cent."""


def cluster_sums(counts: FloatArray, owner: IntArray, n_clusters: int) -> FloatArray:
    """Add the counts of the examples of each cluster.

    Args:
        counts: counts that each example adds to the metric, ``[n_examples, n_names]``.
        owner: index of the cluster of each example, ``[n_examples]``.
        n_clusters: number of clusters.

    Returns:
        The sums, ``[n_clusters, n_names]``.
    """
    sums = np.zeros((n_clusters, counts.shape[1]))
    np.add.at(sums, owner, counts)
    return sums


def resample_clusters(
    runs: Sequence[FloatArray], sums: Sums, *, n_resamples: int = RESAMPLES, seed: int = 0
) -> FloatArray:
    """Compute the metric of each run on resamples of the clusters, the same ones for all runs.

    Args:
        runs: sums of each run, ``[n_clusters, n_names]`` each.
        sums: computes the metric from summed counts.
        n_resamples: number of resamples, each of as many clusters as there are.
        seed: random seed of the resampling.

    Returns:
        The metric, ``[n_runs, n_resamples]``.
    """
    random = np.random.default_rng(seed)
    n_clusters, n_names = runs[0].shape
    # One product for all runs reads the weights once.
    columns = np.hstack(runs)  # [n_clusters, n_runs * n_names]
    batch = max(1, CELLS // n_clusters)
    found = np.empty((len(runs), n_resamples))
    for begin in range(0, n_resamples, batch):
        n_draws = min(batch, n_resamples - begin)
        drawn = random.integers(n_clusters, size=(n_draws, n_clusters))
        drawn += np.arange(n_draws)[:, None] * n_clusters
        weights = np.bincount(drawn.ravel(), minlength=n_draws * n_clusters)
        times = weights.reshape(n_draws, n_clusters).astype(float)
        totals = (times @ columns).reshape(n_draws, len(runs), n_names)
        found[:, begin : begin + n_draws] = sums.value(totals).T
    return found
