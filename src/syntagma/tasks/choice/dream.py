"""Read DREAM: a list of dialogues, each with its turns and questions."""

from __future__ import annotations

from typing import Any

from syntagma.errors import InputError
from syntagma.files import read_json
from syntagma.tasks.choice.example import Candidates, checked


def dream(file: str) -> Candidates:
    """Read questions about dialogues; each turn is one line of the passage.

    Raises:
        InputError: the file cannot be read, or is not a list.
    """
    records = read_json(file)
    if not isinstance(records, list):
        raise InputError(
            f"{file}: expected DREAM's list of dialogues, got {type(records).__name__}"
        )
    for number, record in enumerate(records, start=1):
        yield from _dialogue(f"{file}, dialogue {number}", record)


def _dialogue(where: str, record: Any) -> Candidates:
    try:
        turns, questions, key = record
        if not isinstance(turns, list):
            # A single string would be joined character by character.
            raise TypeError(f"turns must be a list of strings, got {turns!r:.30}")
        passage = "\n".join(turns)
        rows = [(row["question"], row["choice"], row.get("answer")) for row in questions]
    except (TypeError, ValueError, KeyError, AttributeError) as error:
        yield f"{where}: expected [turns, [{{question, choice, answer}}, …], id] ({error})"
        return
    for number, (question, choices, answer) in enumerate(rows):
        at = f"{where}, question {number + 1}"
        listed = choices if isinstance(choices, list) else []
        if answer is not None and listed and answer not in listed:
            yield f"{at}: answer {answer!r:.40} is not a choice"
            continue
        yield checked(
            at,
            key=f"{key}-{number}",
            passage=passage,
            question=question,
            options=choices,
            answer=listed.index(answer) if answer is not None and listed else None,
        )
