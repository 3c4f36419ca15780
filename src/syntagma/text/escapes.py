"""The Penn Treebank's escapes: words that stand for characters which brackets cannot contain.

Parsers and encoders read what an escape stands for, wherever words are given (:func:`unescape`);
the words themselves stay as they were given.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

BRACKETS = {"lrb": "(", "rrb": ")", "lsb": "[", "rsb": "]", "lcb": "{", "rcb": "}"}
QUOTES = {"``": '"', "''": '"', "`": "'"}
_WRITTEN = {"``": "“„«", "''": "”“»", "`": "‘‚"}
"""Other characters that running text may have where a treebank has these quotes."""
_BRACKET = re.compile(r"-(" + "|".join(BRACKETS) + ")-", re.IGNORECASE)
_ESCAPE = re.compile(_BRACKET.pattern + r"|``|''|`|\\[/*]", re.IGNORECASE)
_WORD = re.compile(r"\S+")


class Unescaped(NamedTuple):
    """A text without escapes, and where its characters come from.

    Args:
        text: the text.
        starts: start in the original text of what each character stands for, ``[n_characters]``.
        ends: its end in the original text, ``[n_characters]``.
    """

    text: str
    starts: NDArray[np.int32]
    ends: NDArray[np.int32]

    def original(
        self, starts: NDArray[np.int32], ends: NDArray[np.int32]
    ) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
        """Return where parts of the text come from; a part of an escape comes from all of it.

        Args:
            starts: start of each part in the text without escapes, ``[n_parts]``.
            ends: its end, ``[n_parts]``.
        """
        empty = starts >= ends
        # An empty part, such as the piece of a space before the text, stays empty.
        begins = np.append(self.starts, self.ends[-1:])[starts]
        return begins, np.where(empty, begins, self.ends[np.maximum(ends - 1, 0)])


def unescape(form: str) -> str:
    """Return what a word stands for, which is the word itself unless it is or contains an escape.

    >>> unescape("-LRB-"), unescape(":-rrb-"), unescape("``"), unescape("1\\\\/2")
    ('(', ':)', '"', '1/2')
    """
    if form in QUOTES:
        return QUOTES[form]
    form = _BRACKET.sub(lambda match: BRACKETS[match.group(1).lower()], form)
    return form.replace("\\/", "/").replace("\\*", "*")


def unescape_words(forms: Sequence[str]) -> tuple[str, ...]:
    """Return what each word of a sentence stands for, ``[n_words]``."""
    # Escapes are rare, so one search through the sentence is faster than a look at each word.
    if _ESCAPE.search(" ".join(forms)) is None:
        return tuple(forms)
    return tuple(map(unescape, forms))


def unescape_text(text: str) -> Unescaped | None:
    """Return what a text of words separated by spaces stands for.

    Args:
        text: words separated by spaces.

    Returns:
        ``None`` if no word is escaped.

    >>> found = unescape_text("We -LRB- all -RRB- left")
    >>> found.text, found.starts[3:5].tolist(), found.ends[3:5].tolist()
    ('We ( all ) left', [3, 8], [8, 9])
    """
    if _ESCAPE.search(text) is None:
        return None
    parts: list[str] = []
    starts: list[NDArray[np.int32]] = []
    ends: list[NDArray[np.int32]] = []

    def keep(begin: int, end: int) -> None:
        """Copy a part of the text."""
        positions = np.arange(begin, end, dtype=np.int32)
        parts.append(text[begin:end])
        starts.append(positions)
        ends.append(positions + 1)

    done = 0
    for word in _WORD.finditer(text):
        form = word.group()
        for begin, end, read in _replacements(form):
            keep(done, word.start() + begin)
            done = word.start() + end
            parts.append(read)
            starts.append(np.full(len(read), word.start() + begin, np.int32))
            ends.append(np.full(len(read), done, np.int32))
    if not done:
        return None
    keep(done, len(text))
    return Unescaped("".join(parts), np.concatenate(starts), np.concatenate(ends))


def _replacements(form: str) -> list[tuple[int, int, str]]:
    """Return start, end and reading of each escape in a word."""
    if form in QUOTES:
        return [(0, len(form), QUOTES[form])]
    return [
        (found.start(), found.end(), unescape(found.group()))
        for found in _ESCAPE.finditer(form)
        if found.group() not in QUOTES
    ]


def spellings(form: str) -> list[str]:
    """Return how running text may spell a word: as it is, unescaped, or with typographic quotes.

    >>> spellings("``"), spellings("-LSB-"), spellings("tea")
    (['``', '"', '“', '„', '«'], ['-LSB-', '['], ['tea'])
    """
    return list(dict.fromkeys((form, unescape(form), *_WRITTEN.get(form, ""))))
