"""Which metrics runs of a task are compared on, and with which significance test."""

from __future__ import annotations

from collections.abc import Container, Sequence
from typing import NamedTuple

from syntagma.errors import InputError
from syntagma.tasks.comparison.metric_sums import Sums


class ComparedMetric(NamedTuple):
    """A metric on which runs are compared.

    Args:
        columns: the metrics to show.
        metric: the one of them whose difference is shown and tested.
        score: name of the score of a single example, on which two runs are compared.
        test: the paper's test: ``mcnemar``, ``t``, ``sign`` or ``randomisation``.
        sums: how the metric is computed from sums over examples; ``None`` if it is the mean of
            their scores.
        by_class: whether the metric is a mean over classes, whose counts each example's row holds.
    """

    columns: tuple[str, ...]
    metric: str
    score: str
    test: str
    sums: Sums | None = None
    by_class: bool = False


ACCURACY = ComparedMetric(("accuracy",), "accuracy", "accuracy", "t")
"""Also used to show tasks that define no comparison."""


def find_comparison(
    comparisons: Sequence[ComparedMetric], metrics: Container[str], metric: str = ""
) -> ComparedMetric:
    """Find the metric to compare runs on.

    Args:
        comparisons: the task's comparisons.
        metrics: names of a run's metrics.
        metric: the metric to test; by default the task's first one that the run has, or the
            task's first one if the run has none.

    Raises:
        InputError: the task defines no test for this metric.
    """
    comparisons = comparisons or (ACCURACY,)
    if not metric:
        return next((each for each in comparisons if each.metric in metrics), comparisons[0])
    for each in comparisons:
        if each.metric == metric and metric in metrics:
            return each
    raise _unknown(metric, [each.metric for each in comparisons if each.metric in metrics])


def check_metric(comparisons: Sequence[ComparedMetric], metric: str) -> None:
    """Check that runs can be compared on a metric, before there are scores.

    Args:
        comparisons: the task's comparisons.
        metric: the metric to test; empty for the task's default.

    Raises:
        InputError: the task defines no test for this metric.
    """
    known = [each.metric for each in comparisons or (ACCURACY,)]
    if metric and metric not in known:
        raise _unknown(metric, known)


def _unknown(metric: str, known: Sequence[str]) -> InputError:
    tested = ", ".join(known)
    return InputError(f"metric: runs of this task can be tested on {tested}; got {metric!r}")
