"""What the command line names, and nothing else, can be asked for."""

from __future__ import annotations

from pathlib import Path

import pytest

from syntagma.errors import InputError
from syntagma.serve.named_models import choose, read_names
from tests.messages import naming

FORMATS = Path(__file__).parents[1] / "data" / "formats" / "0.1"


def test_models_are_named_by_the_last_part_of_their_path_or_as_told():
    models = read_names([str(FORMATS / "spans"), f"nli={FORMATS / 'pairs'}"])
    assert [(each.name, each.kind, each.task) for each in models] == [
        ("spans", "reader", "spans"),
        ("nli", "predictor", "pairs"),
    ]
    assert all(Path(each.place).is_absolute() for each in models)


def test_the_shipped_models_are_served_by_default(monkeypatch):
    monkeypatch.setattr("syntagma.serve.named_models.require_encoder", lambda name: None)
    kinds = {each.name: each.kind for each in read_names([])}
    assert kinds == {"default-reader": "reader", "default-parser": "parser"}


def test_an_index_brings_the_shipped_reader(served, monkeypatch):
    monkeypatch.setattr("syntagma.serve.named_models.require_encoder", lambda name: None)
    index = next(each.place for each in served if each.kind == "index")
    assert [each.name for each in read_names([index])] == ["notes", "default-reader"]


def test_what_cannot_be_served_is_refused(tmp_path):
    for name in ("empty", "a b"):
        (tmp_path / name).mkdir()
    spans = str(FORMATS / "spans")
    for given, words in {
        (str(tmp_path / "empty"),): "empty syntagma train",
        (str(tmp_path / "a b"),): "NAME= letters",
        (str(FORMATS / "pretraining"),): "pretraining reader",
        (spans, spans): "spans OTHER=",
        ("nowhere",): "nowhere folder",
    }.items():
        with pytest.raises(InputError, match=naming(words)):
            read_names(given)


def test_requests_choose_by_name_or_get_the_first():
    models = read_names([f"{name}={FORMATS / 'spans'}" for name in ("first", "second")])
    assert choose(models, "reader", None).name == "first"
    assert choose(models, "reader", "second").name == "second"
    with pytest.raises(InputError, match=naming("secnd second")):
        choose(models, "reader", "secnd")
    with pytest.raises(InputError, match=naming("parser --model")):
        choose(models, "parser", None)
