"""Entity typing: formats, metrics computed by hand, threshold, prediction files."""

from __future__ import annotations

import gzip
import json
import logging

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from syntagma import EntityTyper
from syntagma.analysis.compare import compare_runs
from syntagma.errors import InputError
from syntagma.evaluation import evaluate, open_model, predict
from syntagma.tasks.typing.data import TypingExample, read_typing
from syntagma.tasks.typing.metrics import TypingCounts, best_threshold, score_by_type, typing_f1
from syntagma.tasks.typing.task import Types, TypingTask
from syntagma.training.run import train
from tests.builders import experiment, typing
from tests.messages import naming, says

ROW = {"sent": "The ferry left Port Ann .", "start": 15, "end": 23, "labels": ["place", "town"]}


class TestFormats:
    @pytest.mark.parametrize("name", ["a.json", "a.jsonl", "a.json.gz", "a.jsonl.gz", "A.JSON"])
    def test_json_lists_and_json_lines(self, tmp_path, name):
        rows = [ROW | {"ents": [["Q1", 4, 9, 0.3]]}, ROW | {"start": 4, "end": 9, "labels": []}]
        rows.append({key: value for key, value in ROW.items() if key != "labels"} | {"id": "x"})
        text = json.dumps(rows) if ".jsonl" not in name else "\n".join(map(json.dumps, rows))
        data = text.encode()
        (tmp_path / name).write_bytes(gzip.compress(data) if name.endswith(".gz") else data)
        first, second, third = read_typing(tmp_path / name).examples
        assert first.text[slice(*first.mention)] == "Port Ann"
        assert (first.id, first.labels) == ("0", ("place", "town"))
        assert second.labels == ()
        assert (third.id, third.labels) == ("x", None)

    @pytest.mark.parametrize(
        ("name", "content", "message"),
        [
            ("a.json", '[{"sent": ', "a.json JSON line 1 11"),
            ("a.jsonl", "\n{\n", "a.jsonl line 2 JSON"),
            (
                "a.json",
                "{}\n{}\n",
                "a.json line 2 column 1 .jsonl",
            ),
            ("a.json", {"sent": "x"}, "a.json list dict"),
            ("a.json", [3], "a.json entry 1 object 3"),
            ("a.json", [], "a.json mention sent start end labels"),
            ("a.json", [ROW | {"sent": " "}], "a.json entry 1 sentence sent"),
            ("a.json", [ROW | {"start": "3"}], "a.json entry 1 start end 3 23"),
            ("a.json", [ROW | {"end": 26}], "a.json entry 1 (15, 26) 25"),
            ("a.json", [ROW | {"end": 15}], "a.json entry 1 (15, 15) without characters"),
            ("a.json", [ROW | {"labels": "town"}], "a.json entry 1 list labels"),
            ("a.json", [ROW | {"labels": ["town", " "]}], "a.json entry 1 list labels"),
            ("a.json", [ROW | {"id": 1}, ROW], "a.json entry 2 id 1 entry 1"),
            ("a.txt", "x", "a.txt .json .jsonl"),
        ],
    )
    def test_errors_name_position_and_problem(self, tmp_path, name, content, message):
        path = tmp_path / name
        path.write_text(content if isinstance(content, str) else json.dumps(content))
        with pytest.raises(InputError, match=naming(message)):
            read_typing(path)

    def test_skipped_examples_are_counted(self, tmp_path, caplog):
        path = tmp_path / "a.json"
        path.write_text(json.dumps([ROW, ROW | {"end": 99}, ROW | {"sent": ""}]))
        with caplog.at_level(logging.WARNING):
            assert len(TypingTask.read(path, skip_bad=True)) == 1
        assert says(caplog.text, "2 mentions")


class TestMetrics:
    GOLD = (("a",), ("a", "b"), (), ("c",), ())
    FOUND = (("a", "b"), ("b",), ("a",), (), ())

    def test_metrics_by_hand(self):
        values = TypingCounts.of_all(self.GOLD, self.FOUND).to_dict()
        # Right: a of the first mention, b of the second; 4 types are predicted, 4 are gold.
        assert values["precision"] == values["recall"] == values["f1"] == 50
        # Precisions 1/2, 1, 0, –, –; recalls 1, 1/2, –, 0, –; both averaged over all five mentions.
        assert values["macro_precision"] == pytest.approx(100 * 1.5 / 5)
        assert values["macro_recall"] == pytest.approx(100 * 1.5 / 5)
        assert values["macro_f1"] == pytest.approx(30)
        # Only the last set is right; it is empty.
        assert values["strict_accuracy"] == pytest.approx(20)
        assert values["total"] == 5

    def test_sums_of_parts(self):
        parts = [TypingCounts.of_all([g], [f]) for g, f in zip(self.GOLD, self.FOUND, strict=True)]
        assert sum(parts, TypingCounts()) == TypingCounts.of_all(self.GOLD, self.FOUND)

    def test_empty_gold_and_predicted_sets(self):
        for gold, found in (((), ("a",)), (("a",), ()), ((), ())):
            values = TypingCounts.of(gold, found).to_dict()
            assert values["f1"] == values["macro_f1"] == 0
        assert TypingCounts().to_dict()["f1"] == 0
        assert typing_f1((), ()) == 1
        assert typing_f1(("a",), ()) == 0
        assert typing_f1(("a", "b"), ("b",)) == pytest.approx(2 / 3)

    def test_scores_by_type(self):
        counts = score_by_type(self.GOLD, self.FOUND)
        assert list(counts) == ["a", "b", "c"]
        assert (counts["a"].right, counts["a"].predicted, counts["a"].gold) == (1, 2, 2)
        assert counts["c"].f1 == 0


@given(
    st.lists(
        st.tuples(
            st.lists(st.sampled_from([0.0, 0.1, 0.3, 0.5, 0.9, 1.0]), min_size=3, max_size=3),
            st.sets(st.integers(0, 2)),
        ),
        min_size=1,
        max_size=8,
    ),
    st.booleans(),
    st.integers(0, 2),
)
@settings(deadline=None)
def test_no_threshold_is_better_than_the_fitted_one(rows, at_least_one, n_unknown):
    values, gold = [row for row, _ in rows], [codes for _, codes in rows]
    n_gold = sum(map(len, gold)) + n_unknown

    def f1_at(threshold):
        right = predicted = 0
        for row, codes in zip(values, gold, strict=True):
            top = row.index(max(row))
            found = {
                code for code, value in enumerate(row)
                if value >= threshold or (at_least_one and code == top)
            }  # fmt: skip
            right += len(found & codes)
            predicted += len(found)
        return 2 * right / max(predicted + n_gold, 1)

    fitted = best_threshold(values, gold, n_gold=n_gold, at_least_one=at_least_one)
    assert 0 <= fitted.threshold <= 1
    possible = sorted({value for row in values for value in row} - {0.0})
    best = max(map(f1_at, [*possible, 1.1 if 1.0 not in possible else 1.0]))
    assert f1_at(fitted.threshold) == pytest.approx(best)
    assert fitted.f1 == pytest.approx(100 * best)


@pytest.fixture(scope="module")
def run(tmp_path_factory, tiny_encoder):
    folder = tmp_path_factory.mktemp("typing")
    data = typing(folder / "train.json", copies=2)
    for name, preset in (("plain", "none"), ("seprem", "seprem")):
        settings = experiment(
            "typing", data, tiny_encoder, preset=preset, parser="linear",
            hidden_dropout=0.0, attention_dropout=0.0,
            training={"num_train_epochs": 8, "learning_rate": 3e-3, "eval_steps": 0.34},
        )  # fmt: skip
        train(settings, folder / name)
    return folder, data


def test_it_learns_and_fits_its_threshold(run):
    folder, data = run
    config = json.loads((folder / "seprem" / "config.json").read_text())
    assert config["head"]["threshold"] != 0.5
    scores = evaluate(folder / "seprem", [data], by=["label"])
    assert scores["f1"] > 75
    assert scores["label.long.total"] > 10
    assert set(scores) >= {"precision", "recall", "macro_f1", "strict_accuracy", "total"}
    assert scores["truncated"] == 0
    saved = json.loads((folder / "seprem" / "metrics.json").read_text())
    assert saved["f1"] == pytest.approx(scores["f1"])


def test_model_selection_uses_the_f1_at_the_best_threshold(run):
    folder, data = run
    task = open_model(folder / "plain")
    examples = task.read(data)
    task.model.set_head(threshold=1.0)
    scores = task.score(examples, task.predict(examples))
    assert scores["f1"] == 0
    task.fit_after_training(examples, task.predict(examples))
    assert scores[task.primary] == pytest.approx(task.score(examples, task.predict(examples))["f1"])


def test_predictions_are_json(run, tmp_path):
    folder, data = run
    n_rows = predict(folder / "plain", [data], tmp_path / "out.json")
    rows = json.loads((tmp_path / "out.json").read_text())
    assert len(rows) == n_rows
    assert set(rows["0"]["probabilities"]) == {"long", "name"}
    threshold = json.loads((folder / "plain" / "config.json").read_text())["head"]["threshold"]
    for row in rows.values():
        labels = {name for name, value in row["probabilities"].items() if value >= threshold}
        assert labels == set(row["labels"])


def test_runs_are_compared_by_micro_f1(run):
    folder, _ = run
    comparison = compare_runs([folder / "plain", folder / "seprem"])
    assert comparison.test.startswith("p: approximate randomisation on `f1`, for these runs")
    assert comparison.test.endswith("resampled: paired bootstrap")
    assert comparison.columns[2:] == ("f1", "macro_f1", "strict_accuracy")
    assert 0 <= comparison.systems[1].p_value <= 1


def test_batching_does_not_change_predictions(run):
    typer = EntityTyper.from_pretrained(run[0] / "seprem")
    inputs = [("A gull cried over Pier Nine.", (2, 6)), ("Rain fell on the roofs.", (17, 22))]
    for pair, together in zip(inputs, typer.stream(inputs), strict=True):
        alone = typer.types(*pair)
        assert alone.probabilities == pytest.approx(together.probabilities, abs=1e-2)
    everything = typer.types(*inputs[0], threshold=0.0)
    assert sorted(everything.labels) == typer.labels
    codes = [typer.labels.index(label) for label in everything.labels]
    ranked = [everything.probabilities[code] for code in codes]
    assert ranked == sorted(ranked, reverse=True)
    assert typer.types(*inputs[0], threshold=1.0).labels == ()
    typer.model.set_head(at_least_one=True)
    assert typer.types(*inputs[0], threshold=1.0).labels == everything.labels[:1]
    with pytest.raises(InputError, match=naming("without characters (3, 3)")):
        typer.types("A gull.", (3, 3))


def test_unknown_types_count_as_missed_with_one_warning(run, caplog):
    task = open_model(run[0] / "plain")
    examples = [TypingExample(str(n), "A gull.", (2, 6), ("lung",)) for n in range(3)]
    found = [Types(("long",), (0.9, 0.1), False)] * 3
    with caplog.at_level(logging.WARNING):
        scores = task.score(examples, found)
        task.score(examples, found)
    assert (scores["precision"], scores["recall"], scores["total"]) == (0, 0, 3)
    assert [says(line, "3 gold labels") for line in caplog.messages].count(True) == 1
    assert "'long'" in caplog.text


def test_unlabelled_examples_are_predicted_but_not_scored(run):
    task = open_model(run[0] / "plain")
    examples = [TypingExample("0", "A gull.", (2, 6), None)]
    with pytest.raises(InputError, match=naming("1 `syntagma predict`")):
        task.evaluate(examples)
    assert task.score(examples, task.predict(examples))["total"] == 0
    assert task.score_examples(examples, task.predict(examples)) == {}
    with pytest.raises(InputError, match=naming("mention 0 labels")):
        task.features(examples)
    settings = experiment("typing", "none.json", str(task.model.config.base))
    with pytest.raises(InputError, match=naming("data.train mention label")):
        TypingTask.new(settings, examples)


def test_fitting_the_threshold_can_be_turned_off(run):
    folder, data = run
    task = open_model(folder / "plain")
    task.model.set_head(threshold=0.5, fit_threshold=False)
    examples = task.read(data)
    assert task.fit_after_training(examples, task.predict(examples)) == {}
    assert task.model.head.threshold == 0.5
