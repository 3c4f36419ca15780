"""Head rules for Penn Treebank phrases (Collins 1999), for treebanks without dependencies."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from syntagma.text.sentence import Constituent

# For each phrase label: the end to search from, and the labels to search for in order of priority.
# If none is found, the head is the first child from that end that is not punctuation.
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
PRIORITIES = {label: (side, labels.split()) for label, (side, labels) in RULES.items()}

# Noun phrases are searched in rounds, each for the first child with any of the labels.
NOUN_ROUNDS = (
    ("right", {"NN", "NNP", "NNPS", "NNS", "NX", "POS", "JJR"}),
    ("left", {"NP"}),
    ("right", {"$", "ADJP", "PRN"}),
    ("right", {"CD"}),
    ("right", {"JJ", "JJS", "RB", "QP"}),
)
NOUN_PHRASES = {"NP", "NX", "WHNP"}
PUNCTUATION = {",", ":", ".", "``", "''", "-LRB-", "-RRB-", "HYPH", "NFP"}


class _Child(NamedTuple):
    """A word or a phrase directly below a phrase, with the position of its head word."""

    label: str
    head: int


def heads_by_rule(constituents: Sequence[Constituent], tags: Sequence[str]) -> tuple[int, ...]:
    """Convert a phrase tree to dependencies: the children of a phrase depend on its head child.

    Args:
        constituents: the phrases in pre-order.
        tags: Penn tags, ``[n_words]``.

    Returns:
        Heads, 1-based, 0 for the root, ``[n_words]``.

    >>> phrases = [Constituent("S", 0, 3), Constituent("NP", 0, 1), Constituent("VP", 1, 3)]
    >>> heads_by_rule(phrases, ["PRP", "VBP", "NNS"])
    (2, 0, 2)
    """
    n_words = len(tags)
    heads = [0] * n_words
    remaining = iter(constituents)
    phrase = next(remaining, None)
    # An outermost phrase joins the words and phrases of a tree that has no single top phrase.
    top = Constituent("", 0, n_words)
    open_phrases: list[tuple[Constituent, list[_Child]]] = [(top, [])]
    for position, tag in enumerate(tags):
        while phrase is not None and phrase.start == position:
            open_phrases.append((phrase, []))
            phrase = next(remaining, None)
        open_phrases[-1][1].append(_Child(tag, position))
        while open_phrases[-1][0].end == position + 1:
            closed, children = open_phrases.pop()
            head = children[_head_child(closed.label, children)].head
            for child in children:
                # The head keeps 0 until the phrase above gives it a head in turn.
                heads[child.head] = head + 1 if child.head != head else 0
            if not open_phrases:
                break
            open_phrases[-1][1].append(_Child(closed.label, head))
    return tuple(heads)


def _head_child(label: str, children: Sequence[_Child]) -> int:
    """Return the index of the child that holds the head."""
    labels = [child.label for child in children]
    found = _noun_head(labels) if label in NOUN_PHRASES else None
    if found is None:
        found = _head_by_priority(label, labels)
    # The head of a coordination is the conjunct before the conjunction.
    if found >= 2 and labels[found - 1] == "CC":
        before = found - 2
        while before > 0 and labels[before] in PUNCTUATION:
            before -= 1
        if labels[before] not in PUNCTUATION:
            return before
    return found


def _noun_head(labels: Sequence[str]) -> int | None:
    """Return the index of the head child of a noun phrase, if its special rules find one."""
    if labels[-1] == "POS":
        return len(labels) - 1
    for side, wanted in NOUN_ROUNDS:
        for position in _order(len(labels), side):
            if labels[position] in wanted:
                return position
    return None


def _head_by_priority(label: str, labels: Sequence[str]) -> int:
    """Return the index of the head child by the table of priorities."""
    side, wanted = PRIORITIES.get(label, ("left", []))
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
    """Return all indices, starting from one side."""
    return range(length) if side == "left" else range(length - 1, -1, -1)
