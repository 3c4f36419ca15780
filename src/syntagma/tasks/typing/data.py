"""Read entity typing files: Open Entity and FIGER as published with ERNIE and K-Adapter.

A list of objects, or one object per line (``.jsonl``), with ``sent``, the character offsets
``start`` and ``end`` of the mention, and its ``labels``, a list that may be empty; ``ents`` (linked
entities) is ignored.  An example without ``labels`` is unlabelled: it can be predicted, but not
scored.  All files may be gzipped.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from syntagma.errors import InputError
from syntagma.file_names import is_named
from syntagma.files import read_objects
from syntagma.tasks.collect import Collected, gather
from syntagma.tasks.mentions.data import Mention, mention_problem, row_id


@dataclass(frozen=True, slots=True)
class TypingExample:
    """A mention and its types.

    Args:
        id: unique in its file.
        text: the sentence.
        mention: character offsets of the mention.
        labels: its types, which may be none; ``None`` if unlabelled.
    """

    id: str
    text: str
    mention: Mention
    labels: tuple[str, ...] | None


def read_typing(path: str | Path, *, skip_bad: bool = False) -> Collected[TypingExample]:
    """Read the mentions of a file.

    Args:
        path: a file in the format above.
        skip_bad: skip invalid mentions instead of stopping at the first.

    Raises:
        InputError: the file cannot be read; a mention is invalid, and ``skip_bad`` is false; or no
            valid mention is left.
    """
    if not is_named(path, ".json", ".jsonl"):
        raise InputError(
            f"{path}: expected mentions with their types as .json or .jsonl (also with .gz); "
            f"rename the file"
        )
    empty = f"{path}: no mention; expected objects with sent, start, end and labels"
    return gather(_examples(path), skip_bad=skip_bad).require_some(empty)


def _examples(path: str | Path) -> Iterator[tuple[str, TypingExample | str]]:
    # FIGER has two million mentions of a hundred types: equal labels and texts are kept once.
    known: dict[Any, Any] = {}
    text = ""
    for number, (where, row) in enumerate(read_objects(path)):
        example = row if isinstance(row, str) else _example(row, where, number)
        if isinstance(example, TypingExample):
            labels = example.labels
            if labels is not None:
                labels = known.setdefault(labels, tuple(map(sys.intern, labels)))
            # The mentions of a text follow one another.
            text = text if example.text == text else example.text
            example = TypingExample(example.id, text, example.mention, labels)
        yield where, example


def _example(row: dict[str, Any], where: str, number: int) -> TypingExample | str:
    """Build the example of a row, or return a message about what is wrong with it."""
    text, start, end = (row.get(name) for name in ("sent", "start", "end"))
    if not isinstance(text, str) or not text.strip():
        return f"{where}: expected a sentence as `sent`, got {text!r:.40}"
    if type(start) is not int or type(end) is not int:
        return f"{where}: expected numbers as `start` and `end`, got {start!r:.20} and {end!r:.20}"
    if problem := mention_problem(text, (start, end)):
        return f"{where}: {problem}"
    labels = row.get("labels")
    if labels is not None:
        names = labels if isinstance(labels, list) else [None]
        if not all(isinstance(name, str) and name.strip() for name in names):
            return f"{where}: expected a list of non-empty strings as `labels`, got {labels!r:.40}"
        labels = tuple(dict.fromkeys(labels))
    return TypingExample(row_id(row, number), text, (start, end), labels)
