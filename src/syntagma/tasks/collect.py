"""Collect the valid examples of a file; stop at the first invalid one, or skip and count them."""

from __future__ import annotations

import logging
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Generic, NamedTuple, Protocol, TypeVar

from syntagma.errors import BadExampleError, InputError, first_wrong

log = logging.getLogger(__name__)


class _Example(Protocol):
    @property
    def id(self) -> str: ...


Example = TypeVar("Example", bound=_Example)


class InvalidRecordError(Exception):
    """A record violates its format; readers catch this, and add the position in the file."""


class Collected(NamedTuple, Generic[Example]):
    """The content of a file.

    Args:
        examples: the valid examples.
        skipped: a message for each invalid one.
    """

    examples: list[Example]
    skipped: list[str]

    def require_some(self, message: str) -> Collected[Example]:
        """Check that the file has at least one valid example.

        Args:
            message: of the error; the first problem in the file is appended.

        Raises:
            InputError: there is no valid example.
        """
        if not self.examples:
            raise InputError(f"{message}{first_wrong(self.skipped)}")
        return self


def gather(rows: Iterable[tuple[str, Example | str]], *, skip_bad: bool) -> Collected[Example]:
    """Collect valid examples.

    Args:
        rows: pairs of a position in the file, and the example there or a message about what is
            wrong with it.
        skip_bad: skip and count invalid examples instead of stopping at the first.

    Raises:
        BadExampleError: an example is invalid or repeats an id, and ``skip_bad`` is false.
    """
    examples: list[Example] = []
    skipped: list[str] = []
    first_seen: dict[str, str] = {}
    for where, example in rows:
        if isinstance(example, str):
            problem = example
        elif (first := first_seen.get(example.id)) is not None:
            problem = (
                f"{where}: two examples have the id {example.id!r}"
                if first == where
                else f"{where}: the id {example.id!r} is already used at {first}"
            )
            problem += "; make ids unique"
        else:
            first_seen[example.id] = where
            examples.append(example)
            continue
        if not skip_bad:
            raise BadExampleError(problem)
        skipped.append(problem)
    return Collected(examples, skipped)


def warn_of_skipped(path: str | Path, skipped: Sequence[str], what: str) -> None:
    """Log how many examples of a file were skipped, and why the first was.

    Args:
        path: the file.
        skipped: a message for each skipped example.
        what: what the examples are, in the plural ("questions").
    """
    if skipped:
        log.warning("%s: skipped %d %s; the first: %s", path, len(skipped), what, skipped[0])
