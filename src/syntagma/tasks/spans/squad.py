"""Read SQuAD 1.1 and 2.0 files; write predictions, and read odds, in the official formats."""

from __future__ import annotations

import math
import sys
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from syntagma.errors import BadExampleError, InputError
from syntagma.files import read_json
from syntagma.outputs import write_json
from syntagma.tasks.prediction_files import read_json_by_id
from syntagma.tasks.spans.answers import SpanPrediction

KINDS = {
    list: "a list",
    str: "a string",
    int: "a whole number",
    float: "a number with a point",
    bool: "true or false",
}
LINES = (
    "; expected one object in the SQuAD format, {'data': […]}, not an object a line (JSON lines)"
)
"""Hint in the error message if a file continues after its first object."""
LARGEST = sys.float_info.max
"""JSON has no infinity, so infinite odds are written as the largest float."""
Examples = Sequence["SpanExample"]


@dataclass(frozen=True, slots=True)
class TeacherAnswers:
    """What a teacher thinks of a question: probabilities of spans, and of no answer.

    Args:
        starts: character offset of each span.
        ends: character offset after each span.
        probabilities: of each span.
        no_answer: probability that the passage does not answer the question.
    """

    starts: tuple[int, ...]
    ends: tuple[int, ...]
    probabilities: tuple[float, ...]
    no_answer: float


@dataclass(frozen=True, slots=True)
class SpanExample:
    """A question about a passage: with answers, impossible, or unlabelled.

    Args:
        id: unique in its file; predictions are keyed by it.
        passage: the passage.
        question: the question.
        title: title of the article; empty if the file has none.
        answers: gold answers, exactly as in the passage, including white space around them.
        answer_starts: character offset of each answer.
        is_impossible: whether the passage does not answer the question (SQuAD 2.0).
        teacher: what a teacher thinks of it, for distillation; an addition to the format.
    """

    id: str
    passage: str
    question: str
    title: str = ""
    answers: tuple[str, ...] = ()
    answer_starts: tuple[int, ...] = ()
    is_impossible: bool = False
    teacher: TeacherAnswers | None = None

    @property
    def has_answers(self) -> bool:
        """Whether there are gold answers (``HasAns`` in the official metrics)."""
        return bool(self.answers)

    @property
    def is_labelled(self) -> bool:
        """Whether the question has gold answers or is impossible; false in blind test files."""
        return self.has_answers or self.is_impossible


@dataclass(frozen=True, slots=True)
class SkippedQuestions:
    """How many questions were skipped for each reason, and the message about the first."""

    reasons: Mapping[str, int] = field(default_factory=dict)
    first: str = ""

    @property
    def total(self) -> int:
        """Number of skipped questions."""
        return sum(self.reasons.values())

    def __str__(self) -> str:
        reasons = ", ".join(f"{count} {reason}" for reason, count in self.reasons.items())
        return f"skipped {self.total} ({reasons}); the first: {self.first}" if reasons else ""


class _BadQuestion(InputError):
    def __init__(self, reason: str, message: str) -> None:
        super().__init__(message)
        self.reason = reason


def _short(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 60 else f"{text[:59]}…"


def _get(record: Any, key: str, kind: type, where: str) -> Any:
    if not isinstance(record, dict):
        raise InputError(f"{where}: expected an object with {key!r}, got {_short(record)}")
    if key not in record:
        keys = ", ".join(record)
        raise InputError(f"{where}: expected {KINDS[kind]} as {key!r}, got only {keys[:60]!r}")
    # Not isinstance: in Python, unlike in JSON, True is an integer.
    if type(record[key]) is not kind:
        got = _short(record[key])
        raise InputError(f"{where}: expected {KINDS[kind]} as {key!r}, got {got}")
    return record[key]


def _require_text(text: str, name: str, where: str) -> None:
    if not text.strip():
        raise _BadQuestion(f"empty {name}", f"{where}: the {name} is empty; write its text")
    # JSON can escape half of a surrogate pair, which neither tokenizers nor UTF-8 can represent.
    if not text.isascii() and text.encode("utf-8", "ignore").decode("utf-8") != text:
        message = f"{where}: the {name} has half of a surrogate pair; write the whole character"
        raise _BadQuestion(f"broken {name}", message)


def _wrong_start(passage: str, text: str, start: int, where: str) -> _BadQuestion:
    at = max(start, 0)
    offsets = {passage.rfind(text, 0, at + len(text)), passage.find(text, at)} - {-1}
    nearest = min(offsets, key=lambda offset: abs(offset - start), default=None)
    remedy = "it is not in the passage" if nearest is None else f"it is at {nearest}"
    here = passage[start : start + len(text)] if start >= 0 else ""
    message = f"expected the answer {_short(text)} at answer_start {start}, got {_short(here)}"
    return _BadQuestion("wrong answer_start", f"{where}: {message}; {remedy}")


def _gold(passage: str, record: dict[str, Any], where: str) -> Iterator[tuple[str, int]]:
    for number, answer in enumerate(_get(record, "answers", list, where)):
        text: str = _get(answer, "text", str, f"{where}: answers[{number}]")
        start: int = _get(answer, "answer_start", int, f"{where}: answers[{number}]")
        _require_text(text, "answer", where)
        # Python would count a negative offset from the end.
        if start < 0 or not passage.startswith(text, start):
            raise _wrong_start(passage, text, start, where)
        yield text, start


def _example(path: str | Path, title: str, passage: str, record: Any, where: str) -> SpanExample:
    key = _get(record, "id", str, where)
    where = f"{path}: question {_short(key)}"
    question = _get(record, "question", str, where)
    for name, text in (("id", key), ("question", question), ("passage", passage)):
        _require_text(text, name, where)
    impossible = "is_impossible" in record and _get(record, "is_impossible", bool, where)
    gold = list(_gold(passage, record, where)) if "answers" in record else None
    if gold is not None and bool(gold) == impossible:
        raise _BadQuestion(
            f"{'' if impossible else 'not '}impossible with{'' if gold else 'out'} answers",
            f'{where}: expected either answers or `"is_impossible": true`, got '
            f"{'both' if gold else 'neither'}; omit 'answers' if they are unknown",
        )
    texts, starts = zip(*gold, strict=True) if gold else ((), ())
    teacher = _teacher(passage, record, where) if "teacher" in record else None
    return SpanExample(key, passage, question, title, texts, starts, impossible, teacher)


def _teacher(passage: str, record: dict[str, Any], where: str) -> TeacherAnswers:
    where = f"{where}: teacher"
    given = record["teacher"]
    columns = [_get(given, name, list, where) for name in ("starts", "ends", "probabilities")]
    no_answer = _get(given, "no_answer", float, where)
    starts, ends, probabilities = map(tuple, columns)
    whole = len(starts) == len(ends) == len(probabilities)
    numbers = all(type(value) is int for value in starts + ends)
    shares = (no_answer, *probabilities)
    if (
        not whole
        or not numbers
        or not all(type(share) is float and 0 <= share <= 1 for share in shares)
        or not all(0 <= a < b <= len(passage) for a, b in zip(starts, ends, strict=True))
        or not 0.9 < math.fsum(shares) < 1.01
    ):
        raise _BadQuestion(
            "broken teacher",
            f"{where}: expected starts and ends of spans in the passage, and probabilities that "
            f"sum to 1 with no_answer, got {_short(given)}; write it again with "
            f"`experiments/make_data.py teach`",
        )
    return TeacherAnswers(starts, ends, probabilities, no_answer)


def _records(path: str | Path) -> Iterator[tuple[str, str, Any, str]]:
    """Yield title, passage, record and position of each question."""
    passages: dict[str, str] = {}
    articles = _get(read_json(path, extra=LINES), "data", list, f"{path}: not the SQuAD format")
    for a, article in enumerate(articles):
        paragraphs = _get(article, "paragraphs", list, f"{path}: data[{a}]")
        title = _get(article, "title", str, f"{path}: data[{a}]") if "title" in article else ""
        for p, paragraph in enumerate(paragraphs):
            where = f"{path}: data[{a}].paragraphs[{p}]"
            passage = _get(paragraph, "context", str, where)
            # Equal passages share one string object, which saves memory.
            passage = passages.setdefault(passage, passage)
            for q, record in enumerate(_get(paragraph, "qas", list, where)):
                yield title, passage, record, f"{where}.qas[{q}]"


def read_squad(
    path: str | Path, *, skip_bad: bool = False
) -> tuple[list[SpanExample], SkippedQuestions]:
    """Read the questions of a SQuAD 1.1 or 2.0 file.

    Args:
        path: the file, possibly gzipped; ``plausible_answers`` in it are ignored.
        skip_bad: skip and count invalid questions instead of stopping at the first.

    Returns:
        The questions, and how many were skipped.

    Raises:
        InputError: the file cannot be read or does not have the format; no valid question is left;
            or ``skip_bad`` is false, and a question is invalid: its answer is not at its offset,
            its id is not unique, its text or passage is empty, or its answers contradict
            ``is_impossible``.
    """
    examples: dict[str, SpanExample] = {}
    reasons: Counter[str] = Counter()
    first = ""
    for title, passage, record, where in _records(path):
        try:
            example = _example(path, title, passage, record, where)
            if example.id in examples:
                message = f"{path}: the id {_short(example.id)} occurs twice; make ids unique"
                raise _BadQuestion("duplicate id", message)
            examples[example.id] = example
        except InputError as error:
            if not skip_bad:
                raise BadExampleError(str(error)) from error
            first = first or str(error)
            reasons[getattr(error, "reason", "not in the format")] += 1
    skipped = SkippedQuestions(dict(reasons), first)
    if not examples:
        why = f"; {skipped}" if skipped.total else ""
        raise InputError(f"{path}: expected at least one question, got none{why}")
    return list(examples.values()), skipped


def best_text(answer: SpanPrediction) -> str:
    """Return the text of the best span, even if the reader abstains."""
    return answer.spans[0].text if answer.spans else answer.text


def _nbest(answer: SpanPrediction) -> list[dict[str, Any]]:
    rest = max(0.0, 1.0 - math.fsum(span.probability for span in answer.spans))
    rows = [
        {"text": s.text, "probability": s.probability, "score": s.score, "start": s.start}
        for s in answer.spans
    ]
    rows.append({"text": "", "probability": rest, "score": answer.null_score})
    return sorted(rows, key=lambda row: -row["score"])


Form = Literal["predictions", "best_predictions", "null_odds", "nbest"]
FORMS: dict[Form, Callable[[SpanPrediction], Any]] = {
    "predictions": lambda answer: answer.text,
    "best_predictions": best_text,
    "null_odds": lambda answer: max(-LARGEST, min(LARGEST, answer.null_odds)),
    "nbest": _nbest,
}


def write_predictions(
    path: str | Path,
    examples: Examples,
    answers: Sequence[SpanPrediction],
    *,
    form: Form = "predictions",
) -> None:
    """Write one of the official files, atomically: an object with question ids as keys.

    Args:
        path: the file.
        examples: the questions.
        answers: a prediction for each question, in the same order.
        form: ``predictions``: texts, empty for no answer.  ``best_predictions``: the text of the
            best span even for no answer; from these, the official script finds thresholds over
            ``null_odds``.  ``nbest``: candidates, best first, with a ``score`` instead of the
            official two logits, and the character offset ``start``.

    Raises:
        InputError: the file cannot be written.
    """
    write = FORMS[form]
    write_json(path, {ex.id: write(answer) for ex, answer in zip(examples, answers, strict=True)})


def read_null_odds(path: str | Path, examples: Examples) -> dict[str, float]:
    """Read ``null_odds.json``.

    Args:
        path: the file.
        examples: the questions that it answers.

    Returns:
        The odds by question id, in the order of the questions.

    Raises:
        InputError: the file cannot be read, is not an object of finite numbers, or does not answer
            exactly these questions.
    """
    ids = [example.id for example in examples]
    values = dict(zip(ids, read_json_by_id(path, ids), strict=True))
    for key, value in values.items():
        if type(value) not in (int, float) or not abs(value) <= LARGEST:
            raise InputError(f"{path}: expected a finite number as {key!r}, got {_short(value)}")
    return {key: float(value) for key, value in values.items()}
