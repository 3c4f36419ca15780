"""Which metric of a task is compared, and by which test."""

from __future__ import annotations

from collections.abc import Container
from typing import NamedTuple

from syntagma.report.sums import ARCS, BLEU, BRACKETS, FOUND_ARCS, MICRO_F1, Sums

__all__ = ["PLANS", "Plan", "find_plan"]


class Plan(NamedTuple):
    """How runs of a task are compared.

    Args:
        columns: the metrics to show.
        metric: the one of them whose difference is shown and tested.
        score: that of an example, by which it is better or worse.
        test: the paper's test: ``mcnemar``, ``t``, ``sign`` or ``randomisation``.
        sums: of what the metric is computed, where it is no mean of the scores.
    """

    columns: tuple[str, ...]
    metric: str
    score: str
    test: str
    sums: Sums | None = None


ACCURACY = Plan(("accuracy",), "accuracy", "accuracy", "t")
EXACT = Plan(("exact", "f1"), "exact", "exact", "mcnemar")
VERIFIED = Plan(("accuracy",), "accuracy", "accuracy", "mcnemar")
LABELLED_ARCS = Plan(("uas", "las", "xpos"), "las", "las", "randomisation", ARCS)
PHRASES = Plan(("bracket_f1", "xpos"), "bracket_f1", "bracket_f1", "randomisation", BRACKETS)

PLANS: dict[str, tuple[Plan, ...]] = {
    "choice": (ACCURACY,),
    "open_qa": (EXACT,),
    "pairs": (ACCURACY,),
    "parsing": (LABELLED_ARCS, PHRASES),
    "probing": (ACCURACY,),
    "relations": (
        Plan(
            ("precision", "recall", "f1", "macro_f1", "accuracy"),
            "f1", "accuracy", "randomisation", MICRO_F1,
        ),
    ),
    "spans": (EXACT, VERIFIED),
    "structural": (
        Plan(("accuracy", "spearman"), "accuracy", "accuracy", "randomisation", FOUND_ARCS),
    ),
    "translation": (Plan(("bleu",), "bleu", "bleu", "sign", BLEU),),
    "typing": (
        Plan(
            ("precision", "recall", "f1", "macro_f1", "strict_accuracy"),
            "f1", "f1", "randomisation", MICRO_F1,
        ),
    ),
}  # fmt: skip
"""For each task the metrics to show, where there are such, and the test of its paper; of several
plans the first whose metric a run has."""


def find_plan(task: str, metrics: Container[str]) -> Plan:
    """How runs with these metrics are compared; the task's first plan if none fits.

    Args:
        task: its name; tasks that are not compared are shown with their accuracy.
        metrics: names of a run's metrics.
    """
    plans = PLANS.get(task, (ACCURACY,))
    return next((plan for plan in plans if plan.metric in metrics), plans[0])
