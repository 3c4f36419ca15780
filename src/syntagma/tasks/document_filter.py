"""Choose training examples by the document that they come from."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import TypeVar

from syntagma.errors import InputError

Example = TypeVar("Example")

SHOWN = 5
"""Ids of documents that an error message lists."""


@dataclass(frozen=True)
class DocumentFilter:
    """Which documents to learn from, for example those whose licence permits it.

    Patterns are those of file names: ``GUM_fiction_*`` matches every id that begins so.

    Args:
        include: learn only from documents that match one of these patterns; from all if empty.
        exclude: do not learn from documents that match one of these patterns.
    """

    include: tuple[str, ...] = ()
    exclude: tuple[str, ...] = ()

    def __bool__(self) -> bool:
        return bool(self.include or self.exclude)

    def accepts(self, document: str) -> bool:
        """Whether to learn from the document with this id."""
        included = not self.include or any(fnmatchcase(document, each) for each in self.include)
        return included and not any(fnmatchcase(document, each) for each in self.exclude)

    def select(
        self, examples: Sequence[Example], document_of: Callable[[Example], str]
    ) -> list[Example]:
        """Return the examples of the documents to learn from, in their order.

        Args:
            examples: the training examples.
            document_of: returns the id of an example's document; empty if it is unknown.

        Raises:
            InputError: no example names its document, a pattern matches no document, or no
                example is left.
        """
        ids = sorted({document_of(example) for example in examples} - {""})
        if not ids:
            raise InputError(
                "data.documents: the training data do not name their documents (comments "
                "`# newdoc id = …` of CoNLL-U do); omit this setting"
            )
        for name, patterns in (("include", self.include), ("exclude", self.exclude)):
            for pattern in patterns:
                if not any(fnmatchcase(document, pattern) for document in ids):
                    shown = ", ".join(ids[:: max(1, len(ids) // SHOWN)][:SHOWN])
                    raise InputError(
                        f"data.documents.{name}: {pattern!r} matches none of the {len(ids)} "
                        f"documents; their ids are such as {shown}"
                    )
        chosen = [example for example in examples if self.accepts(document_of(example))]
        if not chosen:
            raise InputError("data.documents: no training example is left; exclude fewer documents")
        return chosen
