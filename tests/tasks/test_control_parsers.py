"""Controls of the trees: every system trains and is scored with them, and results name them."""

from __future__ import annotations

from itertools import combinations

import pytest
import torch

from syntagma import SyntaxTokenizer
from syntagma.errors import InputError
from syntagma.evaluation import evaluate, open_model
from syntagma.models.pair_model import PairModel
from syntagma.parse.sources.load import load_source, needed_source
from syntagma.runs.folder import read_sources
from syntagma.tasks import find_task
from syntagma.tasks.spans.reader import Reader
from syntagma.training.run import train
from tests.builders import experiment, pairs
from tests.conftest import SENTENCES
from tests.messages import naming

CONTROLS = {
    "random": "random2:0",
    "random:4": "random2:4",
    "linear": "linear:left",
    "noisy:0.5:linear": "noisy2:0.5:0:linear:left",
}


@pytest.fixture(scope="module")
def data(tmp_path_factory) -> str:
    return pairs(tmp_path_factory.mktemp("pairs") / "pairs.jsonl", copies=1)


@pytest.fixture(scope="module", params=["sg-net", "seprem", "poi-net"])
def trained(request, data, tiny_encoder, tmp_path_factory):
    """A run of each system for each control, of three steps."""
    runs = {}
    for number, parser in enumerate(CONTROLS):
        folder = tmp_path_factory.mktemp(request.param) / str(number)
        settings = experiment(
            "pairs",
            data,
            str(tiny_encoder),
            preset=request.param,
            parser=parser,
            training={"max_steps": 3},
        )
        train(settings, folder)
        runs[parser] = folder
    return request.param, runs


def test_runs_and_results_name_the_parser_with_its_digest(trained, data):
    _, runs = trained
    for parser, digest in CONTROLS.items():
        recorded = {"name": parser, "version": "", "digest": digest}
        assert read_sources(runs[parser])["parser"] == recorded
        found = evaluate(runs[parser], [data])
        assert (found["parser"], found["parser_digest"]) == (parser, digest)
    for parser, digest in CONTROLS.items():
        found = evaluate(runs["linear"], [data], parser=parser)
        assert (found["parser"], found["parser_digest"]) == (parser, digest)


def logits(folder, data, parser="") -> torch.Tensor:
    task = open_model(folder, parser=parser, precision="float32")
    features = task.features(task.read(data))
    with torch.inference_mode():
        return task.model(**task.collate([features[index] for index in range(8)])).logits


def test_other_trees_give_other_scores_in_training_and_in_scoring(trained, data):
    system, runs = trained
    # The vectors of tags that were never seen in training are zero.
    scored = [logits(runs["random"], data, parser) for parser in CONTROLS]
    of_each_run = [logits(folder, data, "random") for folder in runs.values()]
    # POI-Net reads tags only, and these sources have none.
    without_tags = {"linear", "noisy:0.5:linear"}
    for found in (scored, of_each_run):
        for (name, one), (other_name, other) in combinations(zip(CONTROLS, found, strict=True), 2):
            alike = system == "poi-net" and {name, other_name} == without_tags
            assert torch.equal(one, other) == alike


def test_a_model_that_reads_tags_warns_of_a_source_without_them(
    data, tiny_encoder, tmp_path, caplog
):
    for parser in ("random", "linear"):
        settings = experiment(
            "pairs", data, str(tiny_encoder), preset="poi-net", parser=parser,
            training={"max_steps": 1},
        )  # fmt: skip
        train(settings, tmp_path / parser)
        warned = "0% of words have one of the Penn tags" in caplog.text
        assert warned == (parser == "linear")


@pytest.mark.parametrize("mask", ["self", "all"])
def test_without_trees_no_parser_is_loaded(mask, data, tiny_encoder, tmp_path, monkeypatch):
    loaded = []
    monkeypatch.setattr("syntagma.parse.sources.load.load_parser", lambda *a, **k: loaded.append(a))
    settings = experiment(
        "pairs",
        data,
        str(tiny_encoder),
        preset="sg-net",
        guides={"ancestor_attention": {"mask": mask}},
        parser="default-parser",
        training={"max_steps": 1},
    )
    train(settings, tmp_path / "run")
    found = evaluate(tmp_path / "run", [data])
    assert (found["parser"], found["parser_digest"]) == ("linear", "linear:left")
    assert not loaded
    model = open_model(tmp_path / "run").model
    batch = SyntaxTokenizer.for_model(model)(SENTENCES[:2], SENTENCES[2:4])
    assert model(**batch).logits.isfinite().all()
    assert not loaded
    with pytest.raises(InputError, match=naming("trees parser 'noisy:0.5:default-parser'")):
        evaluate(tmp_path / "run", [data], parser="noisy:0.5:default-parser")


def test_trees_are_needed_as_soon_as_one_guide_reads_them(tiny_encoder):
    guides = {"ancestor_attention": {"mask": "all"}}
    labels = {"labels": ["no", "yes"]}
    for others, reads in ({}, False), ({"coattention": {}}, False), ({"tree_distance": {}}, True):
        model = PairModel.from_pretrained(tiny_encoder, guides=guides | others, labels=labels)
        assert model.reads_syntax
        assert model.reads_trees == reads


@pytest.mark.parametrize("mode", ["raw", "words"])
def test_a_parsers_words_are_those_of_the_control(mode, tiny_parser):
    texts = [f"{SENTENCES[0]} (Mr. Obi left at 5 p.m.) {SENTENCES[1]}", "", "a\n\nb"]
    for name in (str(tiny_parser), f"noisy:0.5:{tiny_parser}", "random"):
        assert needed_source(name, trees=True) == name
        cheap = needed_source(name, trees=False)
        assert cheap == "linear"
        found, expected = (
            [[parse.sentence for parse in parses] for parses in source.parse_texts(texts)]
            for source in (load_source(cheap, mode=mode), load_source(name, mode=mode))
        )
        assert found == expected
    assert needed_source("conllu:a.conllu", trees=False) == "conllu:a.conllu"


def test_a_reader_without_trees_does_not_give_its_words_to_its_verifier(tiny_encoder, tmp_path):
    for name, guides in (("verifier", {}), ("reader", {"ancestor_attention": {"mask": "all"}})):
        head = (
            {"objective": "answerability"}
            if name == "verifier"
            else {"verifier": str(tmp_path / "verifier")}
        )
        path = find_task("spans").sample.write(tmp_path, 1)
        settings = experiment(
            "spans", path, str(tiny_encoder), preset="sg-net", guides=guides, head=head,
            parser="random", training={"max_steps": 1},
        )  # fmt: skip
        train(settings, tmp_path / name)
    reader = Reader.from_pretrained(tmp_path / "reader")
    assert reader.texts.cache.source.fingerprint == "linear:left"
    assert reader.verifier.texts.cache.source.fingerprint == "random2:0"
