"""What training on a few questions of a new kind changes."""

from __future__ import annotations

import json
from argparse import Namespace

import own_questions
import pytest

from syntagma.errors import InputError
from syntagma.files import read_json
from syntagma.tasks.spans.squad import SpanExample, read_squad
from syntagma.training.run import train
from tests.builders import experiment, squad


def asked(passage: int, number: int) -> SpanExample:
    return SpanExample(id=f"{passage}.{number}", passage=f"Passage {passage}.", question="What?")


def test_whole_passages_are_drawn_and_more_include_the_fewer():
    examples = [asked(passage, number) for passage in range(20) for number in range(3)]
    few, many = (own_questions.draw(examples, count, seed=1) for count in (10, 30))
    assert [len(few), len(many)] == [4, 10]
    assert all(len(group) == 3 for group in many)
    assert many[:4] == few
    assert few != own_questions.draw(examples, 10, seed=2)
    # As many as there are can be drawn.
    assert sum(map(len, own_questions.draw(examples, 60, seed=1))) == 60
    with pytest.raises(InputError, match="at least 61 questions, got 60"):
        own_questions.draw(examples, 61, seed=1)


def test_readers_are_compared_and_what_is_done_is_not_done_again(
    tmp_path, tiny_encoder, monkeypatch
):
    settings = own_questions.SETTINGS.read_text(encoding="utf-8")
    small = settings.replace("max_length: 384", "max_length: 160").replace(
        "stride: 128", "stride: 32"
    )
    (tmp_path / "small.yaml").write_text(small, encoding="utf-8")
    monkeypatch.setattr(own_questions, "SETTINGS", tmp_path / "small.yaml")
    monkeypatch.setattr(own_questions, "HELD", 2)
    data = squad(tmp_path / "squad.json", copies=25)
    train(experiment("spans", data, tiny_encoder), tmp_path / "reader")
    given = Namespace(
        train=data, dev=data, squad=data, reader=str(tmp_path / "reader"), counts=[168],
        questions=6, seed=1, out=tmp_path / "out",
    )  # fmt: skip
    scores = own_questions.compare(given)
    assert list(scores) == ["as it ships", "calibrated on 168", "trained on 168"]
    assert len(read_squad(tmp_path / "out" / "squad.json")[0]) == 6
    learned, held = (
        {example.id for example in read_squad(tmp_path / "out" / "168" / name)[0]}
        for name in ("mine.json", "my-dev.json")
    )
    assert len(learned | held) >= 168
    assert not learned & held
    ships, calibrated, trained = scores.values()
    assert calibrated["own.HasAns_f1"] == ships["own.HasAns_f1"]
    assert calibrated["own.ece_no_answer"] != ships["own.ece_no_answer"]
    assert set(trained) == set(own_questions.COLUMNS.values())
    config = read_json(tmp_path / "out" / "168" / "reader" / "config.json")
    assert config["head"]["calibration"]["n_questions"] == len(held)
    saved = tmp_path / "out" / "scores.json"
    saved.write_text(json.dumps(scores | {"trained on 168": {"own.HasAns_f1": -1.0}}))
    assert own_questions.compare(given)["trained on 168"] == {"own.HasAns_f1": -1.0}
