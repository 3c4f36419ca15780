"""The examples of several files together: names of the files, distinct ids, a fingerprint."""

from __future__ import annotations

import hashlib
import logging
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from syntagma.errors import InputError
from syntagma.file_names import split_pair
from syntagma.reprs import full_repr

log = logging.getLogger(__name__)


def names_of(paths: Sequence[str]) -> list[str]:
    """A name for each data file: without folder and ending, or its path where that is another's.

    Raises:
        InputError: a file is named twice.

    >>> names_of(["data/en.txt+data/de.txt", "RACE.tar.gz#dev", "RACE.tar.gz#test"])
    ['en', 'RACE', 'RACE.tar.gz#test']
    """
    names: list[str] = []
    for path in paths:
        # Of files that belong together, A+B, the first gives the name.
        short = Path(split_pair(path)[0]).name.split(".")[0]
        names.append(path if short in names else short)
    if len(set(paths)) < len(paths) or len(set(names)) < len(names):
        raise InputError(f"a file is named twice: {', '.join(paths)}")
    return names


def distinct(parts: Mapping[str, Sequence[Any]]) -> dict[str, list[Any]]:
    """Examples of several files; where two have the same id, all get their file's name before it.

    Args:
        parts: the examples of each file, by its name.
    """
    ids = [{getattr(example, "id", None) for example in part} - {None} for part in parts.values()]
    if len(set().union(*ids)) == sum(map(len, ids)):
        return {name: list(part) for name, part in parts.items()}
    log.warning("files have the same ids: each gets the name of its file before it")
    return {
        name: [replace(example, id=f"{name}/{example.id}") for example in part]
        for name, part in parts.items()
    }


def fingerprint(examples: Iterable[Any]) -> str:
    """A hash of all that examples say, so that runs can be known to be scored on the same."""
    digest = hashlib.blake2b(digest_size=16)
    for example in examples:
        digest.update(full_repr(example).encode("utf-8", "surrogatepass"))
    return digest.hexdigest()
