"""Segmentation that was learned from a treebank: a small one of made-up French."""

from __future__ import annotations

import copy
from itertools import pairwise

import pytest

from syntagma.errors import DamagedFileError
from syntagma.tasks.parsing.segmentation.learn import learn_if_better, learn_segmenter
from syntagma.text.documents import raw_documents
from syntagma.text.segmentation.learned.expansion import Rule
from syntagma.text.segmentation.saved import SavedSegmenter
from syntagma.text.segmentation.scores import score_segmentation
from syntagma.text.segmentation.segment import segment, segment_stream, segmentation_fingerprint
from tests.made_french import made_treebank


@pytest.fixture(scope="module")
def saved() -> SavedSegmenter:
    return learn_segmenter(made_treebank(250, 1))


def test_words_sentences_and_offsets_are_those_of_the_made_treebank(saved):
    segmenter = saved.segmenter()
    text = "Où parle-t-il ? Ada vient du port. L'ami dort au phare."
    found = segment(text, segmenter=segmenter)
    assert [one.forms for one in found] == [
        ("Où", "parle", "-t-il", "?"),
        ("Ada", "vient", "de", "le", "port", "."),
        ("L'", "ami", "dort", "à", "le", "phare", "."),
    ]
    assert [one.multiword for one in found] == [(), ((2, 4),), ((3, 5),)]
    second = found[1]
    covered = [text[start:end] for _, start, end in second.words]
    assert covered == ["Ada", "vient", "du", "du", "port", "."]


def test_unseen_sentences_are_cut_right(saved):
    segmenter = saved.segmenter()
    others = made_treebank(100, 2)
    text = " ".join(each.text for each in others)
    found = segment(text, segmenter=segmenter)
    right = [one.forms for one in found] == [each.sentence().forms for each in others]
    assert right, "cut otherwise"


def test_a_segmenter_that_finds_no_words_in_tokens_scores_less(saved):
    documents = list(raw_documents(made_treebank(100, 2)))
    whole = saved.segmenter()
    tokens_only = copy.copy(whole)
    tokens_only.expander = None
    words, less = (
        score_segmentation(documents, lambda document, by=by: segment(document.text, segmenter=by))
        for by in (whole, tokens_only)
    )
    assert words[0].f1 == 100
    assert less[0].f1 < 95
    assert less[1] == words[1]


def test_a_stream_and_lines_give_the_same_words(saved):
    segmenter = saved.segmenter()
    text = "Ada vient du port. Au quai, il dort.\n\nLe marin du phare rêve, dit-elle.\n"
    whole = segment(text, segmenter=segmenter)
    chunks = [text[start:end] for start, end in pairwise([0, 7, 19, 40, len(text)])]
    parts = [s for _, group in segment_stream(chunks, segmenter=segmenter) for s in group]
    assert [one.forms for one in parts] == [one.forms for one in whole]
    lines = segment("Ada vient du port\nAu quai, il dort.", mode="lines", segmenter=segmenter)
    assert next(one.forms for one in lines) == ("Ada", "vient", "de", "le", "port")
    given = segment("Ada vient du port", mode="words", segmenter=segmenter)
    assert given[0].forms == ("Ada", "vient", "du", "port")


def test_rules_know_what_a_treebank_does_not_show(saved):
    segmenter = saved.segmenter()
    text = "Léa part ☂☂ www.example.org/quai?page=2 12:30"
    (found,) = segment(text, mode="lines", segmenter=segmenter)
    assert found.forms == ("Léa", "part", "☂", "☂", "www.example.org/quai?page=2", "12:30")


def test_the_same_sentences_give_the_same_file(saved, tmp_path):
    again = learn_segmenter(made_treebank(250, 1))
    assert again.to_bytes() == saved.to_bytes()
    path = tmp_path / "segmentation.safetensors"
    saved.segmenter().write(path)
    read = SavedSegmenter.read(path)
    assert read.to_bytes() == saved.to_bytes()
    prints = {
        segmentation_fingerprint(each) for each in (None, saved.segmenter(), read.segmenter())
    }
    assert len(prints) == 2


def test_a_damaged_file_is_reported(saved, tmp_path):
    path = tmp_path / "segmentation.safetensors"
    for content in (b"", saved.to_bytes()[:-100], b"x" * 1000):
        path.write_bytes(content)
        with pytest.raises(DamagedFileError, match="train the parser again"):
            SavedSegmenter.read(path)


def test_what_was_learned_is_kept_if_it_is_better_than_the_rules_for_english(caplog):
    with caplog.at_level("INFO"):
        assert learn_if_better(made_treebank(220, 3)) is not None
    assert "by the rules for English" in caplog.text
    caplog.clear()
    for language in ("", "en"):
        assert learn_if_better(made_treebank(20, 3), language=language) is None
        assert "head.segmentation" in caplog.text
    caplog.clear()
    assert learn_if_better(made_treebank(20, 3), language="fr") is not None
    assert not caplog.text


@pytest.mark.parametrize(
    ("token", "words"),
    [
        ("du", ["de", "le"]),
        ("Du", ["De", "le"]),
        ("DU", ["DE", "LE"]),
        ("zum", ["zu", "dem"]),
        ("don't", ["do", "n't"]),
        ("dámelo", ["dá", "me", "lo"]),
        ("evdeki", ["evde", "ki"]),
    ],
)
def test_a_rule_repeats_the_words_that_it_was_made_of(token, words):
    assert Rule.of(token, words).words(token) == words


def test_a_rule_is_for_its_tokens_only():
    rule = Rule.of("ins", ["in", "das"])
    assert rule.words("Fans") == ["Fan", "das"]
    closed = Rule(rule.cuts, rule.strip, rule.add, rule.rest, frozenset({"ins"}))
    assert closed.words("Fans") is None
    assert closed.words("Ins") == ["In", "das"]
    assert Rule(cuts=(3,)).words("n't") is None
