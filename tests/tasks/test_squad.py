"""Reading SQuAD's files, and writing and reading predictions."""

import copy
import gzip
import json
import math

import pytest

from syntagma.errors import BadExampleError, InputError
from syntagma.tasks import prediction_files
from syntagma.tasks.spans import squad
from syntagma.tasks.spans.answers import Span, SpanPrediction
from syntagma.tasks.spans.squad import (
    SpanExample,
    best_text,
    read_null_odds,
    read_squad,
    write_predictions,
)
from syntagma.tasks.spans.task import SpanTask
from tests.messages import naming

HARBOUR = "The ferry leaves the harbour at noon. At noon the harbour bell rings."
ORCHARD = "Marta planted nine pear trees behind the old mill."
FILE = {
    "version": "v2.0",
    "data": [
        {
            "title": "Harbour",
            "paragraphs": [
                {
                    "context": HARBOUR,
                    "qas": [
                        {
                            "id": "h1",
                            "question": "When does the ferry leave?",
                            "answers": [
                                {"text": "noon", "answer_start": 32},
                                {"text": " at noon", "answer_start": 28},
                            ],
                            "is_impossible": False,
                        },
                        {
                            "id": "h2",
                            "question": "Who rings the bell?",
                            "answers": [],
                            "plausible_answers": [{"text": "The ferry", "answer_start": 0}],
                            "is_impossible": True,
                        },
                    ],
                }
            ],
        },
        {
            "paragraphs": [
                {
                    "context": ORCHARD,
                    "qas": [
                        {
                            "id": "o1",
                            "question": "How many trees?",
                            "answers": [{"text": "nine", "answer_start": 14}],
                        }
                    ],
                },
                {"context": HARBOUR, "qas": [{"id": "t1", "question": "What is a test?"}]},
            ]
        },
    ],
}


def changed(path, value):
    """Copy the file with one value replaced; ``...`` removes it."""
    file = copy.deepcopy(FILE)
    *parents, last = path
    place = file
    for key in parents:
        place = place[key]
    if value is ...:
        del place[last]
    else:
        place[last] = value
    return file


@pytest.fixture
def save(tmp_path):
    def write(value, name="data.json"):
        path = tmp_path / name
        path.write_text(json.dumps(value), encoding="utf-8")
        return path

    return write


@pytest.fixture
def examples(save):
    return read_squad(save(FILE))[0]


PASSAGE = ("data", 0, "paragraphs", 0)
FIRST = (*PASSAGE, "qas", 0)
SECOND = (*PASSAGE, "qas", 1)
GOLD = (*FIRST, "answers", 0)


def test_reads_every_kind_of_question(examples):
    ferry, bell, trees, test = examples
    assert ferry == SpanExample(
        id="h1",
        passage=HARBOUR,
        question="When does the ferry leave?",
        title="Harbour",
        answers=("noon", " at noon"),
        answer_starts=(32, 28),
    )
    assert (bell.is_impossible, bell.answers, bell.has_answers) == (True, (), False)
    assert (trees.title, trees.answers, trees.is_impossible) == ("", ("nine",), False)
    assert (test.is_labelled, test.is_impossible, test.has_answers) == (False, False, False)
    assert [example.is_labelled for example in examples] == [True, True, True, False]


def test_passages_are_shared_even_between_articles(examples):
    assert examples[0].passage is examples[1].passage is examples[3].passage
    assert examples[2].passage is not examples[0].passage


def test_gzip_reads_the_same(examples, tmp_path):
    path = tmp_path / "data.json.gz"
    path.write_bytes(gzip.compress(json.dumps(FILE).encode()))
    assert read_squad(path)[0] == examples


def test_offsets_count_characters_not_bytes_or_utf16(save):
    passage = "🐝🐝 Zoë naïvely counts 七 bees\r\nper hive."
    answer = {"text": "七 bees", "answer_start": passage.index("七")}
    question = {"id": "b", "question": "How many?", "answers": [answer]}
    file = {"data": [{"paragraphs": [{"context": passage, "qas": [question]}]}]}
    (example,), _ = read_squad(save(file))
    assert example.passage == passage
    assert example.answers == ("七 bees",)


WRONG_FORMAT = [
    ([], (), "data.json SQuAD object data []"),
    ({"rows": []}, (), "data.json SQuAD list data rows"),
    ({"data": {}}, (), "data.json SQuAD list data {}"),
    ({"data": []}, (), "data.json one question"),
    (["Harbour"], ("data",), "data.json data[0] object paragraphs Harbour"),
    (..., ("data", 0, "paragraphs"), "data.json data[0] list paragraphs title"),
    (3, ("data", 0, "title"), "data.json data[0] string title 3"),
    (..., (*PASSAGE, "qas"), "data[0].paragraphs[0] list qas context"),
    (None, (*PASSAGE, "context"), "data[0].paragraphs[0] string context None"),
]
WRONG_QUESTION = [
    ("h1", FIRST, "data[0].paragraphs[0].qas[0] object id h1", "not in"),
    (7, (*FIRST, "id"), "data[0].paragraphs[0].qas[0] string id 7", "not in the format"),
    (..., (*FIRST, "question"), "question h1 string id answers is_impossible", "not in the"),
    ("no", (*SECOND, "is_impossible"), "data.json question h2 is_impossible no", "not in the"),
    ({}, (*FIRST, "answers"), "question h1 list answers {}", "not in the"),
    ("noon", GOLD, "question h1 answers[0] object text noon", "not in the format"),
    (..., (*GOLD, "answer_start"), "question h1 answers[0] number answer_start text",
     "not in the format"),
    (32.0, (*GOLD, "answer_start"), "question h1 answers[0] number answer_start 32.0",
     "not in the format"),
    (True, (*GOLD, "answer_start"), "h1 answers[0] number answer_start True", "not in the"),
    (31, (*GOLD, "answer_start"),
     "question h1 answer noon answer_start 31 noo 32",
     "wrong answer_start"),
    (36, (*GOLD, "answer_start"), "question h1 noon answer_start 36 '. 32", "wrong answer_start"),
    (40, (*GOLD, "answer_start"), "question h1 noon answer_start 40 noo 41", "wrong answer_start"),
    (10**30, (*GOLD, "answer_start"), "question h1 answer_start '' 41", "wrong answer_start"),
    (-37, (*GOLD, "answer_start"), "question h1 noon answer_start -37 '' 32", "wrong answer_s"),
    ("midnight", (*GOLD, "text"), "h1 midnight answer_start 32 passage", "wrong answer_start"),
    (" ", (*GOLD, "text"), "question h1 answer empty", "empty answer"),
    ("h2", (*FIRST, "id"), "data.json id h2 twice", "duplicate id"),
    ("", (*FIRST, "id"), "data.json '' id empty", "empty id"),
    (" \n", (*FIRST, "question"), "question h1 empty", "empty question"),
    ("b\ud800d", (*FIRST, "question"), "question h1 surrogate", "broken question"),
    ([], (*FIRST, "answers"), 'data.json question h1 answers "is_impossible": neither',
     "not impossible without answers"),
    (True, (*FIRST, "is_impossible"), 'h1 answers "is_impossible": both',
     "impossible with answers"),
]  # fmt: skip


@pytest.mark.parametrize(("value", "path", "message"), WRONG_FORMAT)
@pytest.mark.parametrize("skip_bad", [False, True])
def test_a_file_in_another_format_is_rejected(save, value, path, message, skip_bad):
    file = save(changed(path, value) if path else value)
    with pytest.raises(InputError, match=naming(message)) as error:
        read_squad(file, skip_bad=skip_bad)
    assert str(error.value).startswith(str(file))
    assert "\n" not in str(error.value)


@pytest.mark.parametrize(("value", "path", "message", "reason"), WRONG_QUESTION)
def test_an_invalid_question_is_named_or_skipped(save, value, path, message, reason):
    file = save(changed(path, value))
    with pytest.raises(BadExampleError, match=naming(message)) as error:
        read_squad(file)
    assert "\n" not in str(error.value)
    examples, skipped = read_squad(file, skip_bad=True)
    assert len(examples) == 3
    assert skipped.total == 1
    assert next(iter(skipped.reasons)).startswith(reason)
    assert skipped.first in str(error.value)
    assert str(skipped).startswith(f"skipped 1 (1 {reason}")


def test_questions_about_an_empty_passage_are_skipped(save):
    file = save(changed((*PASSAGE, "context"), " "))
    with pytest.raises(InputError, match=naming("question h1 passage empty")):
        read_squad(file)
    examples, skipped = read_squad(file, skip_bad=True)
    assert [example.id for example in examples] == ["o1", "t1"]
    assert skipped.reasons == {"empty passage": 2}


def test_a_file_without_valid_questions_is_an_error(save):
    file = save({"data": [{"paragraphs": [{"context": "x", "qas": [{"id": ""}, {}]}]}]})
    with pytest.raises(InputError, match=naming("data.json question none 2 id")):
        read_squad(file, skip_bad=True)


def test_json_lines_are_not_mistaken_for_squad(tmp_path):
    path = tmp_path / "dev.jsonl"
    path.write_text('{"question": "Who?"}\n{"question": "When?"}\n')
    with pytest.raises(InputError, match=naming("dev.jsonl line 2 SQuAD {'data': JSON lines")):
        read_squad(path)


def test_there_is_no_message_if_no_question_is_skipped(save):
    assert str(read_squad(save(FILE), skip_bad=True)[1]) == ""


def answer(*, null_odds, spans=(("nine", 14, 2.0, 0.6), ("nine pear", 14, 1.0, 0.3))):
    spans = tuple(Span(t, s, s + len(t), score, share) for t, s, score, share in spans)
    best = spans[0] if spans and null_odds <= 0 else None
    return SpanPrediction(
        question="?",
        text=best.text if best else "",
        start=best.start if best else None,
        end=best.end if best else None,
        score=spans[0].score if spans else -math.inf,
        null_score=1.5,
        verification=0.0,
        null_odds=null_odds,
        threshold=0.0,
        probability=0.1,
        spans=spans,
    )


@pytest.fixture
def answers():
    return [
        answer(null_odds=-0.5),
        answer(null_odds=0.1),
        answer(null_odds=math.inf, spans=()),
        answer(null_odds=0.0),
    ]


def test_predictions_round_trip(examples, answers, tmp_path):
    path = tmp_path / "run" / "predictions.json"
    write_predictions(path, examples, answers)
    expected = {"h1": "nine", "h2": "", "o1": "", "t1": "nine"}
    assert json.loads(path.read_text()) == expected


def test_best_predictions_do_not_abstain(examples, answers, tmp_path):
    path = tmp_path / "best.json"
    write_predictions(path, examples, answers, form="best_predictions")
    expected = {"h1": "nine", "h2": "nine", "o1": "", "t1": "nine"}
    assert json.loads(path.read_text()) == expected
    assert [best_text(answer) for answer in answers] == list(expected.values())


def test_null_odds_round_trip_as_json(examples, answers, tmp_path):
    path = tmp_path / "null_odds.json"
    write_predictions(path, examples, answers, form="null_odds")
    assert "Infinity" not in path.read_text()
    odds = read_null_odds(path, examples)
    assert [odds[example.id] for example in examples[:2]] == [-0.5, 0.1]
    assert 1e300 < odds["o1"] < math.inf


def test_nbest_ranks_the_empty_answer_among_the_others(examples, answers, tmp_path):
    path = tmp_path / "nbest.json"
    write_predictions(path, examples, answers, form="nbest")
    nbest = json.loads(path.read_text())
    assert list(nbest) == ["h1", "h2", "o1", "t1"]
    assert [row["text"] for row in nbest["h1"]] == ["nine", "", "nine pear"]
    assert nbest["h1"][0] == {"text": "nine", "probability": 0.6, "score": 2.0, "start": 14}
    assert nbest["h1"][1]["probability"] == pytest.approx(0.1)
    assert nbest["o1"] == [{"text": "", "probability": 1.0, "score": 1.5}]


def test_every_question_needs_an_answer(examples, answers, tmp_path):
    with pytest.raises(ValueError, match="shorter"):
        write_predictions(tmp_path / "x.json", examples, answers[:-1])
    assert not any(tmp_path.glob("x*"))


PREDICTIONS = {"h1": "noon", "h2": "", "o1": "nine", "t1": "x"}


def score_texts(path, examples):
    SpanTask.score_file(examples, path)


WRONG_PREDICTIONS = [
    (score_texts, ["noon"], "predictions.json object ['noon']"),
    (score_texts, {"h1": "", "o1": ""}, "predictions.json 4 2 missing h2"),
    (score_texts, {**PREDICTIONS, "z": "", "y": ""}, "predictions.json 4 2 z"),
    (score_texts, {**PREDICTIONS, "o1": 9}, "predictions.json text o1 9"),
    (read_null_odds, ["noon"], "predictions.json object ['noon']"),
    (read_null_odds, {"h1": 0, "o1": 0.5}, "predictions.json 4 2 missing h2"),
    (read_null_odds, dict.fromkeys([*PREDICTIONS, "z", "y"], 0), "predictions.json 4 2 z"),
    (read_null_odds, PREDICTIONS, "predictions.json finite number h1 noon"),
    (read_null_odds, dict.fromkeys(PREDICTIONS, math.nan), "predictions.json NaN number"),
    (read_null_odds, dict.fromkeys(PREDICTIONS, 10**400), "finite h1"),
    (read_null_odds, dict.fromkeys(PREDICTIONS, True), "predictions.json finite number h1 True"),
]  # fmt: skip


@pytest.mark.parametrize(("read", "value", "message"), WRONG_PREDICTIONS)
def test_invalid_prediction_files_are_rejected(save, examples, read, value, message):
    with pytest.raises(InputError, match=naming(message)) as error:
        read(save(value, "predictions.json"), examples)
    assert "\n" not in str(error.value)


def test_each_file_of_predictions_is_read_once(save, examples, monkeypatch):
    labelled = [example for example in examples if example.is_labelled]
    texts = save({example.id: "noon" for example in labelled}, "texts.json")
    odds = save({example.id: 0.5 for example in labelled}, "odds.json")
    read, real = [], prediction_files.read_json

    def noted(path):
        read.append(path)
        return real(path)

    for module in (prediction_files, squad):
        monkeypatch.setattr(module, "read_json", noted)
    assert "best_exact" in SpanTask.score_file(labelled, texts, odds)
    assert read == [texts, odds]
