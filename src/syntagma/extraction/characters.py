"""Characters that nobody sees: which of them stay in the text of a document."""

from __future__ import annotations

import re

_LINE_BREAKS = "\x0b\x0c\x85"
"""Vertical tab, form feed and next line, which end a line in a printed text."""
_CONTROL = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\ud800-\udfff\ufffe\uffff]")
_INVISIBLE = re.compile("[\u00ad\u200b\u2060\ufeff]")
_REPLACEMENT = "\ufffd"


def without_controls(text: str) -> str:
    """Replace control characters, unpaired surrogates and noncharacters; offsets stay the same.

    Control characters become spaces or, where they end a line, line breaks; the others become
    U+FFFD.  Tabs, line feeds and carriage returns are kept.

    >>> without_controls("one\\x07two\\x0cthree\\ud800")
    'one two\\nthree�'
    """
    return _CONTROL.sub(_instead, text)


def _instead(match: re.Match[str]) -> str:
    character = match.group()
    if character in _LINE_BREAKS:
        return "\n"
    return " " if character < "\xa0" else _REPLACEMENT


def without_invisible(text: str) -> str:
    """Remove soft hyphens, zero-width spaces, word joiners and byte-order marks.

    They tell a program where it may break a line.  In a text to be searched they would split
    *time\\u00adtable* into two words.  Joiners (U+200C, U+200D) stay: they are part of the spelling
    in Persian, in Indian scripts and in emoji.
    """
    return _INVISIBLE.sub("", text)
