"""Taggers as parse sources: fake ones, NLTK's, and the models that may read them."""

from __future__ import annotations

import pytest
import torch

from syntagma.encoders.load import load_tokenizer
from syntagma.errors import InputError
from syntagma.models.guided_encoder import GuidedEncoder
from syntagma.models.span_model import SpanModel
from syntagma.parse.parser import JointParser
from syntagma.parse.sources.load import as_source, load_source, needed_source
from syntagma.parse.sources.tagger import (
    TAGGERS,
    Tagger,
    TaggerSource,
    gives_trees,
    register_tagger,
)
from syntagma.syntax.tags import ERR, SPE, tag_ids
from syntagma.syntax.tokenizer import SyntaxTokenizer
from syntagma.tasks.spans.reader import Reader
from tests.builders import experiment, squad
from tests.messages import naming

TEXT = "The gull cried. Nobody heard it!"
TAGS = {"the": "DT", "gull": "NN", "cried": "VBD", "nobody": "NN", "heard": "VBD", "it": "PRP"}


class Table:
    """Tags words by a table, as a tagger of NLTK does."""

    def __init__(self, tags=TAGS):
        self.tags = tags

    def tag(self, words):
        return [(word, self.tags.get(word.lower())) for word in words]


@pytest.fixture
def registered():
    """Register a tagger for one test."""
    register_tagger("table", Table)
    yield "tagger:table"
    TAGGERS.unregister("table")


def columns(source, text=TEXT):
    (parses,) = source.parse_texts([text])
    return [(parse.sentence.forms, parse.xpos) for parse in parses]


def test_texts_are_segmented_and_each_word_is_tagged():
    assert columns(TaggerSource(Table())) == [
        (("The", "gull", "cried", "."), ("DT", "NN", "VBD", "_")),
        (("Nobody", "heard", "it", "!"), ("NN", "VBD", "PRP", "_")),
    ]
    (parses,) = TaggerSource(Table()).parse_texts([TEXT])
    assert [word.start for word in parses[1].sentence.words] == [16, 23, 29, 31]


def test_given_words_are_kept(tiny_parser):
    found = columns(TaggerSource(Table({"gull-cried": "NN"}), mode="words"), "The gull-cried .")
    assert found == [(("The", "gull-cried", "."), ("_", "NN", "_"))]
    parser = JointParser.from_pretrained(tiny_parser)
    assert as_source(parser, mode="words").parser is parser
    assert as_source(parser) is parser


def test_universal_tags_are_found_in_their_own_column():
    tags = {"the": "DET", "gull": "NOUN", "cried": "VERB"}
    (parses,) = TaggerSource(Table(tags)).parse_texts(["The gull cried."])
    assert parses[0].upos == ("DET", "NOUN", "VERB", "_")
    (penn,) = TaggerSource(Table()).parse_texts(["The gull cried."])
    assert set(penn[0].upos) == {"_"}


@pytest.mark.parametrize("made", [[("The", "DT")], ["DT", "NN", "VBD", "."], []])
def test_a_tagger_has_to_tag_every_word(made):
    class Wrong:
        def tag(self, words):
            return made

    with pytest.raises(InputError, match=naming(f"tagger table 4 pairs {str(made).split()[0]}")):
        list(TaggerSource(Wrong(), name="table").parse_texts(["The gull cried."]))


def test_stored_tags_belong_to_a_named_tagger():
    named = [TaggerSource(Table(), name="table").fingerprint for _ in range(2)]
    assert named[0] == named[1] != TaggerSource(Table(), name="other").fingerprint
    assert named[0] != TaggerSource(Table(), name="table", mode="words").fingerprint
    one, other = TaggerSource(Table()).fingerprint, TaggerSource(Table()).fingerprint
    assert one != other


def test_a_registered_tagger_has_a_name(registered):
    assert columns(load_source(registered)) == columns(TaggerSource(Table()))
    noisy = load_source(f"noisy_tags:1.0:{registered}")
    assert columns(noisy)[0][1][:3] != ("DT", "NN", "VBD")
    assert not gives_trees(noisy)
    assert gives_trees(load_source("noisy:0.5:linear"))
    assert needed_source(registered, trees=True) == registered
    assert needed_source(registered, trees=False) == "linear"
    with pytest.raises(InputError, match=naming("tagger:tabel table register_tagger")):
        load_source("tagger:tabel")


def test_other_objects_are_not_parsers():
    with pytest.raises(InputError, match=naming("default-parser parse_texts tag 7")):
        as_source(7)


@pytest.mark.parametrize("given", ["object", "source", "name"])
def test_poi_net_reads_a_taggers_tags(tiny_encoder, registered, given):
    parser = {"object": Table(), "source": TaggerSource(Table()), "name": registered}[given]
    model = GuidedEncoder.from_pretrained(tiny_encoder, guides="poi-net")
    tokenizer = SyntaxTokenizer.for_model(model, parser=parser)
    batch = tokenizer("The gull cried.", "Nobody heard")
    expected = tag_ids(["DT", "NN", "VBD", ".", "NN", "VBD"])
    assert expected[3] == ERR
    word = batch["word"][0]
    for place, tag in zip(word.tolist(), batch["tag"][0].tolist(), strict=True):
        assert tag == (expected[place] if place >= 0 else SPE)
    assert torch.isfinite(model(**batch).last_hidden_state).all()


@pytest.mark.parametrize("preset", ["sg-net", "seprem"])
def test_models_that_read_trees_refuse_a_tagger(tiny_encoder, registered, preset):
    model = GuidedEncoder.from_pretrained(tiny_encoder, guides=preset)
    for parser in (Table(), registered, f"noisy:0.1:{registered}"):
        with pytest.raises(InputError, match=naming("tagger trees default-parser")):
            SyntaxTokenizer.for_model(model, parser=parser)


def test_a_reader_takes_a_tagger(tmp_path, tiny_encoder):
    head = {"max_length": 64, "doc_stride": 16, "max_question_length": 16}
    for name, preset in (("poi", "poi-net"), ("sg", "sg-net"), ("plain", "none")):
        model = SpanModel.from_encoder(
            tiny_encoder, task="spans", guides=preset, head=head, parser="linear"
        )
        model.save_pretrained(tmp_path / name)
        load_tokenizer(tiny_encoder).save_pretrained(tmp_path / name)
    reader = Reader.from_pretrained(tmp_path / "poi", parser=Table())
    assert isinstance(reader.texts.cache.source, TaggerSource)
    assert reader(TEXT, "Who heard it?").text in TEXT
    with pytest.raises(InputError, match=naming("tagger trees")):
        Reader.from_pretrained(tmp_path / "sg", parser=Table())
    with pytest.raises(InputError, match=naming("plain no syntax Table")):
        Reader.from_pretrained(tmp_path / "plain", parser=Table())


def test_a_model_is_trained_and_scored_with_a_registered_tagger(tmp_path, tiny_encoder, registered):
    from syntagma.evaluation import evaluate
    from syntagma.training.run import train

    data = squad(tmp_path / "train.json", 1)
    train(
        experiment(
            "spans", data, tiny_encoder, preset="poi-net", parser=registered,
            head={"max_length": 64, "doc_stride": 16, "max_question_length": 16},
            training={"max_steps": 1},
        ),
        tmp_path / "run",
    )  # fmt: skip
    assert evaluate(tmp_path / "run", [data])["parser"] == registered


class TestNltk:
    """NLTK's classes; its trained tagger is data that has to be downloaded."""

    @pytest.fixture
    def tag(self):
        return pytest.importorskip("nltk.tag")

    def test_its_taggers_are_taggers(self, tag):
        regexp = tag.RegexpTagger([(r".*ed$", "VBD")])
        unigram = tag.UnigramTagger([[("The", "DT"), ("gull", "NN")]], backoff=regexp)
        assert isinstance(unigram, Tagger)
        assert columns(as_source(unigram), "The gull cried.")[0][1] == ("DT", "NN", "VBD", "_")

    def test_its_perceptron(self, tag):
        perceptron = tag.PerceptronTagger(load=False)
        perceptron.train([[("A", "DT"), ("gull", "NN"), ("cried", "VBD"), (".", ".")]] * 20)
        assert columns(as_source(perceptron), "A gull cried.")[0][1] == ("DT", "NN", "VBD", ".")
