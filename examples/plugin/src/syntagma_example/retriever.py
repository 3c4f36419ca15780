"""A retriever: the paragraphs of a text file that share most words with the question."""

from __future__ import annotations

import re
from collections.abc import Sequence

from syntagma import InputError
from syntagma.files import read_text
from syntagma.retrieval.retriever import Hit, Passage

PARAGRAPH = re.compile(r"\S.*?(?=\n\s*\n|\s*\Z)", re.DOTALL)


def words(text: str) -> set[str]:
    """Return the distinct words of a text, in lower case."""
    return set(re.findall(r"\w+", text.lower()))


class ParagraphRetriever:
    """Finds paragraphs of a text file, without an index.

    Args:
        argument: the file.
        device: ignored: it computes nothing.
    """

    def __init__(self, argument: str = "", *, device: str = "cpu") -> None:
        if not argument:
            raise InputError("retriever paragraphs: expected a file, as in paragraphs:FILE.txt")
        text = read_text(argument)
        self._passages = [
            Passage(str(number), found[0], source=argument, start=found.start(), end=found.end())
            for number, found in enumerate(PARAGRAPH.finditer(text))
        ]

    def search(self, questions: Sequence[str], *, top: int) -> list[list[Hit]]:
        """Find the paragraphs with the greatest share of each question's words."""
        return [self._search(words(question), top) for question in questions]

    def _search(self, asked: set[str], top: int) -> list[Hit]:
        hits = [
            Hit(each.id, len(asked & words(each.text)) / max(len(asked), 1))
            for each in self._passages
        ]
        return sorted(hits, key=lambda hit: -hit.score)[:top]

    def passages(self, ids: Sequence[str]) -> list[Passage]:
        """Return the paragraphs with these ids."""
        return [self._passages[int(each)] for each in ids]
