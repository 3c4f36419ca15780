"""Scores over the share of syntax that is replaced."""

from __future__ import annotations

import pytest

from syntagma import robustness
from syntagma.errors import InputError
from syntagma.evaluation import evaluate, open_model
from syntagma.robustness import noise_curve, write_noise_curves
from syntagma.training.run import train
from tests.training.test_run import experiment, pairs


@pytest.fixture(scope="module")
def runs(tmp_path_factory, tiny_encoder, tiny_parser):
    """Runs of a plain encoder and of guided ones whose parses are those of an untrained parser."""
    folder = tmp_path_factory.mktemp("runs")
    data = pairs(folder / "pairs.jsonl", copies=2)
    for preset in ("none", "sg-net", "poi-net"):
        settings = experiment(
            "pairs", data, tiny_encoder, preset=preset, parser=tiny_parser,
            training={"epochs": 2, "learning_rate": 3e-3},
        )  # fmt: skip
        train(settings, folder / preset)
    return folder


def test_only_what_reads_noise_bends(runs, monkeypatch):
    asked = []

    def note(folder, data, *, parser="", device="cpu"):
        asked.append((folder.name, parser))
        return {"accuracy": float(len(asked))}

    monkeypatch.setattr(robustness, "evaluate", note)
    names = [runs / name for name in ("none", "sg-net", "poi-net")]
    heads = noise_curve(names, shares=(0, 0.5, 1), draws=2)
    assert [len({*scores}) for scores in heads.systems.values()] == [1, 3, 1]
    assert heads.systems["sg-net"] == (2.0, 3.5, 5.5)
    assert [parser.split("/")[0] for name, parser in asked if name == "sg-net"] == [
        "", "noisy:0.5,0:", "noisy:0.5,1:", "noisy:1,0:", "noisy:1,1:",
    ]  # fmt: skip
    asked.clear()
    tags = noise_curve(names, kind="tags")
    assert tags.shares == (0.0, 0.05, 0.1, 0.2)
    assert [len({*scores}) for scores in tags.systems.values()] == [1, 1, 4]
    assert asked[-1][1].startswith("noisy_tags:0.2,0:/")


def test_the_curve_begins_with_the_score_of_the_runs(runs, tmp_path):
    names = [runs / name for name in ("none", "sg-net")]
    curve = noise_curve(names, shares=(0.0, 1.0))
    for name in names:
        own = evaluate(name, [str(runs / "pairs.jsonl")])["accuracy"]
        assert curve.systems[name.name][0] == pytest.approx(own)
    assert curve.rows()[0] == ["accuracy", "0%", "100%"]
    pytest.importorskip("matplotlib")
    write_noise_curves([curve, curve], tmp_path / "noise.svg")
    assert "heads replaced" in (tmp_path / "noise.svg").read_text()


def test_other_trees_reach_the_model(runs):
    found = []
    for parser in ("", "linear", "noisy:1:linear"):
        task = open_model(runs / "sg-net", parser=parser)
        found.append(repr(task.predict(task.read(runs / "pairs.jsonl"))))
    assert len(set(found)) == 3


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"kind": "relations"}, "noise is put on heads or tags, got 'relations'"),
        ({"draws": 0}, "at least once, got 0"),
        ({"metric": "bleu"}, "has no metric 'bleu'; it has accuracy"),
        ({"shares": (2.0,)}, "lies between 0 and 1, got 2.0"),
    ],
)
def test_what_cannot_be_asked(runs, options, message):
    with pytest.raises(InputError, match=message):
        noise_curve([runs / "none", runs / "sg-net"], **options)


def test_a_model_without_syntax_takes_no_parser(runs, tiny_parser):
    data = [str(runs / "pairs.jsonl")]
    with pytest.raises(InputError, match="reads no syntax, so parser 'linear' changes nothing"):
        evaluate(runs / "none", data, parser="linear")
    with pytest.raises(InputError, match="is a parser itself; it takes no parses from 'linear'"):
        evaluate(tiny_parser, data, parser="linear")
