"""Questions as JSON lines, one object a line, and their answers in the same form.

For batches of any size: lines are read, answered and written in constant memory.
"""

from __future__ import annotations

import json
from collections import deque
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from syntagma.errors import InputError
from syntagma.file_names import is_named
from syntagma.files import read_objects
from syntagma.tasks.spans.answers import Mode
from syntagma.tasks.spans.reader import Reader

PASSAGE = ("passage", "context")
"""Keys of the text; the second is that of SQuAD and of Transformers' pipelines."""
EXPECTED = 'expected {"passage": "…", "question": "…"}, and an "id" if you like'


@dataclass(frozen=True, slots=True)
class QuestionLine:
    """A question about a passage.

    Args:
        id: as given, or the number of the question in its file, from 1.
        passage: the passage.
        question: the question.
    """

    id: str | int
    passage: str
    question: str


def read_question_lines(path: str | Path) -> Iterator[QuestionLine]:
    """Yield the questions of a file of JSON lines, or of a JSON array in a file named ``.json``.

    Args:
        path: the file, plain or gzipped, or ``-`` for standard input, whose lines are read.

    Raises:
        InputError: the file cannot be read, or a line is not such an object; the lines before it
            were yielded.
    """
    found = False
    rows = read_objects(str(path), lines=not is_named(path, ".json"))
    for number, (where, row) in enumerate(rows, start=1):
        if isinstance(row, str):
            raise InputError(f"{row}; {EXPECTED}")
        passage = next((row[key] for key in PASSAGE if key in row), None)
        question, key = row.get("question"), row.get("id", number)
        for name, text in (("passage", passage), ("question", question)):
            if not isinstance(text, str) or not text.strip():
                got = "nothing" if text is None else repr(text)[:40]
                raise InputError(f"{where}: {EXPECTED}; got {got} as {name}")
        if type(key) not in (str, int):
            raise InputError(f"{where}: expected text or a whole number as id, got {key!r:.40}")
        found = True
        yield QuestionLine(key, str(passage), str(question))
    if not found:
        raise InputError(f"{path}: expected at least one line, got none; {EXPECTED}")


def answer_lines(
    lines: Iterable[QuestionLine],
    reader: Reader,
    *,
    mode: Mode | None = None,
    threshold: float | None = None,
) -> Iterator[str]:
    """Yield a line of JSON for each question: its id, and :meth:`Answer.to_dict`.

    Args:
        lines: the questions; those before an invalid one are answered first.
        reader: answers them.
        mode: as for :meth:`Reader.answer`.
        threshold: as for :meth:`Reader.answer`.

    Raises:
        InputError: a line is invalid.
    """
    waiting: deque[str | int] = deque()
    fault: list[InputError] = []

    def pairs() -> Iterator[tuple[str, str]]:
        try:
            for line in lines:
                waiting.append(line.id)
                yield line.passage, line.question
        except InputError as error:
            # The reader batches questions; raised here, it would lose those of the last batch.
            fault.append(error)

    for answer in reader.stream(pairs(), mode=mode, threshold=threshold):
        row: dict[str, Any] = {"id": waiting.popleft()} | answer.to_dict()
        yield json.dumps(row, ensure_ascii=False)
    if fault:
        raise fault[0]
