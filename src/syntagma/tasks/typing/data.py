"""Entity typing files: Open Entity and FIGER as ERNIE and K-Adapter publish them.

A list of objects, or one object a line (``.jsonl``), with ``sent``, the character offsets ``start``
and ``end`` of the mention, and its ``labels``, which may be none; ``ents`` (linked entities) is not
read.  An example without ``labels`` can be predicted, not scored.  All may be gzipped.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from syntagma.errors import InputError, first_wrong
from syntagma.files import read_objects
from syntagma.tasks.collect import Collected, gather
from syntagma.tasks.mentions.data import Mention, mention_problem, row_id


@dataclass(frozen=True, slots=True)
class TypingExample:
    """A mention and its types.

    Args:
        id: unique in its file.
        text: the sentence.
        mention: where it stands.
        labels: its types, perhaps none; ``None`` if unlabelled.
    """

    id: str
    text: str
    mention: Mention
    labels: tuple[str, ...] | None


def read_typing(path: str | Path, *, skip_bad: bool = False) -> Collected[TypingExample]:
    """The mentions of a file.

    Args:
        path: see the module.
        skip_bad: leave out what is not as the format says, instead of stopping.

    Raises:
        InputError: the file cannot be read, or a mention is not as the format says and ``skip_bad``
            is false, or none is left.
    """
    if not str(path).removesuffix(".gz").endswith((".json", ".jsonl")):
        raise InputError(
            f"{path}: expected mentions with their types as .json or .jsonl (also with .gz); "
            f"rename the file"
        )
    found = gather(_examples(path), skip_bad=skip_bad)
    if not found.examples:
        wanted = "expected objects with sent, start, end and labels"
        raise InputError(f"{path}: no mention; {wanted}{first_wrong(found.skipped)}")
    return found


def _examples(path: str | Path) -> Iterator[tuple[str, TypingExample | str]]:
    for number, (place, row) in enumerate(read_objects(path)):
        yield place, row if isinstance(row, str) else _example(row, place, number)


def _example(row: dict[str, Any], place: str, number: int) -> TypingExample | str:
    """The example of a row, or what is wrong with it."""
    text, start, end = (row.get(name) for name in ("sent", "start", "end"))
    if not isinstance(text, str) or not text.strip():
        return f"{place}: expected a sentence as `sent`, got {text!r:.40}"
    if type(start) is not int or type(end) is not int:
        return f"{place}: expected numbers as `start` and `end`, got {start!r:.20} and {end!r:.20}"
    if problem := mention_problem(text, (start, end)):
        return f"{place}: {problem}"
    labels = row.get("labels")
    if labels is not None:
        names = labels if isinstance(labels, list) else [None]
        if not all(isinstance(name, str) and name.strip() for name in names):
            return f"{place}: expected a list of words as `labels`, got {labels!r:.40}"
        labels = tuple(dict.fromkeys(labels))
    return TypingExample(row_id(row, number), text, (start, end), labels)
