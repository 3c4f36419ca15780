"""Read CosmosQA and SWAG: one question per row, with its options in numbered columns."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from syntagma.csv_tables import read_table, row_mistake
from syntagma.errors import InputError
from syntagma.files import read_objects
from syntagma.json_values import whole_number
from syntagma.tasks.choice.example import Candidates, ChoiceExample, checked
from syntagma.tasks.collect import InvalidRecordError

Row = Mapping[str, Any]

NO_LABEL = -1
"""Label of the unlabelled rows in redistributed test files."""


def lines(file: str) -> Candidates:
    """Read CosmosQA as JSON lines.

    Raises:
        InputError: the file cannot be read.
    """
    yield from _questions(file, read_objects(file), _cosmos)


def table(file: str) -> Candidates:
    """Read CosmosQA or SWAG, recognised by the column names, as comma-separated values.

    Raises:
        InputError: the file cannot be read, or has the columns of neither.
    """
    names, rows = read_table(file)
    cosmos = {"context", "question", "answer0"} <= {*names}
    if not cosmos and not {"sent1", "sent2", "ending0"} <= {*names}:
        raise InputError(
            f"{file}: expected the columns of CosmosQA (context, question, answer0 …) or of "
            f"SWAG (sent1, sent2, ending0 …), got {', '.join(names)}"
        )
    yield from _questions(file, _numbered_rows(file, names, rows), _cosmos if cosmos else _swag)


def _numbered_rows(
    file: str, names: list[str], rows: Iterable[Any]
) -> Iterator[tuple[str, Row | str]]:
    """Yield each row with its position, or a message about what is wrong with it."""
    for number, row in enumerate(rows, start=1):
        where = f"{file}, row {number}"
        mistake = row_mistake(row, names)
        yield where, f"{where}: {mistake}" if mistake else row


def _questions(
    file: str, rows: Any, convert: Callable[[str, Row, str], ChoiceExample | str]
) -> Candidates:
    passages: dict[str, str] = {}
    stem = Path(file).name.split(".")[0]
    for number, (where, row) in enumerate(rows, start=1):
        if isinstance(row, str):
            yield row
            continue
        try:
            found = convert(where, row, f"{stem}-{number}")
        except InvalidRecordError as error:
            found = f"{where}: {error}"
        if isinstance(found, ChoiceExample):
            found = replace(found, passage=passages.setdefault(found.passage, found.passage))
        yield found


def _cosmos(where: str, row: Row, key: str) -> ChoiceExample | str:
    return checked(
        where,
        key=str(row.get("id") or key),
        passage=row.get("context"),
        question=row.get("question"),
        options=_numbered(row, "answer"),
        answer=_number(row.get("label")),
    )


def _swag(where: str, row: Row, key: str) -> ChoiceExample | str:
    return checked(
        where,
        key=key,
        passage=row.get("sent1"),
        question=row.get("sent2"),
        options=_numbered(row, "ending"),
        answer=_number(row.get("label")),
    )


def _numbered(row: Row, name: str) -> list[Any]:
    """Return the values of the columns ``name0``, ``name1``, …

    Raises:
        InvalidRecordError: a number is missing.
    """
    numbers = sorted(
        int(match[1]) for key in row if (match := re.fullmatch(rf"{name}([0-9]{{1,9}})", str(key)))
    )
    if numbers != list(range(len(numbers))):
        raise InvalidRecordError(f"expected {name}0, {name}1, {name}2 …, got numbers {numbers}")
    return [row[f"{name}{number}"] for number in numbers]


def _number(label: Any) -> int | None:
    if label is None or label == "":
        return None
    number = whole_number(label)
    if number is None:
        raise InvalidRecordError(f"expected a label 0, 1, 2 …, got {label!r:.20}")
    return None if number == NO_LABEL else number
