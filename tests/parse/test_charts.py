"""Chart decoding of spans, and of spans with arcs, compared with all possible trees."""

from __future__ import annotations

import itertools

import pytest
import torch

from syntagma.parse import constituency, joint
from syntagma.parse.constituency import best_spans
from syntagma.parse.joint import best_joint_trees
from syntagma.parse.phrases import agree
from syntagma.text.sentence import Constituent


def binary_trees(start, end):
    """Yield every binary tree over words start … end − 1 as a list of spans."""
    if end - start == 1:
        yield [(start, end)]
        return
    for split in range(start + 1, end):
        for left, right in itertools.product(binary_trees(start, split), binary_trees(split, end)):
            yield [(start, end), *left, *right]


def headed_trees(start, end):
    """Yield every binary tree with every choice of head words, as (spans, {word: head}, head)."""
    if end - start == 1:
        yield [(start, end)], {}, end
        return
    for split in range(start + 1, end):
        for left, right in itertools.product(headed_trees(start, split), headed_trees(split, end)):
            spans, arcs = [(start, end), *left[0], *right[0]], left[1] | right[1]
            yield spans, arcs | {right[2]: left[2]}, left[2]
            yield spans, arcs | {left[2]: right[2]}, right[2]


def random_batch(seed, n_words):
    generator = torch.Generator().manual_seed(seed)
    longest = max(n_words)
    spans = torch.randn(len(n_words), longest + 1, longest + 1, generator=generator).double()
    arcs = torch.randn(len(n_words), longest, longest + 1, generator=generator).double()
    words = torch.arange(longest)
    arcs[:, words, words + 1] = -torch.inf
    return spans, arcs, torch.tensor(n_words)


def spans_of(found, row):
    return [
        (start, end)
        for which, start, end in zip(*(values.tolist() for values in found), strict=True)
        if which == row
    ]


def span_total(scores, spans):
    return sum(scores[start, end].item() for start, end in spans)


def arc_total(arcs, heads):
    return sum(arcs[word - 1, head].item() for word, head in heads.items())


@pytest.mark.parametrize("seed", range(12))
def test_spans_are_the_best_of_all_binary_trees(seed):
    spans, _, n_words = random_batch(seed, [1, 5, 3, 4, 2, 5])
    found = best_spans(spans, n_words)
    for row, length in enumerate(n_words.tolist()):
        chosen = spans_of(found, row)
        assert sorted(chosen) in [sorted(tree) for tree in binary_trees(0, length)]
        best = max(span_total(spans[row], tree) for tree in binary_trees(0, length))
        assert span_total(spans[row], chosen) == pytest.approx(best)


@pytest.mark.parametrize("seed", range(12))
@pytest.mark.parametrize("forbidden", [0.0, 0.2])
def test_joint_trees_are_the_best_of_all_headed_trees(seed, forbidden):
    spans, arcs, n_words = random_batch(seed, [1, 5, 3, 4, 2, 5])
    arcs[torch.rand(arcs.shape, generator=torch.Generator().manual_seed(seed)) < forbidden] = -1e3
    found = best_joint_trees(spans, arcs, n_words)
    for row, length in enumerate(n_words.tolist()):
        heads = dict(enumerate(found.heads[row, :length].tolist(), start=1))
        chosen = spans_of(found.spans, row)
        best = max(
            span_total(spans[row], tree) + arc_total(arcs[row], made | {head: 0})
            for tree, made, head in headed_trees(0, length)
        )
        assert span_total(spans[row], chosen) + arc_total(arcs[row], heads) == pytest.approx(best)
        assert found.heads[row, length:].sum() == 0


@pytest.mark.parametrize("n_words", [[30, 7], [61]])
def test_phrases_and_dependencies_of_a_joint_tree_agree(n_words):
    found = best_joint_trees(*random_batch(5, n_words))
    for row, length in enumerate(n_words):
        phrases = [Constituent("X", *span) for span in sorted(spans_of(found.spans, row))]
        assert len(phrases) == 2 * length - 1
        assert agree(phrases, found.heads[row, :length].tolist())


def test_a_batch_whose_charts_do_not_fit_is_split(monkeypatch):
    batch = random_batch(8, [9, 4, 12, 12, 1, 7])
    together = best_joint_trees(*batch)
    monkeypatch.setattr(constituency, "MAX_CHART_CELLS", 2 * 13**3)
    split = joint.best_joint_trees(*batch)
    assert torch.equal(together.heads, split.heads)
    for row in range(6):
        assert spans_of(together.spans, row) == spans_of(split.spans, row)


def test_a_sentence_whose_chart_is_too_large_is_decoded_alone():
    cells = constituency.MAX_CHART_CELLS
    assert cells * 4 == 64 * 2**20, "64 MiB in float32"
    assert constituency.split_batch(3, 10 * cells) == [slice(0, 1), slice(1, 2), slice(2, 3)]
    assert constituency.split_batch(3, cells // 3) == [slice(0, 3)]


def test_without_arc_scores_joint_decoding_finds_the_best_binary_tree():
    spans, arcs, n_words = random_batch(2, [25, 40])
    alone = best_spans(spans, n_words)
    jointly = best_joint_trees(spans, torch.zeros_like(arcs), n_words)
    for row in range(2):
        assert sorted(spans_of(alone, row)) == sorted(spans_of(jointly.spans, row))
