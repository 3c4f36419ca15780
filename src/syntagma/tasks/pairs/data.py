"""Pairs of sentences with a label: SNLI, MNLI, SICK, and any file of their shape.

``.jsonl`` with ``sentence1``, ``sentence2`` and ``gold_label``; ``.tsv``, ``.txt`` and ``.csv``
with these columns, with GLUE's (``label``), or with those of SICK (``sentence_A``, ``sentence_B``,
``entailment_label``).  All may be gzipped.  Pairs without a label, or with ``-`` where annotators
did not agree, are left out and counted.
"""

from __future__ import annotations

import csv
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from syntagma.errors import InputError
from syntagma.files import open_text, read_lines

__all__ = ["PairExample", "PairFile", "read_pairs"]

FIRST = ("sentence1", "sentence_A", "premise")
SECOND = ("sentence2", "sentence_B", "hypothesis")
LABEL = ("gold_label", "entailment_label", "label", "entailment_judgment")
KEY = ("pairID", "pair_ID", "promptID", "index", "id")
NO_LABEL = ("", "-", "hidden")


@dataclass(frozen=True, slots=True)
class PairExample:
    """Two texts and how they relate.

    Args:
        id: unique in its file.
        first: the premise.
        second: the hypothesis.
        label: the gold label, in lower case.
    """

    id: str
    first: str
    second: str
    label: str


class PairFile(NamedTuple):
    """What a file holds.

    Args:
        examples: the pairs with a label.
        unlabelled: how many had none.
        wrong: what was wrong with those left out.
    """

    examples: list[PairExample]
    unlabelled: int
    wrong: list[str]


def read_pairs(path: str | Path, *, skip_bad: bool = False) -> PairFile:
    """The pairs of a file.

    Args:
        path: see the module.
        skip_bad: leave out what is not as the format says, instead of stopping.

    Raises:
        InputError: the file cannot be read, or a pair is not as the format says and ``skip_bad`` is
            false, or no pair with a label is left.
    """
    found = PairFile([], 0, [])
    seen: set[str] = set()
    for place, row in _rows(str(path)):
        if isinstance(row, str):
            problem, example = row, None
        else:
            problem, example = _example(row, place)
        if problem:
            if not skip_bad:
                raise InputError(problem)
            found.wrong.append(problem)
        elif example is None:
            found = found._replace(unlabelled=found.unlabelled + 1)
        else:
            # SNLI's ids are unique; where others repeat, the line tells them apart.
            if example.id in seen or not example.id:
                example = PairExample(place.rpartition(" ")[2], *_texts(example))
            seen.add(example.id)
            found.examples.append(example)
    if not found.examples:
        raise InputError(f"{path}: no pair with a label ({found.unlabelled} without)")
    return found


def _texts(example: PairExample) -> tuple[str, str, str]:
    return example.first, example.second, example.label


def _rows(path: str) -> Iterator[tuple[str, Mapping[str, Any] | str]]:
    """Each row with its place, or what is wrong with it."""
    name = path.removesuffix(".gz")
    if name.endswith(".jsonl"):
        yield from _json_rows(path)
    elif name.endswith((".tsv", ".txt", ".csv")):
        yield from _table_rows(path, "," if name.endswith(".csv") else "\t")
    else:
        raise InputError(
            f"{path}: expected pairs as .jsonl, .tsv, .txt or .csv (also with .gz); rename the file"
        )


def _json_rows(path: str) -> Iterator[tuple[str, Mapping[str, Any] | str]]:
    for number, line in enumerate(read_lines(path), start=1):
        if not line.strip():
            continue
        place = f"{path}, line {number}"
        try:
            row = json.loads(line)
        except json.JSONDecodeError as error:
            yield place, f"{place}: broken JSON ({error})"
            continue
        if not isinstance(row, dict):
            yield place, f"{place}: expected an object with sentence1, sentence2 and gold_label"
            continue
        yield place, row


def _table_rows(path: str, separator: str) -> Iterator[tuple[str, Mapping[str, Any] | str]]:
    with open_text(path) as lines:
        # SNLI's and MNLI's tables do not quote: a quote is a character like any other.
        plain: dict[str, Any] = {} if separator == "," else {"quoting": csv.QUOTE_NONE}
        reader = csv.DictReader(lines, delimiter=separator, **plain)
        names = reader.fieldnames or []
        for wanted in (FIRST, SECOND):
            if not set(wanted) & set(names):
                raise InputError(
                    f"{path}: expected a column {' or '.join(wanted)}, got {', '.join(names)}"
                )
        for number, row in enumerate(reader, start=2):
            yield f"{path}, line {number}", row


def _pick(row: Mapping[str, Any], names: tuple[str, ...]) -> Any:
    return next((row[name] for name in names if name in row), None)


def _example(row: Mapping[str, Any], place: str) -> tuple[str, PairExample | None]:
    """What is wrong with a row, and its example; neither for a row without a label."""
    first, second, label = (_pick(row, names) for names in (FIRST, SECOND, LABEL))
    for name, text in (("first", first), ("second", second)):
        if not isinstance(text, str) or not text.strip():
            return f"{place}: expected a {name} sentence, got {text!r:.40}", None
    if label is None or (isinstance(label, str) and label.strip() in NO_LABEL):
        return "", None
    if not isinstance(label, str | int):
        return f"{place}: expected a label in words, got {label!r:.40}", None
    return "", PairExample(
        str(_pick(row, KEY) or ""), str(first), str(second), str(label).strip().lower()
    )
