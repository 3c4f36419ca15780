"""Multiple-choice questions, and the checks that all file formats share."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from syntagma.tasks.collect import InvalidRecordError

LETTERS = "ABCDEFGHIJ"


@dataclass(frozen=True, slots=True)
class ChoiceExample:
    """A question with its options.

    Args:
        id: unique in its file.
        passage: the text that the question is about.
        question: may be empty.
        options: at least two options.
        answer: index of the right option; ``None`` if unlabelled.
        subset: name of a part of the data that is also scored separately; may be empty.
    """

    id: str
    passage: str
    question: str
    options: tuple[str, ...]
    answer: int | None
    subset: str = ""


Candidates = Iterator["ChoiceExample | str"]
"""Examples, or messages about what is wrong with them."""


def checked(
    where: str,
    *,
    key: str,
    passage: Any,
    question: Any,
    options: Any,
    answer: int | None,
    subset: str = "",
) -> ChoiceExample | str:
    """Build an example, or return a message about what is wrong with it."""
    if not isinstance(passage, str) or not passage.strip():
        return f"{where}: expected a passage, got {passage!r:.40}"
    if not isinstance(question, str):
        return f"{where}: expected a question, got {question!r:.40}"
    if not isinstance(options, list) or len(options) < 2:
        return f"{where}: expected at least two options, got {options!r:.60}"
    if not all(isinstance(option, str) for option in options):
        return f"{where}: expected options as strings, got {options!r:.60}"
    if answer is not None and not 0 <= answer < len(options):
        return f"{where}: answer {answer} is out of range for {len(options)} options"
    return ChoiceExample(key, passage, question, tuple(options), answer, subset)


def letter(found: Any) -> int | None:
    """Return the index that a letter A, B, C … stands for; ``None`` if there is no answer.

    Raises:
        InvalidRecordError: the answer is not such a letter.
    """
    if found is None or found == "":
        return None
    if not isinstance(found, str) or len(found) != 1 or found not in LETTERS:
        raise InvalidRecordError(f"expected an answer A, B, C …, got {found!r:.20}")
    return LETTERS.index(found)
