"""Find the sentences of a text among known sentences, ignoring differences in whitespace."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import NamedTuple

from syntagma.json_values import without_surrogates
from syntagma.parse.sources.source import Mode
from syntagma.text.sentence import Parse

PREFIX = 12
"""Characters by which sentences are looked up first; shorter ones are looked up as a whole."""


class Compact(NamedTuple):
    """A text without the whitespace that may differ.

    Args:
        characters: the text without whitespace, or, for words, with one space after each word.
        offsets: offset of each of these characters in the text.
    """

    characters: str
    offsets: list[int]

    @classmethod
    def of(cls, text: str, mode: Mode) -> Compact:
        """Compact a text.

        Args:
            text: any text.
            mode: ``words`` to keep the boundaries between words.
        """
        # Annotated corpora have no unpaired surrogates.
        text = without_surrogates(text)
        if mode == "raw":
            offsets = [offset for offset, one in enumerate(text) if not one.isspace()]
            return cls("".join(text.split()), offsets)
        characters: list[str] = []
        offsets = []
        position = 0
        for word in text.split():
            position = text.index(word, position)
            characters.append(f"{word} ")
            offsets += range(position, position + len(word) + 1)
            position += len(word)
        return cls("".join(characters), offsets)


class SentenceIndex:
    """Known sentences with their parses, in which texts of any number of sentences are found.

    Of sentences with the same text, the one after the sentence found last is taken, else the first.

    Args:
        sentences: text of each sentence, and its parse with offsets in this text.
        mode: ``words`` if the words of texts are separated by spaces, and must be those of the
            sentences; ``raw`` if whitespace may differ in any way.
    """

    def __init__(self, sentences: Iterable[tuple[str, Parse]], *, mode: Mode = "raw") -> None:
        self.mode = mode
        self.texts: list[str] = []
        self.parses: list[Parse] = []
        self._compact: list[str] = []
        self._first: dict[str, int] = {}
        lengths: dict[str, set[int]] = {}
        for text, parse in sentences:
            if not (compact := Compact.of(text, mode).characters):
                continue
            self._first.setdefault(compact, len(self.texts))
            self.texts.append(text)
            self.parses.append(parse)
            self._compact.append(compact)
            # Shorter sentences are all in one group: there are few lengths to try.
            key = compact[:PREFIX] if len(compact) >= PREFIX else ""
            lengths.setdefault(key, set()).add(len(compact))
        # A longer sentence may begin with a shorter one, so the longest is tried first.
        self._lengths = {key: sorted(found, reverse=True) for key, found in lengths.items()}

    def find(self, text: str, after: int = -1) -> tuple[list[int], int | None]:
        """Find the sentences that a text consists of.

        Args:
            text: the text.
            after: number of the sentence that precedes the text, if that is known.

        Returns:
            The numbers of the sentences, and ``None``; or, if a part of the text is not known, none
            and the offset in the text where it begins.
        """
        whole = Compact.of(text, self.mode)
        size = len(whole.characters)
        found: list[int] = []
        reached = 0
        # Depth first; from a position that leads nowhere, the search never starts again.
        dead: set[int] = set()
        stack = [(0, self._candidates(whole.characters, 0, after))]
        while stack:
            position, candidates = stack[-1]
            if position == size:
                return found, None
            for number in candidates:
                end = position + len(self._compact[number])
                if end not in dead:
                    found.append(number)
                    stack.append((end, self._candidates(whole.characters, end, number)))
                    reached = max(reached, end)
                    break
            else:
                dead.add(position)
                stack.pop()
                if found:
                    found.pop()
        return [], whole.offsets[min(reached, size - 1)]

    def _candidates(self, characters: str, position: int, before: int) -> Iterator[int]:
        """Yield the sentences that begin at a position, the one that follows ``before`` first."""
        following = before + 1
        if following < len(self.texts) and characters.startswith(
            self._compact[following], position
        ):
            yield following
        for key in (characters[position : position + PREFIX], ""):
            for length in self._lengths.get(key, ()):
                number = self._first.get(characters[position : position + length])
                if number is not None and number != following:
                    yield number

    def served(self, text: str, numbers: Iterable[int]) -> list[Parse]:
        """Return the parses of sentences, with offsets in the text that consists of them.

        Args:
            text: the text.
            numbers: its sentences, as :meth:`find` returns them.
        """
        numbers = list(numbers)
        if len(numbers) == 1 and self.texts[numbers[0]] == text:
            return [self.parses[numbers[0]]]
        offsets = Compact.of(text, self.mode).offsets
        served = []
        begin = 0
        for number in numbers:
            parse, own = self.parses[number], Compact.of(self.texts[number], self.mode).offsets
            index = {offset: begin + place for place, offset in enumerate(own)}
            starts: list[int] = []
            ends: list[int] = []
            for start, end in zip(parse.sentence.starts, parse.sentence.ends, strict=True):
                # A word without characters has no place of its own: it follows the one before.
                first = offsets[index[start]] if start in index else (ends or [offsets[begin]])[-1]
                starts.append(first)
                ends.append(offsets[index[end - 1]] + 1 if end > start else first)
            sentence = replace(parse.sentence, starts=tuple(starts), ends=tuple(ends))
            served.append(replace(parse, sentence=sentence))
            begin += len(own)
        return served
