"""Names of files: their endings, and pairs of them."""

from __future__ import annotations

from pathlib import Path

PAIR = "+"
"""Separates the names of two parallel files."""


def split_pair(path: str) -> tuple[str, str]:
    """Split ``FIRST+SECOND`` into two paths; the second is empty if there is only one.

    File and folder names may themselves contain ``+``, so the split is at the first ``+`` whose
    left side is an existing file.
    """
    splits = [position for position, character in enumerate(path) if character == PAIR]
    if not splits or Path(path).is_file():
        return path, ""
    split = next((split for split in splits if Path(path[:split]).is_file()), splits[0])
    return path[:split], path[split + 1 :]


def is_named(path: str | Path, *suffixes: str) -> bool:
    """Whether the name of a file ends in one of the suffixes, perhaps with ``.gz`` after it."""
    return str(path).lower().removesuffix(".gz").endswith(suffixes)


def without_ending(path: str, *suffixes: str) -> str:
    """Drop ``.gz`` and then one of the suffixes from the end of a path, if they are there.

    >>> without_ending("data/Dev.TSV.gz", ".tsv"), without_ending("dev.tsv", ".txt")
    ('data/Dev', 'dev.tsv')
    """
    for endings in ((".gz",), suffixes):
        found = next((one for one in endings if path.lower().endswith(one)), "")
        path = path[: len(path) - len(found)]
    return path
