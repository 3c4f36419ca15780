"""Heads of Penn treebank phrases by rule, for treebanks without dependencies (Collins 1999)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from syntagma.text.sentence import Constituent

__all__ = ["heads_by_rule"]

# For each phrase: from which end to search, and for which labels, the most wanted first.  Where
# none is found, the head is the first part from that end that is not punctuation.
RULES = {
    "ADJP": ("left", "NNS QP NN $ ADVP JJ VBN VBG ADJP JJR NP JJS DT FW RBR RBS SBAR RB"),
    "ADVP": ("right", "RB RBR RBS FW ADVP TO CD JJR JJ IN NP JJS NN"),
    "CONJP": ("right", "CC RB IN"),
    "FRAG": ("right", ""),
    "INTJ": ("left", ""),
    "LST": ("right", "LS :"),
    "NAC": ("left", "NN NNS NNP NNPS NP NAC EX $ CD QP PRP VBG JJ JJS JJR ADJP FW"),
    "PP": ("right", "IN TO VBG VBN RP FW"),
    "PRN": ("left", ""),
    "PRT": ("right", "RP"),
    "QP": ("left", "$ IN NNS NN JJ RB DT CD NCD QP JJR JJS"),
    "RRC": ("right", "VP NP ADVP ADJP PP"),
    "S": ("left", "TO IN VP S SBAR ADJP UCP NP"),
    "SBAR": ("left", "WHNP WHPP WHADVP WHADJP IN DT S SQ SINV SBAR FRAG"),
    "SBARQ": ("left", "SQ S SINV SBARQ FRAG"),
    "SINV": ("left", "VBZ VBD VBP VB MD VP S SINV ADJP NP"),
    "SQ": ("left", "VBZ VBD VBP VB MD VP SQ"),
    "UCP": ("right", ""),
    "VP": ("left", "TO VBD VBN MD VBZ VB VBG VBP VP ADJP NN NNS NP"),
    "WHADJP": ("left", "CC WRB JJ ADJP"),
    "WHADVP": ("right", "CC WRB"),
    "WHNP": ("left", "WDT WP WP$ WHADJP WHPP WHNP"),
    "WHPP": ("right", "IN TO FW"),
}
PREFERENCES = {label: (side, wanted.split()) for label, (side, wanted) in RULES.items()}

# Noun phrases are searched in rounds: any of these labels, from this end.
NOUN_ROUNDS = (
    ("right", {"NN", "NNP", "NNPS", "NNS", "NX", "POS", "JJR"}),
    ("left", {"NP"}),
    ("right", {"$", "ADJP", "PRN"}),
    ("right", {"CD"}),
    ("right", {"JJ", "JJS", "RB", "QP"}),
)
NOUN_PHRASES = {"NP", "NX", "WHNP"}
PUNCTUATION = {",", ":", ".", "``", "''", "-LRB-", "-RRB-", "HYPH", "NFP"}


class _Part(NamedTuple):
    """A word or a phrase inside a phrase."""

    label: str
    head: int


def heads_by_rule(constituents: Sequence[Constituent], tags: Sequence[str]) -> tuple[int, ...]:
    """A dependency tree from a phrase tree: each part of a phrase hangs on the phrase's head.

    Args:
        constituents: in pre-order.
        tags: Penn tags, ``[n_words]``.

    Returns:
        Heads, 1-based, 0 for the root, ``[n_words]``.

    >>> phrases = [Constituent("S", 0, 3), Constituent("NP", 0, 1), Constituent("VP", 1, 3)]
    >>> heads_by_rule(phrases, ["PRP", "VBP", "NNS"])
    (2, 0, 2)
    """
    n_words = len(tags)
    heads = [0] * n_words
    following = iter(constituents)
    phrase = next(following, None)
    everything = Constituent("", 0, n_words)
    open_phrases: list[tuple[Constituent, list[_Part]]] = [(everything, [])]
    for position, tag in enumerate(tags):
        while phrase is not None and phrase.start == position:
            open_phrases.append((phrase, []))
            phrase = next(following, None)
        open_phrases[-1][1].append(_Part(tag, position))
        while open_phrases[-1][0].end == position + 1:
            closed, parts = open_phrases.pop()
            head = parts[_head_part(closed.label, parts)].head
            for part in parts:
                heads[part.head] = head + 1 if part.head != head else 0
            if not open_phrases:
                break
            open_phrases[-1][1].append(_Part(closed.label, head))
    return tuple(heads)


def _head_part(label: str, parts: Sequence[_Part]) -> int:
    """The position of the part that holds the head."""
    labels = [part.label for part in parts]
    found = _noun_head(labels) if label in NOUN_PHRASES else None
    if found is None:
        found = _preferred(label, labels)
    # The head of a coordination is its first conjunct.
    if found >= 2 and labels[found - 1] == "CC":
        before = found - 2
        while before > 0 and labels[before] in PUNCTUATION:
            before -= 1
        if labels[before] not in PUNCTUATION:
            return before
    return found


def _noun_head(labels: Sequence[str]) -> int | None:
    if labels[-1] == "POS":
        return len(labels) - 1
    for side, wanted in NOUN_ROUNDS:
        for position in _order(len(labels), side):
            if labels[position] in wanted:
                return position
    return None


def _preferred(label: str, labels: Sequence[str]) -> int:
    side, wanted = PREFERENCES.get(label, ("left", []))
    order = _order(len(labels), side)
    for name in wanted:
        for position in order:
            if labels[position] == name:
                return position
    for position in order:
        if labels[position] not in PUNCTUATION:
            return position
    return order[0]


def _order(length: int, side: str) -> range:
    return range(length) if side == "left" else range(length - 1, -1, -1)
