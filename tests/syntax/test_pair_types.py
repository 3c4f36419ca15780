"""The relation of two words in the tree, against a tree by hand and walks over random ones."""

from __future__ import annotations

from collections import deque

import numpy as np
import torch
from hypothesis import given
from hypothesis import strategies as st

from syntagma.parse.sources.load import load_source
from syntagma.syntax.pair_types import CHILD, PARENT, TYPES, n_types, pair_types
from syntagma.syntax.pieces import piece_syntax
from syntagma.syntax.relations import N_RELATIONS, OTHER, RELATIONS, relation_ids
from syntagma.syntax.tokenizer import SyntaxTokenizer
from syntagma.text.sentence import Parse, Sentence
from tests.conftest import build_tokenizer
from tests.oracles import ancestors_by_walking, forests, parsed

COLUMNS = ("enter", "exit", "depth", "sentence", "word", "parent")
LETTERS = dict(zip(".=ADS345PC", TYPES, strict=True))


def types_of(batch, *, labels=False):
    names = (*COLUMNS, "relation") if labels else COLUMNS
    return pair_types(*(batch[name] for name in names))


# The first sentence is c → b → a and c → d → e → f, the second one g → h.
FORMS = ["ferry", "old", "barge", "left", "port", "dawn"], ["river", "wide"]
HEADS, RELATIONS_READ = (
    ((2, 3, 0, 3, 4, 5), (0, 1)),
    (
        ("det", "nsubj", "root", "obj", "nmod:poss", "pobj"),
        ("root", "dep"),
    ),
)
EXPECTED = """
=PA345 ..
C=PS34 ..
DC=CDD ..
3SP=CD ..
43AP=C ..
54AAP= ..

...... =C
...... P=
"""


def small_batch():
    """The tree above, with words of two pieces, and a shorter text below it."""
    words = [Sentence.from_words(list(FORMS[0]))]
    words.append(Sentence.from_words(list(FORMS[1]), offset=words[0].end + 1))
    text = " ".join(" ".join(forms) for forms in FORMS)
    parses = [Parse(*parts) for parts in zip(words, HEADS, RELATIONS_READ, strict=True)]
    short = Parse(Sentence.from_words(["dawn"]), (0,))
    tokenizer = SyntaxTokenizer(build_tokenizer("wordpiece"), load_source("linear"))
    return tokenizer([text, "dawn"], parses=[parses, [short]])


def test_the_types_of_a_small_tree():
    rows = [line.replace(" ", "") for line in EXPECTED.split("\n") if line]
    batch = small_batch()
    word = batch["word"].tolist()
    assert len(word[0]) > len({*word[0]}) + 2, "some words have several pieces"
    found = types_of(batch).tolist()
    for row, words in enumerate(word):
        for i, one in enumerate(words):
            for j, other in enumerate(words):
                letter = "=" if row else rows[one][other]
                expected = LETTERS[letter] if one >= 0 and other >= 0 else "unrelated"
                assert TYPES[found[row][i][j]] == expected, (row, i, j)


def test_parents_and_children_are_split_by_relation():
    batch = small_batch()
    plainly, labelled = types_of(batch)[0], types_of(batch, labels=True)[0]
    word = batch["word"][0].tolist()
    relations = relation_ids([name for names in RELATIONS_READ for name in names])
    assert relations[4] == RELATIONS.index("nmod")
    assert relations[5] == OTHER
    for i, one in enumerate(word):
        for j, other in enumerate(word):
            kind = plainly[i, j]
            if kind == PARENT:
                kind = PARENT + relations[one]
            elif kind == CHILD:
                kind = PARENT + N_RELATIONS + relations[other]
            assert labelled[i, j] == kind
    assert labelled.max() < n_types(labels=True)


def walk(trees):
    """The type of each pair of words, from paths through trees below a common root."""
    above = ancestors_by_walking(trees)
    owner = [number for number, tree in enumerate(trees) for _ in tree]
    starts = np.cumsum([0, *map(len, trees)])
    heads = [
        starts[number] + head - 1 if head else ("root", number)
        for number, tree in enumerate(trees)
        for head in tree
    ]
    near = {}
    for word, head in enumerate(heads):
        near.setdefault(word, set()).add(head)
        near.setdefault(head, set()).add(word)
    result = []
    for word in range(len(heads)):
        arcs, left = {word: 0}, deque([word])
        while left:
            here = left.popleft()
            for there in near[here] - arcs.keys():
                arcs[there] = arcs[here] + 1
                left.append(there)
        names = []
        for other in range(len(heads)):
            if owner[word] != owner[other]:
                names.append("unrelated")
            elif word == other:
                names.append("same word")
            elif other in above[word]:
                names.append("parent" if arcs[other] == 1 else "ancestor")
            elif word in above[other]:
                names.append("child" if arcs[other] == 1 else "descendant")
            else:
                names.append(
                    {2: "sibling", 3: "distance 3", 4: "distance 4"}.get(arcs[other], "farther")
                )
        result.append(names)
    return result


def several_roots(trees):
    """Turn every second word with a head beyond the first one into a further root."""
    return [tuple(0 if place % 4 == 3 else head for place, head in enumerate(t)) for t in trees]


@given(forests(max_words=12), st.booleans(), st.data())
def test_types_agree_with_walks_over_trees(trees, split, data):
    trees = several_roots(trees) if split else trees
    n_words = sum(map(len, trees))
    syntax = piece_syntax(parsed(trees), np.arange(n_words))
    columns = {name: torch.from_numpy(syntax[name].copy()).unsqueeze(0) for name in COLUMNS}
    found = types_of(columns)[0]
    expected = walk(trees)
    assert [[TYPES[kind] for kind in row] for row in found.tolist()] == expected
    # A window changes nothing but the longer paths over words outside of it.
    begin = data.draw(st.integers(0, n_words - 1))
    end = data.draw(st.integers(begin + 1, n_words))
    cut = types_of({name: column[:, begin:end] for name, column in columns.items()})[0]
    inside = found[begin:end, begin:end]
    changed = cut != inside
    assert {TYPES[kind] for kind in inside[changed].tolist()} <= {"distance 3", "distance 4"}
    assert {TYPES[kind] for kind in cut[changed].tolist()} <= {"farther"}
