"""Decoding scores: the best spans, answers from several windows, and their characters."""

from __future__ import annotations

import math

import numpy as np
import pytest
import torch

from syntagma.models.span_model import SpanHead
from syntagma.tasks.spans.decode import (
    WindowCandidates,
    answer_interval,
    best_spans,
    decode_answer,
)


@pytest.mark.parametrize("seed", range(5))
def test_best_spans_equal_brute_force(seed):
    random = np.random.default_rng(seed)
    n, longest = 12, 4
    start = torch.tensor(random.normal(size=(2, n)).round(1))
    end = torch.tensor(random.normal(size=(2, n)).round(1))
    start[:, 8:] = -torch.inf
    end[:, 8:] = -torch.inf
    scores, first, last = best_spans(start, end, max_answer_length=longest, n_best_size=10)
    for row in range(2):
        every = sorted(
            (float(start[row, k] + end[row, e]) for k in range(1, 8)
             for e in range(k, min(k + longest, 8))), reverse=True,
        )  # fmt: skip
        assert scores[row].tolist() == pytest.approx(every[:10])
        for score, k, e in zip(scores[row], first[row], last[row], strict=True):
            assert 0 < k <= e < k + longest
            assert float(start[row, k] + end[row, e]) == float(score)


def test_missing_spans_are_filled_with_minus_infinity():
    start = torch.tensor([[0.0, 1.0, -torch.inf]])
    scores, _, _ = best_spans(start, start, max_answer_length=2, n_best_size=5)
    assert scores[0].tolist() == [2.0] + [-math.inf] * 4


def test_the_same_span_in_two_windows_counts_once():
    head = SpanHead()

    class Window:
        begin, offset = 0, 1

        class passage:
            starts, ends = np.array([0, 4]), np.array([3, 8])

    def found(score, null):
        return WindowCandidates(np.array([score, 0.5]), np.array([1, 2]), np.array([1, 2]), null, 0)

    answer = decode_answer("?", "abc defg", [Window, Window], [found(1, 3), found(2, -1)], head)
    assert [(span.text, span.score) for span in answer.spans] == [("abc", 2.0), ("defg", 0.5)]
    assert answer.null_score == -1
    assert answer.null_odds == -3
    total = sum(span.probability for span in answer.spans) + math.exp(-1) / sum(
        map(math.exp, (-1, 2, 0.5))
    )
    assert total == pytest.approx(1)
    forced = decode_answer("?", "abc defg", [Window], [found(1, 30)], head, threshold=math.inf)
    assert forced.answered
    assert not decode_answer("?", "abc defg", [Window], [found(1, 30)], head).answered


@pytest.mark.parametrize(
    ("passage", "place", "expected"),
    [
        ("met Andre\u0301 at", (4, 9), "Andre\u0301"),
        ("a \u2764\ufe0f here", (2, 3), "\u2764\ufe0f"),
        (" Ann  met", (0, 6), "Ann"),
        ("Ann", (0, 3), "Ann"),
    ],
)
def test_answers_keep_combining_marks_of_their_last_letter(passage, place, expected):
    start, end = answer_interval(passage, *place)
    assert passage[start:end] == expected
