"""Probing sets in SentEval's format: a line an example, ``split<TAB>label<TAB>sentence``.

A part of a file is named after a ``#``: ``tree_depth.txt#tr``, ``#va``, ``#te``.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from syntagma.errors import InputError
from syntagma.files import read_lines
from syntagma.outputs import write_text
from syntagma.settings import nearest
from syntagma.tasks.collect import gather, warn_of_skipped

__all__ = ["SPLITS", "ProbeExample", "read_probe", "write_probe"]

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
    found, wrong = gather(_lines(file), skip_bad=skip_bad)
    warn_of_skipped(file, wrong, "lines")
    examples = [example for example in found if example.split == wanted or not wanted]
    if not examples:
        parts = " and ".join(part for part in SPLITS if any(e.split == part for e in found))
        raise InputError(f"{path}: no example" + (f"; the file has {parts} alone" if parts else ""))
    return examples


def _lines(file: str) -> Iterator[tuple[str, ProbeExample | str]]:
    """The example of each line, or what is wrong with it."""
    for number, line in enumerate(read_lines(file), start=1):
        if not line.strip():
            continue
        place = f"{file}, line {number}"
        split, label, text = (*line.split("\t", 2), "", "")[:3]
        if split in SPLITS and label and text.strip():
            yield place, ProbeExample(str(number), split, label, text.strip())
            continue
        wanted = "tr, va or te, a label and a sentence with tabs between them"
        yield place, f"{place}: expected {wanted}, got {line[:40]!r}"


def write_probe(path: str | Path, examples: Iterable[ProbeExample]) -> None:
    """Write examples in SentEval's format."""
    write_text(path, "".join(f"{e.split}\t{e.label}\t{e.text}\n" for e in examples))
