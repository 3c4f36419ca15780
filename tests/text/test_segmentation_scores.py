"""Scores of words and sentences, compared by characters without whitespace."""

from __future__ import annotations

import pytest

from syntagma.text.documents import RawDocument
from syntagma.text.segmentation.scores import SpanScore, score_segmentation, without_gaps
from syntagma.text.sentence import Sentence


def test_whitespace_inside_and_around_spans_does_not_count():
    assert without_gaps("a  b\n", [(0, 4)]) == without_gaps("ab", [(0, 2)])
    assert without_gaps("a  b\n", [(0, 5), (3, 4)]) == {(0, 2), (1, 2)}


def test_scores_are_sums_over_documents():
    # Gold: the words "It" "rained" "." in one sentence; "Go" "!" in another document.
    documents = [
        RawDocument("It rained.", [(0, 10)], [(0, 2), (3, 9), (9, 10)]),
        RawDocument("Go!", [(0, 3)], [(0, 2), (2, 3)]),
    ]
    predicted = {
        "It rained.": [Sentence(("It",), (0,), (2,)), Sentence(("rained.",), (3,), (10,))],
        "Go!": [Sentence(("Go", "!"), (0, 2), (2, 3))],
    }
    words, sentences = score_segmentation(documents, lambda document: predicted[document.text])
    assert words == SpanScore(correct=3, gold=5, predicted=4)
    assert sentences == SpanScore(correct=1, gold=2, predicted=3)
    assert words.f1 == pytest.approx(100 * 2 * (3 / 4) * (3 / 5) / (3 / 4 + 3 / 5))


def test_nothing_to_find_scores_zero():
    assert SpanScore().f1 == 0
