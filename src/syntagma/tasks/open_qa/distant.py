"""Distant supervision: where a paragraph contains an answer of which only the words are known.

Words are compared as the official metrics compare them: normalised, and whole ones only, so that
*art* is not found in *party*.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

from syntagma.tasks.spans.metrics import ARTICLES, NO_PUNCTUATION, normalise

__all__ = ["AnswerFinder", "Place"]


class Place(NamedTuple):
    """Where an answer stands in a text: character offsets, the second after its end."""

    start: int
    end: int


class AnswerFinder:
    """Finds the gold answers of one question in any number of texts.

    Args:
        answers: in words; those that normalise to nothing are never found.

    >>> AnswerFinder(["the ferry-boat"]).find("Two Ferry-Boats; a ferry-boat, they said.")
    Place(start=19, end=29)
    """

    def __init__(self, answers: Sequence[str]) -> None:
        self._answers: dict[str, str] = {}
        for answer in answers:
            if words := normalise(answer):
                self._answers.setdefault(words, answer.strip())
        # Of several answers at one place the longest is found.
        longest_first = sorted(self._answers, key=len, reverse=True)
        self._pattern = re.compile(_whole(*longest_first))

    def is_in(self, text: str) -> bool:
        """Whether a text contains an answer."""
        return self._search(normalise(text)) is not None

    def find(self, text: str) -> Place | None:
        """The first place of an answer, without white space around it; ``None`` without any."""
        if not self.is_in(text):
            return None
        normal, origin = normalise_with_offsets(text)
        found = self._search(normal)
        assert found is not None
        place = Place(origin[found.start()], origin[found.end() - 1] + 1)
        return _as_written(text, self._answers[found[0]], place)

    def _search(self, normal: str) -> re.Match[str] | None:
        # Most texts contain no answer, and a plain search sees that much faster.
        if not any(words in normal for words in self._answers):
            return None
        return self._pattern.search(normal)


def _whole(*texts: str) -> str:
    """A pattern for any of some texts, not inside words."""
    return rf"(?<!\w)(?:{'|'.join(map(re.escape, texts))})(?!\w)"


def normalise_with_offsets(text: str) -> tuple[str, list[int]]:
    """The normalised text, and of each of its characters the offset in the text itself."""
    lower = text.lower()
    origin: list[int] = list(range(len(text)))
    if len(lower) != len(text):
        # A few letters are two in lower case.
        origin = [place for place, letter in enumerate(text) for _ in letter.lower()]
    kept = [place for place, letter in enumerate(lower) if ord(letter) not in NO_PUNCTUATION]
    letters = "".join(lower[place] for place in kept)
    spaced = ARTICLES.sub(lambda found: " " * len(found[0]), letters)
    normal: list[str] = []
    offsets: list[int] = []
    for found in re.finditer(r"\S+", spaced):
        places = [origin[place] for place in kept[found.start() : found.end()]]
        normal += [" ", found[0]] if normal else [found[0]]
        offsets += [places[0], *places] if offsets else places
    return "".join(normal), offsets


def _as_written(text: str, answer: str, place: Place) -> Place:
    """The place with the punctuation and the article of the answer, where the text has the same."""
    pattern = re.compile(_whole(answer), re.IGNORECASE)
    reach = max(0, place.start - len(answer)), place.end + len(answer)
    for found in pattern.finditer(text, *reach):
        if found.start() <= place.start and place.end <= found.end():
            return Place(found.start(), found.end())
    return place
