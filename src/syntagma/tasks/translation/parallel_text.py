"""Read parallel text: two files whose lines correspond, ``A.en+A.de``, each possibly gzipped."""

from __future__ import annotations

import logging
from dataclasses import dataclass
from itertools import zip_longest
from pathlib import Path

from syntagma.errors import BadExampleError, InputError
from syntagma.file_names import split_pair
from syntagma.files import text_lines

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class ParallelExample:
    """A source and its translation.

    Args:
        id: line number, from 1.
        source: the text to translate.
        target: the reference; empty if there is none.
    """

    id: str
    source: str
    target: str


def read_parallel(path: str | Path, *, skip_bad: bool = False) -> list[ParallelExample]:
    """Read the pairs of two files, or the sources of one.

    Args:
        path: ``SOURCE+TARGET``, or ``SOURCE`` for text without references.
        skip_bad: skip and count pairs with an empty side; without references, empty lines are
            kept, so that translations correspond to the source line by line.

    Raises:
        InputError: a file cannot be read; the files differ in length; a line is empty, and
            ``skip_bad`` is false; or no pair is left.
    """
    source, target = split_pair(str(path))
    pairs = _zip(source, target) if target else [(line, "") for line in text_lines(source)]
    examples: list[ParallelExample] = []
    empty = 0
    for number, (one, other) in enumerate(pairs, start=1):
        if one.strip() and (other.strip() or not target):
            examples.append(ParallelExample(str(number), one.strip(), other.strip()))
            continue
        if not skip_bad:
            file = target if one.strip() else source
            raise BadExampleError(f"{file}, line {number}: is empty, expected a sentence")
        empty += 1
        if not target:
            examples.append(ParallelExample(str(number), "", ""))
    if empty >= len(examples) and not any(example.source for example in examples):
        raise InputError(f"{path}: no sentence")
    if empty and target:
        log.warning("%s: skipped %d pairs with an empty side", path, empty)
    return examples


def _zip(source: str, target: str) -> list[tuple[str, str]]:
    pairs = list(zip_longest(text_lines(source), text_lines(target)))
    whole = [(one, other) for one, other in pairs if one is not None and other is not None]
    if len(whole) < len(pairs):
        counts = [sum(pair[side] is not None for pair in pairs) for side in (0, 1)]
        raise InputError(
            f"{source} has {counts[0]} lines and {target} {counts[1]}; expected files whose lines "
            f"correspond"
        )
    return whole
