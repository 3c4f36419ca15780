"""Which part of the data a column is scored on, as a plan states before training."""

from __future__ import annotations

import io
import json
import os
import tarfile
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import pytest

pytest.importorskip("scipy")

from syntagma import evaluation
from syntagma.errors import InputError
from syntagma.reproduce.differs import differences
from syntagma.reproduce.entries import Column, Row
from syntagma.reproduce.runs import Setting, make_run
from syntagma.reproduce.scores import part_scored, score_of
from syntagma.reproduce.work import plan_entry, plan_lines, reproduce
from tests.builders import pairs
from tests.messages import naming, says

DEV, TEST, EITHER = (Column("", "accuracy", part=part) for part in ("dev", "test", "test_or_dev"))
PASSAGE = {
    "article": "The ferry sails at dawn.",
    "questions": ["When does it sail?"],
    "options": [["At dawn.", "At noon.", "At night.", "Never."]],
    "answers": ["A"],
    "id": "middle1.txt",
}


def archive(path, *parts):
    text = json.dumps(PASSAGE).encode()
    with tarfile.open(path, "w:gz") as file:
        for part in parts:
            member = tarfile.TarInfo(f"RACE/{part}/middle/1.txt")
            member.size = len(text)
            file.addfile(member, io.BytesIO(text))


def test_the_test_part_of_an_archive_may_be_added_later(tmp_path):
    place = tmp_path / "race/RACE.tar.gz"
    place.parent.mkdir()
    archive(place, "train", "dev")
    run = make_run("race", "plain", Setting(tmp_path, tmp_path / "out", "paper"))
    assert run.files.test, "the archive is there"
    assert [part_scored(run, column) for column in (DEV, TEST, EITHER)] == ["dev", "", "dev"]
    archive(place, "train", "dev", "test")
    os.utime(place, (1, 1))
    assert [part_scored(run, column) for column in (DEV, TEST, EITHER)] == ["dev", "test", "test"]
    # With a limit on dev examples, the test set is not scored.
    few = replace(run.experiment, data=replace(run.experiment.data, dev_limit=10))
    run = replace(run, experiment=few)
    assert [part_scored(run, column) for column in (DEV, TEST, EITHER)] == ["dev", "", "dev"]


@pytest.mark.parametrize(
    ("limit", "why"),
    [("8", "data.dev_limit"), ("null", "")],
)
def test_differences_stated_before_training_are_those_of_the_result(setting, limit, why):
    settings = setting(
        "head.max_length=96", "squad1/head.doc_stride=32", "squad1/head.max_question_length=24",
        f"data.dev_limit={limit}",
    )  # fmt: skip
    plan = plan_entry("poi-net", "table8", settings)
    before = tuple(differences(plan))
    assert any(says(line, f"Test dream {why}") for line in before)
    assert any(says(line, "rows albert-xxlarge") for line in before)
    runs, expected = "\n".join(plan_lines(plan)).split("\n\nWhat will differ from the paper:\n- ")
    assert all(line.startswith("to do") for line in runs.splitlines())
    assert tuple(expected.split("\n- ")) == before
    assert not settings.out.exists()
    assert reproduce(plan).differs == before


class SlowTask:
    """Scores by counting examples, and takes its time."""

    def evaluate(self, examples):
        time.sleep(0.3)
        return {"accuracy": float(len(examples))}


def test_processes_that_score_a_run_keep_each_others_scores(setting, tmp_path, monkeypatch):
    data = tmp_path / "data"
    (data / "snli").mkdir(parents=True)
    for part in ("train", "dev", "test"):
        pairs(data / f"snli/snli_1.0_{part}.jsonl", copies=1)
    test = data / "snli/snli_1.0_test.jsonl"
    n_examples = len(test.read_text().splitlines())
    test.write_text(test.read_text() + "{}\n")
    overrides = "data.skip_bad=true", "data.dev_limit=null", "head.max_length=64"
    run = make_run("nli", "plain", replace(setting(*overrides, parser="linear"), data=data))
    run.folder.mkdir(parents=True)
    opened = []
    monkeypatch.setattr(evaluation, "open_model", lambda *a, **k: opened.append(a) or SlowTask())
    rows = [Row("", parser=f"noisy:{share}") for share in (0.2, 0.4)]
    with ThreadPoolExecutor(2) as pool:
        found = list(pool.map(lambda row: score_of([run], row, TEST), rows))
    assert found == [(n_examples, None)] * 2, "the bad line is skipped"
    assert [score_of([run], row, TEST) for row in rows] == found
    assert len(opened) == 2
    assert len(json.loads((run.folder / "evaluations.json").read_text())) == 2


def test_missing_data_are_reported_before_training(setting):
    lines = "\n".join(plan_lines(plan_entry("seprem", "table5", setting())))
    assert any(says(line, "KBP37 TACRED") for line in lines.splitlines())
    lines = "\n".join(plan_lines(plan_entry("poi-net", "table4", setting("head.doc_stride=32"))))
    assert any(says(line, "RACE race/RACE.tar.gz") for line in lines.splitlines())


def test_a_test_set_that_is_added_later_is_scored(setting, tmp_path):
    settings = setting("head.max_length=64", "data.dev_limit=null")
    data = tmp_path / "data"
    (data / "snli").mkdir(parents=True)
    for part in ("train", "dev"):
        pairs(data / f"snli/snli_1.0_{part}.jsonl", copies=2)
    settings = replace(settings, data=data)
    found = reproduce(plan_entry("sg-net", "table4", settings))
    assert any("ours on dev (nli)" in line for line in found.differs)
    pairs(data / "snli/snli_1.0_test.jsonl", copies=1)
    found = reproduce(plan_entry("sg-net", "table4", settings))
    assert not any("ours on dev" in line for line in found.differs)
    (_, differences) = found.measured.parts
    assert differences.rows[1][-1] == "16 of test", "the same scores are shown and tested"
    run = plan_entry("sg-net", "table4", settings).runs()[0]
    (path,) = run.folder.glob("scored/*/metrics.json")
    scores = json.loads(path.read_text())
    cells = [cell.ours for cell in found.measured.cells if cell.row == "BERT Baseline"]
    assert cells == [scores["accuracy"]]


def test_bases_with_the_same_difference_share_a_line(setting):
    settings = setting(
        "squad1/head.doc_stride=32", "squad2/head.doc_stride=32", "data.dev_limit=16"
    )
    lines = list(differences(plan_entry("poi-net", "table3", settings)))
    (line,) = (line for line in lines if line.endswith("scored on 16 of the dev examples"))
    named = line.partition("(")[2].partition(")")[0]
    assert {"squad1", "squad2"} <= set(named.split(", "))
    assert any(line.startswith("data (squad1): 40 training examples of 87,599") for line in lines)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        (
            {"overrides": ("dream/training.num_train_epochs=1",)},
            "sg-net table4 dream/training.num_train_epochs=1 nli",
        ),
        ({"overrides": ("head.bogus=1",)}, "nli/plain head bogus pooling"),
        ({"parser": "bogus"}, "parser bogus default-parser"),
        ({"parser": "linear:up"}, "parser linear:up linear:right"),
    ],
)
def test_invalid_settings_are_rejected_before_training(setting, changes, message):
    with pytest.raises(InputError, match=naming(message)):
        plan_entry("sg-net", "table4", replace(setting(), **changes))


def test_the_parse_source_is_always_reported(setting):
    lines = list(differences(plan_entry("sg-net", "table4", setting(parser="linear"))))
    assert any(line.startswith("parser: linear; the paper's: a joint parser") for line in lines)


def test_an_output_folder_that_cannot_be_created_is_reported(setting, tmp_path):
    (tmp_path / "out").write_text("a file")
    with pytest.raises(InputError, match=naming("out/made-tiny Not a directory")):
        reproduce(plan_entry("sg-net", "table4", setting()))
