"""Read and write probing sets in SentEval's format: lines of ``split<TAB>label<TAB>sentence``.

A split of a file is selected after a ``#``: ``tree_depth.txt#tr``, ``#va``, ``#te``.
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

SPLITS = ("tr", "va", "te")
"""Training, validation and test."""


@dataclass(frozen=True, slots=True)
class ProbeExample:
    """A sentence with a property.

    Args:
        id: line number in its file.
        split: one of :data:`SPLITS`.
        label: value of the property.
        text: the sentence, tokenised, with spaces between the words.
    """

    id: str
    split: str
    label: str
    text: str


def read_probe(path: str | Path, *, skip_bad: bool = False) -> list[ProbeExample]:
    """Read the examples of a file, or of one split in it.

    Args:
        path: ``FILE`` or ``FILE#SPLIT``.
        skip_bad: skip and count invalid lines.

    Raises:
        InputError: the file cannot be read; a line is invalid, and ``skip_bad`` is false; the
            split is unknown; or there is no example.
    """
    file, sharp, wanted = str(path).rpartition("#")
    if not sharp or Path(path).is_file():
        file, wanted = str(path), ""
    if wanted and wanted not in SPLITS:
        raise InputError(f"{path}: unknown split {wanted!r}; {nearest(wanted, SPLITS)}")
    found, wrong = gather(_lines(file), skip_bad=skip_bad)
    warn_of_skipped(file, wrong, "lines")
    examples = [example for example in found if example.split == wanted or not wanted]
    if not examples:
        splits = " and ".join(split for split in SPLITS if any(e.split == split for e in found))
        hint = f"; the file only has the split {splits}" if splits else ""
        raise InputError(f"{path}: no example{hint}")
    return examples


def _lines(file: str) -> Iterator[tuple[str, ProbeExample | str]]:
    """Yield the example of each line, or a message about what is wrong with it."""
    for number, line in enumerate(read_lines(file), start=1):
        if not line.strip():
            continue
        where = f"{file}, line {number}"
        split, label, text = (*line.split("\t", 2), "", "")[:3]
        if split in SPLITS and label and text.strip():
            yield where, ProbeExample(str(number), split, label, text.strip())
            continue
        wanted = "tr, va or te, a label and a sentence"
        yield where, f"{where}: expected {wanted}, separated by tabs, got {line[:40]!r}"


def write_probe(path: str | Path, examples: Iterable[ProbeExample]) -> None:
    """Write examples in SentEval's format."""
    write_text(path, "".join(f"{e.split}\t{e.label}\t{e.text}\n" for e in examples))
