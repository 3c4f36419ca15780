"""Parsers that predict lemmas and features: trained, saved, and read only when asked."""

from __future__ import annotations

import json
import pickle
from dataclasses import replace

import numpy as np
import pytest

from syntagma.encoders.cpu.int8 import has_int8
from syntagma.errors import InputError
from syntagma.evaluation import pack
from syntagma.parse.json_format import parse_values
from syntagma.parse.morphology import Lemmatizer, MorphologyLabels, PredictedMorphology
from syntagma.parse.parser import JointParser
from syntagma.tasks.parsing.task import ParsingTask
from syntagma.tasks.parsing.treebanks import read_treebank
from syntagma.text.conllu import TreebankSentence
from syntagma.text.morphology import Morphology
from syntagma.text.sentence import Parse, Sentence
from syntagma.training.run import train
from tests.builders import experiment, treebank
from tests.messages import naming

BOTH = {"morphology": ["feats", "lemmas"], "morphology_width": 32}


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    return treebank(tmp_path_factory.mktemp("trees") / "tides.conllu")


@pytest.fixture(scope="module")
def run(tmp_path_factory, data, tiny_encoder):
    """Train a parser with all labels."""
    folder = tmp_path_factory.mktemp("runs") / "both"
    training = {"num_train_epochs": 10, "eval_steps": None}
    training |= {"learning_rate": 3e-3, "head_learning_rate": 2e-2}
    train(experiment("parsing", data, tiny_encoder, head=BOTH, training=training), folder)
    return folder


def share(predicted, gold):
    pairs = [
        (one, other)
        for parse, example in zip(predicted, gold, strict=True)
        for one, other in zip(parse, example, strict=True)
    ]
    return sum(one == other for one, other in pairs) / len(pairs)


def test_lemmas_and_features_are_learned(run, data):
    gold = [example.gold for example in read_treebank(data)]
    found = JointParser.from_pretrained(run).parse(parse.sentence for parse in gold)
    assert share([p.feats for p in found], [p.feats for p in gold]) > 0.95
    assert share([p.lemmas for p in found], [p.lemmas for p in gold]) > 0.97
    # Words of no treebank, by the script alone.
    (parse,) = JointParser.from_pretrained(run).parse([Sentence.from_words(["Zebus", "sleep"])])
    assert parse.lemmas in (("zebu", "sleep"), ("zebus", "sleep"))


def test_no_string_is_made_before_somebody_asks(run, data, monkeypatch):
    parser = JointParser.from_pretrained(run)

    def refuse(*_):
        raise AssertionError("a lemma was made")

    monkeypatch.setattr(Lemmatizer, "__missing__", refuse)
    parses = parser.parse(example.gold.sentence for example in read_treebank(data))
    assert all(isinstance(parse.morphology, PredictedMorphology) for parse in parses)
    with pytest.raises(AssertionError, match="a lemma was made"):
        _ = parses[0].lemmas


def test_batches_and_parts_change_nothing(run, data):
    parser = JointParser.from_pretrained(run)
    sentences = [example.gold.sentence for example in read_treebank(data)[:8]]
    together = parser.parse(sentences)
    for sentence, parse in zip(sentences, together, strict=True):
        (alone,) = parser.parse([sentence])
        assert parse.morphology == alone.morphology
    (parts,) = JointParser.from_pretrained(run, max_words=3).parse(sentences[:1])
    assert len(parts.lemmas) == len(parts.feats) == len(sentences[0])
    assert parts.parts


def test_words_with_spaces_have_a_lemma_for_all_parts(run):
    parser = JointParser.from_pretrained(run)
    (parse,) = parser.parse([Sentence.from_words(["grey gulls", "sleep"])])
    assert len(parse.feats) == 2
    assert parse.lemmas[0].startswith("grey gull")


@pytest.mark.parametrize("precision", ["bfloat16", "int8"])
def test_other_precisions_agree(run, data, precision):
    if precision == "int8" and not has_int8():
        pytest.skip("no int8 on this CPU")
    gold = [example.gold for example in read_treebank(data)]
    sentences = [parse.sentence for parse in gold]
    full = JointParser.from_pretrained(run).parse(sentences)
    low = JointParser.from_pretrained(run, precision=precision).parse(sentences)
    assert share([p.feats for p in low], [p.feats for p in full]) > 0.95
    assert share([p.lemmas for p in low], [p.lemmas for p in full]) > 0.95


def test_a_packed_parser_keeps_its_lexicon(run, data, tmp_path):
    pack(run, tmp_path / "small", bits=8)
    sentences = [example.gold.sentence for example in read_treebank(data)[:8]]
    full = JointParser.from_pretrained(run).parse(sentences)
    small = JointParser.from_pretrained(tmp_path / "small").parse(sentences)
    assert share([p.lemmas for p in small], [p.lemmas for p in full]) > 0.95
    config = json.loads((tmp_path / "small" / "config.json").read_text(encoding="utf-8"))
    assert config["labels"]["lexicon"]


def test_one_of_both_can_be_learned(data, tiny_encoder):
    examples = read_treebank(data)
    for name, other in (("feats", "lemmas"), ("lemmas", "feats")):
        head = {"morphology": [name]}
        task = ParsingTask.new(experiment("parsing", data, tiny_encoder, head=head), examples)
        (parse,) = task.parser.parse([examples[0].gold.sentence])
        assert getattr(parse, name) is not None
        assert getattr(parse, other) is None
        assert other not in task.model.config.labels


def test_a_treebank_without_morphology_cannot_teach_it(data, tiny_encoder):
    bare = [replace(each, gold=replace(each.gold, morphology=None)) for each in read_treebank(data)]
    for name in ("feats", "lemmas"):
        settings = experiment("parsing", data, tiny_encoder, head={"morphology": [name]})
        with pytest.raises(InputError, match=naming(f"head.morphology omit {name}")):
            ParsingTask.new(settings, bare)


def test_sentences_without_morphology_train_the_rest(data, tiny_encoder):
    examples = read_treebank(data)
    settings = experiment("parsing", data, tiny_encoder, head=BOTH)
    task = ParsingTask.new(settings, examples)
    silver = [replace(each, gold=replace(each.gold, morphology=None)) for each in examples]
    item = task.features(silver)[0]
    assert set(item.gold["feats"]) == set(item.gold["lemmas"]) == {-100}
    assert set(item.gold["upos"]) != {-100}


def test_predicted_morphology_is_written_and_travels_as_strings():
    labels = MorphologyLabels(
        {
            "feats": ["Number=Plur", "_"],
            "lemmas": ["lower|0-0+|0-1+", "keep|0-0+|0-0+"],
            "lexicon": ["VERB\t=go\twent"],
        }
    )
    sentence = Sentence.from_words(["Gulls", "went"])
    morphology = labels.of_codes(sentence, ("NOUN", "VERB"), np.array([0, 1]), np.array([0, 1]))
    assert morphology == Morphology(("Number=Plur", "_"), ("gull", "go"))
    assert hash(morphology) == hash(pickle.loads(pickle.dumps(morphology)))
    assert isinstance(pickle.loads(pickle.dumps(morphology)), Morphology)
    parse = Parse(sentence, (2, 0), upos=("NOUN", "VERB"), morphology=morphology)
    rows = TreebankSentence.from_parse(parse, text="Gulls went").rows
    assert [row[2:6:3] for row in rows] == [("gull", "Number=Plur"), ("go", "_")]
    assert [word["lemma"] for word in parse_values(parse)["words"]] == ["gull", "go"]
    assert [word["feats"] for word in parse_values(parse)["words"]] == ["Number=Plur", "_"]
    assert "lemma" not in parse_values(replace(parse, morphology=None))["words"][0]
