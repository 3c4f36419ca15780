"""SQuAD 1.1 and 2.0 files in, predictions in the official formats out and back in."""

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
from syntagma.tasks.spans.answers import Answer

__all__ = [
    "SkippedQuestions",
    "SpanExample",
    "best_text",
    "read_null_odds",
    "read_predictions",
    "read_squad",
    "write_predictions",
]

KINDS = {list: "a list", str: "a string", int: "a whole number", bool: "true or false"}
LINES = (
    "; expected one object in the SQuAD format, {'data': […]}, not an object a line (JSON lines)"
)
"""Said where a file goes on behind its first object."""
MOST = sys.float_info.max
Examples = Sequence["SpanExample"]


@dataclass(frozen=True, slots=True)
class SpanExample:
    """A question about a passage: answered, impossible, or with gold answers kept from us.

    Args:
        id: unique in its file; predictions are keyed by it.
        passage: examples about the same passage share one string object.
        question: as asked.
        title: of the article, empty where the file gives none.
        answers: gold answers as they stand in the passage, white space around them included.
        answer_starts: character offset of each, ``passage.startswith(answer, start)``.
        is_impossible: the passage does not answer the question (SQuAD 2.0).
    """

    id: str
    passage: str
    question: str
    title: str = ""
    answers: tuple[str, ...] = ()
    answer_starts: tuple[int, ...] = ()
    is_impossible: bool = False

    @property
    def has_answers(self) -> bool:
        """Whether gold answers are known (``HasAns`` in the official metrics)."""
        return bool(self.answers)

    @property
    def is_labelled(self) -> bool:
        """Whether it can be learned from and scored; false for test files without gold."""
        return self.has_answers or self.is_impossible


@dataclass(frozen=True, slots=True)
class SkippedQuestions:
    """How many questions were left out for each reason, and the message about the first."""

    reasons: Mapping[str, int] = field(default_factory=dict)
    first: str = ""

    @property
    def total(self) -> int:
        """Questions left out."""
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
    # True is an int to Python, not to JSON; hence no isinstance.
    if type(record[key]) is not kind:
        got = _short(record[key])
        raise InputError(f"{where}: expected {KINDS[kind]} as {key!r}, got {got}")
    return record[key]


def _require_text(text: str, name: str, where: str) -> None:
    if not text.strip():
        raise _BadQuestion(f"empty {name}", f"{where}: the {name} is empty; write its text")
    # JSON can spell half of a surrogate pair; neither tokenizers nor UTF-8 files can hold it.
    if not text.isascii() and text.encode("utf-8", "ignore").decode("utf-8") != text:
        message = f"{where}: the {name} holds half of a surrogate pair; write the whole character"
        raise _BadQuestion(f"broken {name}", message)


def _wrong_start(passage: str, text: str, start: int, where: str) -> _BadQuestion:
    at = max(start, 0)
    places = {passage.rfind(text, 0, at + len(text)), passage.find(text, at)} - {-1}
    nearest = min(places, key=lambda place: abs(place - start), default=None)
    remedy = "it stands nowhere in the passage" if nearest is None else f"it stands at {nearest}"
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


def _example(path: str | Path, title: str, passage: str, record: Any, place: str) -> SpanExample:
    key = _get(record, "id", str, place)
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
            f"{'both' if gold else 'neither'}; leave 'answers' out where they are not known",
        )
    texts, starts = zip(*gold, strict=True) if gold else ((), ())
    return SpanExample(key, passage, question, title, texts, starts, impossible)


def _records(path: str | Path) -> Iterator[tuple[str, str, Any, str]]:
    """Title, passage, question record and its place, for each question."""
    passages: dict[str, str] = {}
    articles = _get(read_json(path, extra=LINES), "data", list, f"{path}: not the SQuAD format")
    for a, article in enumerate(articles):
        paragraphs = _get(article, "paragraphs", list, f"{path}: data[{a}]")
        title = _get(article, "title", str, f"{path}: data[{a}]") if "title" in article else ""
        for p, paragraph in enumerate(paragraphs):
            place = f"{path}: data[{a}].paragraphs[{p}]"
            passage = _get(paragraph, "context", str, place)
            passage = passages.setdefault(passage, passage)
            for q, record in enumerate(_get(paragraph, "qas", list, place)):
                yield title, passage, record, f"{place}.qas[{q}]"


def read_squad(
    path: str | Path, *, skip_bad: bool = False
) -> tuple[list[SpanExample], SkippedQuestions]:
    """The questions of a SQuAD 1.1 or 2.0 file (or a ``.gz`` of one), and what was left out.

    Args:
        path: the file; ``plausible_answers`` in it are not read.
        skip_bad: leave out questions that are not as the format says, instead of stopping at the
            first. A file that is not SQuAD at all stops all the same.

    Raises:
        InputError: the file cannot be read, is not in the format (the place is named), or a
            question is wrong (it is named): an answer that does not stand at its offset, an id
            that occurs twice, an empty question or passage, answers against ``is_impossible``.
    """
    examples: dict[str, SpanExample] = {}
    reasons: Counter[str] = Counter()
    first = ""
    for title, passage, record, place in _records(path):
        try:
            example = _example(path, title, passage, record, place)
            if example.id in examples:
                message = f"{path}: the id {_short(example.id)} occurs twice; give each its own"
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


def best_text(answer: Answer) -> str:
    """The text of the best span, whether or not the reader abstains."""
    return answer.spans[0].text if answer.spans else answer.text


def _nbest(answer: Answer) -> list[dict[str, Any]]:
    left = max(0.0, 1.0 - math.fsum(span.probability for span in answer.spans))
    rows = [
        {"text": s.text, "probability": s.probability, "score": s.score, "start": s.start}
        for s in answer.spans
    ]
    rows.append({"text": "", "probability": left, "score": answer.null_score})
    return sorted(rows, key=lambda row: -row["score"])


Form = Literal["predictions", "best_predictions", "null_odds", "nbest"]
FORMS: dict[Form, Callable[[Answer], Any]] = {
    "predictions": lambda answer: answer.text,
    "best_predictions": best_text,
    "null_odds": lambda answer: max(-MOST, min(MOST, answer.null_odds)),  # JSON has no infinity.
    "nbest": _nbest,
}


def write_predictions(
    path: str | Path, examples: Examples, answers: Sequence[Answer], *, form: Form = "predictions"
) -> None:
    """Write one of the official files, whole or not at all: an object with question ids as keys.

    Args:
        path: the file.
        examples: the questions.
        answers: one for each, in the same order.
        form: ``predictions``: texts, empty for no answer. ``best_predictions``: the best span's
            even there, with which the official script finds thresholds over ``null_odds``.
            ``nbest``: candidates, best first, with a ``score`` in place of the two logits and the
            character offset of their ``start``.

    Raises:
        InputError: the file cannot be written.
    """
    write = FORMS[form]
    write_json(path, {ex.id: write(answer) for ex, answer in zip(examples, answers, strict=True)})


def read_predictions(
    path: str | Path, examples: Examples, *, strict: bool = True
) -> dict[str, str]:
    """Read ``predictions.json`` back, in the order of the file.

    Args:
        path: the file.
        examples: the questions it should answer.
        strict: whether ids must be those of the questions; if not, unknown ones are dropped and
            missing ones stay missing, which the metrics count as wrong.

    Raises:
        InputError: the file cannot be read, is no object of texts, or has the wrong ids.
    """
    values = _read_by_id(path, examples, strict)
    return {key: _get(values, key, str, str(path)) for key in values}


def read_null_odds(
    path: str | Path, examples: Examples, *, strict: bool = True
) -> dict[str, float]:
    """Read ``null_odds.json`` back; arguments and errors as in :func:`read_predictions`."""
    values = _read_by_id(path, examples, strict)
    for key, value in values.items():
        if type(value) not in (int, float) or not abs(value) <= MOST:
            raise InputError(f"{path}: expected a finite number as {key!r}, got {_short(value)}")
    return {key: float(value) for key, value in values.items()}


def _read_by_id(path: str | Path, examples: Examples, strict: bool) -> dict[str, Any]:
    values = read_json(path)
    if not isinstance(values, dict):
        raise InputError(f"{path}: expected an object with question ids, got {_short(values)}")
    known = dict.fromkeys(example.id for example in examples)
    missing = [key for key in known if key not in values]
    unknown = [key for key in values if key not in known]
    for ids, trouble in ((missing, "missing"), (unknown, "not in the data")):
        if ids and strict:
            came = f"{len(ids)} {trouble}, for example {ids[0]!r}"
            raise InputError(f"{path}: expected the data's {len(known)} questions, got {came}")
    return {key: value for key, value in values.items() if key in known}
