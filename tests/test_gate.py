"""The gate fails if a shipped model is worse than its record, or is not the recorded one."""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from scripts.gate import (
    ERRORS,
    GATE,
    ONE_QUESTION,
    QUESTIONS,
    TOLERANCE,
    TREES,
    Scored,
    check,
    named,
    record,
    scored_models,
    stale,
)
from syntagma.encoders.default import find_default
from syntagma.errors import InputError
from syntagma.parse.scores import double_arguments
from syntagma.tasks.parsing.treebanks import read_treebank
from syntagma.tasks.spans.squad import read_squad
from syntagma.text.conllu import read_conllu
from tests.messages import naming, says

READER = Scored("small-reader", "reader", "1.0", "c" * 64)
ANSWERED = {"HasAns_shown_f1": 80.0, "HasAns_none": 3.0, "NoAns_answer": 30.0}
MODEL = Scored("small-parser", "parser", "1.0", "a" * 64)
GOOD = {"letters": {"las": 90.0, "two_subjects": 1}, "questions": {"las": 80.0, "two_subjects": 0}}


def kinds(scores=GOOD):
    """A table of kinds whose parsers all have these scores."""
    return {"parser": lambda name: scores}


def changed(gate_set, metric, value):
    return {**GOOD, gate_set: {**GOOD[gate_set], metric: value}}


@pytest.fixture
def records(tmp_path, capsys):
    """A folder with a record of the model."""
    record(MODEL, tmp_path, kinds())
    capsys.readouterr()
    return tmp_path


def test_a_model_as_good_as_its_record_prints_one_table_and_no_fault(records, capsys):
    assert check([MODEL], records, kinds()) == []
    output = capsys.readouterr()
    head, *rows = output.out.splitlines()
    assert head.split() == ["model,", "set", "las", "two", "subjects"]
    assert [row.split() for row in rows] == [
        ["small-parser,", "letters", "90.00", "1"],
        ["small-parser,", "questions", "80.00", "0"],
    ]
    assert output.err == ""


@pytest.mark.parametrize(
    ("gate_set", "metric", "found", "shown"),
    [
        ("letters", "las", 89.5, "small-parser las letters 90 89.5"),
        ("questions", "las", 79.0, "small-parser las questions 80 79"),
        ("letters", "two_subjects", 2, "small-parser two_subjects letters 1 2"),
        ("questions", "two_subjects", 1, "small-parser two_subjects questions 0 1"),
    ],
)
def test_a_worse_score_is_a_fault(records, gate_set, metric, found, shown):
    faults = check([MODEL], records, kinds(changed(gate_set, metric, found)))
    assert len(faults) == 1
    assert says(faults[0], shown)
    assert "\n" not in faults[0]


@pytest.mark.parametrize(
    ("metric", "found"), [("las", 91.0), ("las", 90.0 - TOLERANCE + 0.01), ("two_subjects", 0)]
)
def test_better_scores_and_rounding_are_no_fault(records, metric, found):
    assert check([MODEL], records, kinds(changed("letters", metric, found))) == []


@pytest.mark.parametrize(
    ("metric", "one_question", "more"),
    [
        ("HasAns_shown_f1", 80 - 100 / 67, 77.0),
        ("HasAns_none", 3 + 100 / 67, 6.0),
        ("NoAns_answer", 30 + 100 / 33, 36.1),
    ],
)
def test_a_reader_may_lose_one_question_to_rounding_but_no_more(
    tmp_path, capsys, metric, one_question, more
):
    def kinds(value):
        return {"reader": lambda name: {"everyday": ANSWERED | {metric: value}}}

    record(READER, tmp_path, kinds(ANSWERED[metric]))
    assert check([READER], tmp_path, kinds(one_question)) == []
    (fault,) = check([READER], tmp_path, kinds(more))
    assert says(fault, f"small-reader {metric} everyday {ANSWERED[metric]:g} {more:g}")
    better = ANSWERED[metric] + (ANSWERED[metric] - more)
    assert check([READER], tmp_path, kinds(better)) == []


def test_the_tolerance_of_a_reader_is_one_question():
    """A set of another size needs other tolerances."""
    assert list(QUESTIONS) == ["everyday"]
    examples, _ = read_squad(QUESTIONS["everyday"])
    n_unanswerable = sum(example.is_impossible for example in examples)
    for metric, points in ONE_QUESTION.items():
        size = n_unanswerable if metric == "NoAns_answer" else len(examples) - n_unanswerable
        assert 100 / size < points < 2 * 100 / size, metric
    assert not any("test" in path.name for path in QUESTIONS.values())


def test_a_metric_that_was_not_recorded_is_a_fault(records):
    (fault,) = check([MODEL], records, kinds(changed("letters", "uas", 95.0)))
    assert says(fault, "small-parser uas letters --record")


@pytest.mark.parametrize(
    ("model", "shown"),
    [
        (replace(MODEL, digest="b" * 64), "1.0 aaaaaaaaaaaa bbbbbbbbbbbb raise --record"),
        (replace(MODEL, version="1.1", digest="b" * 64), "1.1 1.0 bbbbbbbbbbbb --record"),
        (replace(MODEL, version="1.1"), "1.1 1.0 --record"),
        (replace(MODEL, name="new-parser"), "new-parser.json --record"),
    ],
)
def test_another_model_than_the_recorded_one_is_a_fault(records, capsys, model, shown):
    def never(name):
        pytest.fail("a model without its record was scored")

    (fault,) = check([model], records, {"parser": never})
    assert says(fault, f"{model.name} {shown}")
    assert "\n" not in fault
    assert capsys.readouterr().out == ""


def test_a_new_version_can_be_recorded(records):
    newer = replace(MODEL, version="1.1", digest="b" * 64)
    worse = kinds(changed("letters", "las", 85.0))
    record(newer, records, worse)
    assert check([newer], records, worse) == []
    assert json.loads((records / "small-parser.json").read_text()) == {
        "name": "small-parser",
        "version": "1.1",
        "digest": "b" * 64,
        "scores": changed("letters", "las", 85.0),
    }


def test_other_weights_under_the_same_version_cannot_be_recorded(records):
    before = (records / "small-parser.json").read_bytes()
    with pytest.raises(InputError, match=naming("small-parser 1.0 aaaaaaaaaaaa bbbbbbbbbbbb")):
        record(replace(MODEL, digest="b" * 64), records, kinds())
    assert (records / "small-parser.json").read_bytes() == before


def test_a_model_whose_encoder_is_not_there_is_shown_as_not_scored(records, monkeypatch, capsys):
    monkeypatch.setattr("scripts.gate.find_download", lambda name: None)
    model = replace(MODEL, encoder="accurate")
    assert check([model], records, {}) == []
    assert says(capsys.readouterr().out, "small-parser not download accurate")
    with pytest.raises(InputError, match=naming("small-parser download accurate")):
        record(model, records, {})
    # Its record is compared all the same.
    assert len(check([replace(model, digest="b" * 64)], records, {})) == 1


def test_unknown_names_are_refused():
    assert named([MODEL], ["small-parser"]) == [MODEL]
    with pytest.raises(InputError, match=naming("larger-parser small-parser")):
        named([MODEL], ["larger-parser"])


def test_records_are_of_the_named_models():
    models = list(scored_models())
    assert {"default-parser", "default-reader", "splitter"} <= {model.name for model in models}
    assert [stale(model, GATE) for model in models] == [""] * len(models)
    assert {path.stem for path in GATE.glob("*.json")} == {model.name for model in models}


def test_gold_trees_are_whole_and_have_no_double_arguments():
    for path in TREES.values():
        examples = read_treebank(path)
        assert len({example.key for example in examples}) == len(examples)
        for example in examples:
            assert double_arguments(example.gold) == dict.fromkeys(ERRORS, 0), example.key
            assert "_" not in {*example.gold.upos, *example.gold.relations}, example.key
    assert len(read_treebank(TREES["sentences"])) >= 120


def test_texts_spell_their_words():
    for path in TREES.values():
        for sentence in read_conllu(path):
            assert sentence.text == sentence.comment("text")


@pytest.mark.slow
def test_gold_trees_pass_the_validator_of_universal_dependencies():
    program = Path(sys.executable).with_name("udvalidate")
    if not program.is_file():
        pytest.skip("udtools is not installed")
    command = [program, "--lang", "en", "--level", "3", "--no-warnings", "--", TREES["sentences"]]
    found = subprocess.run(command, capture_output=True, text=True, check=False)
    assert found.returncode == 0, found.stdout + found.stderr


@pytest.mark.slow
@pytest.mark.skipif(
    find_default() is None, reason="no default encoder: `syntagma download default`"
)
def test_named_models_are_as_good_as_recorded():
    assert check(scored_models()) == []
