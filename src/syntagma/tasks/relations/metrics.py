"""Metrics of relation classification: micro scores without the negative class, macro F1.

Micro precision, recall and F1 follow TACRED's scorer: the negative class ("no relation") counts
neither as a prediction nor as a gold label.  One departure: if no relation is predicted at all,
precision is 0, as in SemEval's scorer, and not 100; F1 is 0 in both.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Sequence

from syntagma.tasks.label_counts import LabelCounts

NEGATIVES = ("no_relation", "other", "na")
"""Names of the negative class ("no relation"), in lower case."""

DIRECTION = re.compile(r"\((?:e1,e2|e2,e1)\)$")


def find_negative(labels: Iterable[str]) -> str:
    """Find the negative class among labels by its name; empty if there is none.

    >>> find_negative(["Cause-Effect(e1,e2)", "Other"])
    'Other'
    """
    by_name = {label.lower(): label for label in labels}
    return next((by_name[name] for name in NEGATIVES if name in by_name), "")


def is_directed(labels: Collection[str], negative: str) -> bool:
    """Return whether all labels but the negative one have SemEval's form ``Name(e1,e2)``."""
    relations = [label for label in labels if label != negative]
    return bool(relations) and all(map(DIRECTION.search, relations))


def count_relations(gold: Sequence[str], predicted: Sequence[str], negative: str) -> LabelCounts:
    """Count labels of all relations except the negative one."""
    counts = score_by_relation(gold, predicted)
    return sum((each for name, each in counts.items() if name != negative), LabelCounts())


def score_by_relation(gold: Sequence[str], predicted: Sequence[str]) -> dict[str, LabelCounts]:
    """Count labels of each relation, including the negative one, sorted by name."""
    counts: dict[str, LabelCounts] = {}
    for golden, found in zip(gold, predicted, strict=True):
        right = LabelCounts(int(golden == found), 0, 1)
        counts[golden] = counts.get(golden, LabelCounts()) + right
        counts[found] = counts.get(found, LabelCounts()) + LabelCounts(0, 1, 0)
    return dict(sorted(counts.items()))


def count_classes(
    gold: Sequence[str], predicted: Sequence[str], negative: str
) -> dict[str, LabelCounts]:
    """Count labels of each class of macro F1: both directions of a relation are one class.

    A relation with the right name but the wrong direction counts as wrong.  The negative class is
    excluded.
    """
    pooled: dict[str, LabelCounts] = {}
    for label, each in score_by_relation(gold, predicted).items():
        if label != negative:
            name = DIRECTION.sub("", label)
            pooled[name] = pooled.get(name, LabelCounts()) + each
    return pooled


def macro_f1(gold: Sequence[str], predicted: Sequence[str], negative: str) -> float:
    """Return SemEval's official score, in per cent.

    This is the "(9+1)-way evaluation with directionality taken into account": both directions of a
    relation are one class, and the wrong direction lowers its precision and its recall.  The mean
    is over the classes in the gold labels, except the negative one.

    Args:
        gold: gold labels such as ``Cause-Effect(e1,e2)``.
        predicted: predicted labels, in the same order.
        negative: the negative class, which is excluded.
    """
    scores = [each.f1 for each in count_classes(gold, predicted, negative).values() if each.gold]
    return sum(scores) / len(scores) if scores else 0.0
