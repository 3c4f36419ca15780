"""Sentences whose ends no sign shows, such as those of old texts, and very small treebanks."""

from __future__ import annotations

import random
import warnings

import pytest
import torch

from syntagma.tasks.parsing.segmentation.gap_training import surplus
from syntagma.tasks.parsing.segmentation.learn import learn_segmenter
from syntagma.text.conllu import TreebankSentence, parse_conllu
from syntagma.text.segmentation.saved import SavedSegmenter
from syntagma.text.segmentation.segment import segment
from tests.made_french import conllu, made_treebank

SUBJECTS = ("nauta", "puella", "ventus", "canis", "miles", "rex")
OBJECTS = ("portum", "navem", "panem", "librum", "urbem", "montem")
VERBS = ("videt", "amat", "tenet", "quaerit")


def made_sentences(n_sentences: int, seed: int) -> list[TreebankSentence]:
    """Sentences without punctuation or capitals, which end with a verb."""
    draw = random.Random(seed)
    rows = []
    for _ in range(n_sentences):
        words = [draw.choice(SUBJECTS), *draw.choices(OBJECTS, k=draw.randint(1, 2))]
        rows.append(conllu([(word, True) for word in (*words, draw.choice(VERBS))]))
    return list(parse_conllu("".join(rows).splitlines(), name="made"))


@pytest.fixture(scope="module")
def saved() -> SavedSegmenter:
    return learn_segmenter(made_sentences(200, 1))


def test_sentences_without_punctuation_or_capitals_are_found(saved, tmp_path):
    sentences = made_sentences(60, 2)
    text = " ".join(each.text for each in sentences)
    path = tmp_path / "segmentation.safetensors"
    saved.segmenter().write(path)
    for segmenter in (saved.segmenter(), SavedSegmenter.read(path).segmenter()):
        found = segment(text, segmenter=segmenter)
        assert [one.forms for one in found] == [each.sentence().forms for each in sentences]


def test_a_language_with_full_stops_is_looked_at_where_they_are(saved):
    assert saved.segmenter().splitter.everywhere
    assert not learn_segmenter(made_treebank(100, 1)).segmenter().splitter.everywhere


def test_as_many_scores_are_positive_as_there_are_sentence_ends():
    scores = torch.tensor([-3.0, -1.0, -2.5, -0.5, -4.0])
    labels = torch.tensor([False, True, False, True, False])
    shifted = scores - surplus(scores, labels)
    assert (shifted > 0).tolist() == labels.tolist()
    assert surplus(scores, torch.zeros(5, dtype=torch.bool)) == 0
    assert surplus(scores, torch.ones(5, dtype=torch.bool)) == 0
    assert surplus(scores[:0], labels[:0]) == 0


@pytest.mark.parametrize(
    ("tokens", "n_sentences"),
    [
        ([("a", True)], 1),
        ([("a", True), ("b", True), ("c", True)], 40),
        ([("Ada", True), ("dort", False), (".", True)], 1),
        ([("☂", False), ("☂☂", True), ("🙂", False)], 5),
        ([("天", False), ("地", False)], 40),
        ([("10\u00a0000", True), ("x", True)], 12),
        ([("du", True), ("pain", False), (".", False)], 3),
    ],
)
def test_the_smallest_treebanks_are_learned_without_a_warning(tokens, n_sentences):
    rows = conllu(tokens) * n_sentences
    sentences = list(parse_conllu(rows.splitlines(), name="made"))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        segmenter = learn_segmenter(sentences).segmenter()
        found = segment("天地 a b. du pain", segmenter=segmenter)
    assert found
