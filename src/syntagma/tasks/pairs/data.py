"""Read labelled sentence pairs: SNLI, MNLI, SICK, and files with the same columns.

``.jsonl`` with ``sentence1``, ``sentence2`` and ``gold_label``; ``.tsv``, ``.txt`` and ``.csv``
with these columns, with GLUE's (``label``), or with those of SICK (``sentence_A``, ``sentence_B``,
``entailment_label``).  All may be gzipped.  Pairs without a label, or with ``-`` or ``-1`` because
annotators did not agree, are read and counted, but neither trained on nor scored.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from syntagma.csv_tables import read_table, row_mistake
from syntagma.errors import InputError
from syntagma.files import read_objects
from syntagma.tasks.collect import Collected, gather

FIRST = ("sentence1", "sentence_A", "premise")
SECOND = ("sentence2", "sentence_B", "hypothesis")
LABEL = ("gold_label", "entailment_label", "label", "entailment_judgment")
KEY = ("pairID", "pair_ID", "promptID", "index", "id")
PART = "SemEval_set"
"""The column of ``SICK.txt`` that assigns each pair to a split."""
NO_LABEL = ("", "-", "-1", "hidden")


@dataclass(frozen=True, slots=True)
class PairExample:
    """A labelled text pair.

    Args:
        id: unique in its file.
        first: the premise.
        second: the hypothesis.
        label: the gold label, in lower case; ``None`` if unlabelled.
    """

    id: str
    first: str
    second: str
    label: str | None


def read_pairs(path: str | Path, *, skip_bad: bool = False) -> Collected[PairExample]:
    """Read the pairs of a file.

    Args:
        path: a file in one of the formats above.
        skip_bad: skip invalid pairs instead of stopping at the first.

    Raises:
        InputError: the file cannot be read; a pair is invalid, and ``skip_bad`` is false; or no
            valid pair is left.
    """
    return gather(_with_unique_ids(str(path)), skip_bad=skip_bad).require_some(f"{path}: no pairs")


def _with_unique_ids(path: str) -> Iterator[tuple[str, PairExample | str]]:
    """Yield the examples, with the line added to ids that repeat, as they do outside of SNLI."""
    seen: set[str] = set()
    for where, row in _rows(path):
        example = row if isinstance(row, str) else _example(row, where)
        if isinstance(example, PairExample):
            line = where.rpartition(" ")[2]
            key = example.id or line
            while key in seen:
                key = f"{key}@{line}"
            seen.add(key)
            example = replace(example, id=key)
        yield where, example


def _rows(path: str) -> Iterator[tuple[str, Mapping[str, Any] | str]]:
    """Yield each row with its position, or a message about what is wrong with it."""
    name = path.lower().removesuffix(".gz")
    if name.endswith(".jsonl"):
        yield from read_objects(path)
    elif name.endswith((".tsv", ".txt", ".csv")):
        yield from _table_rows(path, "," if name.endswith(".csv") else "\t")
    else:
        raise InputError(f"{path}: expected pairs as .jsonl, .tsv, .txt or .csv (also with .gz)")


def _table_rows(path: str, separator: str) -> Iterator[tuple[str, Mapping[str, Any] | str]]:
    # SNLI and MNLI do not quote cells: a quotation mark is an ordinary character.
    names, rows = read_table(path, separator=separator, quoted=separator == ",")
    for wanted in (FIRST, SECOND):
        if not {*wanted} & {*names}:
            raise InputError(
                f"{path}: expected a column {' or '.join(wanted)}, got {', '.join(names)}"
            )
    if PART in names:
        raise InputError(
            f"{path}: contains several splits, named in its column {PART}; write each split to a "
            f"separate file without this column, so that test pairs are not trained on"
        )
    needed = [name for name in (*FIRST, *SECOND, *LABEL) if name in names]
    for number, row in enumerate(rows, start=2):
        where = f"{path}, line {number}"
        mistake = row_mistake(row, needed)
        yield where, f"{where}: {mistake}" if mistake else row


def _pick(row: Mapping[str, Any], names: tuple[str, ...]) -> Any:
    return next((row[name] for name in names if name in row), None)


def _example(row: Mapping[str, Any], where: str) -> PairExample | str:
    """Build the example of a row, or return a message about what is wrong with it."""
    first, second, label = (_pick(row, names) for names in (FIRST, SECOND, LABEL))
    for name, text in (("first", first), ("second", second)):
        if not isinstance(text, str) or not text.strip():
            return f"{where}: expected a {name} sentence, got {text!r:.40}"
    if label is not None and (isinstance(label, bool) or not isinstance(label, str | int)):
        return f"{where}: expected a label as words or a number, got {label!r:.40}"
    cleaned = "" if label is None else str(label).strip().lower()
    key = _pick(row, KEY)
    return PairExample(
        "" if key is None else str(key),
        str(first),
        str(second),
        None if cleaned in NO_LABEL else cleaned,
    )
