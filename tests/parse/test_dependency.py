"""Dependency decoding, compared with all possible trees and with another implementation."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from syntagma.parse.dependency import decode_heads, maximum_spanning_tree


def is_tree(heads):
    if sum(head == 0 for head in heads) != 1:
        return False
    for word in range(1, len(heads) + 1):
        seen = set()
        while word:
            if word in seen:
                return False
            seen.add(word)
            word = heads[word - 1]
    return True


def total(scores, heads):
    return sum(scores[word, head] for word, head in enumerate(heads))


def random_scores(random, n_words, *, tied=False, forbidden=0.0):
    scores = random.normal(size=(n_words, n_words + 1))
    if tied:
        scores = np.round(scores)
    scores[random.random(scores.shape) < forbidden] = -np.inf
    scores[np.arange(n_words), np.arange(1, n_words + 1)] = -np.inf
    return scores


@pytest.mark.parametrize("n_words", [1, 2, 3, 4, 5])
@pytest.mark.parametrize("tied", [False, True])
def test_the_decoded_tree_is_the_best_of_all_trees(n_words, tied):
    random = np.random.default_rng(n_words)
    trees = [
        heads for heads in itertools.product(range(n_words + 1), repeat=n_words) if is_tree(heads)
    ]
    assert len(trees) == n_words ** (n_words - 1)
    for _ in range(40):
        scores = random_scores(random, n_words, tied=tied)
        found = maximum_spanning_tree(scores)
        assert is_tree(found)
        best = max(total(scores, heads) for heads in trees)
        assert total(scores, found) == pytest.approx(best)


@pytest.mark.parametrize("n_words", [8, 30, 70])
def test_decoded_trees_agree_with_another_implementation(n_words):
    chu_liu_edmonds = pytest.importorskip("ufal.chu_liu_edmonds").chu_liu_edmonds
    random = np.random.default_rng(n_words)
    for _ in range(20):
        scores = random_scores(random, n_words)
        matrix = np.full((n_words + 1, n_words + 1), np.nan)
        matrix[1:] = np.where(np.isfinite(scores), scores, np.nan)
        matrix[1:, 0] -= 1e4  # one root
        heads, _ = chu_liu_edmonds(matrix)
        assert maximum_spanning_tree(scores).tolist() == heads[1:]


@given(st.integers(1, 12), st.integers(0, 10_000), st.floats(0, 0.9))
@settings(max_examples=200, deadline=None)
def test_a_tree_is_found_whatever_arcs_are_forbidden(n_words, seed, share):
    scores = random_scores(np.random.default_rng(seed), n_words, forbidden=share)
    assert is_tree(maximum_spanning_tree(scores))


def test_a_batch_is_decoded_sentence_by_sentence():
    random = np.random.default_rng(5)
    lengths = np.array([3, 0, 7, 1, 5])
    arcs = np.full((5, 7, 8), -np.inf)
    for row, length in enumerate(lengths):
        arcs[row, :length, : length + 1] = random_scores(random, length)
    heads = decode_heads(arcs, lengths)
    for row, length in enumerate(lengths):
        alone = maximum_spanning_tree(arcs[row, :length, : length + 1])
        assert heads[row, :length].tolist() == alone.tolist()
        assert (heads[row, length:] == 0).all()


def test_nested_cycles_are_expanded():
    """Every word prefers its neighbour, so that contracted cycles are contracted again."""
    n_words = 300
    scores = np.full((n_words, n_words + 1), -5.0)
    for word in range(n_words):
        scores[word, word + 1 - 2 * (word % 2) + 1] = 5 + word / n_words
        scores[word, word + 1] = -np.inf
    heads = maximum_spanning_tree(scores)
    assert is_tree(heads.tolist())


def test_a_sentence_without_words():
    assert maximum_spanning_tree(np.zeros((0, 1))).tolist() == []
