"""Masked pieces, masked distances and heads, against oracles in plain Python."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from syntagma.models.objectives import IGNORED, head_places, hide_distances, hide_pieces
from syntagma.syntax.ancestors import tour
from syntagma.syntax.distances import tree_distances

# Two sentences; word 2 of the first has two pieces, word 1 of the second three.
HEADS = [[2, 0, 2, 3], [2, 3, 0]]
PIECES = [[1, 1, 2, 1], [1, 3, 1]]


def columns():
    """Return enter, exit, depth and word of a sequence with a special token at both ends."""
    heads = np.array([head for sentence in HEADS for head in sentence], np.int32)
    sentences = np.repeat(np.arange(2), [len(sentence) for sentence in HEADS]).astype(np.int32)
    trees = tour(heads, sentences)
    counts = [count for sentence in PIECES for count in sentence]
    words = np.repeat(np.arange(len(counts)), counts)

    def spread(values, special):
        return torch.tensor([[special[0], *np.asarray(values)[words].tolist(), special[1]]])

    return (
        spread(trees.enter, (-1, -2)),
        spread(trees.exit, (0, -1)),
        spread(trees.depth, (0, 0)),
        spread(range(len(counts)), (-1, -1)),
    )


def first_places():
    """Return the position of the first piece of each word in the sequence."""
    counts = [count for sentence in PIECES for count in sentence]
    return [1 + sum(counts[:word]) for word in range(len(counts))]


class TestPieces:
    def test_the_shares_are_those_of_the_paper(self):
        torch.manual_seed(0)
        ids = torch.full((200, 500), 7)
        candidates = torch.rand(ids.shape) < 0.9
        read, targets = hide_pieces(ids, candidates, share=0.15, mask_token_id=3, n_pieces=1000)
        chosen = targets != IGNORED
        assert not (chosen & ~candidates).any()
        assert (targets[chosen] == 7).all()
        assert (read[~chosen] == 7).all()
        n = chosen.sum()
        assert n / candidates.sum() == pytest.approx(0.15, abs=0.005)
        assert (read[chosen] == 3).sum() / n == pytest.approx(0.8, abs=0.02)
        assert (read[chosen] == 7).sum() / n == pytest.approx(0.1, abs=0.02)

    def test_each_call_masks_other_pieces(self):
        torch.manual_seed(0)
        ids, candidates = torch.arange(1000).view(1, -1), torch.ones(1, 1000, dtype=torch.bool)
        reads = [
            hide_pieces(ids, candidates, share=0.15, mask_token_id=0, n_pieces=9).input_ids
            for _ in range(2)
        ]
        assert not torch.equal(*reads)


class TestDistances:
    @pytest.mark.parametrize("direction", ["down", "up", "both", "undirected"])
    def test_all_pieces_of_a_word_are_treated_alike_in_both_directions(self, direction):
        tree = columns()
        distances, word = tree_distances(*tree, direction=direction), tree[3]
        torch.manual_seed(1)
        for _ in range(20):
            read, _, _ = hide_distances(distances, word, share=0.5, longest=5)
            changed = (read != distances)[0]
            for i, j in changed.nonzero().tolist():
                for k in range(word.shape[1]):
                    if word[0, k] == word[0, j] and distances[0, i, k] > 0:
                        assert read[0, i, k] == read[0, i, j]
                if distances[0, j, i] > 0:
                    assert changed[j, i]

    def test_targets_are_the_distances_between_words(self):
        tree = columns()
        distances, word = tree_distances(*tree), tree[3]
        torch.manual_seed(0)
        read, places, targets = hide_distances(distances, word, share=1.0, longest=5)
        first = first_places()
        expected = set()
        offset = 0
        for heads in HEADS:
            for number in range(len(heads)):
                arcs, above = 0, number + 1
                while above := heads[above - 1]:
                    arcs += 1
                    expected.add((0, first[offset + above - 1], first[offset + number], arcs))
            offset += len(heads)
        found = {
            (*place, arcs) for place, arcs in zip(places.tolist(), targets.tolist(), strict=True)
        }
        assert found == expected
        assert (read[distances == 0] == 0).all()

    def test_the_shares_are_those_of_the_paper(self):
        torch.manual_seed(0)
        distances = torch.full((1, 700, 700), 9).triu(1)
        word = torch.arange(700).view(1, -1)
        read, _, targets = hide_distances(distances, word, share=0.15, longest=8)
        known = distances > 0
        assert len(targets) / known.sum() == pytest.approx(0.15, abs=0.005)
        assert (read[known] == 0).sum() / len(targets) == pytest.approx(0.8, abs=0.01)
        others = read[known & (read != 9) & (read != 0)]
        assert len(others) / len(targets) == pytest.approx(0.1, abs=0.01)
        assert others.min() == 1
        assert others.max() == 8


def test_heads_are_first_pieces_and_roots_point_to_the_first_token():
    tree = columns()
    found = head_places(tree_distances(*tree, direction="up"), tree[3], tree[2])
    first = first_places()
    expected = [IGNORED] * tree[3].shape[1]
    offset = 0
    for heads in HEADS:
        for number, head in enumerate(heads):
            expected[first[offset + number]] = first[offset + head - 1] if head else 0
        offset += len(heads)
    assert found.targets[0].tolist() == expected
    assert found.candidates[0].nonzero().squeeze(1).tolist() == [0, *first]


def test_words_whose_head_was_truncated_have_no_target():
    # Only the first word of the first sentence remains; its head would be the second.
    tree = tuple(column[:, :2] for column in columns())
    found = head_places(tree_distances(*tree, direction="up"), tree[3], tree[2])
    assert found.targets.tolist() == [[IGNORED, IGNORED]]
    assert found.candidates.tolist() == [[True, True]]
