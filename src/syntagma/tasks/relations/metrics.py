"""How well relations are found: micro scores without the negative class, SemEval's macro F1.

Micro precision, recall and F1 are those of TACRED's scorer: a guess of the negative class is no
guess, a gold negative nothing to find.  (Where nothing at all is guessed its precision is 100; here
it is 0, as in SemEval's; F1 is 0 in both.)
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Sequence

from syntagma.tasks.label_counts import LabelCounts

__all__ = [
    "count_classes",
    "count_relations",
    "find_negative",
    "is_directed",
    "macro_f1",
    "score_by_relation",
]

NEGATIVES = ("no_relation", "other", "na")
"""Names of the class that says that there is no relation, in lower case."""

DIRECTION = re.compile(r"\((?:e1,e2|e2,e1)\)$")


def find_negative(labels: Iterable[str]) -> str:
    """The negative class among labels by its name; empty where there is none.

    >>> find_negative(["Cause-Effect(e1,e2)", "Other"])
    'Other'
    """
    by_name = {label.lower(): label for label in labels}
    return next((by_name[name] for name in NEGATIVES if name in by_name), "")


def is_directed(labels: Collection[str], negative: str) -> bool:
    """Whether all labels but the negative one are written as SemEval's: ``Name(e1,e2)``."""
    relations = [label for label in labels if label != negative]
    return bool(relations) and all(map(DIRECTION.search, relations))


def count_relations(gold: Sequence[str], predicted: Sequence[str], negative: str) -> LabelCounts:
    """Counts over all relations but the negative one."""
    counts = score_by_relation(gold, predicted)
    return sum((own for name, own in counts.items() if name != negative), LabelCounts())


def score_by_relation(gold: Sequence[str], predicted: Sequence[str]) -> dict[str, LabelCounts]:
    """The counts of each relation, the negative one too, by their names in order."""
    counts: dict[str, LabelCounts] = {}
    for golden, found in zip(gold, predicted, strict=True):
        right = LabelCounts(int(golden == found), 0, 1)
        counts[golden] = counts.get(golden, LabelCounts()) + right
        counts[found] = counts.get(found, LabelCounts()) + LabelCounts(0, 1, 0)
    return dict(sorted(counts.items()))


def count_classes(
    gold: Sequence[str], predicted: Sequence[str], negative: str
) -> dict[str, LabelCounts]:
    """The counts of each class of the macro F1: both directions of a relation together.

    A right relation in the wrong direction is no right one.  The negative class is left out.
    """
    pooled: dict[str, LabelCounts] = {}
    for label, own in score_by_relation(gold, predicted).items():
        if label != negative:
            name = DIRECTION.sub("", label)
            pooled[name] = pooled.get(name, LabelCounts()) + own
    return pooled


def macro_f1(gold: Sequence[str], predicted: Sequence[str], negative: str) -> float:
    """SemEval's official score, in per cent.

    The "(9+1)-way evaluation with directionality taken into account": both directions of a relation
    are one class, a right relation in the wrong direction is a wrong answer that counts against its
    precision and its recall; the mean is over the classes that occur in the gold labels, the
    negative one left out.

    Args:
        gold: labels such as ``Cause-Effect(e1,e2)``.
        predicted: the same.
        negative: the class that is left out.
    """
    scores = [own.f1 for own in count_classes(gold, predicted, negative).values() if own.gold]
    return sum(scores) / len(scores) if scores else 0.0
