"""Tags at the boundaries of answers, and properties measured on parses."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import replace

import pytest

from syntagma.analysis import answer_tags, breakdown
from syntagma.analysis.answer_tags import boundary_tags, nearest_tag
from syntagma.analysis.breakdown import break_down
from syntagma.analysis.parse_properties import measure_parses
from syntagma.errors import InputError
from syntagma.parse.sources.controls import ChainSource
from syntagma.tasks.pairs.data import PairExample
from syntagma.tasks.spans.squad import SpanExample
from tests.messages import naming
from tests.written_runs import written_run

PASSAGE = "The ferry left Lisbon in 1931 with oranges. Ana Reyes slept. The ferry sank."
QUESTIONS = {
    "place": ("Where did it begin?", "Lisbon"),
    "year": ("When did it leave?", "1931"),
    "who": ("Who slept on it?", "Ana Reyes"),
    "what": ("What sank?", "The ferry"),
    "none": ("Who sang?", ""),
}


class Shapes(ChainSource):
    """A parser that derives tags from word shapes, so that counts can be checked by eye."""

    def parse_texts(self, texts):
        for parses in super().parse_texts(texts):
            yield [replace(parse, xpos=tuple(map(tag, parse.sentence.forms))) for parse in parses]


def tag(form):
    if form == "The":
        return "DT"
    return "CD" if form.isdigit() else "NNP" if form.istitle() else "NN"


def candidates(text, start):
    place = {} if start is None else {"start": start}
    return [{"text": "", "score": 9.0}, {"text": text, "score": 1.0} | place]


@pytest.fixture
def runs(tmp_path, monkeypatch):
    monkeypatch.setattr(answer_tags, "load_source", lambda name: Shapes())
    rows = [
        {"id": key, "question": question, "is_impossible": not answer,
         "answers": [{"text": answer, "answer_start": PASSAGE.rindex(answer)}] if answer else []}
        for key, (question, answer) in QUESTIONS.items()
    ]  # fmt: skip
    data = {"version": "v2.0", "data": [{"title": "", "paragraphs": [
        {"context": PASSAGE, "qas": rows}]}]}  # fmt: skip
    (tmp_path / "dev.json").write_text(json.dumps(data))
    answers = {
        "plain": {"place": ["in", None], "year": ["1931 with", 25], "who": ["", None],
                  "what": ["The ferry", 0], "none": ["oranges", None]},
        "guided-1": {"place": ["Lisbon", None], "year": ["1931", None], "who": ["Reyes", None],
                     "what": ["ferry", 65], "none": ["", None]},
        "guided-2": {"place": ["Lisbon", None], "year": ["1931", None], "who": ["Ana Reyes", None],
                     "what": [" ferry", 64], "none": ["", None]},
    }  # fmt: skip
    for name, texts in answers.items():
        seed = int(name[-1]) if name[-1].isdigit() else 1
        folder = written_run(
            tmp_path / name, [1.0], preset="none" if name == "plain" else "sg-net", seed=seed,
            data={"train": ["/data/train.json"], "dev": [str(tmp_path / "dev.json")]},
        )  # fmt: skip
        wrong = {"plain": {"place", "year", "who", "none"}, "guided-1": {"who"}, "guided-2": set()}
        scores = {key: {"exact": float(key not in wrong[name]), "f1": 1.0} for key in QUESTIONS}
        (folder / "examples.json").write_text(json.dumps(scores))
        (folder / "metrics.json").write_text(json.dumps({"exact": 100.0, "f1": 100.0}))
        best = {key: text for key, (text, _) in texts.items()}
        (folder / "predictions.json").write_text(json.dumps(best))
        nbest = {key: candidates(*found) for key, found in texts.items()}
        (folder / "predictions.nbest.json").write_text(json.dumps(nbest))
    return tmp_path


def counts(found, numbers):
    return Counter({tag: n for tag, n in zip(found.tags, numbers, strict=True) if n})


def test_both_boundaries_are_counted_and_seeds_averaged(runs):
    plain = boundary_tags([runs / "plain"])
    assert plain.n_questions == 4
    assert counts(plain, plain.gold) == {"NNP": 4, "CD": 2, "DT": 1, "NN": 1}
    # Answers: "in", "1931 with", none, and "The ferry" at its other occurrence.
    assert counts(plain, plain.predicted["plain"]) == {"NN": 4, "CD": 1, "DT": 1}
    assert counts(plain, plain.errors["plain"]) == {"NNP": 2, "CD": 1}
    guided = boundary_tags([runs / "guided-1", runs / "guided-2"])
    assert counts(guided, guided.predicted["guided"]) == {"NNP": 4, "CD": 2, "NN": 2}
    # "ferry" and "The ferry" are equal under the official metrics.
    assert counts(guided, guided.errors["guided"]) == {}
    assert guided.rows()[0] == ["tag", "gold", "guided", "guided, wrong tag"]
    assert guided.rows()[-1] == ["all", "8", "8", "0"]


def test_reduction_of_wrong_tags_and_answers(runs):
    found = boundary_tags([runs / name for name in ("plain", "guided-1")])
    # All of three wrong tags are corrected, and two of three wrong answers.
    assert found.corrected() == {"guided-1": (100.0, pytest.approx(200 / 3))}
    assert found.lines() == [
        "guided-1 compared with plain: wrong tags -100.00 %, wrong answers -66.67 %."
    ]
    assert found.table().endswith(found.lines()[0])
    same = replace(found, errors=dict.fromkeys(found.errors, found.errors["plain"]))
    assert "wrong tags +0.00 %" in same.lines()[0]


def test_errors_are_counted_against_the_nearest_gold_answer():
    example = SpanExample(
        "a", PASSAGE, "When?", answers=("1931", "in 1931 with oranges"), answer_starts=(25, 22)
    )
    assert nearest_tag(example, 25, 34) == (25, "1931")
    assert nearest_tag(example, 22, 40) == (22, "in 1931 with oranges")


def test_rare_tags_are_not_shown(runs):
    found = boundary_tags([runs / "plain"])
    assert [row[0] for row in found.rows(least=0.2)] == ["tag", "NNP", "CD", "all"]


def test_a_run_without_predictions_is_rejected(runs):
    (runs / "plain" / "predictions.nbest.json").unlink()
    with pytest.raises(InputError, match=naming("plain predictions.nbest.json")):
        boundary_tags([runs / "plain"])


@pytest.mark.parametrize("start", ["x", -1, 10_000_000])
def test_offsets_outside_the_passage_are_rejected(runs, start):
    path = runs / "plain" / "predictions.nbest.json"
    found = json.loads(path.read_text())
    found["what"][1]["start"] = start
    path.write_text(json.dumps(found))
    with pytest.raises(InputError, match=naming("predictions.nbest.json what passage")):
        boundary_tags([runs / "plain"])


def test_verifiers_have_no_boundaries(runs):
    rows = {key: {"accuracy": 1.0} for key in QUESTIONS}
    (runs / "plain/examples.json").write_text(json.dumps(rows))
    (runs / "plain/metrics.json").write_text(json.dumps({"accuracy": 100.0}))
    with pytest.raises(InputError, match=naming("plain verifier spans")):
        boundary_tags([runs / "plain"])


def test_parses_of_questions_and_pairs_are_measured():
    question = SpanExample("a", PASSAGE, "Who slept?")
    pair = PairExample("b", "One two three four.", "Five. Six seven.", "entailment")
    found = measure_parses([question, pair], source=ChainSource())
    assert found["dependency_depth"] == {"a": 2, "b": 4}
    assert found["parse_confidence"] == {"a": 100, "b": 100}


def test_depths_are_computed_from_cached_parses(tmp_path, monkeypatch):
    monkeypatch.setenv("SYNTAGMA_CACHE", str(tmp_path))
    parsed = []

    class Counted(ChainSource):
        def parse_texts(self, texts):
            parsed.append(texts := list(texts))
            return super().parse_texts(texts)

    question = SpanExample("a", PASSAGE, "Who slept?")
    for _ in range(2):
        found = measure_parses([question], ["dependency_depth"], source=Counted())
        assert found == {"dependency_depth": {"a": 2}}
    assert parsed == [["Who slept?"]]


def test_runs_are_broken_down_by_measured_properties(runs, monkeypatch):
    monkeypatch.setattr(
        breakdown, "measure_parses",
        lambda examples, names: {"dependency_depth": {e.id: len(e.question) for e in examples}},
    )  # fmt: skip
    found = break_down([runs / "plain"], "dependency_depth", n_groups=2)
    assert sum(len(group.keys) for group in found.grouping.groups) == 5
    with pytest.raises(InputError, match=naming("dependency_dept dependency_depth")):
        break_down([runs / "plain"], "dependency_dept")
