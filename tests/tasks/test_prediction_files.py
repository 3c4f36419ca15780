"""Prediction files: scores equal those of the official script, and wrong ids are reported."""

from __future__ import annotations

import collections
import json
import re
import string
from types import SimpleNamespace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from syntagma.errors import InputError
from syntagma.evaluation import score_predictions
from syntagma.files import read_lines
from syntagma.models.span_model import SpanHead
from syntagma.tasks.choice.task import ChoiceTask
from syntagma.tasks.spans.answers import Span, SpanPrediction
from syntagma.tasks.spans.metrics import score_answers
from syntagma.tasks.spans.squad import SpanExample
from syntagma.tasks.spans.task import SpanTask
from tests import builders
from tests.messages import naming


def plain(text):
    text = "".join(letter for letter in text.lower() if letter not in string.punctuation)
    return re.sub(r"\b(a|an|the)\b", " ", text).split()


def word_f1(gold, found):
    gold, found = plain(gold), plain(found)
    if not gold or not found:
        return float(gold == found)
    same = sum((collections.Counter(gold) & collections.Counter(found)).values())
    return 2 * same / (len(gold) + len(found))


class OfficialScript:
    """SQuAD 2.0's evaluation, by its definition, in plain loops."""

    def __init__(self, questions, texts, odds):
        self.odds, self.texts = odds, texts
        self.gold = {q.id: [g for g in q.answers if plain(g)] or [""] for q in questions}
        self.possible = {q.id: bool(q.answers) for q in questions}

    def scores(self, metric):
        if metric == "exact":
            return {
                key: max(float(plain(g) == plain(self.texts[key])) for g in golds)
                for key, golds in self.gold.items()
            }
        return {
            key: max(word_f1(g, self.texts[key]) for g in golds) for key, golds in self.gold.items()
        }

    def at(self, metric, threshold):
        """The mean score if questions whose odds exceed the threshold are not answered."""
        values = [
            float(not self.possible[key]) if self.odds[key] > threshold else value
            for key, value in self.scores(metric).items()
        ]
        return 100 * sum(values) / len(values)

    def best(self, metric):
        """Answer one question after another, in order of their odds, and keep the maximum."""
        scores = self.scores(metric)
        now = best = sum(not possible for possible in self.possible.values())
        threshold = 0.0
        for key in sorted(self.odds, key=self.odds.get):
            now += scores[key] if self.possible[key] else (-1 if self.texts[key] else 0)
            if now > best:
                best, threshold = now, self.odds[key]
        return 100 * best / len(scores), threshold


def reader_answer(text, odds, threshold):
    abstains = odds > threshold
    return SpanPrediction(
        "?", "" if abstains else text, None if abstains else 0, None if abstains else len(text),
        score=0.0, null_score=odds, verification=0.0, null_odds=odds, threshold=threshold,
        probability=1.0, spans=(Span(text, 0, len(text), 0.0, 1.0),),
    )  # fmt: skip


WORDS = st.lists(st.sampled_from(["quay", "the", "moll", "noon."]), min_size=1, max_size=3)
TEXTS = WORDS.map(" ".join)
DATA = st.lists(
    # If a gold answer has only articles, the script itself scores the two forms differently.
    st.tuples(TEXTS, st.lists(TEXTS.filter(plain), max_size=2), st.floats(-4, 4)),
    min_size=1,
    max_size=8,
    unique_by=lambda row: row[2],
).filter(lambda rows: any(not golds for _, golds, _ in rows))


@settings(deadline=None, max_examples=40)
@given(DATA, st.floats(-5, 5))
def test_the_official_script_agrees_on_both_forms(tmp_path_factory, data, threshold):
    folder = tmp_path_factory.mktemp("forms")
    questions = [
        SpanExample(
            id=f"q{n}",
            passage=text,
            question="?",
            answers=tuple(golds),
            answer_starts=(0,) * len(golds),
            is_impossible=not golds,
        )
        for n, (text, golds, _) in enumerate(data)
    ]
    answers = [reader_answer(text, odds, threshold) for text, _, odds in data]
    ours = score_answers(questions, answers)
    # Of the task, only the settings of its model are read.
    task = SimpleNamespace(model=SimpleNamespace(head=SpanHead()))
    SpanTask.write_predictions(task, questions, answers, folder / "out.json")
    SpanTask.write_abstaining(None, questions, answers, folder / "silent.json")
    odds = json.loads((folder / "out.null_odds.json").read_text())
    official = OfficialScript(questions, json.loads((folder / "out.json").read_text()), odds)
    for metric in ("exact", "f1"):
        assert ours[metric] == pytest.approx(official.at(metric, threshold))
        value, where = official.best(metric)
        assert ours[f"best_{metric}"] == pytest.approx(value)
        assert ours[f"best_{metric}_thresh"] == where
    silent = OfficialScript(questions, json.loads((folder / "silent.json").read_text()), odds)
    assert ours["f1"] == pytest.approx(silent.at("f1", 99))
    files = SpanTask.score_file(questions, folder / "out.json", folder / "out.null_odds.json")
    assert {key: files[key] for key in files if key.startswith("best_")} == {
        key: ours[key] for key in ours if key.startswith("best_")
    }
    assert SpanTask.score_file(questions, folder / "silent.json")["exact"] == ours["exact"]


def test_a_command_writes_and_scores_both_forms(tmp_path):
    from syntagma.cli import main

    path = tmp_path / "dev.json"
    rows = [
        {"id": "a", "question": "Who steered?", "is_impossible": False,
         "answers": [{"text": "Moll", "answer_start": 0}]},
        {"id": "b", "question": "Who baked the bread of the lighthouse?", "is_impossible": True,
         "answers": []},
    ]  # fmt: skip
    article = {"title": "t", "paragraphs": [{"context": "Moll steered the ferry.", "qas": rows}]}
    path.write_text(json.dumps({"version": "2.0", "data": [article]}))

    def run(*arguments):
        with pytest.raises(SystemExit) as raised:
            main([str(argument) for argument in arguments])
        assert raised.value.code == 0

    best, silent = tmp_path / "best.json", tmp_path / "silent.json"
    run("predict", "default-reader", path, "--out", best)
    run("predict", "default-reader", path, "--out", silent, "--abstain")
    assert json.loads(best.read_text())["b"] != ""
    assert json.loads(silent.read_text())["b"] == ""
    assert not (tmp_path / "silent.null_odds.json").exists()
    scores = tmp_path / "scores.json"
    run("evaluate", "default-reader", path, "--json", scores)
    ours = json.loads(scores.read_text())
    odds = tmp_path / "best.null_odds.json"
    run("evaluate", "spans", path, "--predictions", best, "--null-odds", odds, "--json", scores)
    found = json.loads(scores.read_text())
    assert found["best_f1"] == ours["best_f1"]
    assert found["best_f1_thresh"] == pytest.approx(ours["best_f1_thresh"])
    run("evaluate", "default-reader", path, "--predictions", silent, "--json", scores)
    found = json.loads(scores.read_text())
    assert (found["exact"], found["f1"]) == (ours["exact"], ours["f1"])


def write(path, values):
    path.write_text(values if isinstance(values, str) else json.dumps(values))
    return path


@pytest.mark.parametrize(
    ("task", "right", "metric"),
    [
        ("spans", lambda e: {x.id: x.answers[0] if x.answers else "" for x in e}, "exact"),
        ("choice", lambda e: {x.id: x.answer for x in e}, "accuracy"),
        ("choice", lambda e: {x.id: "ABCD"[x.answer] for x in e}, "accuracy"),
        ("choice", lambda e: {x.id: {"chosen": x.answer} for x in e}, "accuracy"),
        ("pairs", lambda e: "".join(f"{x.id}\t{x.label}\n" for x in e), "accuracy"),
        ("typing", lambda e: {x.id: list(x.labels) for x in e}, "f1"),
        ("open_qa", lambda e: {x.id: x.answers[0] for x in e}, "exact"),
    ],
)
def test_files_of_gold_answers_get_full_scores(tmp_path, task, right, metric):
    from syntagma.tasks import find_task

    maker = {"spans": "squad", "choice": "dream"}.get(task, task)
    data = getattr(builders, maker)(tmp_path / f"data.{'jsonl' if task == 'pairs' else 'json'}")
    examples = find_task(task).read(data)
    path = write(tmp_path / "out.json", right(examples))
    assert score_predictions(task, [data], path)[metric] == pytest.approx(100)
    if isinstance(right(examples), str):
        lines = path.read_text().splitlines(keepends=True)
        cases = {"missing": lines[1:], "twice": [*lines, lines[0]], "data": [*lines, "zz\tyes\n"]}
        cases = {problem: "".join(rows) for problem, rows in cases.items()}
    else:
        values = right(examples)
        first = next(iter(values))
        body = json.dumps(values)
        repeated = f"{{{json.dumps(first)}: {json.dumps(values[first])}, {body[1:]}"
        fewer = {key: value for key, value in values.items() if key != first}
        cases = {"missing": fewer, "twice": repeated, "data": values | {"zz": values[first]}}
    for problem, content in cases.items():
        with pytest.raises(InputError, match=naming(f"out.json {problem}")):
            score_predictions(task, [data], write(path, content))


@pytest.mark.parametrize("given", ["ß", "ı", "Z", "?", "AB", "", 9, -1, True, None, ["A"]])
def test_choices_that_are_no_option_are_reported(tmp_path, given):
    data = builders.dream(tmp_path / "data.json", copies=1)
    examples = ChoiceTask.read(data)
    shown = f"out.json {examples[0].id} letter A {given!r}"
    for value in (given, {"chosen": given}):
        path = write(tmp_path / "out.json", {each.id: value for each in examples})
        with pytest.raises(InputError, match=naming(shown)):
            score_predictions("choice", [data], path)


def test_a_treebank_file_is_scored_and_must_have_the_same_words(tmp_path):
    data = builders.treebank(tmp_path / "gold.conllu", copies=1)
    assert score_predictions("parsing", [data], data)["las"] == 100
    text = (tmp_path / "gold.conllu").read_text()
    other = tmp_path / "other.conllu"
    first = text.split("\t")[1]
    other.write_text(text.replace(f"\t{first}\t", "\tYonder\t", 1))
    with pytest.raises(InputError, match=naming("other.conllu sentence 1 words Yonder")):
        score_predictions("parsing", [data], other)
    other.write_text("\n\n".join(text.split("\n\n")[1:]))
    with pytest.raises(InputError, match=naming("other.conllu 8 7")):
        score_predictions("parsing", [data], other)


def test_a_translation_file_must_have_a_line_per_reference(tmp_path):
    data = builders.parallel(tmp_path)
    lines = "".join(f"{line}\n" for line in read_lines(data.split("+")[1]))
    right = write(tmp_path / "found.txt", lines)
    assert score_predictions("translation", [data], right)["bleu_words"] == pytest.approx(100)
    with pytest.raises(InputError, match=naming(f"found.txt {lines.count(chr(10))}")):
        score_predictions("translation", [data], write(right, lines + "more\n"))


def test_tasks_without_prediction_files_are_reported(tmp_path):
    with pytest.raises(InputError, match=naming("--predictions pretraining")):
        score_predictions("pretraining", ["x"], tmp_path / "x.json")
