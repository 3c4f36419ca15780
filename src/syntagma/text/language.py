"""Which language a text is in.

English is recognised by its most frequent words, which costs nothing.  Any other text is given to
py3langid, whose model is loaded then.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import Any, NamedTuple

SAMPLE = 4_000
"""So many characters at the beginning of a text are looked at."""
MIN_BYTES = 25
"""A text whose letters have fewer bytes in UTF-8 is too short to say anything about its language.

So eight Chinese characters count as much as 24 Latin letters."""
ENGLISH_SHARE, FEWEST_OWN = 0.15, 2
"""English text has at least this share of the frequent words of English, and this number of
different ones that are no frequent words of another language."""

# "and" and "the" occur elsewhere, but not together and not often.
_OWN = frozenset(
    "the and that with they this which you when there would could been their your what from were "
    "it's don't into about our she not his how who".split()
)
_ENGLISH = _OWN | frozenset(
    "of to is was for on are as be at have by can each he it her will if has my".split()
)
_WORD = re.compile(r"[^\W\d_]+(?:['’][^\W\d_]+)?")
_GROUPS = (
    ("no", "nb", "nn"),
    ("zh", "wuu"),
    ("ku", "kmr"),
    ("hr", "sr", "bs"),
    ("id", "ms"),
)
"""Codes that treebanks and py3langid use for the same language, or that it hardly tells apart."""
_GROUP_OF = {code: group for group in _GROUPS for code in group}


class Language(NamedTuple):
    """What a text seems to be written in.

    Args:
        code: ISO 639 code.
        probability: from 0 to 1.
    """

    code: str
    probability: float


def same_language(code: str, codes: Iterable[str]) -> str:
    """Return which of some codes means the same language as ``code``; empty if none does.

    >>> same_language("nn", ["no", "en"]), same_language("fr", ["no", "en"])
    ('no', '')
    """
    codes = tuple(codes)
    alike = [each for each in codes if each in _GROUP_OF.get(code, ())]
    return code if code in codes else next(iter(alike), "")


def can_detect(code: str) -> bool:
    """Whether py3langid knows a language."""
    return bool(same_language(code, _identifier(()).labels))


def rank_languages(text: str, *, min_bytes: int = MIN_BYTES) -> list[Language]:
    """Return the languages that a text may be in, the likeliest first.

    Args:
        text: any text; its beginning is looked at.
        min_bytes: a text whose letters have fewer bytes in UTF-8 is too short: there are none.
    """
    text = text[:SAMPLE]
    words = _words(text, min_bytes)
    if not words:
        return []
    if _is_english(words):
        return [Language("en", 1.0)]
    return [Language(code, float(share)) for code, share in _identifier(()).rank(text)]


def language_of(
    text: str, among: tuple[str, ...] = (), *, min_bytes: int = MIN_BYTES
) -> Language | None:
    """Return the language of a text; ``None`` if it has too few letters to tell.

    Args:
        text: any text; its beginning is looked at.
        among: ISO 639 codes of the languages that it may be in; all known ones if empty.
            Codes that are not known to py3langid are never found.
        min_bytes: a text whose letters have fewer bytes in UTF-8 is too short.

    >>> language_of("The ferry left the harbour at noon and nobody was on it.").code
    'en'
    """
    text = text[:SAMPLE]
    words = _words(text, min_bytes)
    if not words:
        return None
    if (not among or "en" in among) and _is_english(words):
        return Language("en", 1.0)
    identifier = _identifier(among)
    if identifier is None:
        return None
    code, probability = identifier.classify(text)
    return Language(same_language(code, among) or code, probability)


def _words(text: str, min_bytes: int) -> list[str]:
    """Return the words of a text; none if their letters are too few."""
    words = _WORD.findall(text)
    size = sum(len(word.encode("utf-8", "replace")) for word in words)
    return words if size >= max(min_bytes, 1) else []


def _is_english(words: Sequence[str]) -> bool:
    known = [word for each in words if (word := each.lower().replace("’", "'")) in _ENGLISH]
    return len(known) >= ENGLISH_SHARE * len(words) and len(_OWN & {*known}) >= FEWEST_OWN


@lru_cache(maxsize=8)
def _identifier(among: tuple[str, ...]) -> Any:
    """Return py3langid's classifier for some languages; ``None`` if it knows none of them."""
    from py3langid.langid import MODEL_FILE, LanguageIdentifier

    identifier = LanguageIdentifier.from_model_file(MODEL_FILE, norm_probs=True)
    if among:
        known = sorted(label for label in identifier.labels if same_language(label, among))
        if not known:
            return None
        identifier.set_languages(known)
    return identifier
