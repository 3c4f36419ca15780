"""Euler-tour intervals match walks from parent to parent, also on non-projective trees."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from syntagma.parse.columns import ParsedText
from syntagma.syntax.ancestors import ancestor_mask, projections, tour
from syntagma.syntax.pieces import piece_syntax
from syntagma.text.alignment import ABSENT
from tests.oracles import ancestors_by_walking, forests, parsed


def columns(trees):
    heads = np.array([head for tree in trees for head in tree], np.int32)
    sentences = np.repeat(np.arange(len(trees)), [len(tree) for tree in trees])
    return heads, sentences


@given(forests())
@settings(max_examples=200, deadline=None)
def test_intervals_encode_ancestors_and_depth(trees):
    walk = tour(*columns(trees))
    expected = ancestors_by_walking(trees)
    n_words = len(expected)
    assert sorted(walk.enter) == list(range(n_words))
    for i in range(n_words):
        above = {j for j in range(n_words) if walk.enter[j] <= walk.enter[i] < walk.exit[j]}
        assert above == expected[i]
        assert walk.depth[i] == len(above) - 1
    mask = ancestor_mask(torch.tensor(walk.enter)[None], torch.tensor(walk.exit)[None])[0]
    assert mask.tolist() == [[j in expected[i] for j in range(n_words)] for i in range(n_words)]


@given(forests())
@settings(max_examples=100, deadline=None)
def test_projections_cover_the_subtree(trees):
    left, right = projections(*columns(trees))
    expected = ancestors_by_walking(trees)
    for j in range(len(expected)):
        below = [i for i, above in enumerate(expected) if j in above]
        assert (left[j], right[j]) == (min(below), max(below))


def test_example_of_the_paper():
    """*credit* attends to *reflects*, *losses* and itself (SG-Net figure 3)."""
    # The increase reflects lower credit losses
    heads = np.array([2, 3, 0, 6, 6, 3])
    walk = tour(heads, np.zeros(6, int))
    mask = ancestor_mask(torch.tensor(walk.enter)[None], torch.tensor(walk.exit)[None])[0]
    assert mask[4].nonzero().flatten().tolist() == [2, 4, 5]


def naive_mask(trees, words, mode):
    """The three rules as stated in the papers and the released script, pair by pair."""
    above = ancestors_by_walking(trees)
    first = {}
    for piece, word in enumerate(words):
        first.setdefault(word, piece)
    n = len(words)

    def sees(i, j):
        if i == j:
            return True
        if words[i] < 0 or words[j] < 0:
            return False
        if mode == "share":
            return words[j] in above[words[i]]
        if mode == "first_piece":
            return first[words[j]] == j and words[j] in above[words[i]]
        below = [w for w, up in enumerate(above) if words[j] in up]
        return first[words[j]] == j and min(below) <= words[i] <= max(below)

    return [[sees(i, j) for j in range(n)] for i in range(n)]


@pytest.mark.parametrize("mode", ["share", "first_piece", "projection"])
@given(data=st.data())
@settings(max_examples=120, deadline=None)
def test_pieces_attend_by_the_rule_of_each_mode(mode, data):
    trees = data.draw(forests(max_words=5, max_sentences=2))
    n_words = sum(map(len, trees))
    words = []
    for word in range(n_words):
        words += [word] * data.draw(st.integers(0, 3))
        words += [ABSENT] * data.draw(st.integers(0, 1))
    syntax = piece_syntax(parsed(trees), np.array(words, np.int64), mode=mode)
    place = np.arange(len(words))
    has_word = syntax["word"] >= 0
    # Isolate pieces without a word as the sequence builder does.
    enter = np.where(has_word, syntax["enter"], -1 - place)
    exit_ = np.where(has_word, syntax["exit"], -place)
    point = np.where(has_word, syntax["point"], -1 - place)
    mask = ancestor_mask(*(torch.from_numpy(c).long()[None] for c in (enter, exit_, point)))[0]
    assert mask.tolist() == naive_mask(trees, words, mode)


def test_depth_of_pieces():
    trees = [(2, 0, 2)]
    words = np.array([0, 0, 1, 1, 2])
    assert piece_syntax(parsed(trees), words)["depth"].tolist() == [1, 1, 0, 0, 1]
    later = piece_syntax(parsed(trees), words, mode="first_piece")
    assert later["depth"].tolist() == [1, 2, 0, 1, 1]


def test_text_without_words():
    empty = piece_syntax(ParsedText.from_parses([]), np.array([ABSENT, ABSENT]))
    assert empty["word"].tolist() == [-1, -1]
