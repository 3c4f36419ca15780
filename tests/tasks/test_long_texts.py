"""Of a long text, only the windows that bear on the question are read, and they score as always."""

from __future__ import annotations

import logging

import numpy as np
import pytest

from syntagma.encoders.load import load_tokenizer
from syntagma.errors import MissingExtraError
from syntagma.models.span_model import SpanModel
from syntagma.retrieval.vectors import SentenceEncoder
from syntagma.tasks.spans import long_texts
from syntagma.tasks.spans.reader import Reader
from tests.conftest import SENTENCES
from tests.messages import says

SIZES = {"max_length": 128, "doc_stride": 32, "max_question_length": 32}
NEEDLE = "The lighthouse keeper painted the harbour wall green."
TEXT = "\n\n".join([*SENTENCES * 4, NEEDLE, *SENTENCES * 4])
QUESTION = "Who painted the harbour wall?"


@pytest.fixture
def reader(tiny_encoder, monkeypatch) -> Reader:
    monkeypatch.setattr(long_texts, "MOST_WINDOWS", 8)
    monkeypatch.setattr(long_texts, "READ_WINDOWS", 3)
    # Short passages, so that the needle is one of its own.
    cut = long_texts.cut
    monkeypatch.setattr(long_texts, "cut", lambda document: cut(document, most=10))
    model = SpanModel.from_encoder(tiny_encoder, task="spans", head=SIZES)
    reader = Reader(model, load_tokenizer(tiny_encoder), precision="float32")
    reader.chooser.__dict__["_encoder"] = None
    return reader


def windows_read(reader: Reader, monkeypatch) -> list[int]:
    """The number of windows of each question that is read from now on."""
    numbers: list[int] = []
    candidates = Reader._candidates

    def counted(self, windows):
        numbers.append(len(windows))
        return candidates(self, windows)

    monkeypatch.setattr(Reader, "_candidates", counted)
    return numbers


def chosen_text(windows) -> list[str]:
    return [
        TEXT[window.passage.starts[window.begin] : window.passage.ends[window.end - 1]]
        for window in windows
    ]


def test_the_windows_that_share_words_with_the_question_are_chosen(reader):
    every = reader.windows([(TEXT, QUESTION)])
    assert len(every) > 8
    chosen = reader.chooser.choose(TEXT, QUESTION, every)
    assert 1 <= len(chosen) <= 3
    assert [window.begin for window in chosen] == sorted({window.begin for window in chosen})
    assert all(any(window is other for other in every) for window in chosen)
    assert any(NEEDLE in text for text in chosen_text(chosen))


def test_meaning_counts_where_there_is_an_encoder(reader, tiny_encoder):
    reader.chooser.__dict__["_encoder"] = SentenceEncoder(tiny_encoder)
    every = reader.windows([(TEXT, QUESTION)])
    assert any(NEEDLE in text for text in chosen_text(reader.chooser.choose(TEXT, QUESTION, every)))


def test_candidates_are_those_of_the_whole_text(reader):
    whole = reader.answer(TEXT, QUESTION, exhaustive=True)
    part = reader.answer(TEXT, QUESTION)
    assert part.prediction.n_windows < whole.prediction.n_windows
    scores = {(span.start, span.end): span.score for span in whole.prediction.spans}
    for span in part.prediction.spans:
        assert TEXT[span.start : span.end] == span.text
        # Windows overlap: the whole text may have a better one with the same span.
        assert span.score <= scores.get((span.start, span.end), np.inf) + 1e-4
    assert part.prediction.score <= whole.prediction.score + 1e-4


def test_a_short_text_and_predictions_are_read_as_a_whole(reader, monkeypatch):
    numbers = windows_read(reader, monkeypatch)
    short = "\n\n".join(SENTENCES[:2])
    reader.answer(short, QUESTION)
    reader.answer(TEXT, QUESTION, exhaustive=True)
    list(reader.predictions([(TEXT, QUESTION)]))
    reader.answer(TEXT, QUESTION)
    assert numbers == [
        len(reader.windows([(short, QUESTION)])),
        len(reader.windows([(TEXT, QUESTION)])),
        len(reader.windows([(TEXT, QUESTION)])),
        3,
    ]


def test_several_texts_are_read_together(reader, monkeypatch):
    pairs = [(TEXT, QUESTION), ("\n\n".join(SENTENCES[:2]), "Who cried?"), (TEXT, "Who cried?")]
    together = list(reader.stream(pairs))
    for pair, answer in zip(pairs, together, strict=True):
        assert reader.answer(*pair).candidates[0].text == answer.candidates[0].text


def test_a_text_is_ranked_once(reader, monkeypatch):
    built = []
    build = long_texts.KeywordScorer.build

    def counted(*arguments):
        built.append(1)
        return build(*arguments)

    monkeypatch.setattr(long_texts.KeywordScorer, "build", counted)
    for question in (QUESTION, "Who cried?"):
        reader.answer(TEXT, question)
    assert built == [1]


def test_without_the_packages_all_is_read_and_one_line_says_so(reader, monkeypatch, caplog):
    def missing(*arguments):
        raise MissingExtraError("searching documents", "documents")

    monkeypatch.setattr(long_texts.KeywordScorer, "build", missing)
    numbers = windows_read(reader, monkeypatch)
    with caplog.at_level(logging.WARNING):
        for _ in range(2):
            reader.answer(TEXT, QUESTION)
    assert numbers == [len(reader.windows([(TEXT, QUESTION)]))] * 2
    assert len(caplog.records) == 1
    assert says(caplog.text, "documents pip install")
