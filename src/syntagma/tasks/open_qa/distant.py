"""Distant supervision: find gold answers, of which only the text is known, in paragraphs.

Texts are compared as in the official metrics, normalised; only whole words match, so that *art* is
not found in *party*.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

from syntagma.tasks.spans.metrics import ARTICLES, NO_PUNCTUATION, normalise


class AnswerSpan(NamedTuple):
    """Character offsets of an answer in a text; the end is exclusive."""

    start: int
    end: int


class AnswerFinder:
    """Finds the gold answers of one question in any number of texts.

    Args:
        answers: texts of the answers; one that normalises to nothing is never found.

    >>> AnswerFinder(["the ferry-boat"]).find("Two Ferry-Boats; a ferry-boat, they said.")
    AnswerSpan(start=19, end=29)
    """

    def __init__(self, answers: Sequence[str]) -> None:
        self._answers: dict[str, str] = {}
        for answer in answers:
            if words := normalise(answer):
                self._answers.setdefault(words, answer.strip())
        # Alternatives are tried in order: of several answers at one offset, find the longest.
        longest_first = sorted(self._answers, key=len, reverse=True)
        self._pattern = re.compile(_whole(*longest_first))

    def is_in(self, text: str) -> bool:
        """Return whether a text contains an answer."""
        return self._search(normalise(text)) is not None

    def find(self, text: str) -> AnswerSpan | None:
        """Find the first occurrence of an answer; ``None`` if there is none."""
        if not self.is_in(text):
            return None
        normal, origin = normalise_with_offsets(text)
        found = self._search(normal)
        assert found is not None
        span = AnswerSpan(origin[found.start()], origin[found.end() - 1] + 1)
        return _as_written(text, self._answers[found[0]], span)

    def _search(self, normal: str) -> re.Match[str] | None:
        # Most texts contain no answer, which a substring test finds out much faster.
        if not any(words in normal for words in self._answers):
            return None
        return self._pattern.search(normal)


def _whole(*texts: str) -> str:
    """Build a pattern that matches any of some texts, but not inside words."""
    return rf"(?<!\w)(?:{'|'.join(map(re.escape, texts))})(?!\w)"


def normalise_with_offsets(text: str) -> tuple[str, list[int]]:
    """Normalise a text, and return the offset in the original of each character."""
    lower = text.lower()
    origin: list[int] = list(range(len(text)))
    if len(lower) != len(text):
        # A few letters, such as "İ", have two characters in lower case.
        origin = [offset for offset, letter in enumerate(text) for _ in letter.lower()]
    kept = [index for index, letter in enumerate(lower) if ord(letter) not in NO_PUNCTUATION]
    letters = "".join(lower[index] for index in kept)
    spaced = ARTICLES.sub(lambda found: " " * len(found[0]), letters)
    normal: list[str] = []
    offsets: list[int] = []
    for found in re.finditer(r"\S+", spaced):
        within = [origin[index] for index in kept[found.start() : found.end()]]
        normal += [" ", found[0]] if normal else [found[0]]
        offsets += [within[0], *within] if offsets else within
    return "".join(normal), offsets


def _as_written(text: str, answer: str, span: AnswerSpan) -> AnswerSpan:
    """Extend a span by the punctuation and article of the answer, if the text has them too."""
    pattern = re.compile(_whole(answer), re.IGNORECASE)
    reach = max(0, span.start - len(answer)), span.end + len(answer)
    for found in pattern.finditer(text, *reach):
        if found.start() <= span.start and span.end <= found.end():
            return AnswerSpan(found.start(), found.end())
    return span
