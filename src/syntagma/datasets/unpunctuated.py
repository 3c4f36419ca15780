"""Remove the punctuation of trees: people type without it, and treebanks have it everywhere."""

from __future__ import annotations

from itertools import accumulate

from syntagma.text.morphology import select_words
from syntagma.text.sentence import Constituent, Parse, Sentence

PUNCTUATION = "punct"


def without_punctuation(parse: Parse, *, lower: bool = False) -> Parse:
    """Return a tree without its punctuation marks, in the words that are left.

    Marks that other words depend on are kept, so that the result is a tree. Offsets are those of
    the words joined by spaces.

    Args:
        parse: a tree; it is returned unchanged if it consists of punctuation.
        lower: whether to write the words in lower case.
    """
    is_head = {head for head in parse.heads if head}
    kept = [
        index
        for index, relation in enumerate(parse.relations)
        if relation != PUNCTUATION or index + 1 in is_head or parse.heads[index] == 0
    ]
    if len(kept) == len(parse) and not lower:
        return parse
    is_kept = set(kept)
    # The place of each old word among those that are left, and of the boundary after the last.
    places = [0, *accumulate(int(index in is_kept) for index in range(len(parse)))]
    forms = [parse.sentence.forms[index] for index in kept]
    phrases = None
    if parse.constituents is not None:
        moved = (
            Constituent(label, places[start], places[end])
            for label, start, end in parse.constituents
        )
        phrases = tuple(phrase for phrase in moved if phrase.start < phrase.end)
    return Parse(
        Sentence.spaced([form.lower() for form in forms] if lower else forms),
        heads=tuple(places[parse.heads[index]] if parse.heads[index] else 0 for index in kept),
        relations=tuple(parse.relations[index] for index in kept),
        upos=tuple(parse.upos[index] for index in kept),
        xpos=tuple(parse.xpos[index] for index in kept),
        constituents=phrases,
        morphology=select_words(parse.morphology, kept),
    )
