"""Texts of given words without their escapes, with the offsets of the original characters.

Apart from :mod:`syntagma.text.escapes`, because it needs NumPy, which importing pages must not.
"""

from __future__ import annotations

import re
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from syntagma.text.escapes import ESCAPE, replacements

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
    if ESCAPE.search(text) is None:
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
        for begin, end, read in replacements(form):
            keep(done, word.start() + begin)
            done = word.start() + end
            parts.append(read)
            starts.append(np.full(len(read), word.start() + begin, np.int32))
            ends.append(np.full(len(read), done, np.int32))
    if not done:
        return None
    keep(done, len(text))
    return Unescaped("".join(parts), np.concatenate(starts), np.concatenate(ends))
