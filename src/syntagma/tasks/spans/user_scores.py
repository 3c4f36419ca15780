"""Score what users get: right, wrong, unsure and refused answers in each mode."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from syntagma.tasks.spans.answers import BaseAnswer, Mode
from syntagma.tasks.spans.metrics import exact_of, f1_of
from syntagma.tasks.spans.outcomes import MODES
from syntagma.tasks.spans.reliability import calibration_error

Gold = Sequence[str]
"""The gold answers of a question; none if there is no answer in what is read."""
Answers = Sequence[BaseAnswer[Any, Any]]


@dataclass(frozen=True, slots=True)
class OutcomeCounts:
    """What users got in one mode, as counts and sums, which can be added up.

    Args:
        answerable: number of questions with an answer, by ``right`` and ``wrong`` answer,
            ``unsure`` and ``none``.
        unanswerable: number of questions without an answer, by outcome.
        shown_f1: sum of the F1 of what was shown for questions with an answer, sure or not.
    """

    answerable: Counter[str] = field(default_factory=Counter)
    unanswerable: Counter[str] = field(default_factory=Counter)
    shown_f1: float = 0.0

    def __add__(self, other: OutcomeCounts) -> OutcomeCounts:
        return OutcomeCounts(
            self.answerable + other.answerable,
            self.unanswerable + other.unanswerable,
            self.shown_f1 + other.shown_f1,
        )

    @classmethod
    def of(cls, golds: Sequence[Gold], answers: Answers) -> OutcomeCounts:
        """Count the answers to labelled questions."""
        answerable: Counter[str] = Counter()
        unanswerable: Counter[str] = Counter()
        shown_f1 = 0.0
        for gold, answer in zip(golds, answers, strict=True):
            if not gold:
                unanswerable[answer.outcome] += 1
                continue
            shown_f1 += f1_of(answer.text, gold)
            if answer.outcome == "answer":
                right = exact_of(answer.text, gold)
                answerable["right" if right else "wrong"] += 1
            else:
                answerable[answer.outcome] += 1
        return cls(answerable, unanswerable, shown_f1)

    def to_dict(self) -> dict[str, float]:
        """Return shares in per cent.

        ``answer``, ``unsure`` and ``none`` are shares of all questions, ``right_of_answered`` of
        the answers, the others of the questions with (``HasAns``) or without an answer (``NoAns``).
        """
        yes, no = self.answerable, self.unanswerable
        total = yes.total() + no.total()
        answered = yes["right"] + yes["wrong"] + no["answer"]
        values = {
            "answer": _percent(answered, total),
            "unsure": _percent(yes["unsure"] + no["unsure"], total),
            "none": _percent(yes["none"] + no["none"], total),
            "right_of_answered": _percent(yes["right"], answered),
        }
        if yes:
            for name in ("right", "wrong", "unsure", "none"):
                values[f"HasAns_{name}"] = _percent(yes[name], yes.total())
            values["HasAns_shown_f1"] = _percent(self.shown_f1, yes.total())
        if no:
            for name in ("answer", "unsure", "none"):
                values[f"NoAns_{name}"] = _percent(no[name], no.total())
        return values


def _percent(part: float, whole: float) -> float:
    return 100.0 * part / whole if whole else 0.0


def user_scores(golds: Sequence[Gold], give: Callable[[Mode], Answers]) -> dict[str, float]:
    """Score what users get in each mode, and how well the two numbers are calibrated.

    Args:
        golds: gold answers of each question.
        give: returns what users get in a mode, in the order of the questions.

    Returns:
        ``ece_confidence`` and ``ece_no_answer``, from 0 to 1; for each mode what
        :meth:`OutcomeCounts.to_dict` returns, as ``balanced.answer``.
    """
    values: dict[str, float] = {}
    for mode in MODES:
        answers = give(mode)
        if not values:
            right = [_best_is_right(*pair) for pair in zip(golds, answers, strict=True)]
            impossible = [not gold for gold in golds]
            values["ece_confidence"] = calibration_error([a.confidence for a in answers], right)
            values["ece_no_answer"] = calibration_error([a.no_answer for a in answers], impossible)
        counts = OutcomeCounts.of(golds, answers).to_dict()
        values |= {f"{mode}.{name}": value for name, value in counts.items()}
    return values


def _best_is_right(gold: Gold, answer: BaseAnswer[Any, Any]) -> bool:
    return bool(gold) and answer.best is not None and bool(exact_of(answer.best.text, gold))
