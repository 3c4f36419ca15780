"""The Penn Treebank's escapes: words that stand for characters which brackets cannot contain.

Parsers and encoders read what an escape stands for, wherever words are given (:func:`unescape`);
the words themselves stay as they were given.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

BRACKETS = {"lrb": "(", "rrb": ")", "lsb": "[", "rsb": "]", "lcb": "{", "rcb": "}"}
QUOTES = {"``": '"', "''": '"', "`": "'"}
_WRITTEN = {"``": "“„«", "''": "”“»", "`": "‘‚"}
"""Other characters that running text may have where a treebank has these quotes."""
_BRACKET = re.compile(r"-(" + "|".join(BRACKETS) + ")-", re.IGNORECASE)
ESCAPE = re.compile(_BRACKET.pattern + r"|``|''|`|\\[/*]", re.IGNORECASE)


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
    if ESCAPE.search(" ".join(forms)) is None:
        return tuple(forms)
    return tuple(map(unescape, forms))


def spelled_for_lemmas(forms: Sequence[str]) -> tuple[str, ...]:
    """Return the words that lemmas are made from: unescaped, but with Penn's quotes as they are.

    Treebanks with these quotes, German and English ones among them, give each quote itself as its
    lemma; read as ``"``, an opening and a closing quote would be the same word.

    >>> spelled_for_lemmas(["-LSB-", "``", "''"])
    ('[', '``', "''")
    """
    return tuple(
        form if form in QUOTES else read
        for form, read in zip(forms, unescape_words(forms), strict=True)
    )


def replacements(form: str) -> list[tuple[int, int, str]]:
    """Return start, end and reading of each escape in a word."""
    if form in QUOTES:
        return [(0, len(form), QUOTES[form])]
    return [
        (found.start(), found.end(), unescape(found.group()))
        for found in ESCAPE.finditer(form)
        if found.group() not in QUOTES
    ]


def spellings(form: str) -> list[str]:
    """Return how running text may spell a word: as it is, unescaped, or with typographic quotes.

    >>> spellings("``"), spellings("-LSB-"), spellings("tea")
    (['``', '"', '“', '„', '«'], ['-LSB-', '['], ['tea'])
    """
    return list(dict.fromkeys((form, unescape(form), *_WRITTEN.get(form, ""))))
