"""Predictors are called with one input, by position or by name, or with several."""

from __future__ import annotations

from pathlib import Path

import pytest

from syntagma.errors import InputError
from syntagma.evaluation import open_model
from syntagma.parse.parser import JointParser
from syntagma.tasks.predictor import OneOrMany
from tests.messages import naming

MODELS = Path(__file__).parents[1] / "data" / "formats" / "0.1"
TEXT = "The old ferry left Port Ann at dawn."
OTHER = "A mill grinds corn."
INPUTS = {
    "spans": [(TEXT, "What left?"), (OTHER, "What grinds corn?")],
    "pairs": [(TEXT, OTHER), (OTHER, TEXT)],
    "choice": [(TEXT, "What left?", ["a ferry", "a mill"]), (OTHER, "", ["corn", "oats", "rye"])],
    "typing": [(TEXT, (4, 13)), (OTHER, (0, 6))],
    "relations": [(TEXT, (4, 13), (19, 27)), (OTHER, (0, 6), (14, 18))],
    "translation": [(TEXT,), (OTHER,)],
    "probing": [(TEXT,), (OTHER,)],
    "open_qa": [("What left?", [TEXT, OTHER]), ("What grinds?", [OTHER])],
}


@pytest.fixture(scope="module", params=INPUTS)
def predictor(request) -> tuple[OneOrMany, list[tuple]]:
    task = open_model(MODELS / request.param, precision="float32")
    found = task.reader if request.param == "open_qa" else task.predictor
    return found, INPUTS[request.param]


def test_one_input_is_predicted_as_in_a_list(predictor):
    predictor, rows = predictor
    several = predictor(row if len(row) > 1 else row[0] for row in rows)
    assert isinstance(several, list)
    assert len(several) == len(rows)
    for row in rows:
        names = predictor.inputs
        (expected,) = predictor([row if len(row) > 1 else row[0]])
        assert predictor(*row) == expected
        assert predictor(row[0], **dict(zip(names[1:], row[1:], strict=True))) == expected
        assert predictor(**dict(zip(names, row, strict=True))) == expected


def test_a_missing_input_is_named(predictor):
    predictor, rows = predictor
    if len(rows[0]) > 1:
        with pytest.raises(InputError, match=naming(f"{predictor.inputs[1]} 1")):
            predictor(rows[0][0])


def test_options_are_passed_on():
    reader = open_model(MODELS / "spans").predictor
    assert reader(TEXT, "What left?", threshold=float("inf")).text
    assert reader([(TEXT, "What left?")], threshold=float("inf"))[0].text


def test_a_parser_takes_one_text_or_several():
    parser = JointParser.from_pretrained(MODELS / "parsing")
    several = parser([TEXT, OTHER + " " + OTHER])
    assert [len(parses) for parses in several] == [1, 2]
    assert parser(TEXT)[0].heads == several[0][0].heads
