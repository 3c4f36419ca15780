"""Text pairs: formats, unlabelled pairs, scores."""

from __future__ import annotations

import json
import logging

import pytest

from syntagma.errors import InputError
from syntagma.evaluation import evaluate, predict
from syntagma.models.pair_model import PairHead
from syntagma.tasks.pairs.data import read_pairs
from syntagma.tasks.pairs.task import PairClassifier, PairTask
from syntagma.training.run import train
from tests.builders import experiment, pairs
from tests.messages import naming, says


def write(path, rows, separator="\t"):
    path.write_text("".join(separator.join(row) + "\n" for row in rows))
    return path


class TestFormats:
    def test_json_lines(self, tmp_path):
        path = tmp_path / "dev.jsonl"
        rows = [
            {"pairID": "a", "sentence1": "One.", "sentence2": "Two.", "gold_label": "Neutral"},
            {"pairID": "b", "sentence1": "One.", "sentence2": "Two.", "gold_label": "-"},
            {"sentence1": "One.", "sentence2": "Three."},
        ]
        path.write_text("\n".join(map(json.dumps, rows)) + "\n\n")
        found = read_pairs(path)
        assert [example.label for example in found.examples].count(None) == 2
        assert [(e.id, e.second, e.label) for e in found.examples] == [
            ("a", "Two.", "neutral"),
            ("b", "Two.", None),
            ("3", "Three.", None),
        ]

    def test_tables_with_quotes_as_ordinary_characters(self, tmp_path):
        path = write(
            tmp_path / "dev.tsv",
            [
                ("index", "sentence1", "sentence2", "label1", "gold_label"),
                ("0", 'He said "no', "No.", "x", "entailment"),
                ("0", "Yes.", "No.", "x", "contradiction"),
                ("3", "No.", "No.", "x", "-1"),
                ("3", "No.", "Yes.", "x", "hidden"),
            ],
        )
        found = read_pairs(path).examples
        assert found[0].first == 'He said "no'
        # The line number is appended to repeated ids.
        assert [example.id for example in found] == ["0", "0@3", "3", "3@5"]
        assert [example.label for example in found][2:] == [None, None]

    def test_sick_and_comma_separated_files(self, tmp_path):
        sick = write(
            tmp_path / "SICK.txt",
            [("pair_ID", "sentence_A", "sentence_B", "entailment_label"),
             ("7", "A gull.", "A bird.", "ENTAILMENT")],
        )  # fmt: skip
        (example,) = read_pairs(sick).examples
        assert (example.id, example.label) == ("7", "entailment")
        table = write(
            tmp_path / "a.csv",
            [("premise", "hypothesis", "label"), ('"A gull, white."', "A bird.", "0")],
            separator=",",
        )
        (example,) = read_pairs(table).examples
        assert (example.first, example.label) == ("A gull, white.", "0")

    @pytest.mark.parametrize(
        ("name", "content", "message"),
        [
            ("a.jsonl", "{", "a.jsonl line 1 JSON"),
            ("a.jsonl", "[]", "a.jsonl line 1 object []"),
            ("a.jsonl", "[" * 100_000, "a.jsonl line 1 JSON"),
            ("a.jsonl", '{"sentence1": "x"}', "a.jsonl line 1 second sentence None"),
            (
                "a.jsonl",
                '{"sentence1": "x", "sentence2": "y", "label": [1]}',
                "a.jsonl line 1 label words [1]",
            ),
            ("a.jsonl", "\n", "a.jsonl pairs"),
            ("a.tsv", "", "a.tsv empty header"),
            (
                "a.tsv",
                "sentence1\tsentence2\tlabel\nx\ty\n",
                "a.tsv line 2 column label",
            ),
            ("a.tsv", "x\ty\n", "a.tsv column sentence1 sentence_A premise x y"),
            ("a.xml", "", "a.xml .jsonl .tsv .txt .csv"),
            (
                "a.csv",
                "sentence1,sentence2,label\nA man, smiling, walks,He walks,entailment\n",
                "a.csv line 2 columns quote",
            ),
            (
                "SICK.txt",
                "pair_ID\tsentence_A\tsentence_B\tSemEval_set\n1\tx\ty\tTRAIN\n",
                "SICK.txt SemEval_set",
            ),
        ],
    )
    def test_errors_name_position_and_problem(self, tmp_path, name, content, message):
        (tmp_path / name).write_text(content)
        with pytest.raises(InputError, match=naming(message)):
            read_pairs(tmp_path / name)

    def test_skipped_examples_are_counted(self, tmp_path, caplog):
        path = tmp_path / "a.jsonl"
        good = {"sentence1": "x", "sentence2": "y", "label": "no"}
        lines = [json.dumps(good), "{", json.dumps(good | {"label": "-"})]
        path.write_text("\n".join(lines))
        with caplog.at_level(logging.WARNING):
            assert len(PairTask.read(path, skip_bad=True)) == 2
        assert says(caplog.text, "1 pairs gold label")
        assert says(caplog.text, "1 pairs a.jsonl")


@pytest.fixture(scope="module")
def run(tmp_path_factory, tiny_encoder):
    folder = tmp_path_factory.mktemp("pairs")
    data = pairs(folder / "train.jsonl")
    settings = experiment(
        "pairs", data, tiny_encoder, preset="sg-net", parser="linear",
        hidden_dropout=0.0, attention_dropout=0.0,
        training={"num_train_epochs": 10, "learning_rate": 1e-3, "eval_steps": 0.34},
    )  # fmt: skip
    train(settings, folder / "run")
    return folder / "run", data


def test_it_learns_and_breaks_down_its_errors(run):
    folder, data = run
    scores = evaluate(folder, [data], by=["label", "confusion"])
    assert scores["accuracy"] > 75
    assert scores["total"] == 64
    confusion = {key: v for key, v in scores.items() if key.startswith("confusion.")}
    assert sum(confusion.values()) == 64
    right = sum(confusion.get(f"confusion.{x}.{x}", 0) for x in ("entailment", "contradiction"))
    assert 100 * right / 64 == pytest.approx(scores["accuracy"])
    assert scores["label.entailment.total"] == 32


def test_predictions_are_a_table(run, tmp_path):
    folder, data = run
    predict(folder, [data], tmp_path / "out.tsv")
    lines = (tmp_path / "out.tsv").read_text().splitlines()
    assert lines[0] == "pairID\tgold_label"
    assert len(lines) == 65
    assert {line.split("\t")[1] for line in lines[1:]} <= {"entailment", "contradiction"}


def test_batching_does_not_change_predictions(run):
    classifier = PairClassifier.from_pretrained(run[0])
    texts = [("A gull cried.", "A bird."), ("Rain fell on the roofs of the town.", "No.")]
    for pair, together in zip(texts, classifier.stream(texts), strict=True):
        alone = classifier.classify(*pair)
        assert alone.label == together.label
        assert alone.probabilities == pytest.approx(together.probabilities, abs=1e-2)
    with pytest.raises(InputError, match=naming("second text empty")):
        classifier.classify("x", " ")
    for invalid in ("abc", {"first": "x", "second": "y"}, ("x",)):
        with pytest.raises(InputError, match=naming("pair 1 (first text, second text)")):
            next(classifier.stream([invalid]))


def test_the_longer_text_is_truncated(run):
    classifier = PairClassifier.from_pretrained(run[0])
    (item,) = classifier.items([("gull " * 300, "a bird")])
    assert item.length == 64
    assert item.parts[1].end - item.parts[1].begin == len(item.parts[1].text)


def test_settings_are_checked():
    for values, message in (({"max_length": 2}, "max_length 8 2"), ({"dropout": -1}, "dropout -1")):
        with pytest.raises(InputError, match=naming(message)):
            PairHead(**values)
