"""Tree checks and walks by pointer doubling, compared with walking one arc at a time."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from syntagma.parse.trees import are_trees, depths, descendants, lead_to_roots


def path_to_root(heads, word):
    """Walk from ``word`` (1-based) to a root; ``None`` on a cycle or an invalid head."""
    path = []
    while word:
        if word in path or not 1 <= word <= len(heads):
            return None
        path.append(word)
        word = heads[word - 1]
    return path


def has_paths(heads):
    return all(path_to_root(heads, word) is not None for word in range(1, len(heads) + 1))


def is_tree(heads):
    return has_paths(heads) and sum(head == 0 for head in heads) == 1


def flatten(sentences):
    """Return the heads of all sentences in a row, and the bounds of the sentences."""
    heads = np.array([head for heads in sentences for head in heads], np.int64)
    return heads, np.cumsum([0, *map(len, sentences)])


@pytest.mark.parametrize("n_words", [1, 2, 3, 4])
def test_every_assignment_of_heads_is_checked_correctly(n_words):
    """Heads range from -1 to one beyond the last word; both ends are invalid."""
    sentences = list(itertools.product(range(-1, n_words + 2), repeat=n_words))
    heads, bounds = flatten(sentences)
    assert lead_to_roots(heads, bounds).tolist() == list(map(has_paths, sentences))
    assert are_trees(heads, bounds).tolist() == list(map(is_tree, sentences))


def test_sentences_of_different_lengths_do_not_mix():
    sentences = [(0,), (), (2, 1), (2, 0, 2), (3, 0, 9), (0, 0), ()]
    heads, bounds = flatten(sentences)
    assert lead_to_roots(heads, bounds).tolist() == [True, True, False, True, False, True, True]
    assert are_trees(heads, bounds).tolist() == [True, True, False, True, False, False, True]


def test_no_sentences():
    assert are_trees(*flatten([])).tolist() == []
    assert lead_to_roots(*flatten([])).tolist() == []


@pytest.mark.parametrize("n_words", [1, 2, 5, 9])
def test_depths_and_descendants(n_words):
    random = np.random.default_rng(n_words)
    for _ in range(30):
        # Each word depends on one that precedes it in a random order, so the heads form a tree.
        order = random.permutation(n_words)
        heads = np.zeros(n_words, np.int64)
        for place in range(1, n_words):
            heads[order[place]] = order[random.integers(place)] + 1
        paths = [path_to_root(heads.tolist(), word) for word in range(1, n_words + 1)]
        assert depths(heads).tolist() == [len(path) - 1 for path in paths]
        for word in range(n_words):
            assert descendants(heads, word).tolist() == [word + 1 in path for path in paths]


@pytest.mark.parametrize("n_words", [63, 64, 65, 1000])
def test_a_chain_is_walked_to_its_end(n_words):
    """The longest possible path, with lengths around a power of two."""
    heads = np.arange(n_words)
    assert are_trees(heads, np.array([0, n_words])).all()
    assert depths(heads).tolist() == list(range(n_words))
    heads[0] = n_words
    assert not lead_to_roots(heads, np.array([0, n_words])).any()
