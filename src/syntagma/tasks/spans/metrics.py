"""The official metrics of SQuAD 1.1 and 2.0: exact match, F1, and the abstention threshold.

Rajpurkar et al. (2016, 2018).  The two evaluation scripts differ if a text is empty once
normalised: 1.1 keeps such gold answers and gives two empty texts an F1 of 0; 2.0 drops such gold
answers, scores against the empty text if none are left, and gives two empty texts an F1 of 1.  The
rules of 1.1 apply to data without impossible questions.
"""

from __future__ import annotations

import math
import re
import string
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from syntagma.errors import InputError
from syntagma.tasks.spans.answers import SpanPrediction
from syntagma.tasks.spans.squad import SpanExample, best_text

Rules = Literal["1.1", "2.0"]
Metric = Literal["exact", "f1"]
ARTICLES = re.compile(r"\b(?:a|an|the)\b")
NO_PUNCTUATION = str.maketrans("", "", string.punctuation)


def normalise(text: str) -> str:
    """Lower-case a text, remove ASCII punctuation and articles, and collapse white space.

    >>> normalise("The  U.S. Army's")
    'us armys'
    """
    # The official order: once its punctuation is removed, "A." is an article.
    return " ".join(ARTICLES.sub(" ", text.lower().translate(NO_PUNCTUATION)).split())


def _gold_texts(golds: Iterable[str], rules: Rules) -> list[str]:
    texts = [normalise(gold) for gold in golds]
    return texts if rules == "1.1" else [text for text in texts if text] or [""]


def exact_of(prediction: str, golds: Sequence[str], *, rules: Rules = "2.0") -> int:
    """Return 1 if the normalised prediction equals a normalised gold answer, else 0.

    Args:
        prediction: predicted text; empty for no answer.
        golds: gold answers; none if the question is impossible.
        rules: the version of the official script.
    """
    return int(normalise(prediction) in _gold_texts(golds, rules))


def f1_of(prediction: str, golds: Sequence[str], *, rules: Rules = "2.0") -> float:
    """Return the word-overlap F1 with the best-matching gold answer, from 0 to 1.

    Args:
        prediction: predicted text; empty for no answer.
        golds: gold answers; none if the question is impossible.
        rules: the version of the official script.
    """
    words = normalise(prediction).split()
    return max(_overlap(words, gold.split(), rules) for gold in _gold_texts(golds, rules))


def _overlap(predicted: list[str], gold: list[str], rules: Rules) -> float:
    if rules == "2.0" and not (predicted and gold):
        return float(predicted == gold)
    shared = (Counter(predicted) & Counter(gold)).total()
    if not shared:
        return 0.0
    # As the official script; 2 * shared / (sum of lengths) would differ in the last digit.
    precision, recall = shared / len(predicted), shared / len(gold)
    return 2 * precision * recall / (precision + recall)


@dataclass(frozen=True, slots=True)
class QuestionScore:
    """The scores of one prediction.

    Args:
        exact: exact match, 0 or 1.
        f1: F1, from 0 to 1.
        has_answers: whether the question has gold answers; otherwise it is impossible.
        answered: whether the prediction is not empty.
        missing: whether there is no prediction, not even an empty one; this counts as wrong.
    """

    exact: int
    f1: float
    has_answers: bool
    answered: bool
    missing: bool = False


def judge(
    examples: Sequence[SpanExample],
    predictions: Sequence[str | None],
    *,
    rules: Rules | None = None,
) -> list[QuestionScore]:
    """Score each question; sums, thresholds and significance tests are computed from the scores.

    Args:
        examples: labelled questions.
        predictions: a text for each question, empty for no answer; ``None`` if it is missing.
        rules: the version of the official script; by default 2.0 if any question is impossible,
            else 1.1.

    Raises:
        InputError: a question is unlabelled.
    """
    if rules is None:
        rules = "2.0" if any(example.is_impossible for example in examples) else "1.1"
    return [_judge(*pair, rules) for pair in zip(examples, predictions, strict=True)]


def _judge(example: SpanExample, prediction: str | None, rules: Rules) -> QuestionScore:
    if not example.is_labelled:
        raise InputError(
            f"question {example.id!r}: expected gold answers or is_impossible, got neither; an "
            f"unlabelled file can be predicted, but not scored"
        )
    if prediction is None:
        return QuestionScore(0, 0.0, example.has_answers, answered=False, missing=True)
    return QuestionScore(
        exact=exact_of(prediction, example.answers, rules=rules),
        f1=f1_of(prediction, example.answers, rules=rules),
        has_answers=example.has_answers,
        answered=bool(prediction),
    )


@dataclass(frozen=True, slots=True)
class Tally:
    """Number of questions, and sums of exact match and F1, which can be added up."""

    total: int = 0
    exact: int = 0
    f1: float = 0.0

    @classmethod
    def of(cls, rows: Sequence[QuestionScore]) -> Tally:
        """Sum over questions."""
        return cls(len(rows), sum(row.exact for row in rows), sum(row.f1 for row in rows))

    def __add__(self, other: Tally) -> Tally:
        return Tally(self.total + other.total, self.exact + other.exact, self.f1 + other.f1)

    def to_dict(self, prefix: str = "") -> dict[str, float]:
        """Return means, in per cent, and the number of questions, under the official names."""
        exact, f1 = (100.0 * value / max(self.total, 1) for value in (self.exact, self.f1))
        return {f"{prefix}exact": exact, f"{prefix}f1": f1, f"{prefix}total": self.total}


@dataclass(frozen=True, slots=True)
class SpanScore:
    """Scores as sums over questions, which can be added up.

    Args:
        overall: all questions; stored separately, since the sum of the two parts could differ in
            the last digit.
        has_answers: questions with gold answers.
        no_answers: impossible questions.
        missing: number of questions without a prediction, which count as wrong.
    """

    overall: Tally = Tally()
    has_answers: Tally = Tally()
    no_answers: Tally = Tally()
    missing: int = 0

    @classmethod
    def of(cls, rows: Sequence[QuestionScore]) -> SpanScore:
        """Sum over questions."""
        return cls(
            overall=Tally.of(rows),
            has_answers=Tally.of([row for row in rows if row.has_answers]),
            no_answers=Tally.of([row for row in rows if not row.has_answers]),
            missing=sum(row.missing for row in rows),
        )

    def __add__(self, other: SpanScore) -> SpanScore:
        return SpanScore(
            self.overall + other.overall,
            self.has_answers + other.has_answers,
            self.no_answers + other.no_answers,
            self.missing + other.missing,
        )

    @property
    def exact(self) -> float:
        """Exact match, in per cent."""
        return self.to_dict()["exact"]

    @property
    def f1(self) -> float:
        """F1, in per cent."""
        return self.to_dict()["f1"]

    def to_dict(self) -> dict[str, float]:
        """Return the metrics under the official names, without those of empty parts."""
        metrics = self.overall.to_dict()
        for prefix, part in (("HasAns_", self.has_answers), ("NoAns_", self.no_answers)):
            metrics |= part.to_dict(prefix) if part.total else {}
        return metrics | ({"missing": self.missing} if self.missing else {})


@dataclass(frozen=True, slots=True)
class FittedThreshold:
    """An abstention threshold, and the value of the metric at it, in per cent."""

    threshold: float
    value: float


def abstains(null_odds: float, threshold: float) -> bool:
    """Return whether a reader abstains; at odds equal to the threshold it answers."""
    return null_odds > threshold


def official_best(
    rows: Sequence[QuestionScore], null_odds: Sequence[float], *, metric: Metric = "f1"
) -> FittedThreshold:
    """Return the best value over thresholds, and the threshold, as the script of 2.0 defines them.

    The script adds answers one by one, by increasing odds, and keeps the first best state; before
    the first answer, the threshold is 0.  An answer to an impossible question costs 1, even if its
    text normalises to nothing.  As it also stops between equal odds, no threshold may reach the
    value, and the returned one may miss it; use :func:`best_threshold` to fit a model.

    Args:
        rows: scores of the best spans, as if the reader never abstained.
        null_odds: score of no answer minus that of the best span for each question.
        metric: the metric to maximise.
    """
    pairs = [pair for pair in zip(rows, null_odds, strict=True) if not pair[0].missing]
    best = current = float(sum(not row.has_answers for row, _ in pairs))
    threshold = 0.0
    for row, odds in sorted(pairs, key=lambda pair: pair[1]):
        current += getattr(row, metric) if row.has_answers else -row.answered
        if current > best:
            best, threshold = current, odds
    return FittedThreshold(threshold, 100.0 * best / max(len(rows), 1))


def best_threshold(
    rows: Sequence[QuestionScore], null_odds: Sequence[float], *, metric: Metric = "f1"
) -> FittedThreshold:
    """Find the threshold that maximises a metric, in one sweep over the odds (SG-Net's δ).

    It is halfway between the highest odds at which the reader answers and the lowest at which it
    abstains, so that rounding errors change no decision.  Of equally good thresholds it is the
    lowest.  Its value equals that of :func:`official_best` if no odds are equal, and no answer to
    an impossible question normalises to nothing.

    Args:
        rows: scores of the best spans, as if the reader never abstained.
        null_odds: score of no answer minus that of the best span for each question.
        metric: the metric to maximise.
    """
    pairs = [pair for pair in zip(rows, null_odds, strict=True) if not pair[0].missing]
    pairs.sort(key=lambda pair: pair[1])
    odds = [value for _, value in pairs]
    best = current = float(sum(not row.has_answers for row, _ in pairs))
    kept = 0
    for given, (row, value) in enumerate(pairs, start=1):
        current += getattr(row, metric) - (not row.has_answers)
        # No threshold separates equal odds, so only the last of them is a candidate.
        if current > best and (given == len(odds) or odds[given] > value):
            best, kept = current, given
    return FittedThreshold(_between(odds, kept), 100.0 * best / max(len(rows), 1))


def _between(odds: Sequence[float], kept: int) -> float:
    """Return a threshold at or above the first ``kept`` of sorted odds and below the others."""
    if not odds:
        return 0.0
    if kept == len(odds):
        return odds[-1] + 1.0
    if kept == 0:
        return min(odds[0] - 1.0, math.nextafter(odds[0], -math.inf))
    middle = odds[kept - 1] / 2 + odds[kept] / 2
    return middle if odds[kept - 1] <= middle < odds[kept] else odds[kept - 1]


def evaluate_spans(
    examples: Sequence[SpanExample],
    predictions: Mapping[str, str],
    *,
    null_odds: Mapping[str, float] | None = None,
) -> dict[str, float]:
    """Compute the official metrics of a file of predictions, under the official names.

    Args:
        examples: labelled questions.
        predictions: text by question id; a missing one counts as wrong and as ``missing``.
        null_odds: score of no answer minus that of the best span by question id; if given, the
            ``best_`` metrics are added.  These are meaningful only if ``predictions`` has the best
            span of every question, even where the reader abstains.

    Raises:
        InputError: a question is unlabelled, or a prediction has no odds.
    """
    rows = judge(examples, [predictions.get(example.id) for example in examples])
    metrics = SpanScore.of(rows).to_dict()
    if null_odds is None:
        return metrics
    for example, row in zip(examples, rows, strict=True):
        if not row.missing and example.id not in null_odds:
            raise InputError(
                f"expected null odds for every prediction, got none for {example.id!r}; write both "
                f"files from the same predictions"
            )
    odds = [null_odds.get(example.id, 0.0) for example in examples]
    # The official script sweeps equal odds in the order of the odds file, not of the data.
    rank = {key: number for number, key in enumerate(null_odds)}
    order = sorted(range(len(rows)), key=lambda i: rank.get(examples[i].id, 0))
    return metrics | _best([rows[i] for i in order], [odds[i] for i in order])


def score_answers(
    examples: Sequence[SpanExample], answers: Sequence[SpanPrediction]
) -> dict[str, float]:
    """Compute the official metrics of a reader's answers, as given and at the best thresholds.

    Raises:
        InputError: a question is unlabelled.
    """
    given = judge(examples, [answer.text for answer in answers])
    best = judge(examples, [best_text(answer) for answer in answers])
    return SpanScore.of(given).to_dict() | _best(best, [answer.null_odds for answer in answers])


def _best(rows: Sequence[QuestionScore], null_odds: Sequence[float]) -> dict[str, float]:
    exact, f1 = (official_best(rows, null_odds, metric=metric) for metric in ("exact", "f1"))
    return {
        "best_exact": exact.value,
        "best_exact_thresh": exact.threshold,
        "best_f1": f1.value,
        "best_f1_thresh": f1.threshold,
    }
