"""By which metrics runs of a task are compared, and by which test."""

from __future__ import annotations

from collections.abc import Container, Sequence
from typing import NamedTuple

from syntagma.errors import InputError
from syntagma.tasks.comparison.metric_sums import Sums


class ComparedMetric(NamedTuple):
    """A metric by which runs are compared.

    Args:
        columns: the metrics to show.
        metric: the one of them whose difference is shown and tested.
        score: the score of a single example, by which it is better or worse.
        test: the paper's test: ``mcnemar``, ``t``, ``sign`` or ``randomisation``.
        sums: how the metric is computed from sums over examples, where it is not a mean of scores.
        by_class: the metric is a mean over classes, whose counts are in the rows of examples.
    """

    columns: tuple[str, ...]
    metric: str
    score: str
    test: str
    sums: Sums | None = None
    by_class: bool = False


ACCURACY = ComparedMetric(("accuracy",), "accuracy", "accuracy", "t")
"""What tasks that are not compared are shown with, too."""


def find_comparison(
    comparisons: Sequence[ComparedMetric], metrics: Container[str], metric: str = ""
) -> ComparedMetric:
    """How runs with these metrics are compared.

    Args:
        comparisons: those of the task.
        metrics: names of a run's metrics.
        metric: the one to test; if not given, the first of the task's that the run has, or the
            task's first if it has none.

    Raises:
        InputError: the task has no test of this metric.
    """
    comparisons = comparisons or (ACCURACY,)
    if not metric:
        return next((each for each in comparisons if each.metric in metrics), comparisons[0])
    for each in comparisons:
        if each.metric == metric and metric in metrics:
            return each
    raise _unknown(metric, [each.metric for each in comparisons if each.metric in metrics])


def check_metric(comparisons: Sequence[ComparedMetric], metric: str) -> None:
    """Check that runs can be compared by a metric, before there are scores.

    Args:
        comparisons: those of the task.
        metric: to test; empty for that of the task's paper.

    Raises:
        InputError: the task has no test of it.
    """
    known = [each.metric for each in comparisons or (ACCURACY,)]
    if metric and metric not in known:
        raise _unknown(metric, known)


def _unknown(metric: str, known: Sequence[str]) -> InputError:
    tested = ", ".join(known)
    return InputError(f"--metric: runs of this task can be tested on {tested}; got {metric!r}")
