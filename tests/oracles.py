"""Random trees, and naive code that finds ancestors by walking from parent to parent."""

from __future__ import annotations

from collections.abc import Sequence

from hypothesis import strategies as st

from syntagma.parse.columns import ParsedText
from syntagma.text.sentence import Parse, Sentence

Tree = tuple[int, ...]
"""The head of each word, counted from 1; 0 is the root."""


@st.composite
def forests(draw: st.DrawFn, max_words: int = 8, max_sentences: int = 3) -> list[Tree]:
    """Heads of random trees; words are in random order, so most trees are non-projective."""
    trees = []
    for _ in range(draw(st.integers(1, max_sentences))):
        n_words = draw(st.integers(1, max_words))
        order = draw(st.permutations(range(n_words)))
        heads = [0] * n_words
        for place in range(1, n_words):
            heads[order[place]] = order[draw(st.integers(0, place - 1))] + 1
        trees.append(tuple(heads))
    return trees


def ancestors_by_walking(trees: Sequence[Tree]) -> list[set[int]]:
    """For each word, the set of itself and its ancestors, as indices in the whole text."""
    result, offset = [], 0
    for tree in trees:
        for word in range(1, len(tree) + 1):
            above = set()
            while word:
                above.add(word - 1 + offset)
                word = tree[word - 1]
            result.append(above)
        offset += len(tree)
    return result


def parsed(trees: Sequence[Tree]) -> ParsedText:
    """A parsed text with one sentence per tree, whose words are w0, w1 and so on."""
    parses, start = [], 0
    for tree in trees:
        sentence = Sentence.from_words([f"w{i}" for i in range(len(tree))], offset=start)
        start = sentence.end + 1
        parses.append(Parse(sentence, tree, xpos=("NN",) * len(tree)))
    return ParsedText.from_parses(parses)
