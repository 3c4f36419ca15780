"""Collect the valid examples of a file; stop at the first invalid one, or skip and count them."""

from __future__ import annotations

import logging
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Generic, NamedTuple, Protocol, TypeVar

from syntagma.errors import BadExampleError

log = logging.getLogger(__name__)


class _Example(Protocol):
    @property
    def id(self) -> str: ...


Example = TypeVar("Example", bound=_Example)


class InvalidRecordError(Exception):
    """A record of a file is not as the format says; readers add its place and collect it."""


class Collected(NamedTuple, Generic[Example]):
    """The content of a file.

    Args:
        examples: the valid examples.
        skipped: a message for each invalid one.
    """

    examples: list[Example]
    skipped: list[str]


def gather(rows: Iterable[tuple[str, Example | str]], *, skip_bad: bool) -> Collected[Example]:
    """Collect valid examples.

    Args:
        rows: the place of each, and the example or a message of what is wrong with it.
        skip_bad: skip invalid ones instead of stopping at the first.

    Raises:
        BadExampleError: one is invalid, or has the id of another, and ``skip_bad`` is false.
    """
    examples: list[Example] = []
    skipped: list[str] = []
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
        skipped.append(problem)
    return Collected(examples, skipped)


def warn_of_skipped(path: str | Path, skipped: Sequence[str], what: str) -> None:
    """Warn how many examples of a file were skipped, and why the first was.

    Args:
        path: path of the file.
        skipped: a message for each skipped example.
        what: what the examples are, in the plural.
    """
    if skipped:
        log.warning("%s: skipped %d %s; the first: %s", path, len(skipped), what, skipped[0])
