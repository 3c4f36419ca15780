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
    assert (answer.text, answer.start, answer.end) == ("abc", 0, 3)
    assert answer.probability == answer.spans[0].probability
    total = sum(span.probability for span in answer.spans) + math.exp(-1) / sum(
        map(math.exp, (-1, 2, 0.5))
    )
    assert total == pytest.approx(1)
    forced = decode_answer("?", "abc defg", [Window], [found(1, 30)], head, threshold=math.inf)
    assert forced.answered
    silent = decode_answer("?", "abc defg", [Window], [found(1, 30)], head)
    assert not silent.answered
    assert (silent.text, silent.start, silent.end) == ("", None, None)
    assert silent.probability == pytest.approx(1)
    # Abstention needs odds beyond the threshold.
    equal = decode_answer("?", "abc defg", [Window], [found(1, 3)], head, threshold=2.0)
    assert equal.null_odds == 2
    assert equal.answered


class Passage:
    """A window with a whole passage of three words, which the question's two pieces precede."""

    begin, offset = 0, 2

    class passage:
        starts, ends = np.array([0, 4, 8]), np.array([3, 7, 11])


def test_spans_of_equal_scores_come_in_the_order_of_the_passage():
    scores = np.array([1000.0, 1000.0, 999.0, -np.inf])
    # What fills the places of missing spans need not lie in the passage.
    first, last = np.array([4, 2, 3, 90]), np.array([4, 2, 3, 90])
    found = WindowCandidates(scores, first, last, -1000.0, 0.0)
    answer = decode_answer("?", "abc def ghi", [Passage], [found], SpanHead())
    assert [span.text for span in answer.spans] == ["abc", "ghi", "def"]
    # Scores of this size overflow unless the largest is subtracted.
    powers = [1.0, 1.0, math.exp(-1)]
    assert [span.probability for span in answer.spans] == pytest.approx(
        [power / sum(powers) for power in powers]
    )


def test_the_verifier_and_the_span_both_weigh():
    head = SpanHead(span_weight=0.5, answerability_weight=0.25)
    found = [
        WindowCandidates(np.array([2.0]), np.array([2]), np.array([2]), null, verification)
        for null, verification in ((6.0, 8.0), (5.0, 12.0))
    ]
    answer = decode_answer("?", "abc def ghi", [Passage] * 2, found, head)
    assert (answer.null_score, answer.verification) == (5, 8)
    assert answer.null_odds == 0.5 * (5 - 2) + 0.25 * 8


@pytest.mark.parametrize(
    ("passage", "place", "expected"),
    [
        ("met Andre\u0301 at", (4, 9), "Andre\u0301"),
        ("a \u2764\ufe0f here", (2, 3), "\u2764\ufe0f"),
        (" Ann  met", (0, 6), "Ann"),
        ("Ann", (0, 3), "Ann"),
        ("\u2708\u200d gone", (0, 1), "\u2708\u200d"),
        # Nothing but a space has no letter that a mark could belong to.
        ("a \u0301b", (1, 2), ""),
    ],
)
def test_answers_keep_combining_marks_of_their_last_letter(passage, place, expected):
    start, end = answer_interval(passage, *place)
    assert start <= end
    assert passage[start:end] == expected
