"""Scores with noisy parses and with parses of other sources."""

from __future__ import annotations

import json
import re
import shutil
import sys
from collections import defaultdict
from dataclasses import replace

import numpy as np
import pytest
import yaml
from typer.testing import CliRunner

from syntagma.analysis.compare import compare_runs
from syntagma.analysis.intervals import paired_seeds
from syntagma.analysis.robustness import (
    ParserTable,
    noise_curve,
    parser_table,
    rescoring,
    training_noise_curve,
    write_noise_curves,
    write_parser_table,
)
from syntagma.analysis.robustness.rescoring import Rescored
from syntagma.cli import app
from syntagma.errors import InputError
from syntagma.evaluation import evaluate, open_model
from syntagma.parse.parser import JointParser
from syntagma.parse.sources.load import NOISY
from syntagma.tasks import find_task
from syntagma.training.run import train
from tests.builders import experiment, pairs
from tests.messages import naming, says


@pytest.fixture(scope="module")
def runs(tmp_path_factory, tiny_encoder, tiny_parser):
    """Runs of a plain encoder and of guided encoders with an untrained parser."""
    folder = tmp_path_factory.mktemp("runs")
    data = pairs(folder / "pairs.jsonl", copies=2)
    for preset in ("none", "sg-net", "poi-net"):
        settings = experiment(
            "pairs", data, tiny_encoder, preset=preset, parser=tiny_parser,
            training={"num_train_epochs": 2, "learning_rate": 3e-3},
        )  # fmt: skip
        train(settings, folder / preset)
    return folder


@pytest.mark.slow
def test_only_models_that_read_the_noise_change(runs, monkeypatch):
    calls = []

    def record(run, examples, parser, metric, device):
        calls.append((run.path.name, parser))
        return Rescored(float(len(calls)), {})

    monkeypatch.setattr(rescoring, "_score", record)
    names = [runs / name for name in ("none", "sg-net", "poi-net")]
    heads = noise_curve(names, shares=(0, 0.5, 1), draws=2)
    assert [len({*scores}) for scores in heads.systems.values()] == [1, 3, 1]
    assert heads.systems["sg-net"] == (2.0, 3.5, 5.5)
    assert heads.deviations["sg-net"] == pytest.approx((0, 0.5**0.5, 0.5**0.5))
    assert heads.table().endswith(
        "heads replaced in evaluation, drawn 2 times, n = 32; "
        "flat lines (models do not read heads): none, poi-net"
    )
    assert [parser.split("/")[0] for name, parser in calls if name == "sg-net"] == [
        "", "noisy:0.5,0:", "noisy:0.5,1:", "noisy:1,0:", "noisy:1,1:",
    ]  # fmt: skip
    calls.clear()
    tags = noise_curve(names, kind="tags")
    assert tags.shares == (0.0, 0.05, 0.1, 0.2)
    assert tags.level == ("none", "sg-net")
    assert [len({*scores}) for scores in tags.systems.values()] == [1, 1, 4]
    assert calls[-1][1].startswith("noisy_tags:0.2,0:/")


def test_noise_of_training_is_removed_before_noise_is_added(edited_copy, monkeypatch, tiny_parser):
    """For a run trained on noise, shares refer to clean parses."""
    calls: list[str] = []

    def record(run, examples, parser, metric, device):
        calls.append(parser)
        return Rescored(1.0, {})

    monkeypatch.setattr(rescoring, "_score", record)
    inner = f"noisy_tags:0.1:{tiny_parser}"
    folder = edited_copy("noisy", f"noisy:0.4:{inner}", 50.0)
    config = json.loads((folder / "config.json").read_text())
    (folder / "config.json").write_text(json.dumps(config | {"parser": f"noisy:0.4:{inner}"}))
    noise_curve([folder], shares=(0, 0.2))
    assert calls == [inner, f"noisy:0.2,0:{inner}"]


def test_the_curve_starts_at_the_saved_score(runs, tmp_path):
    names = [runs / name for name in ("none", "sg-net")]
    curve = noise_curve(names, shares=(0.0, 1.0))
    for name in names:
        own = evaluate(name, [str(runs / "pairs.jsonl")])["accuracy"]
        assert curve.systems[name.name][0] == pytest.approx(own)
    assert curve.rows()[0] == ["accuracy", "0%", "100%"]
    pytest.importorskip("matplotlib")
    write_noise_curves([curve, curve], tmp_path / "noise.svg")
    assert "heads replaced in evaluation" in (tmp_path / "noise.svg").read_text()


def test_models_are_scored_in_the_precision_of_their_training(runs, monkeypatch):
    calls = []

    def record(folder, **options):
        calls.append(options.get("precision"))
        return open_model(folder, **options)

    monkeypatch.setattr(rescoring, "open_model", record)
    for parser in ("own", "linear"):
        calls.clear()
        parser_table([runs / "sg-net"], [parser])
        assert calls[-1] == "float32"


def test_the_examples_that_training_scored_are_scored_again(tmp_path, tiny_encoder, tiny_parser):
    data = pairs(tmp_path / "pairs.jsonl", copies=2)
    settings = experiment(
        "pairs",
        data,
        tiny_encoder,
        preset="sg-net",
        parser=tiny_parser,
        training={"num_train_epochs": 1},
    )
    settings = replace(settings, data=replace(settings.data, dev_limit=5))
    metrics = train(settings, tmp_path / "run")
    curve = noise_curve([tmp_path / "run"], shares=(0.0,))
    assert curve.n_examples == metrics["total"] == 5
    assert curve.systems["run"][0] == pytest.approx(metrics["accuracy"])
    all_examples = noise_curve([tmp_path / "run"], [data], shares=(0.0,))
    assert all_examples.n_examples == 32


def test_sources_are_compared_in_a_table(runs):
    names = [runs / name for name in ("none", "sg-net")]
    found = parser_table(names, ["own", "random", "linear"])
    assert found.rows()[0] == ["accuracy", "own", "random", "linear"]
    assert len({*found.systems["none"]}) == 1
    for parser, score in zip(found.parsers, found.systems["sg-net"], strict=True):
        other = "" if parser == "own" else parser
        own = evaluate(runs / "sg-net", [str(runs / "pairs.jsonl")], parser=other)["accuracy"]
        assert score == pytest.approx(own)
    assert says(found.table().splitlines()[-1], "n = 32 heads tags none")
    with pytest.raises(
        InputError, match=naming("parser nonsense default-parser conllu:FILE noisy:SHARE:SOURCE")
    ):
        parser_table(names, ["nonsense"])


def test_examples_without_a_gold_label_are_left_out(runs, tmp_path):
    lines = (runs / "pairs.jsonl").read_text().splitlines(keepends=True)
    rows = [json.loads(line) for line in lines[:3]]
    unlabelled = "".join(
        json.dumps(row | {"gold_label": "-", "pairID": f"new{place}"}) + "\n"
        for place, row in enumerate(rows)
    )
    (tmp_path / "snli.jsonl").write_text(unlabelled + "".join(lines))
    data = [tmp_path / "snli.jsonl"]
    found = parser_table([runs / "sg-net"], ["own", "linear"], data)
    assert found == parser_table([runs / "sg-net"], ["own", "linear"])
    assert found.n_examples == 32
    assert noise_curve([runs / "sg-net"], data, shares=(0.0,)).n_examples == 32
    (tmp_path / "blind.jsonl").write_text(unlabelled)
    with pytest.raises(InputError, match=naming("blind.jsonl 3 gold label")):
        noise_curve([runs / "sg-net"], [tmp_path / "blind.jsonl"], shares=(0.0,))


def test_sources_are_drawn_as_bars(tmp_path):
    pytest.importorskip("matplotlib")
    scores = {"plain": (50.0, 50.0), "sg-net": (80.0, 60.0)}
    spreads = {"plain": (0.0, 0.0), "sg-net": (2.0, 1.0)}
    table = ParserTable(("own", "random"), "accuracy", scores, spreads, ("plain",), 32)
    write_parser_table(table, tmp_path / "sources.svg")
    picture = (tmp_path / "sources.svg").read_text()
    for word in ("plain", "sg-net", "own", "random", "parses", "accuracy, %"):
        assert f">{word}<" in picture


def test_differences_between_sources_are_drawn_as_intervals(tmp_path):
    pytest.importorskip("matplotlib")
    scores = {"plain": (50.0,) * 3, "sg-net": (80.0, 60.0, 81.0), "seprem": (70.0, 66.0, 70.0)}
    spreads = dict.fromkeys(scores, (1.0,) * 3)
    intervals = {
        "sg-net": ({"seeds": paired_seeds([-19.0, -21.0, -20.0])}, {}),
        "seprem": (
            {"seeds": paired_seeds([-3.0, -5.0, -4.0])},
            {"seeds": paired_seeds([0.5, -0.5, 0.0])},
        ),
    }
    parsers = ("own", "noisy:0.3:default-parser", "linear")
    table = ParserTable(parsers, "accuracy", scores, spreads, ("plain",), 32, intervals)
    write_parser_table(table, tmp_path / "sources.svg")
    picture = (tmp_path / "sources.svg").read_text()
    for word in ("sg-net", "seprem", "noisy:0.3", "linear", "Δ accuracy from own"):
        assert f">{word}<" in picture
    assert ">plain<" not in picture


@pytest.mark.parametrize(
    ("names", "kind", "message"),
    [
        (["none", "sg-net"], "tags",
         "tags none nothing sg-net heads pos_embedding"),
        (["poi-net"], "heads", "heads poi-net tags ancestor_attention tree_distance"),
        (["none"], "heads", "heads none nothing ancestor_attention tree_distance"),
    ],
)  # fmt: skip
def test_noise_that_no_model_reads_is_rejected(runs, edited_copy, names, kind, message):
    folders = [runs / name for name in names]
    with pytest.raises(InputError, match=naming(message)):
        noise_curve(folders, kind=kind)
    noisy = edited_copy("noisy", f"{NOISY[kind]}:0.4:linear", 50.0, of=names[-1])
    with pytest.raises(InputError, match=naming(f"{kind} noisy")):
        training_noise_curve([*folders, noisy], kind=kind)


def test_sources_are_rejected_if_no_model_reads_parses(runs):
    with pytest.raises(
        InputError, match=naming("heads tags none nothing tree_distance pos_embedding")
    ):
        parser_table([runs / "none"], ["own", "random"])


@pytest.mark.slow
def test_runs_trained_on_noise_make_a_curve(runs, tmp_path, tiny_encoder, tiny_parser):
    data = str(runs / "pairs.jsonl")
    folders = [runs / "none", runs / "sg-net"]
    scores = []
    for share in (0.4, 0.8):
        settings = experiment(
            "pairs", data, tiny_encoder, preset="sg-net", parser=f"noisy:{share}:{tiny_parser}",
            training={"num_train_epochs": 2, "learning_rate": 3e-3},
        )  # fmt: skip
        folders.append(tmp_path / f"noisy{share}")
        scores.append(train(settings, folders[-1])["accuracy"])
    curve = training_noise_curve(folders)
    assert curve.shares == (0.0, 0.4, 0.8)
    assert curve.when == "training and evaluation"
    assert curve.summary() == (
        "heads replaced in training and evaluation, evaluated on parses with the same noise, "
        "n = 32; "
        "flat lines (models do not read heads): none"
    )
    clean = json.loads((runs / "sg-net" / "metrics.json").read_text())["accuracy"]
    assert curve.systems["sg-net"] == pytest.approx((clean, *scores))
    assert len({*curve.systems["none"]}) == 1
    with pytest.raises(InputError, match=naming("heads --set parser=noisy:SHARE:SOURCE")):
        training_noise_curve(folders[:2])
    other = experiment(
        "pairs", data, tiny_encoder, preset="sg-net", parser=tiny_parser,
        training={"num_train_epochs": 2, "learning_rate": 2e-3},
    )  # fmt: skip
    train(other, tmp_path / "slower")
    with pytest.raises(InputError, match=naming("slower 40% heads --set parser=noisy:0.4:SOURCE")):
        training_noise_curve([*folders, tmp_path / "slower"])


@pytest.fixture
def edited_copy(runs, tmp_path):
    """A function that copies a run, with another parser, seed and score in its files."""

    def make(name, parser, accuracy, *, seed=1, of="sg-net"):
        folder = tmp_path / name
        shutil.copytree(runs / of, folder)
        settings = yaml.safe_load((folder / "experiment.yaml").read_text())
        settings |= {"parser": parser, "training": settings["training"] | {"seed": seed}}
        (folder / "experiment.yaml").write_text(yaml.safe_dump(settings))
        (folder / "metrics.json").write_text(json.dumps({"accuracy": accuracy}))
        return folder

    return make


@pytest.fixture
def rescored_runs(runs, edited_copy, monkeypatch):
    """Three seeds of a run, and their scores with each source instead of those of their models."""
    ids = list(json.loads((runs / "sg-net" / "examples.json").read_text()))
    random = np.random.default_rng(1)
    rows = {
        (parser, seed): dict(zip(ids, random.random(len(ids)) < share, strict=True))
        for parser, share in (("", 0.9), ("random", 0.5), ("linear", 0.7))
        for seed in (1, 2, 3)
    }

    def rescored(parser, seed):
        found = {key: {"accuracy": float(right)} for key, right in rows[parser, seed].items()}
        return Rescored(100 * sum(rows[parser, seed].values()) / len(ids), found)

    monkeypatch.setattr(
        rescoring, "_score", lambda run, examples, parser, *_: rescored(parser, run.seed)
    )

    def folder(parser, seed):
        found = rescored(parser, seed)
        name = parser or "own"
        folder = edited_copy(f"{name}{seed}", name, found.score, seed=seed)
        (folder / "examples.json").write_text(json.dumps(found.rows))
        return folder

    return folder


def test_differences_between_sources_have_the_intervals_of_a_comparison_of_runs(rescored_runs):
    folders = {
        parser: [rescored_runs(parser, seed) for seed in (1, 2, 3)] for parser in ("", "random")
    }
    found = parser_table(folders[""], ["own", "random", "linear"])
    (differences,) = found.intervals.values()
    compared = compare_runs([*folders[""], *folders["random"]])
    assert differences[0] == compared.systems[1].intervals
    assert found.clusters == compared.clusters
    both = differences[1]["both"]
    assert (found.over, found.interval(*found.systems, 2)) == ("both", both)
    linear, own = found.systems["own"][2], found.systems["own"][0]
    shown = f"{linear - own:+.2f} ({both.low:+.2f} … {both.high:+.2f})"
    assert says(found.table(), f"linear − own {shown} intervals over seeds and {found.clusters}")


def test_the_difference_of_a_single_run_has_an_interval_over_examples(rescored_runs):
    found = parser_table([rescored_runs("", 1)], ["own", "random"])
    (of,) = found.intervals["own1"]
    assert (found.over, list(of)) == ("examples", ["examples"])
    assert of["examples"].high < 0
    assert found.summary() == f"n = 32; intervals over {found.clusters}, of these runs"
    assert parser_table([rescored_runs("", 2)], ["own"]).intervals == {}


def test_a_metric_that_is_not_tested_has_intervals_over_seeds(rescored_runs, monkeypatch):
    monkeypatch.setattr(find_task("pairs"), "comparisons", ())
    found = parser_table([rescored_runs("", seed) for seed in (1, 2)], ["own", "random"])
    (differences,) = found.intervals.values()
    assert (found.over, list(differences[0])) == ("seeds", ["seeds"])
    assert says(found.summary(), "intervals over seeds, paired t")


def test_scores_are_kept_without_scipy(rescored_runs, monkeypatch, caplog):
    folders = [rescored_runs("", seed) for seed in (1, 2, 3)]
    scores = parser_table(folders, ["own", "random"]).systems
    monkeypatch.setitem(sys.modules, "scipy", None)
    bare = parser_table(folders, ["own", "random"])
    assert (bare.intervals, bare.over, bare.systems) == ({}, "", scores)
    assert says(caplog.text, "without intervals stats")


def test_an_unknown_kind_of_cluster_is_rejected_before_anything_is_scored(runs, monkeypatch):
    monkeypatch.setattr(rescoring, "_score", lambda *_: pytest.fail("a model was scored"))
    folder = runs / "sg-net"
    with pytest.raises(InputError, match="--cluster page"):
        parser_table([folder], ["own", "random"], cluster="page")
    with pytest.raises(InputError, match=r"--cluster article: .* come by sentence, example"):
        parser_table([folder], ["own", "random"], cluster="article")
    result = CliRunner().invoke(app, ["noise", str(folder), "--cluster", "sentence"])
    assert isinstance(result.exception, InputError)
    assert says(str(result.exception), "--cluster --source omit")


def test_runs_share_the_parses_of_a_source(edited_copy, monkeypatch, tiny_parser):
    parsed = []
    parse = JointParser.parse_texts

    def counted(parser, texts):
        texts = list(texts)
        parsed.extend(texts)
        return parse(parser, texts)

    monkeypatch.setattr(JointParser, "parse_texts", counted)
    folders = [edited_copy(f"seed{seed}", tiny_parser, 50.0, seed=seed) for seed in (1, 2, 3)]
    parser_table(folders, ["own", "linear"])
    assert len(parsed) == len({*parsed}) > 0


def test_draws_of_training_noise_are_averaged(edited_copy, tiny_parser):
    folders = [
        edited_copy("clean", tiny_parser, 90.0),
        edited_copy("first", f"noisy:0.4:{tiny_parser}", 70.0),
        edited_copy("second", f"noisy:0.4,1:{tiny_parser}", 80.0),
    ]
    curve = training_noise_curve(folders)
    assert curve.shares == (0.0, 0.4)
    assert curve.systems == {"clean": (90.0, 75.0)}
    assert curve.deviations["clean"] == pytest.approx((0.0, 50**0.5))
    assert says(curve.summary(), "drawn 2 same noise")
    # A name without a seed means seed 0.
    again = edited_copy("again", f"noisy:0.40,0:{tiny_parser}", 60.0)
    with pytest.raises(
        InputError, match=naming("again first --set parser=noisy:SHARE,SEED:SOURCE")
    ):
        training_noise_curve([*folders, again])
    other = edited_copy("other", f"noisy:0.8:{tiny_parser}", 60.0)
    with pytest.raises(
        InputError, match=naming("first (40%) 2 other (80%) 1 parser=noisy:SHARE,SEED:SOURCE")
    ):
        training_noise_curve([*folders, other])


def test_each_seed_may_have_its_own_draw_of_training_noise(edited_copy, tiny_parser):
    folders = [
        edited_copy(f"{name}-{seed}", f"{noise.format(seed)}{tiny_parser}", score + seed, seed=seed)
        for name, noise, score in (("clean", "", 90.0), ("noisy", "noisy:0.4,{}:", 70.0))
        for seed in (1, 2, 3)
    ]
    curve = training_noise_curve(folders)
    assert curve.systems == {"clean": (92.0, 72.0)}
    assert curve.deviations == {"clean": (1.0, 1.0)}
    with pytest.raises(InputError, match=naming("noisy 2 clean 3")):
        training_noise_curve(folders[:5])


def test_parses_of_another_source_change_the_predictions(runs):
    found = []
    for parser in ("", "linear", "noisy:1:linear"):
        task = open_model(runs / "sg-net", parser=parser)
        found.append(tuple(map(tuple, task.predict(task.read(runs / "pairs.jsonl")))))
    assert len(set(found)) == 3


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"kind": "relations"}, "heads tags relations"),
        ({"draws": 0}, "noise 0"),
        ({"metric": "bleu"}, "none bleu accuracy"),
        ({"metric": "of_bleu", "data": ["dev.jsonl"]}, "none of_bleu accuracy"),
        ({"shares": (0.0, 2.0)}, "0 1 2.0"),
    ],
)
def test_arguments_are_checked_before_models_are_scored(runs, monkeypatch, options, message):
    monkeypatch.setattr(rescoring, "_score", None)
    with pytest.raises(InputError, match=naming(message)):
        noise_curve([runs / "none", runs / "sg-net"], **options)


def test_a_metric_of_a_subset_of_other_files_is_accepted(runs, monkeypatch):
    monkeypatch.setattr(rescoring, "_score", lambda *_: Rescored(1.0, {}))
    data = [str(runs / "pairs.jsonl")]
    curve = noise_curve([runs / "sg-net"], data, metric="hard_accuracy")
    assert curve.score == "hard_accuracy"


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--plot", "x.txt"], "x.txt .svg"),
        (["--json", "."], "folder file"),
        (["--source", "own", "--source", "bogus"], "parser bogus default-parser"),
        (["--source", "noisy:2:linear"], "0 1 2.0"),
        (["--source", "own", "--metric", "bleu"], "bleu accuracy"),
        (["--source", "own", "--kind", "bogus"], "--kind parses"),
        (["--shares", "0,2"], "0 1 2.0"),
    ],
)
def test_flags_are_checked_before_models_are_scored(runs, monkeypatch, options, message):
    pytest.importorskip("matplotlib")
    monkeypatch.setattr(rescoring, "_score", None)
    found = CliRunner().invoke(app, ["noise", str(runs / "sg-net"), *options])
    assert isinstance(found.exception, InputError)
    assert re.search(naming(message), str(found.exception))


def test_duplicates_are_scored_once(runs, monkeypatch):
    monkeypatch.setattr(rescoring, "_score", lambda *_: Rescored(1.0, defaultdict(dict)))
    assert noise_curve([runs / "sg-net"], shares=(0.5, 0.5, 0)).shares == (0, 0.5)
    assert parser_table([runs / "sg-net"], ["own", "linear", "own"]).parsers == ("own", "linear")


def test_a_model_without_syntax_rejects_a_parser(runs, tiny_parser):
    data = [str(runs / "pairs.jsonl")]
    with pytest.raises(InputError, match=naming("none parser linear")):
        evaluate(runs / "none", data, parser="linear")
    with pytest.raises(InputError, match=naming(f"{tiny_parser} linear")):
        evaluate(tiny_parser, data, parser="linear")
