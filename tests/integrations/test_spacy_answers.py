"""Documents of spaCy are texts for readers, and answers are spans of them."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest

from syntagma import Reader
from syntagma.errors import InputError
from tests.messages import naming
from tests.page_fixtures import answer_of, span_of
from tests.qa_models import save_qa_model

spacy = pytest.importorskip("spacy")

TEXT = "  The old ferry crossed the wide river.\n\nNobody slept before dawn."


@pytest.fixture(scope="module")
def reader(tmp_path_factory):
    folder = tmp_path_factory.mktemp("reader")
    save_qa_model(folder, "roberta")
    return Reader.from_pretrained(folder)


@pytest.fixture
def doc():
    return spacy.blank("en")(TEXT)


def test_a_document_is_read_as_its_text(reader, doc):
    question = spacy.blank("en")("Who slept?")
    expected = reader.answer(TEXT, "Who slept?", threshold=math.inf)
    assert expected.text
    assert reader.answer(doc, "Who slept?", threshold=math.inf) == expected
    assert reader(doc, question, threshold=math.inf) == expected
    assert reader([(doc, question)], threshold=math.inf) == [expected]
    assert reader.answer_all(doc, [question, "Who slept?"], threshold=math.inf) == [expected] * 2
    assert next(reader.predictions([(doc, question)])) == next(
        reader.predictions([(TEXT, "Who slept?")])
    )
    assert expected.span(doc).text in TEXT
    # Offsets of an answer from a span are those in the span.
    part = doc[10:]
    found = reader.answer(part, question, threshold=math.inf)
    assert found == reader.answer(part.text, "Who slept?", threshold=math.inf)
    assert found.span(part).start >= 10


@pytest.mark.parametrize("passage", [None, 3, spacy.blank("en")("  "), object()])
def test_what_has_no_text_is_refused(reader, passage):
    with pytest.raises(InputError, match=naming("pair 1 passage")):
        reader.answer(passage, "Who slept?")


def test_an_answer_is_a_span_of_whole_tokens(doc):
    answer = answer_of("What?", [span_of(TEXT, "old fer")], null_odds=-1.0)
    span = answer.span(doc)
    assert (span.text, span.label_, span.doc) == ("old ferry", "ANSWER", doc)
    unsure = answer_of("What?", [span_of(TEXT, "dawn")], null_odds=-1.0, confidence=0.25)
    assert (unsure.span(doc).text, unsure.span(doc).label_) == ("dawn", "UNSURE")
    assert answer_of("What?", [span_of(TEXT, "dawn")], null_odds=9.0).span(doc) is None
    inside = doc[2:9]
    assert replace(answer, start=4 - 2, end=11 - 2, text=inside.text[2:9]).span(inside).doc is doc
    doc.ents = [span]
    assert [entity.label_ for entity in doc.ents] == ["ANSWER"]


def test_an_answer_belongs_to_the_text_that_was_read(doc):
    answer = answer_of("What?", [span_of(TEXT, "old ferry")], null_odds=-1.0)
    other = spacy.blank("en")("Another text about nobody.")
    with pytest.raises(InputError, match=naming("'old ferry' 6 15")):
        answer.span(other)
