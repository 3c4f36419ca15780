"""Recognise emoji, which most vocabularies lack."""

from __future__ import annotations

import unicodedata

EMOTICON = ":-)"
"""What is read for an emoji that a vocabulary lacks: treebanks of written English have many."""

# Symbols; their modifiers, such as skin tones; selectors, keycaps, joiners and tags.
_CATEGORIES = frozenset({"So", "Sk", "Mn", "Me", "Cf"})


def is_emoji(form: str) -> bool:
    """Return whether a word consists of emoji or similar symbols only.

    >>> [is_emoji(form) for form in ("👏🏽", "❤️", "🇪🇸", "1️⃣", "ok👍", "©2")]
    [True, True, True, False, False, False]
    """
    if form.isascii():
        return False
    categories = {unicodedata.category(character) for character in form}
    return "So" in categories and categories <= _CATEGORIES
