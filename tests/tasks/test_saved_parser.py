"""A saved parser is trained further, or taught the morphology or the language that it lacks."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file

from syntagma.errors import InputError
from syntagma.packing import pack
from syntagma.parse.parser import JointParser
from syntagma.tasks.parsing.task import ParsingTask
from syntagma.tasks.parsing.treebanks import read_treebank
from syntagma.training.run import train
from syntagma.training.trainable import parameter_groups
from tests.builders import experiment, treebank
from tests.messages import naming

TRAINED = {"num_train_epochs": 2, "learning_rate": 3e-3}
MORPHOLOGY = {"morphology": ["feats", "lemmas"], "morphology_width": 32}


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    return treebank(tmp_path_factory.mktemp("trees") / "tides.conllu")


@pytest.fixture(scope="module")
def small(tmp_path_factory, data, tiny_encoder):
    """A packed parser without morphology, whose differences were of low rank."""
    folder = tmp_path_factory.mktemp("small")
    training = TRAINED | {"encoder": "lora", "lora_rank": 2}
    train(experiment("parsing", data, tiny_encoder, training=training), folder / "run")
    pack(folder / "run", folder / "packed", bits=8, rank=2)
    return folder / "packed"


def continued(small, data, **settings):
    return experiment("parsing", data, small, preset="saved", **settings)


def gold_sentences(data):
    return [example.gold.sentence for example in read_treebank(data)]


@pytest.fixture(scope="module")
def taught(small, data, tmp_path_factory):
    """The same parser, which has learned features and lemmas."""
    run = tmp_path_factory.mktemp("taught") / "run"
    training = {"num_train_epochs": 10, "learning_rate": 2e-2, "encoder": "frozen"}
    train(continued(small, data, head=MORPHOLOGY, training=training), run)
    return run


def test_a_frozen_parser_learns_morphology_and_keeps_its_trees(small, taught, data):
    sentences = gold_sentences(data)
    before = JointParser.from_pretrained(small).parse(sentences)
    after = JointParser.from_pretrained(taught).parse(sentences)
    for name in ("heads", "relations", "upos", "xpos"):
        assert [getattr(p, name) for p in after] == [getattr(p, name) for p in before]
    lemmas = [example.gold.lemmas for example in read_treebank(data)]
    assert sum(p.lemmas == gold for p, gold in zip(after, lemmas, strict=True)) > len(lemmas) // 2


def test_packed_like_the_parser_it_has_exactly_its_weights(small, taught, tmp_path, data):
    pack(taught, tmp_path / "like", like=small)
    old, new = (load_file(folder / "model.safetensors") for folder in (small, tmp_path / "like"))
    assert all(torch.equal(new[name], weight) for name, weight in old.items())
    assert {name.partition(".")[0] for name in new.keys() - old.keys()} == {"morphology"}
    sentences = gold_sentences(data)
    found = JointParser.from_pretrained(tmp_path / "like").parse(sentences)
    assert [p.heads for p in found] == [
        p.heads for p in JointParser.from_pretrained(small).parse(sentences)
    ]
    assert found[0].lemmas is not None


def test_without_a_model_to_be_like_factors_are_rounded_again(small, taught, tmp_path):
    pack(taught, tmp_path / "again", bits=8, rank=2)
    old, new = (load_file(folder / "model.safetensors") for folder in (small, tmp_path / "again"))
    assert not all(torch.equal(new[name], weight) for name, weight in old.items())


def test_a_saved_parser_can_be_trained_as_a_whole(small, data, tmp_path):
    train(continued(small, data, training=TRAINED), tmp_path / "run")
    before, after = map(JointParser.from_pretrained, (small, tmp_path / "run"))
    assert after.model.config.labels["relations"] == before.model.config.labels["relations"]
    assert not torch.equal(after.model.arcs.weight, before.model.arcs.weight)


def test_loaded_scorers_have_the_rate_of_pretrained_weights(small, data):
    rates = {"learning_rate": 1e-4, "head_learning_rate": 1e-2}
    settings = continued(small, data, head=MORPHOLOGY, training=rates)
    task = ParsingTask.new(settings, read_treebank(data))
    of_parameter = {
        id(parameter): group["lr"]
        for group in parameter_groups(task.model, settings.training)
        for parameter in group["params"]
    }
    assert of_parameter[id(task.model.arcs.weight)] == 1e-4
    assert of_parameter[id(task.model.morphology.hidden.weight)] == 1e-2


def other_treebank(data, folder):
    """The same trees as if they were German, with some other relations, tags and features."""
    text = Path(data).read_text("utf-8")
    text = text.replace("XX\t_", "ZZ\tCase=Nom").replace("\tmark\t", "\tcase\t")
    path = folder / "de_tides-ud-train.conllu"
    path.write_text(text, encoding="utf-8")
    return str(path)


@pytest.fixture(scope="module")
def in_english(data, tmp_path_factory, tiny_encoder):
    """A parser with morphology, whose treebank says that it is English."""
    folder = tmp_path_factory.mktemp("english")
    named = folder / "en_tides-ud-train.conllu"
    named.write_text(Path(data).read_text("utf-8"), encoding="utf-8")
    train(
        experiment("parsing", str(named), tiny_encoder, head=MORPHOLOGY, training=TRAINED),
        folder / "run",
    )
    return folder / "run"


def test_labels_that_it_lacks_are_added_behind_its_own(in_english, data, tmp_path):
    german = read_treebank(other_treebank(data, tmp_path))
    model = ParsingTask.new(continued(in_english, data, training=TRAINED), german).model
    saved = JointParser.from_pretrained(in_english).model
    for name, new in (("relations", ["case"]), ("xpos", ["ZZ"]), ("upos", [])):
        assert model.config.labels[name] == [*saved.config.labels[name], *new]
    assert set(model.config.labels["feats"]) > set(saved.config.labels["feats"])
    for name, weight in saved.state_dict().items():
        grown = model.state_dict()[name]
        assert torch.equal(grown[: len(weight)] if weight.ndim else grown, weight), name


def test_a_saved_parser_learns_another_language(in_english, data, tmp_path):
    german = other_treebank(data, tmp_path)
    settings = continued(in_english, german, training=TRAINED | {"num_train_epochs": 20})
    train(settings, tmp_path / "run")
    parser = JointParser.from_pretrained(tmp_path / "run")
    assert parser.languages.codes == ("en", "de")
    found = parser.for_language("de").parse(gold_sentences(german))
    golds = [example.gold for example in read_treebank(german)]
    for name, label in (("xpos", "ZZ"), ("relations", "case")):
        pairs = [
            (one, other)
            for parse, gold in zip(found, golds, strict=True)
            for one, other in zip(getattr(parse, name), getattr(gold, name), strict=True)
            if other == label
        ]
        assert sum(one == other for one, other in pairs) > len(pairs) / 2


def test_a_scorer_with_more_labels_learns_at_the_rate_of_new_ones(in_english, data, tmp_path):
    rates = {"learning_rate": 1e-4, "head_learning_rate": 1e-2}
    settings = continued(in_english, data, training=rates)
    task = ParsingTask.new(settings, read_treebank(other_treebank(data, tmp_path)))
    of_parameter = {
        id(parameter): group["lr"]
        for group in parameter_groups(task.model, settings.training)
        for parameter in group["params"]
    }
    assert of_parameter[id(task.model.relations.weight)] == 1e-2
    assert of_parameter[id(task.model.upos.weight)] == 1e-4


def test_a_frozen_parser_gets_no_other_labels(small, data, tmp_path):
    frozen = {"encoder": "frozen"}
    settings = continued(small, data, head=MORPHOLOGY, training=frozen)
    labels = ParsingTask.new(settings, read_treebank(other_treebank(data, tmp_path))).model.config
    assert "case" not in labels.labels["relations"]
    assert "feats" in labels.labels


def test_what_cannot_be_continued_is_named(small, data, tiny_encoder, tmp_path):
    frozen = {"encoder": "frozen"}
    with pytest.raises(InputError, match=naming("continues from a saved parser")):
        train(experiment("parsing", data, tiny_encoder, preset="saved"), tmp_path / "a")
    with pytest.raises(InputError, match=naming("it lacks nothing")):
        train(continued(small, data, training=frozen), tmp_path / "b")
    with pytest.raises(InputError, match=naming("num_hidden_layers")):
        train(continued(small, data, num_hidden_layers=1), tmp_path / "c")
    assert not list(tmp_path.iterdir())


def test_only_a_small_copy_can_be_named_as_like(small, taught, tmp_path, tiny_encoder):
    with pytest.raises(InputError, match=naming("--like syntagma pack")):
        pack(taught, tmp_path / "x", like=tiny_encoder)
    with pytest.raises(InputError, match=naming("omit --bits")):
        pack(taught, tmp_path / "x", like=small, bits=4)
    assert not (tmp_path / "x").exists()
