"""Read questions with the paragraphs that were retrieved for them, in three formats.

``dev.jsonl`` and ``paragraphs.jsonl``
    One question per line, ``{"id", "question", "answers": […], "retrieved": [pid, …]}``, with an
    optional ``gold_pid``, the paragraph that the question is about, and optional ``scores``, the
    retriever's score of each retrieved paragraph; and one paragraph per line, ``{"pid", "text"}``,
    with an optional ``title``.  A field ``has_answer`` is ignored: answers are searched for in the
    paragraphs, since their offsets are needed.
``dev.txt`` and ``dev.json``
    SearchQA, Quasar-T, TriviaQA and WebQuestions in the format of Lin et al. (2018): one question
    per line, ``{"question", "answers": […]}`` (or ``answer``), and in the same line of the other
    file the list of its paragraphs, ``[{"document": […]}, …]``, with an optional ``id`` and
    ``score`` each.
``questions.jsonl`` and ``questions.json``
    DrQA's lists of questions, ``{"question", "answer": […]}``, with lists of paragraphs as above,
    whose text may also be called ``text``.  Answers are plain text: the regular expressions of
    CuratedTREC are not interpreted.

In all formats, an empty list of answers says that no paragraph answers the question; without the
field, a question is unlabelled.

The first format is recognised by the field ``retrieved``.  Questions, answers and texts are
strings, or lists of words, which are joined by single spaces.  All files may be gzipped.  If the
paragraphs are in another folder or have another name, give both: ``dev.txt+paragraphs.json.gz``.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import zip_longest
from pathlib import Path
from typing import Any

from syntagma.errors import InputError
from syntagma.file_names import is_named, split_pair, without_ending
from syntagma.files import read_lines
from syntagma.json_values import parse_json
from syntagma.tasks.collect import Collected, InvalidRecordError, gather
from syntagma.text.alignment import encodable

BY_ID = "paragraphs.jsonl"
SUFFIXES = (".txt", ".jsonl")
"""Endings of files of questions, before ``.gz``."""
RETRIEVED = re.compile(r'"retrieved"\s*:')


@dataclass(frozen=True, slots=True)
class Paragraph:
    """A retrieved paragraph.

    Args:
        id: id in its file; if there is none, the line and the index in its list.
        text: the paragraph; may be blank.
        title: title of the article; may be empty.
        score: how well it fits the question, as the retriever says: the higher the better, in any
            unit; ``None`` if unknown.
    """

    id: str
    text: str
    title: str = ""
    score: float | None = None


@dataclass(frozen=True, slots=True)
class OpenExample:
    """A question with retrieved paragraphs.

    Args:
        id: unique in its file; the line number if the file has no ids.
        question: the question.
        answers: texts of the gold answers; empty if unlabelled or impossible.
        paragraphs: the retrieved paragraphs, best first; may be empty.
        gold: the paragraph that the question is about, retrieved or not; ``None`` if unknown.
        is_impossible: whether no paragraph answers the question.
    """

    id: str
    question: str
    answers: tuple[str, ...]
    paragraphs: tuple[Paragraph, ...]
    gold: Paragraph | None = None
    is_impossible: bool = False


Found = Iterator["OpenExample | str"]


def read_open_qa(path: str | Path, *, skip_bad: bool = False) -> Collected[OpenExample]:
    """Read the questions of a file, with their paragraphs.

    Args:
        path: the questions, or ``QUESTIONS+PARAGRAPHS``, in one of the formats above.
        skip_bad: skip invalid lines instead of stopping at the first.

    Raises:
        InputError: a file is missing or cannot be read; files that should correspond line by line
            differ in length; a line is invalid, names an unknown paragraph or repeats an id, and
            ``skip_bad`` is false; or no valid question is left.
    """
    found = ((str(path), candidate) for candidate in _candidates(str(path)))
    return gather(found, skip_bad=skip_bad).require_some(f"{path}: no questions")


def is_open_qa_file(path: str | Path) -> bool:
    """Return whether a path is in one of the formats above, by its name; SQuAD's is ``.json``.

    Args:
        path: the questions, or ``QUESTIONS+PARAGRAPHS``.
    """
    first, second = split_pair(str(path))
    return bool(second) or is_named(first, *SUFFIXES)


def _candidates(path: str) -> Found:
    first, second = split_pair(path)
    if any(RETRIEVED.search(line) for line in read_lines(first)):
        return _by_id(first, second or _paragraph_file(first, BY_ID))
    if not second and not is_named(first, *SUFFIXES):
        raise InputError(
            f"{first}: expected questions as .txt or .jsonl (also with .gz), or both files as "
            f"QUESTIONS+PARAGRAPHS"
        )
    name = f"{Path(without_ending(first, *SUFFIXES)).name}.json"
    return _by_line(first, second or _paragraph_file(first, name))


def _paragraph_file(questions: str, name: str) -> str:
    """Find the file of paragraphs in the folder of the questions, gzipped or not."""
    for path in (Path(questions).with_name(name), Path(questions).with_name(f"{name}.gz")):
        if path.is_file():
            return str(path)
    raise InputError(
        f"{questions}: expected its paragraphs in the same folder as {name} (or {name}.gz); for "
        f"another file, write {questions}+FILE"
    )


def _by_id(questions: str, paragraphs: str) -> Found:
    """Read questions with ids of paragraphs; only these paragraphs are kept in memory."""
    rows: list[tuple[str, dict[str, Any]]] = []
    wanted: dict[str, Paragraph | None] = {}
    for number, line in _numbered(questions):
        where = f"{questions}, line {number}"
        try:
            row = _object(line, "question, answers and retrieved") | {"line": number}
            row["retrieved"] = [_key(key, "retrieved") for key in _list(row, "retrieved")]
            if row.get("gold_pid") is not None:
                row["gold_pid"] = _key(row["gold_pid"], "gold_pid")
                wanted[row["gold_pid"]] = None
            wanted |= dict.fromkeys(row["retrieved"])
            rows.append((where, row))
        except InvalidRecordError as error:
            yield f"{where}: {error}"
    yield from _fetch(paragraphs, wanted)
    for where, row in rows:
        try:
            named = [_named(key, wanted, paragraphs) for key in row["retrieved"]]
            if row.get("scores") is not None:
                named = _scored(named, _list(row, "scores"))
            gold = row.get("gold_pid")
            yield _example(row, named, None if gold is None else _named(gold, wanted, paragraphs))
        except InvalidRecordError as error:
            yield f"{where}: {error}"


def _fetch(path: str, wanted: dict[str, Paragraph | None]) -> Iterator[str]:
    """Fill in the wanted paragraphs, and yield messages about invalid lines."""
    for number, line in _numbered(path):
        try:
            row = _object(line, "pid and text")
            if "pid" not in row:
                raise InvalidRecordError(f"expected a pid, got only {', '.join(row)!r:.60}")
            key = _key(row["pid"], "pid")
            if key not in wanted:
                continue
            if wanted[key] is not None:
                raise InvalidRecordError(f"two paragraphs have the pid {key!r}")
            title = row.get("title")
            text = _text(row, "text")
            wanted[key] = Paragraph(key, text, title if isinstance(title, str) else "")
        except InvalidRecordError as error:
            yield f"{path}, line {number}: {error}"


def _named(key: str, paragraphs: dict[str, Paragraph | None], path: str) -> Paragraph:
    paragraph = paragraphs[key]
    if paragraph is None:
        raise InvalidRecordError(f"names the paragraph {key!r}, which is not in {path}")
    return paragraph


def _scored(paragraphs: list[Paragraph], scores: list[Any]) -> list[Paragraph]:
    if len(scores) != len(paragraphs):
        raise InvalidRecordError(
            f"expected as many scores as retrieved paragraphs ({len(paragraphs)}), got "
            f"{len(scores)}"
        )
    pairs = zip(paragraphs, scores, strict=True)
    return [replace(paragraph, score=_score(score)) for paragraph, score in pairs]


def _score(value: Any) -> float:
    # Not isinstance: in Python, unlike in JSON, True is an integer.
    if type(value) not in (int, float):
        raise InvalidRecordError(f"expected a number as a score, got {value!r:.40}")
    return float(value)


def _by_line(questions: str, paragraphs: str) -> Found:
    """Read questions and lists of paragraphs that correspond line by line."""
    # Equal paragraphs share one string object, which saves memory.
    texts: dict[str, str] = {}
    pairs = zip_longest(read_lines(questions), read_lines(paragraphs))
    for number, (line, listed) in enumerate(pairs, start=1):
        if not (line or "").strip() and not (listed or "").strip():
            continue
        if line is None or listed is None:
            longer, shorter = (paragraphs, questions) if line is None else (questions, paragraphs)
            if number == 1:
                raise InputError(f"{shorter}: is empty; expected a line for each of {longer}")
            raise InputError(
                f"{longer}: has a line {number}, but {shorter} has only {number - 1}; the files "
                f"must correspond line by line"
            )
        file = questions
        try:
            row = _object(line, "question and answer") | {"line": number}
            file = paragraphs
            read = _listed(listed, number, texts)
            file = questions
            yield _example(row, read)
        except InvalidRecordError as error:
            yield f"{file}, line {number}: {error}"


def _listed(line: str, number: int, texts: dict[str, str]) -> list[Paragraph]:
    """Parse the list of paragraphs in one line."""
    rows = _parsed(line)
    if not isinstance(rows, list):
        raise InvalidRecordError(f"expected a list of paragraphs, got {rows!r:.40}")
    paragraphs = []
    for index, row in enumerate(rows):
        if not isinstance(row, dict):
            raise InvalidRecordError(
                f"expected paragraphs as objects with document, got {row!r:.40}"
            )
        if not {"document", "text"} & row.keys():
            raise InvalidRecordError(
                f"expected text as 'document' or 'text', got only {', '.join(row)!r:.60}"
            )
        text = _text(row, "document" if "document" in row else "text")
        parts = row.get("id", row.get("pid", [number, index]))
        key = "-".join(map(str, parts)) if isinstance(parts, list) else str(parts)
        score = None if row.get("score") is None else _score(row["score"])
        paragraphs.append(Paragraph(key, texts.setdefault(text, text), score=score))
    if message := score_problem(paragraphs):
        raise InvalidRecordError(message)
    return paragraphs


def score_problem(paragraphs: Sequence[Paragraph]) -> str:
    """Describe what is wrong with the retriever's scores of paragraphs; empty if nothing is.

    Args:
        paragraphs: of one question.
    """
    scores = [each.score for each in paragraphs if each.score is not None]
    if scores and len(scores) < len(paragraphs):
        return (
            f"expected a score for every paragraph or for none, got {len(scores)} for "
            f"{len(paragraphs)} paragraphs"
        )
    wrong = [score for score in scores if not math.isfinite(score)]
    return f"expected finite scores, got {wrong[0]}" if wrong else ""


def _example(
    row: dict[str, Any], paragraphs: list[Paragraph], gold: Paragraph | None = None
) -> OpenExample:
    question = _text(row, "question")
    if not question.strip():
        raise InvalidRecordError("the question is empty; write its text")
    answers = _answers(row)
    return OpenExample(
        id=_key(row["id"], "id") if "id" in row else str(row["line"]),
        question=question,
        answers=answers or (),
        paragraphs=tuple(paragraphs),
        gold=gold,
        is_impossible=answers == (),
    )


def _answers(row: dict[str, Any]) -> tuple[str, ...] | None:
    """Return the gold answers; none if no paragraph has one, ``None`` if they are unknown."""
    name = "answers" if "answers" in row else "answer"
    if name not in row:
        return None
    given = [row[name]] if isinstance(row[name], str) else row[name]
    if not isinstance(given, list):
        raise InvalidRecordError(
            f"expected a list of answers, got {given!r:.40}; write [] if no paragraph answers the "
            f"question, and omit {name!r} if the answer is unknown"
        )
    answers = tuple(_joined(answer, "an answer") for answer in given)
    if not all(answer.strip() for answer in answers):
        raise InvalidRecordError("an answer is empty; write its text")
    return answers


def _numbered(path: str) -> Iterator[tuple[int, str]]:
    """Yield the lines that are not blank, with their numbers."""
    return ((number, line) for number, line in enumerate(read_lines(path), start=1) if line.strip())


def _parsed(line: str) -> Any:
    if not line.strip():
        raise InvalidRecordError("is blank, but the same line of the other file is not")
    try:
        return parse_json(line)
    except json.JSONDecodeError as error:
        raise InvalidRecordError(f"broken JSON at column {error.colno}: {error.msg}") from error
    except ValueError as error:
        raise InvalidRecordError(f"broken JSON ({error})") from error


def _object(line: str, keys: str) -> dict[str, Any]:
    row = _parsed(line)
    if not isinstance(row, dict):
        raise InvalidRecordError(f"expected an object with {keys}, got {row!r:.40}")
    return row


def _list(row: dict[str, Any], name: str) -> list[Any]:
    if not isinstance(row.get(name), list):
        raise InvalidRecordError(f"expected a list as {name!r}, got {row.get(name)!r:.40}")
    values: list[Any] = row[name]
    return values


def _key(value: Any, name: str) -> str:
    # Not isinstance: in Python, unlike in JSON, True is an integer.
    if type(value) not in (int, str):
        raise InvalidRecordError(f"expected a number or a string as {name!r}, got {value!r:.40}")
    return str(value)


def _text(row: dict[str, Any], name: str) -> str:
    if name not in row:
        raise InvalidRecordError(f"expected text as {name!r}, got only {', '.join(row)!r:.60}")
    return _joined(row[name], f"{name!r}")


def _joined(value: Any, name: str) -> str:
    """Return a string unchanged, and a list of words joined by spaces."""
    words = [value] if isinstance(value, str) else value
    if not isinstance(words, list) or not all(isinstance(word, str) for word in words):
        raise InvalidRecordError(f"expected text or a list of words as {name}, got {value!r:.40}")
    return encodable(" ".join(words))
