"""What counts as a sentence or word that nobody writes, and how it is treated.

Base64 data, tables in one line and generated text must not cost more time than their length is
worth.  There is one rule, for raw text, given words and treebanks alike:

- A sentence of more than :data:`MAX_WORDS` words is parsed in parts of nearly equal length, each on
  its own.  The roots of the further parts depend on the root of the first one as ``parataxis``, and
  :attr:`syntagma.text.sentence.Parse.parts` says where the parts start.
- A stretch of more than :data:`MAX_CHARACTERS` characters without a space is one long word,
  whatever it contains.  Of a long word, encoders read the pieces in its first
  :data:`READ_CHARACTERS` characters; the last of them stands for the rest.  In scripts without
  spaces between words (Chinese, Japanese, Thai and others) a stretch ends at each of their
  characters.
- Raw text is searched for sentence ends in stretches of :data:`MAX_PARAGRAPH` characters, long
  words not counted.  If there is none, the text is cut between two words, and
  :attr:`syntagma.text.sentence.Sentence.continues` says so.

Offsets and words are never lost: a long word keeps all its characters, and parts follow one another
without gaps.
"""

from __future__ import annotations

import re

MAX_WORDS = 400
"""Words of the longest sentence that is parsed as a whole; the treebanks' longest has 159."""

MAX_CHARACTERS = 500
"""Characters of the longest ordinary word: links can have hundreds."""

READ_CHARACTERS = 100
"""Characters of a long word that encoders read."""

MAX_PARAGRAPH = 20_000
"""Characters in which raw text must have the end of a sentence; longer paragraphs are read in
parts."""

# Scripts without spaces between words, and the punctuation that belongs to them.
_UNSPACED = (
    "\u0e00-\u0eff\u0f00-\u0fff\u1000-\u109f\u1780-\u17ff\u3000-\u30ff\u3400-\u4dbf\u4e00-\u9fff"
    "\uf900-\ufaff\uff00-\uffef\U00020000-\U0003134f"
)
# Zero-width characters that separate words: zero-width space, byte-order mark, direction marks.
SEPARATORS = "\u200b\u200e\u200f\u202a-\u202e\u2066-\u2069\ufeff"
_INSIDE = rf"[^\s{SEPARATORS}{_UNSPACED}]"
# The lookbehind keeps the search linear: it tries each stretch once, from its start.
_LONG = re.compile(rf"(?<!{_INSIDE}){_INSIDE}{{{MAX_CHARACTERS + 1},}}+")
# Marks around a long word that are words of their own: brackets, quotes, stops.
_BEFORE = re.compile(r"[(\[{<\"'“‘«]{0,3}")
_AFTER = re.compile(r"[)\]}>\"'”’».,;:!?]{0,5}\Z")


def long_words(text: str) -> list[tuple[int, int]]:
    """Return the start and end offset of each long word in a text.

    >>> long_words("key: " + "x" * 600 + ".")
    [(5, 605)]
    """
    if len(text) <= MAX_CHARACTERS:
        return []
    found = []
    for match in _LONG.finditer(text):
        start, end = match.span()
        before, after = _BEFORE.match(text, start, end), _AFTER.search(text, end - 5, end)
        if before is not None and after is not None:
            start, end = before.end(), after.start()
        if end - start > MAX_CHARACTERS:
            found.append((start, end))
    return found


def is_long(form: str) -> bool:
    """Whether a word is longer than anybody writes."""
    return len(form) > MAX_CHARACTERS


def read_part(form: str) -> str:
    """Return what encoders read of a word: all of it, or the start of a long word."""
    return form[:READ_CHARACTERS] if len(form) > MAX_CHARACTERS else form


def part_starts(n_words: int, max_words: int) -> tuple[int, ...]:
    """Return the first word of each part in which a sentence is parsed.

    Args:
        n_words: length of the sentence.
        max_words: length of the longest part.

    Returns:
        Indices from 0; empty for a sentence that is parsed as a whole.

    >>> part_starts(10, 4), part_starts(4, 4)
    ((0, 3, 6), ())
    """
    if n_words <= max_words:
        return ()
    n_parts = -(-n_words // max_words)
    return tuple(part * n_words // n_parts for part in range(n_parts))
