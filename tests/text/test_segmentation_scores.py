"""Scores of words and sentences, compared by characters without whitespace."""

from __future__ import annotations

import pytest

from syntagma.text.documents import RawDocument
from syntagma.text.segmentation.scores import SpanScore, score_segmentation
from syntagma.text.sentence import Sentence


def score(text, gold, predicted):
    """The scores of words and sentences of a document whose sentences are its words."""
    spans = [(each.start, each.end) for each in gold]
    return score_segmentation([RawDocument(text, spans, gold)], lambda _: predicted)


def test_whitespace_inside_and_around_spans_does_not_count():
    gold = [Sentence(("a", "b"), (0, 3), (1, 4))]
    for predicted in (
        Sentence(("a ", "b\n"), (0, 3), (2, 5)),
        Sentence(("a", " b"), (0, 2), (1, 4)),
    ):
        words, sentences = score("a  b\n", gold, [predicted])
        assert words == SpanScore(2, 2, 2)
        assert sentences == SpanScore(1, 1, 1)


def test_scores_are_sums_over_documents():
    # Gold: the words "It" "rained" "." in one sentence; "Go" "!" in another document.
    documents = [
        RawDocument(
            "It rained.", [(0, 10)], [Sentence(("It", "rained", "."), (0, 3, 9), (2, 9, 10))]
        ),
        RawDocument("Go!", [(0, 3)], [Sentence(("Go", "!"), (0, 2), (2, 3))]),
    ]
    predicted = {
        "It rained.": [Sentence(("It",), (0,), (2,)), Sentence(("rained.",), (3,), (10,))],
        "Go!": [Sentence(("Go", "!"), (0, 2), (2, 3))],
    }
    words, sentences = score_segmentation(documents, lambda document: predicted[document.text])
    assert words == SpanScore(correct=3, gold=5, predicted=4)
    assert sentences == SpanScore(correct=1, gold=2, predicted=3)
    assert words.f1 == pytest.approx(100 * 2 * (3 / 4) * (3 / 5) / (3 / 4 + 3 / 5))


@pytest.mark.parametrize(
    ("forms", "starts", "ends", "multiword", "correct"),
    [
        (("de", "le", "port"), (0, 0, 3), (2, 2, 7), ((0, 2),), 3),
        (("De", "les", "port"), (0, 0, 3), (2, 2, 7), ((0, 2),), 2),
        (("du", "port"), (0, 3), (2, 7), (), 1),
        (("du port",), (0,), (7,), (), 0),
    ],
)
def test_words_that_share_their_place_count_one_by_one(forms, starts, ends, multiword, correct):
    gold = Sentence(("de", "le", "port"), (0, 0, 3), (2, 2, 7), multiword=((0, 2),))
    predicted = Sentence(forms, starts, ends, multiword=multiword)
    words, _ = score("du port", [gold], [predicted])
    assert words == SpanScore(correct, 3, len(forms))


def test_words_that_spell_their_token_need_no_token_in_the_prediction():
    gold = Sentence(("ca", "n't"), (0, 2), (2, 5), multiword=((0, 2),))
    for predicted in (gold, Sentence(("ca", "n't"), (0, 2), (2, 5))):
        assert score("can't", [gold], [predicted])[0] == SpanScore(2, 2, 2)
    assert score("can't", [gold], [Sentence(("can't",), (0,), (5,))])[0].correct == 0


def test_nothing_to_find_scores_zero():
    assert SpanScore().f1 == 0
