"""Which metric of a task is compared, and by which test."""

from __future__ import annotations

from collections.abc import Container, Sequence
from typing import NamedTuple

from syntagma.errors import InputError
from syntagma.tasks.comparison.metric_sums import (
    ARCS,
    BLEU,
    BRACKETS,
    FOUND_ARCS,
    HEADS,
    LOOSE_MACRO_F1,
    MICRO_F1,
    Sums,
)

__all__ = ["PLANS", "Plan", "check_metric", "find_plan"]


class Plan(NamedTuple):
    """How runs of a task are compared.

    Args:
        columns: the metrics to show.
        metric: the one of them whose difference is shown and tested.
        score: that of an example, by which it is better or worse.
        test: the paper's test: ``mcnemar``, ``t``, ``sign`` or ``randomisation``.
        sums: of what the metric is computed, where it is no mean of the scores.
        by_class: the metric is a mean over classes, whose counts are in the rows of examples.
    """

    columns: tuple[str, ...]
    metric: str
    score: str
    test: str
    sums: Sums | None = None
    by_class: bool = False


ACCURACY = Plan(("accuracy",), "accuracy", "accuracy", "t")
EXACT = Plan(("exact", "f1"), "exact", "exact", "mcnemar")
ANSWER_F1 = EXACT._replace(metric="f1", score="f1", test="t")
VERIFIED = Plan(("accuracy",), "accuracy", "accuracy", "mcnemar")
RELATIONS = Plan(
    ("precision", "recall", "f1", "macro_f1", "accuracy"),
    "f1", "accuracy", "randomisation", MICRO_F1,
)  # fmt: skip
TYPES = Plan(
    ("precision", "recall", "f1", "macro_f1", "strict_accuracy"),
    "f1", "f1", "randomisation", MICRO_F1,
)  # fmt: skip
LABELLED_ARCS = Plan(("uas", "las", "xpos"), "las", "las", "randomisation", ARCS)
ATTACHED = LABELLED_ARCS._replace(metric="uas", score="uas", sums=HEADS)
PHRASES = Plan(("bracket_f1", "xpos"), "bracket_f1", "bracket_f1", "randomisation", BRACKETS)

PLANS: dict[str, tuple[Plan, ...]] = {
    "choice": (ACCURACY,),
    "open_qa": (EXACT, ANSWER_F1),
    "pairs": (ACCURACY,),
    "parsing": (LABELLED_ARCS, PHRASES, ATTACHED),
    "probing": (ACCURACY,),
    "relations": (
        RELATIONS,
        RELATIONS._replace(metric="macro_f1", sums=None, by_class=True),
        RELATIONS._replace(metric="accuracy", test="t", sums=None),
    ),
    "spans": (EXACT, VERIFIED, ANSWER_F1),
    "structural": (
        Plan(("accuracy", "spearman"), "accuracy", "accuracy", "randomisation", FOUND_ARCS),
    ),
    "translation": (Plan(("bleu",), "bleu", "bleu", "sign", BLEU),),
    "typing": (
        TYPES,
        TYPES._replace(metric="macro_f1", sums=LOOSE_MACRO_F1),
        TYPES._replace(metric="strict_accuracy", score="strict_accuracy", test="t", sums=None),
    ),
}  # fmt: skip
"""For each task the metrics to show, where there are such, and the test of each that has one; first
that of its paper."""


def find_plan(task: str, metrics: Container[str], metric: str = "") -> Plan:
    """How runs with these metrics are compared.

    Args:
        task: its name; tasks that are not compared are shown with their accuracy.
        metrics: names of a run's metrics.
        metric: the one to test; if not given, that of the task's first plan that fits, or of its
            first plan if none does.

    Raises:
        InputError: the task has no test of this metric.
    """
    plans = PLANS.get(task, (ACCURACY,))
    if not metric:
        return next((plan for plan in plans if plan.metric in metrics), plans[0])
    for plan in plans:
        if plan.metric == metric and metric in metrics:
            return plan
    raise _unknown(task, metric, [plan.metric for plan in plans if plan.metric in metrics])


def check_metric(task: str, metric: str) -> None:
    """Check that runs of a task can be compared by a metric, before there are scores.

    Args:
        task: its name.
        metric: to test; empty for that of the task's paper.

    Raises:
        InputError: the task has no test of it.
    """
    known = [plan.metric for plan in PLANS.get(task, (ACCURACY,))]
    if metric and metric not in known:
        raise _unknown(task, metric, known)


def _unknown(task: str, metric: str, known: Sequence[str]) -> InputError:
    tested = ", ".join(known)
    return InputError(f"runs of the task {task} can be tested on {tested}, got {metric!r}")
