"""Score what users get: right, wrong, unsure and refused answers in each mode."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field

from syntagma.models.span_model import SpanHead
from syntagma.tasks.spans.answers import Answer, Mode, SpanPrediction
from syntagma.tasks.spans.metrics import exact_of, f1_of
from syntagma.tasks.spans.outcomes import MODES, give_answer
from syntagma.tasks.spans.reliability import calibration_error
from syntagma.tasks.spans.squad import SpanExample


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
    def of(cls, examples: Sequence[SpanExample], answers: Sequence[Answer]) -> OutcomeCounts:
        """Count the answers to labelled questions."""
        answerable: Counter[str] = Counter()
        unanswerable: Counter[str] = Counter()
        shown_f1 = 0.0
        for example, answer in zip(examples, answers, strict=True):
            if not example.has_answers:
                unanswerable[answer.outcome] += 1
                continue
            shown_f1 += f1_of(answer.text, example.answers)
            if answer.outcome == "answer":
                right = exact_of(answer.text, example.answers)
                answerable["right" if right else "wrong"] += 1
            else:
                answerable[answer.outcome] += 1
        return cls(answerable, unanswerable, shown_f1)

    def as_dict(self) -> dict[str, float]:
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


def user_scores(
    examples: Sequence[SpanExample], predictions: Sequence[SpanPrediction], head: SpanHead
) -> dict[str, float]:
    """Score what users get in each mode, and how well the two numbers are calibrated.

    Args:
        examples: labelled questions.
        predictions: for them, in the same order.
        head: settings of the reader, with its calibration.

    Returns:
        ``ece_confidence`` and ``ece_no_answer``, from 0 to 1; for each mode what
        :meth:`OutcomeCounts.as_dict` returns, as ``balanced.answer``.
    """
    values: dict[str, float] = {}
    for mode in MODES:
        answers = answers_in(mode, examples, predictions, head)
        if not values:
            right = [_best_is_right(*pair) for pair in zip(examples, answers, strict=True)]
            impossible = [example.is_impossible for example in examples]
            values["ece_confidence"] = calibration_error([a.confidence for a in answers], right)
            values["ece_no_answer"] = calibration_error([a.no_answer for a in answers], impossible)
        counts = OutcomeCounts.of(examples, answers).as_dict()
        values |= {f"{mode}.{name}": value for name, value in counts.items()}
    return values


def answers_in(
    mode: Mode,
    examples: Sequence[SpanExample],
    predictions: Sequence[SpanPrediction],
    head: SpanHead,
) -> list[Answer]:
    """Return what users get in a mode.

    Args:
        mode: the mode.
        examples: the questions with their passages.
        predictions: for them, in the same order.
        head: settings of the reader, with its calibration.
    """
    pairs = zip(examples, predictions, strict=True)
    return [give_answer(found, example.passage, head, mode=mode) for example, found in pairs]


def _best_is_right(example: SpanExample, answer: Answer) -> bool:
    best = answer.best
    return example.has_answers and best is not None and bool(exact_of(best.text, example.answers))
