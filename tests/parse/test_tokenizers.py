"""Sentences and words of other tokenizers for parsers of ours."""

from __future__ import annotations

import sys
from types import SimpleNamespace

import pytest

from syntagma.errors import InputError, MissingExtraError
from syntagma.parse.sources.adapters import StanzaSource
from syntagma.parse.sources.load import load_parser
from syntagma.parse.sources.tokenizers import (
    SpacyTokenizer,
    StanzaTokenizer,
    TokenizedSource,
    WhitespaceTokenizer,
    find_tokenizer,
)
from tests.messages import naming


def cut(tokenizer, *texts):
    found = list(tokenizer.cut(texts))
    for text, sentences in zip(texts, found, strict=True):
        for sentence in sentences:
            ends = zip(sentence.forms, sentence.starts, sentence.ends, strict=True)
            assert all(start < end <= len(text) for _, start, end in ends)
    return [[sentence.forms for sentence in sentences] for sentences in found]


def test_whitespace_separates_words_and_final_punctuation_sentences():
    tokenizer = WhitespaceTokenizer()
    text = "Le bac part . Il pleut\nEncore un « mot ! »  Fin"
    assert cut(tokenizer, text, "", " \n") == [
        [
            ("Le", "bac", "part", "."),
            ("Il", "pleut"),
            ("Encore", "un", "«", "mot", "!"),
            ("»", "Fin"),
        ],
        [],
        [],
    ]
    (sentences,) = tokenizer.cut([text])
    assert [text[sentence.start : sentence.end] for sentence in sentences][1] == "Il pleut"


def test_spacy_cuts_a_language_that_has_no_pipeline():
    pytest.importorskip("spacy")
    tokenizer = find_tokenizer("spacy:fr")
    assert cut(tokenizer, "Le bac n'est pas là. Il pleut.", "  ") == [
        [("Le", "bac", "n'", "est", "pas", "là", "."), ("Il", "pleut", ".")],
        [],
    ]
    assert tokenizer.fingerprint.startswith("spacy:fr:fr")


def test_a_pipeline_of_spacy_keeps_its_sentences(tmp_path):
    spacy = pytest.importorskip("spacy")
    pipeline = spacy.blank("de")
    pipeline.add_pipe("sentencizer", config={"punct_chars": [";"]})
    pipeline.to_disk(tmp_path / "mine")
    tokenizer = SpacyTokenizer.load(str(tmp_path / "mine"))
    assert len(cut(tokenizer, "Es regnet; er geht. Ja.")[0]) == 2


def test_a_language_that_spacy_does_not_know_is_an_error():
    pytest.importorskip("spacy")
    with pytest.raises(InputError, match=naming("'spacy:qq' spacy:fr")):
        find_tokenizer("spacy:qq")


TWO_WORDS = {"du": ["de", "le"], "pelo": ["por", "o"]}


class FakeStanza:
    """A pipeline that cuts at spaces, and for which some tokens are two words."""

    def bulk_process(self, texts):
        return [SimpleNamespace(sentences=[self._sentence(text)]) for text in texts]

    def _sentence(self, text):
        tokens, start = [], 0
        for form in text.split(" "):
            words = [SimpleNamespace(text=each) for each in TWO_WORDS.get(form, [form])]
            end = start + len(form)
            tokens.append(SimpleNamespace(text=form, start_char=start, end_char=end, words=words))
            start += len(form) + 1
        return SimpleNamespace(tokens=tokens)


def test_words_of_multiword_tokens_of_stanza_have_the_place_of_the_token():
    pytest.importorskip("stanza")
    tokenizer = StanzaTokenizer(StanzaSource(FakeStanza(), "fr"))
    ((sentence,),) = tokenizer.cut(["Bac du port"])
    assert sentence.forms == ("Bac", "de", "le", "port")
    assert (
        (sentence.starts[1], sentence.ends[1]) == (sentence.starts[2], sentence.ends[2]) == (4, 6)
    )
    assert sentence.multiword == ((1, 3),)
    assert "tokenize" in tokenizer.fingerprint
    # These have as many characters as their token, and do not spell it either.
    ((sentence,),) = tokenizer.cut(["Foi pelo porto"])
    assert sentence.words[1:3] == (("por", 4, 8), ("o", 4, 8))


@pytest.mark.parametrize("name", ["", "spaces", "spacy", "spacy:", "stanza:", "whitespace:x"])
def test_unknown_tokenizers_are_named_with_those_known(name):
    with pytest.raises(InputError, match=naming("spacy:NAME stanza:LANGUAGE whitespace")):
        find_tokenizer(name)


@pytest.mark.parametrize("package", ["spacy", "stanza"])
def test_without_the_package_its_extra_is_named(package, monkeypatch):
    monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(MissingExtraError, match="parsers"):
        find_tokenizer(f"{package}:fr")


def test_a_parser_parses_what_the_tokenizer_cut(tiny_parser):
    parser = load_parser(tiny_parser)
    source = TokenizedSource(parser, WhitespaceTokenizer())
    texts = ["don't stop . now", "", "again"]
    found = list(source.parse_texts(texts))
    assert [[parse.sentence.forms for parse in parses] for parses in found] == [
        [("don't", "stop", "."), ("now",)],
        [],
        [("again",)],
    ]
    assert source.fingerprint != parser.fingerprint
