"""Which language a text is in.

English is recognised by its most frequent words, which costs nothing.  Any other text is given to
py3langid, whose model is loaded then.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Any, NamedTuple

SAMPLE = 4_000
"""So many characters at the beginning of a text are looked at."""
MIN_BYTES = 25
"""A text whose letters have fewer bytes in UTF-8 is too short to say anything about its language.

So eight Chinese characters count as much as 24 Latin letters."""
ENGLISH_SHARE = 0.15
"""English text has at least this share of its most frequent words."""

# Frequent words of English that are rare in other languages.
_ENGLISH = frozenset(
    "the of and to that is was for with on are as they be at this have from by what which you not "
    "were when there can how each she he it his her your their will if about into has it's don't "
    "who would been could our my".split()
)
_WORD = re.compile(r"[^\W\d_]+(?:['’][^\W\d_]+)?")


class Language(NamedTuple):
    """What a text seems to be written in.

    Args:
        code: ISO 639-1 code.
        probability: from 0 to 1.
    """

    code: str
    probability: float


def language_of(
    text: str, among: tuple[str, ...] = (), *, min_bytes: int = MIN_BYTES
) -> Language | None:
    """Return the language of a text; ``None`` if it has too few letters to tell.

    Args:
        text: any text; its beginning is looked at.
        among: ISO 639-1 codes of the languages that it may be in; all known ones if empty.
            Codes that are not known to py3langid are never found.
        min_bytes: a text whose letters have fewer bytes in UTF-8 is too short.

    >>> language_of("The ferry left the harbour at noon and nobody was on it.").code
    'en'
    """
    text = text[:SAMPLE]
    words = _WORD.findall(text)
    if sum(len(word.encode("utf-8", "replace")) for word in words) < min_bytes:
        return None
    known = sum(word.lower().replace("’", "'") in _ENGLISH for word in words)
    if (not among or "en" in among) and known >= ENGLISH_SHARE * len(words):
        return Language("en", 1.0)
    identifier = _identifier(among)
    if identifier is None:
        return None
    code, probability = identifier.classify(text)
    return Language(code, probability)


@lru_cache(maxsize=8)
def _identifier(among: tuple[str, ...]) -> Any:
    """Return py3langid's classifier for some languages; ``None`` if it knows none of them."""
    from py3langid.langid import MODEL_FILE, LanguageIdentifier

    identifier = LanguageIdentifier.from_model_file(MODEL_FILE, norm_probs=True)
    if among:
        known = sorted({*among} & {*identifier.labels})
        if not known:
            return None
        identifier.set_languages(known)
    return identifier
