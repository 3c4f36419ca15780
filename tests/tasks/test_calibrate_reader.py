"""Calibrating a saved reader: in place, or as a copy, but never half."""

from __future__ import annotations

import json
import math
from pathlib import Path

import pytest

from syntagma.cli.outcomes import calibration_lines
from syntagma.encoders.load import load_tokenizer
from syntagma.errors import InputError
from syntagma.evaluation import calibrate_reader as run
from syntagma.evaluation import evaluate
from syntagma.models.span_model import SpanModel
from syntagma.tasks.open_qa.data import Paragraph
from syntagma.tasks.open_qa.reader import OpenReader
from syntagma.tasks.spans.calibrate_reader import calibrate_reader
from syntagma.tasks.spans.reader import Reader
from syntagma.tasks.spans.sample import HEAD, write_squad
from syntagma.tasks.spans.task import SpanTask
from tests.encoders.fake_hub import serving, use
from tests.messages import naming
from tests.qa_models import save_qa_model


@pytest.fixture
def saved(tiny_encoder, tmp_path):
    """A reader's folder and a file of 84 questions, 12 of them without an answer."""
    model = SpanModel.from_encoder(tiny_encoder, task="spans", head=HEAD)
    folder = tmp_path / "reader"
    folder.mkdir()
    SpanTask(Reader(model, load_tokenizer(tiny_encoder))).save(folder)
    (folder / "metrics.json").write_text("{}")
    return folder, write_squad(tmp_path, 12)


def files(folder):
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def test_only_the_calibration_changes_in_place(saved):
    folder, data = saved
    before = files(folder)
    found = calibrate_reader(folder, [data], unanswerable=0.25)
    assert (found.folder, found.n_questions, found.n_unanswerable) == (folder, 84, 12)
    after = files(folder)
    old, new = (json.loads(each.pop("config.json")) for each in (before, after))
    assert before == after
    calibration = new["head"].pop("calibration")
    assert old["head"].pop("calibration") is None
    assert old == new
    assert (calibration["unanswerable"], calibration["n_questions"]) == (0.25, 84)
    assert Reader.from_pretrained(folder).answer("A gull cried.", "Who cried?").calibrated
    # What was fitted before is the centre of the next fit, and its share is kept.
    again = calibrate_reader(folder, [data])
    assert again.fitted["calibration"].calibration.unanswerable == 0.25


def write_open(folder, *, with_scores=True, n=24):
    """Write questions with two paragraphs each, half of them without an answer."""
    texts = ["A gull cried.", "The crew slept.", "It rained.", "Ropes lay on the pier."]
    paragraphs = [json.dumps({"pid": pid, "text": text}) for pid, text in enumerate(texts)]
    (folder / "paragraphs.jsonl").write_text("\n".join(paragraphs))
    rows = []
    for number in range(n):
        row = {
            "id": number,
            "question": f"Who cried{' so' * (number // 4)}?",
            "answers": ["gull"] if number % 2 else [],
            "retrieved": [number % 4 // 2, 0, 2] if number % 2 else [1, 2 + number % 4 // 2],
        }
        row["scores"] = [2.0 - rank + number for rank in range(len(row["retrieved"]))]
        rows.append(json.dumps(row))
        if not with_scores or (with_scores == "some" and number < 5):
            del row["scores"]
            rows[-1] = json.dumps(row)
    path = folder / "asked.jsonl"
    path.write_text("\n".join(rows))
    return path


def test_questions_with_paragraphs_set_numbers_of_their_own(saved, tmp_path):
    folder, data = saved
    calibrate_reader(folder, [data])
    single = json.loads((folder / "config.json").read_text())["head"]["calibration"]
    found = run(folder, [write_open(tmp_path)])
    assert (found.n_questions, found.n_unanswerable) == (24, 12)
    lines = list(calibration_lines(found))
    assert [line for line in lines if "retriever" in line] == [
        "without the retriever's scores:",
        "with the retriever's scores:",
    ]
    head = json.loads((folder / "config.json").read_text())["head"]
    assert head["calibration"] == single
    assert head["retrieval_calibration"]["right"].keys() - head["paragraphs_calibration"][
        "right"
    ].keys() == {"retrieval", "retrieval_gap"}
    reader = OpenReader.from_pretrained(folder)
    texts = ["A gull cried.", "It rained."]
    plain = reader.answer("Who cried?", texts)
    low, high = (
        reader.answer("Who cried?", [Paragraph(text, text, score=score) for text in texts])
        for score in (-1000.0, 1000.0)
    )
    assert plain.calibrated
    assert len({plain.no_answer, low.no_answer, high.no_answer}) == 3
    # Without scores there is one fit, and the earlier one for scores is removed.
    found = run(folder, [write_open(tmp_path, with_scores=False)], unanswerable=0.2)
    assert list(found.fitted) == ["paragraphs_calibration"]
    head = json.loads((folder / "config.json").read_text())["head"]
    assert (head["retrieval_calibration"], head["calibration"]) == (None, single)
    assert head["paragraphs_calibration"]["unanswerable"] == 0.2


def test_the_threshold_is_fitted_to_all_files_together(saved, tmp_path):
    folder, data = saved
    more = tmp_path / "more.json"
    more.write_text(Path(data).read_text().replace('"id": "', '"id": "more-'))
    config = folder / "config.json"
    values = json.loads(config.read_text())
    values["head"]["null_score_diff_threshold"] = 1000.0
    config.write_text(json.dumps(values))
    # Without the option it stays.
    assert run(folder, [data, more]).threshold is None
    assert json.loads(config.read_text())["head"]["null_score_diff_threshold"] == 1000.0
    found = run(folder, [data, more], fit_threshold=True)
    head = json.loads(config.read_text())["head"]
    assert head["null_score_diff_threshold"] == found.threshold < 1000.0
    assert found.to_dict()["threshold"] == found.threshold
    assert f"threshold       {found.threshold:.3f}" in calibration_lines(found)
    metrics = evaluate(folder, [data, more])
    assert metrics["f1"] == pytest.approx(metrics["best_f1"])


def test_a_threshold_needs_questions_without_an_answer_about_single_passages(saved, tmp_path):
    folder, data = saved
    before = files(folder)
    answered = json.loads(Path(data).read_text())
    for paragraph in answered["data"][0]["paragraphs"]:
        del paragraph["qas"][-1]
    (tmp_path / "answered.json").write_text(json.dumps(answered))
    with pytest.raises(InputError, match=naming("--fit-threshold without an answer")):
        run(folder, [tmp_path / "answered.json"], fit_threshold=True)
    with pytest.raises(InputError, match=naming("--fit-threshold asked.jsonl single passages")):
        run(folder, [write_open(tmp_path)], fit_threshold=True)
    assert files(folder) == before


def test_kinds_of_questions_are_not_mixed(saved, tmp_path):
    folder, data = saved
    before = files(folder)
    asked = write_open(tmp_path, with_scores="some")
    with pytest.raises(InputError, match=naming("asked.jsonl one kind")):
        run(folder, [data, asked])
    with pytest.raises(InputError, match=naming("19 5 scores all none")):
        run(folder, [asked])
    assert files(folder) == before


def test_a_copy_has_the_model_and_nothing_else(saved, tmp_path):
    folder, data = saved
    before = files(folder)
    out = tmp_path / "copy"
    calibrate_reader(folder, [data], out=out)
    assert files(folder) == before
    copied = files(out)
    assert set(before) - set(copied) == {"metrics.json"}
    assert copied["model.safetensors"] == before["model.safetensors"]
    assert Reader.from_pretrained(out).answer("A gull cried.", "Who cried?").calibrated
    with pytest.raises(InputError, match=naming("copy exists")):
        calibrate_reader(folder, [data], out=out)


def test_nothing_is_written_if_the_questions_do_not_suffice(saved, tmp_path):
    folder, _ = saved
    before = files(folder)
    few = write_squad(tmp_path, 1)
    with pytest.raises(InputError, match=naming("10 6 answer")):
        calibrate_reader(folder, [few], out=tmp_path / "copy")
    assert not (tmp_path / "copy").exists()
    assert files(folder) == before


def test_invalid_requests_are_refused_before_anything_is_read(saved):
    folder, data = saved
    with pytest.raises(InputError, match=naming("default-reader --out FOLDER")):
        calibrate_reader("default-reader", [data])
    with pytest.raises(InputError, match=naming("--unanswerable 0 1 1.5")):
        calibrate_reader(folder, [data], unanswerable=1.5)
    with pytest.raises(InputError, match=naming("default-parser 'spans' 'parsing'")):
        calibrate_reader("default-parser", [data])


def test_a_threshold_that_never_abstains_is_kept(saved, tmp_path):
    folder, data = saved
    reader = Reader.from_pretrained(folder)
    reader.model.set_head(null_score_diff_threshold=math.inf)
    reader.model.save_pretrained(folder)
    calibrate_reader(folder, [data])
    calibrate_reader(folder, [data], out=tmp_path / "copy")
    for place in (folder, tmp_path / "copy"):
        found = Reader.from_pretrained(place).model.head
        assert found.null_score_diff_threshold == math.inf
        assert found.calibration is not None


def test_a_model_in_the_cache_of_the_hub_is_not_changed(saved, tmp_path, monkeypatch):
    folder, data = saved
    with serving({"someone/reader": folder}) as hub:
        use(monkeypatch, hub.address, tmp_path / "cache")
        with pytest.raises(InputError, match=naming("someone/reader --out FOLDER")):
            calibrate_reader("someone/reader", [data])
        calibrate_reader("someone/reader", [data], out=tmp_path / "copy")
        assert not Reader.from_pretrained("someone/reader").model.head.calibration
    assert Reader.from_pretrained(tmp_path / "copy").model.head.calibration


def test_a_model_of_transformers_is_refused_before_its_questions_are_read(tmp_path):
    save_qa_model(tmp_path / "bert", "bert")
    with pytest.raises(InputError, match=naming("BertForQuestionAnswering save_pretrained")):
        calibrate_reader(tmp_path / "bert", ["absent.json"], out=tmp_path / "copy")
