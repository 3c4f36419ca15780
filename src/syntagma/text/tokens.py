"""Multi-word tokens of sentences: what is written as one word and analysed as several.

Treebanks say which they are, and so may a segmenter.  The rules for English text say nothing: they
cut contractions (*don't*, *Ann's*, *cannot*, *gonna*) as the treebanks do, and which of the words
that touch are one token can be read off the words.
"""

from __future__ import annotations

import re

from syntagma.text.sentence import Parse

Ranges = tuple[tuple[int, int], ...]
"""First word of each multi-word token, from 0, and one after its last."""

# The second words of contractions (do+n't, dont, can+not, gon+na), also without the apostrophe.
_CLITIC = re.compile(
    r"['’`´](?:s|m|d|ll|re|ve|t)|n['’`´]?t|not|na|ta|s|m|d|v|r|ll|re|ve", re.IGNORECASE
)
_APOSTROPHES = frozenset("'’`´")


def multiword_tokens(parse: Parse) -> Ranges:
    """Return the multi-word tokens of a sentence.

    Args:
        parse: its words and tags.  If the sentence does not say what its multi-word tokens are,
            they are words with the same offsets (French *du* for *de* + *le*) and English
            contractions.
    """
    known = parse.sentence.multiword
    return _by_rule(parse) if known is None else known


def unusual_tokens(parse: Parse) -> Ranges | None:
    """Return the multi-word tokens that a sentence states, unless its words show the same ones.

    Args:
        parse: as for :func:`multiword_tokens`.
    """
    known = parse.sentence.multiword
    return None if known is None or known == _by_rule(parse) else known


def _by_rule(parse: Parse) -> Ranges:
    """Return the multi-word tokens that can be read off the words of a sentence."""
    sentence = parse.sentence
    forms, starts, ends = sentence.forms, sentence.starts, sentence.ends
    found: list[tuple[int, int]] = []
    for second in range(1, len(forms)):
        first = second - 1
        if starts[second] > ends[first]:
            continue
        same = starts[first] == starts[second] and ends[first] == ends[second]
        touching = starts[second] == ends[first]
        possessive = parse.upos[second] == "PART"
        if not (
            (same and ends[first] > starts[first])
            or (touching and _contracted(forms[first], forms[second], possessive))
        ):
            continue
        if found and found[-1][1] == second:
            found[-1] = found[-1][0], second + 1
        else:
            found.append((first, second + 1))
    return tuple(found)


def _contracted(first: str, second: str, possessive: bool) -> bool:
    """Whether two words that touch are an English contraction.

    Args:
        first: the first word.
        second: the second word.
        possessive: whether the second one is tagged as a particle: a bare apostrophe then is a
            possessive (*the boys'*) rather than a closing quote.
    """
    if not first[-1:].isalnum():
        return False
    if second in _APOSTROPHES:
        return possessive
    # A unit after its number (*5m*) is a token of its own.
    after_letter = first[-1].isalpha() or not second[:1].isalpha()
    return after_letter and _CLITIC.fullmatch(second) is not None
