"""What finds passages: an index of ours, or a search engine that stands behind the same methods."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple, Protocol

from syntagma.reprs import brief, quoted


@dataclass(frozen=True, slots=True, repr=False)
class Passage:
    """A stretch of a document that is searched and read as a whole.

    Args:
        id: identifies it in its index.
        text: its text; ``document[start:end]`` in the text of its document.
        source: path or name of its document.
        start: character offset of its start in the text of its document.
        end: character offset of its end (exclusive).
        heading: the headings above it, outermost first, joined by ``›``; empty without any.
        page: number of the page on which it starts, from 1; ``None`` in formats without pages.
    """

    id: str
    text: str
    source: str = ""
    start: int = 0
    end: int = 0
    heading: str = ""
    page: int | None = None

    def __repr__(self) -> str:
        source = f"from {quoted(self.source)}" if self.source else ""
        return brief(self, repr(self.id), quoted(self.text), source)


class Hit(NamedTuple):
    """A passage that was found.

    Args:
        id: id of the passage.
        score: the higher, the better; comparable between questions only if the retriever says so.
    """

    id: str
    score: float


class Retriever(Protocol):
    """Anything that finds passages for questions.

    The two methods are apart so that retrievers can be combined by ids and scores alone, and so
    that the texts may live elsewhere than the search.
    """

    def search(self, questions: Sequence[str], *, top: int) -> list[list[Hit]]:
        """Find the best passages for each question.

        Args:
            questions: the questions.
            top: the greatest number of passages for each.

        Returns:
            For each question, passages with their scores, best first.
        """
        ...

    def passages(self, ids: Sequence[str]) -> list[Passage]:
        """Return the passages with these ids, in the same order.

        Args:
            ids: as :meth:`search` returned them.
        """
        ...
