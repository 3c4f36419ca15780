"""The good examples of a file; bad ones stop the reading, or are left out and counted."""

from __future__ import annotations

import logging
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Protocol, TypeVar

from syntagma.errors import BadExampleError

__all__ = ["gather", "warn_of_skipped"]

log = logging.getLogger(__name__)


class _Example(Protocol):
    @property
    def id(self) -> str: ...


Example = TypeVar("Example", bound=_Example)


def gather(
    rows: Iterable[tuple[str, Example | str]], *, skip_bad: bool
) -> tuple[list[Example], list[str]]:
    """Examples, and what was wrong with those that were left out.

    Args:
        rows: the place of each, and the example or what is wrong with it.
        skip_bad: leave bad ones out instead of stopping at the first.

    Raises:
        BadExampleError: one is bad, or has the id of another, and ``skip_bad`` is false.
    """
    examples: list[Example] = []
    wrong: list[str] = []
    places: dict[str, str] = {}
    for place, example in rows:
        if isinstance(example, str):
            problem = example
        elif (first := places.get(example.id)) is not None:
            problem = (
                f"{place}: two examples have the id {example.id!r}"
                if first == place
                else f"{place}: the id {example.id!r} stands at {first} already"
            )
            problem += "; give each its own"
        else:
            places[example.id] = place
            examples.append(example)
            continue
        if not skip_bad:
            raise BadExampleError(problem)
        wrong.append(problem)
    return examples, wrong


def warn_of_skipped(path: str | Path, wrong: Sequence[str], what: str) -> None:
    """Say how many examples of a file are not as its format says, and what is wrong with the first.

    Args:
        path: of the file.
        wrong: what is wrong with each that was left out.
        what: they are, in the plural.
    """
    if wrong:
        log.warning("%s: left out %d %s; the first: %s", path, len(wrong), what, wrong[0])
