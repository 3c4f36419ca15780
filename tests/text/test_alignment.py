"""Alignment of words and pieces, with every kind of tokenizer."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from syntagma.errors import InputError
from syntagma.text.alignment import ABSENT, align, first_pieces, pool, require_offsets, spread
from tests.messages import naming

NASTY = "aZ09 .,'’-–—…()[]\"“”\u00a0\u200b\u200d\u0301é東京ﬁ😀👩‍🚀ß\tـعİ½"


def naive_align(words, pieces):
    """The word that each piece shares the most characters with; the first one on ties."""
    result = []
    for start, end in pieces:
        shared = [min(end, e) - max(start, s) for s, e in words]
        best = max(shared, default=0)
        result.append(shared.index(best) if best > 0 else ABSENT)
    return result


@pytest.mark.parametrize("kind", ["wordpiece", "byte_level", "unigram"])
@given(text=st.text(NASTY, max_size=40))
@settings(max_examples=150, deadline=None)
def test_align_matches_the_definition(kind, text, tokenizers):
    words, start = [], None
    for index, character in enumerate(text + " "):
        if character.isspace():
            if start is not None:
                words.append((start, index))
            start = None
        elif start is None:
            start = index
    # Split words in two, as clitics are, so that a piece may overlap two words.
    first_halves = [(s, s + (e - s) // 2) for s, e in words if e - s > 1]
    words = sorted(first_halves + [(s + (e - s) // 2 if e - s > 1 else s, e) for s, e in words])
    encoding = tokenizers[kind](text, return_offsets_mapping=True)
    pieces = encoding["offset_mapping"]
    starts, ends = [s for s, _ in words], [e for _, e in words]
    found = align(starts, ends, [s for s, _ in pieces], [e for _, e in pieces])
    assert found.tolist() == naive_align(words, pieces)


def test_many_texts_align_in_one_call():
    one = align([0, 3], [2, 5], [0, 3, 4], [2, 4, 5])
    both = align([0, 3, 10, 13], [2, 5, 12, 15], [0, 3, 4, 10, 13, 14], [2, 4, 5, 12, 14, 15])
    assert both.tolist() == [*one, *(one + 2)]


def test_words_that_share_a_token_and_words_without_pieces():
    # du = de + le: both have the same offsets, and the first gets the piece.
    assert align([0, 0, 3], [2, 2, 7], [0, 3], [2, 7]).tolist() == [0, 2]
    assert first_pieces([0, 2], 3).tolist() == [0, ABSENT, 1]
    assert align([], [], [0], [2]).tolist() == [ABSENT]


@pytest.mark.parametrize("how", ["first", "last", "mean"])
def test_pool_matches_a_loop(how):
    torch.manual_seed(0)
    states = torch.randn(2, 6, 3, requires_grad=True)
    words = torch.tensor([[-100, 0, 0, 2, 2, -100], [-100, 0, 1, 1, 1, 2]])
    pooled = pool(states, words, 3, how=how)
    for row in range(2):
        for word in range(3):
            own = [states[row, p] for p in range(6) if words[row, p] == word]
            expected = torch.zeros(3)
            if own:
                mean = torch.stack(own).mean(0)
                expected = {"first": own[0], "last": own[-1], "mean": mean}[how]
            torch.testing.assert_close(pooled[row, word], expected)
    pooled.sum().backward()
    assert (states.grad[0, 0] == 0).all()
    assert (states.grad[0, 1 if how == "first" else 2] != 0).all()


def test_spread_copies_word_values_to_pieces():
    assert spread([5, 6], [ABSENT, 1, 1, 0]).tolist() == [ABSENT, 6, 6, 5]
    assert spread([], [ABSENT, ABSENT], fill=-1).tolist() == [-1, -1]
    assert spread(np.array([], int), []).tolist() == []


def test_slow_tokenizers_are_rejected():
    class Slow:
        is_fast = False

    with pytest.raises(InputError, match=naming("Slow tokenizer.json AutoTokenizer use_fast=True")):
        require_offsets(Slow())


def test_an_unknown_pooling_is_rejected():
    with pytest.raises(InputError, match=naming("pooling first last mean max")):
        pool(torch.zeros(1, 1, 1), torch.zeros(1, 1, dtype=torch.long), 1, how="max")
