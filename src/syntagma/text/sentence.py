"""Words, sentences and parses: the records that the rest of the package passes around."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from syntagma.checks import require_several, require_text
from syntagma.errors import InputError

__all__ = ["Constituent", "Parse", "Sentence", "Word"]


BREAKS = frozenset("\t\n")


class Word(NamedTuple):
    """A word and where it stands: ``text[start:end]``."""

    form: str
    start: int
    end: int


class Constituent(NamedTuple):
    """A phrase: words ``start`` to ``end`` − 1 of a sentence, counted from 0."""

    label: str
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Sentence:
    """The words of one sentence, with character offsets into the text that they came from.

    Args:
        forms: the words, ``[n_words]``.
        starts: offset of each word's first character, ``[n_words]``.
        ends: offset after each word's last character, ``[n_words]``.

    Words that share one surface token (French *du* as *de* + *le*) may share their interval.
    """

    forms: tuple[str, ...]
    starts: tuple[int, ...]
    ends: tuple[int, ...]

    def __post_init__(self) -> None:
        if not len(self.forms) == len(self.starts) == len(self.ends):
            raise InputError(
                f"a sentence needs as many offsets as words: got {len(self.forms)} words, "
                f"{len(self.starts)} starts and {len(self.ends)} ends"
            )

    @classmethod
    def from_words(cls, forms: Sequence[str], *, offset: int = 0) -> Sentence:
        """A sentence of given words, as if they were written with one space between them.

        Args:
            forms: the words.
            offset: of the first one in the text that the sentence is of, in characters.

        Raises:
            InputError: they are one text, or a word is empty, white space alone, or on two lines.

        >>> Sentence.from_words(["No", "way", "!"]).starts
        (0, 3, 7)
        """
        require_several(forms, "words")
        forms = tuple(forms)
        for number, form in enumerate(forms, start=1):
            require_text(form, f"word {number}")
            if not BREAKS.isdisjoint(form):
                raise InputError(
                    f"word {number}: expected a word, got {form!r:.60}; no word holds a tab or the "
                    f"end of a line"
                )
        return cls.spaced(forms, offset=offset)

    @classmethod
    def spaced(cls, forms: Sequence[str], *, offset: int = 0) -> Sentence:
        """The same of words as files have them, blank ones among them."""
        starts, ends = [], []
        position = offset
        for form in forms:
            starts.append(position)
            position += len(form)
            ends.append(position)
            position += 1
        return cls(tuple(forms), tuple(starts), tuple(ends))

    def __len__(self) -> int:
        return len(self.forms)

    @property
    def words(self) -> tuple[Word, ...]:
        """The words as records."""
        return tuple(map(Word, self.forms, self.starts, self.ends))

    @property
    def start(self) -> int:
        """Offset of the first character of the first word; 0 without words."""
        return self.starts[0] if self.starts else 0

    @property
    def end(self) -> int:
        """Offset after the last character of the last word; 0 without words."""
        return self.ends[-1] if self.ends else 0

    def shift(self, distance: int) -> Sentence:
        """The same words, ``distance`` characters further to the right."""
        return Sentence(
            self.forms,
            tuple(start + distance for start in self.starts),
            tuple(end + distance for end in self.ends),
        )


@dataclass(frozen=True, slots=True)
class Parse:
    """The syntax of one sentence.

    Args:
        sentence: the words.
        heads: for each word the 1-based index of its head, 0 for the root, ``[n_words]``.
        relations: dependency relation of each word to its head, ``[n_words]``.
        upos: universal part-of-speech tags, ``[n_words]``; ``_`` where unknown.
        xpos: treebank part-of-speech tags (Penn tags for English), ``[n_words]``.
        probabilities: probability of each arc under the parser, ``[n_words]``, or ``None``
            where the source of the parse has none.
        constituents: the phrases in pre-order, a phrase before those inside it, of several over
            the same words the outermost first; ``None`` where the source of the parse has none.
    """

    sentence: Sentence
    heads: tuple[int, ...]
    relations: tuple[str, ...] = field(default=())
    upos: tuple[str, ...] = field(default=())
    xpos: tuple[str, ...] = field(default=())
    probabilities: tuple[float, ...] | None = None
    constituents: tuple[Constituent, ...] | None = None

    def __post_init__(self) -> None:
        n_words = len(self.sentence)
        for name in ("relations", "upos", "xpos"):
            if not getattr(self, name):
                object.__setattr__(self, name, ("_",) * n_words)
        for name in ("heads", "relations", "upos", "xpos", "probabilities"):
            values = getattr(self, name)
            if values is not None and len(values) != n_words:
                raise InputError(f"expected {n_words} {name}, one a word, got {len(values)}")

    def __len__(self) -> int:
        return len(self.heads)
