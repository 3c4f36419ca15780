"""Keyword scores compare between questions, and rankings are exact."""

from __future__ import annotations

from unicodedata import normalize

import numpy as np
import pytest

from syntagma.errors import DamagedFileError, InputError
from syntagma.retrieval.bm25 import KeywordScorer
from syntagma.retrieval.ranking import Ranker
from syntagma.retrieval.terms import TermFinder
from syntagma.retrieval.vectors import SentenceEncoder, similarities
from tests.messages import naming

TEXTS = [
    "The ferry leaves the harbour at noon.",
    "A baker sells bread in the market.",
    "Ferries were built in the old harbour. The ferry was repaired there.",
    "The museum opens at nine.",
]


@pytest.fixture
def keywords() -> KeywordScorer:
    return KeywordScorer.build(TEXTS, TermFinder())


def test_terms_are_stems_in_lower_case():
    assert TermFinder().terms("Ferries, FERRY; 3 o'clock") == ["ferri", "ferri", "3", "o", "clock"]
    assert TermFinder("none").terms("Ferries") == ["ferries"]
    with pytest.raises(InputError, match=naming("english latin")):
        TermFinder("latin")


@pytest.mark.parametrize(
    ("text", "terms"),
    [
        ("渡轮 iPhone手机", ["渡", "轮", "渡轮", "iphone", "手", "机", "手机"]),
        ("港", ["港"]),
        ("ที่นี่", ["ที่", "นี่", "ที่นี่"]),
        ("हिन्दी में", ["हिन्दी", "में"]),
        ("Cafe\u0301s, CAFÉS", ["cafés", "cafés"]),
        ("“It’s” naïve_3", ["it", "s", "naïve_3"]),
        ("1\ufe0f\u20e3 ❤\ufe0f", ["1"]),
    ],
)
def test_terms_of_other_scripts_and_spellings(text, terms):
    assert TermFinder("none").terms(text) == [normalize("NFC", term) for term in terms]


def test_keyword_scores_rank_shared_terms(keywords):
    scores = keywords.scores("Where were ferries built?")
    assert scores.argmax() == 2
    assert scores[1] < scores[0]


def test_keyword_scores_are_shares_of_what_is_possible(keywords):
    scores = keywords.scores("ferry")
    assert scores.dtype == np.float32
    assert 0 < scores[2] < 1
    assert scores[1] == 0
    # What no passage has lowers the score of all.
    assert keywords.scores("ferry zeppelin")[2] < scores[2] / 2
    assert not keywords.scores("zeppelin").any()
    assert not keywords.scores("?!").any()


def test_a_keyword_index_is_the_same_after_it_was_saved(keywords, tmp_path):
    keywords.save(tmp_path / "keywords")
    opened = KeywordScorer.open(tmp_path / "keywords", TermFinder(), len(TEXTS))
    question = "Which harbour has a ferry?"
    np.testing.assert_array_equal(opened.scores(question), keywords.scores(question))
    with pytest.raises(DamagedFileError, match=naming("4 5")):
        KeywordScorer.open(tmp_path / "keywords", TermFinder(), 5)
    (tmp_path / "keywords" / "indptr.csc.index.npy").write_bytes(b"")
    with pytest.raises(DamagedFileError, match=naming("build the index again")):
        KeywordScorer.open(tmp_path / "keywords", TermFinder(), len(TEXTS))


def test_texts_without_terms_can_be_indexed(tmp_path):
    for texts in ([], ["?", "!"]):
        scorer = KeywordScorer.build(texts, TermFinder())
        folder = tmp_path / str(len(texts))
        scorer.save(folder)
        opened = KeywordScorer.open(folder, TermFinder(), len(texts))
        assert opened.scores("ferry").tolist() == [0.0] * len(texts)


def test_vectors_do_not_depend_on_the_batch(tiny_encoder):
    encoder = SentenceEncoder(tiny_encoder)
    vectors = encoder.encode(TEXTS)
    assert vectors.shape == (4, encoder.size)
    np.testing.assert_allclose(np.linalg.norm(vectors, axis=1), 1, atol=1e-6)
    for text, vector in zip(TEXTS, vectors, strict=True):
        np.testing.assert_allclose(encoder.encode([text])[0], vector, atol=1e-5)
    assert encoder.encode([]).shape == (0, encoder.size)


def test_a_vector_is_the_mean_of_the_states_of_all_pieces(tiny_encoder):
    import torch
    from transformers import AutoModel

    encoder = SentenceEncoder(tiny_encoder)
    pieces = encoder._loaded[0](TEXTS[0], return_tensors="pt")
    with torch.inference_mode():
        states = AutoModel.from_pretrained(tiny_encoder)(**pieces).last_hidden_state[0]
    mean = states.mean(0)
    # Where bfloat16 is fast, the encoder computes in it.
    np.testing.assert_allclose(
        encoder.encode([TEXTS[0]])[0], (mean / mean.norm()).numpy(), atol=1e-3
    )


def test_similarities_are_cosines_in_any_number_of_parts(monkeypatch):
    random = np.random.default_rng(0)
    vectors = random.normal(size=(7, 3)).astype(np.float16)
    questions = random.normal(size=(2, 3)).astype(np.float32)
    expected = questions @ vectors.astype(np.float32).T
    monkeypatch.setattr("syntagma.retrieval.vectors.ROWS", 3)
    np.testing.assert_allclose(similarities(vectors, questions), expected, rtol=1e-5)


def ranker(keywords: KeywordScorer, tiny_encoder: str) -> Ranker:
    encoder = SentenceEncoder(tiny_encoder)
    return Ranker(keywords, encoder.encode(TEXTS).astype(np.float16), encoder)


def test_scores_of_both_kinds_are_added(keywords, tiny_encoder):
    both = ranker(keywords, tiny_encoder)
    question = ["Where was the ferry repaired?"]
    found = {
        by: dict(zip(*map(np.ndarray.tolist, both.rank(question, top=9, by=by)[0]), strict=True))
        for by in ("fused", "bm25", "vectors")
    }
    assert len(found["fused"]) == 4
    for number, score in found["fused"].items():
        assert score == pytest.approx(found["bm25"][number] + found["vectors"][number], abs=1e-5)


def test_the_best_come_first_and_of_equal_ones_the_first_passage(keywords):
    alone = Ranker(keywords, None, None)
    (found,) = alone.rank(["ferry harbour"], top=3)
    assert found.numbers.tolist() == [2, 0, 1]
    assert found.scores.tolist() == sorted(found.scores.tolist(), reverse=True)
    assert alone.rank(["museum"], top=1)[0].numbers.tolist() == [3]


def test_wrong_kinds_of_scores_are_refused(keywords):
    alone = Ranker(keywords, None, None)
    with pytest.raises(InputError, match=naming("fused tf")):
        alone.rank(["ferry"], top=1, by="tf")  # type: ignore[arg-type]
    with pytest.raises(InputError, match=naming("vectors encoder")):
        alone.rank(["ferry"], top=1, by="vectors")
