"""Probing sets in SentEval's format: a line an example, ``split<TAB>label<TAB>sentence``.

A part of a file is named after a ``#``: ``tree_depth.txt#tr``, ``#va``, ``#te``.
"""

from __future__ import annotations

import logging
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from syntagma.errors import BadExampleError, InputError
from syntagma.files import read_lines
from syntagma.outputs import write_text
from syntagma.settings import nearest

__all__ = ["SPLITS", "ProbeExample", "read_probe", "write_probe"]

log = logging.getLogger(__name__)

SPLITS = ("tr", "va", "te")
"""Train, development and test."""


@dataclass(frozen=True, slots=True)
class ProbeExample:
    """A sentence and a property of it.

    Args:
        id: number of its line.
        split: one of :data:`SPLITS`.
        label: the property.
        text: the sentence, its words with spaces between them.
    """

    id: str
    split: str
    label: str
    text: str


def read_probe(path: str | Path, *, skip_bad: bool = False) -> list[ProbeExample]:
    """The examples of a file, or of a part of it.

    Args:
        path: ``FILE`` or ``FILE#SPLIT``.
        skip_bad: leave out lines that are not as the format says, and count them.

    Raises:
        InputError: the file cannot be read, a line is not as the format says and ``skip_bad`` is
            false, the part is unknown, or it is empty.
    """
    file, sharp, wanted = str(path).rpartition("#")
    if not sharp or Path(path).is_file():
        file, wanted = str(path), ""
    if wanted and wanted not in SPLITS:
        raise InputError(f"{path}: unknown part {wanted!r}; {nearest(wanted, SPLITS)}")
    examples: list[ProbeExample] = []
    others: set[str] = set()
    bad = 0
    for number, line in enumerate(read_lines(file), start=1):
        if not line.strip():
            continue
        split, label, text = (*line.split("\t", 2), "", "")[:3]
        if split not in SPLITS or not label or not text.strip():
            if not skip_bad:
                raise BadExampleError(
                    f"{file}, line {number}: expected tr, va or te, a label and a sentence with "
                    f"tabs between them, got {line[:40]!r}"
                )
            bad += 1
        elif split == wanted or not wanted:
            examples.append(ProbeExample(str(number), split, label, text.strip()))
        else:
            others.add(split)
    if bad:
        log.warning("%s: left out %d lines that are not as the format says", file, bad)
    if not examples:
        parts = " and ".join(part for part in SPLITS if part in others)
        raise InputError(f"{path}: no example" + (f"; the file has {parts} alone" if parts else ""))
    return examples


def write_probe(path: str | Path, examples: Iterable[ProbeExample]) -> None:
    """Write examples in SentEval's format."""
    write_text(path, "".join(f"{e.split}\t{e.label}\t{e.text}\n" for e in examples))
