"""Properties of examples to group scores by: lengths, question words, answer types."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any, NamedTuple


class ExampleProperty(NamedTuple):
    """A property of a task's examples.

    Args:
        read: returns the value for an example; ``None`` if it has none, as a question without an
            answer has no answer length.
        is_number: whether values are numbers, which are grouped into ranges.
    """

    read: Callable[[Any], float | str | None]
    is_number: bool = False


def length_of(attribute: str) -> ExampleProperty:
    """Return the property "number of words", split at white space, of a text attribute."""
    return ExampleProperty(lambda example: len(getattr(example, attribute).split()), True)


def name_of(attribute: str) -> ExampleProperty:
    """Return the property "value of a categorical attribute", such as a label."""
    return ExampleProperty(lambda example: str(getattr(example, attribute)))


QUESTION_WORDS = re.compile(r"\b(what|who|whose|whom|when|where|which|why|how many|how much|how)\b")


def _question_word(example: Any) -> str:
    """Return the first question word; ``how many`` and ``how much`` count as one word each."""
    found = QUESTION_WORDS.search(" ".join(example.question.lower().split()))
    if found is None:
        return "other"
    return "who" if found[0] in ("whose", "whom") else found[0]


MONTHS = {
    "January", "February", "March", "April", "May", "June", "July", "August", "September",
    "October", "November", "December",
}  # fmt: skip
NUMERALS = {
    *"zero one two three four five six seven eight nine ten eleven twelve thirteen".split(),
    *"fourteen fifteen sixteen seventeen eighteen nineteen twenty thirty forty fifty sixty".split(),
    *"seventy eighty ninety hundred thousand million billion trillion dozen half".split(),
}


def _answer_type(example: Any) -> str:
    """Guess the type of the first gold answer from its form: date, number, name, word, phrase, …"""
    if not example.answers:
        return "none"
    words = example.answers[0].split()
    lower = [word.strip(".,;:()").lower() for word in words]
    digits = [word for word in lower if any(character.isdigit() for character in word)]
    years = [word for word in digits if word.isdigit() and len(word) == 4 and word[0] in "12"]
    if MONTHS & {word.strip(".,;:()") for word in words} or (years and len(words) <= 3):
        return "date"
    if digits or all(part in NUMERALS for part in "-".join(lower).split("-") if part != "and"):
        return "number"
    content = [word for word in words if word[:1].isalpha() and len(word) > 3] or words
    if all(word[:1].isupper() for word in content):
        return "name"
    return "word" if len(words) == 1 else "phrase" if len(words) <= 5 else "clause"


def _answer_length(example: Any) -> int | None:
    return len(example.answers[0].split()) if example.answers else None


QUESTION = {
    "question_length": length_of("question"),
    "question_word": ExampleProperty(_question_word),
}
ANSWERS = {
    "answer_length": ExampleProperty(_answer_length, is_number=True),
    "answer_type": ExampleProperty(_answer_type),
}
LABEL = {"label": name_of("label")}
"""Groupings of tasks whose examples have these attributes."""
