"""Relations: formats, official scores computed by hand, prediction files."""

from __future__ import annotations

import gzip
import json
import logging

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from syntagma import RelationClassifier
from syntagma.analysis.compare import compare_runs
from syntagma.errors import InputError
from syntagma.evaluation import evaluate, open_model, predict
from syntagma.tasks.relations.data import RelationExample, read_relations
from syntagma.tasks.relations.metrics import (
    count_relations,
    find_negative,
    is_directed,
    macro_f1,
    score_by_relation,
)
from syntagma.tasks.relations.task import MentionRelation, RelationTask
from syntagma.training.run import train
from tests.builders import TACRED, TACRED_TEXT, experiment, relations
from tests.messages import naming, says

SEMEVAL = """7\t"The <e1>crew</e1> left the <e2>old pier</e2>."
Entity-Origin(e1,e2)
Comment: They went by boat.\t12

8\t"A <e2>gull</e2> took <e1>"bread"</e1>, twice."
Other
Comment:

"""
KBP = """0\t"<e1> Ada Obi </e1> runs Obi Boats in ( <e2> Port Ann </e2> ) ."
per:cities_of_residence(e1,e2)
Comment:

1\t"She left <e1> </e1> for <e2> Ann </e2>"
no_relation
Comment:
"""


def shown(example):
    return example.text[slice(*example.subject)], example.text[slice(*example.object)]


class TestFormats:
    @pytest.mark.parametrize("ends", ["\n", "\r\n"])
    def test_semeval(self, tmp_path, ends):
        path = tmp_path / "TRAIN_FILE.TXT.GZ"
        path.write_bytes(gzip.compress(SEMEVAL.replace("\n", ends).encode()))
        first, second = read_relations(path).examples
        assert first.text == "The crew left the old pier."
        assert shown(first) == ("crew", "old pier")
        assert (first.id, first.relation) == ("7", "Entity-Origin(e1,e2)")
        # The tags determine the subject, not the order; quotes inside the sentence are kept.
        assert second.text == 'A gull took "bread", twice.'
        assert shown(second) == ('"bread"', "gull")

    def test_unlabelled_examples_are_read(self, tmp_path):
        path = tmp_path / "TEST_FILE.txt"
        lines = [line for line in SEMEVAL.splitlines() if line[:1].isdigit()]
        path.write_text("\n".join(lines))
        assert [example.relation for example in read_relations(path).examples] == ["", ""]

    def test_kbp37_with_spaces_inside_its_tags(self, tmp_path):
        path = tmp_path / "dev.txt"
        path.write_text(KBP)
        found = read_relations(path)
        first, second = found.examples
        assert first.text == "Ada Obi runs Obi Boats in ( Port Ann ) ."
        assert shown(first) == ("Ada Obi", "Port Ann")
        # A name that is missing in the corpus becomes an empty mention.
        assert second.text == "She left for Ann"
        assert shown(second) == ("", "Ann")
        assert second.subject == (9, 9)
        assert [example.has_empty_mention for example in found.examples].count(True) == 1

    @pytest.mark.parametrize("name", ["train.json", "train.jsonl"])
    def test_tacred(self, tmp_path, name):
        rows = [
            TACRED,
            {key: value for key, value in TACRED.items() if key not in ("id", "relation")},
        ]
        text = json.dumps(rows) if name == "train.json" else "\n".join(map(json.dumps, rows))
        (tmp_path / name).write_text(text)
        first, second = read_relations(tmp_path / name).examples
        assert first.text == TACRED_TEXT
        assert shown(first) == ("Mr. Obi", "captain")
        assert (first.id, first.relation) == ("a1", "per:title")
        assert (second.id, second.relation) == ("1", "")

    @pytest.mark.parametrize(
        ("name", "content", "message"),
        [
            ("a.json", "[{", "a.json JSON line 1 3"),
            ("a.json", [TACRED | {"token": []}], "a.json entry 1 token []"),
            (
                "a.json",
                [TACRED | {"subj_end": 8}],
                "a.json entry 1 words 0 7 subj_start subj_end 3 8",
            ),
            ("a.json", [TACRED | {"obj_start": 2}], "a.json entry 1 0 7 obj_start obj_end 2 1"),
            (
                "a.json",
                [TACRED | {"token": ["Her", " ", *TACRED["token"][2:]]}],
                "a.json entry 1 (4, 5) without characters",
            ),
            ("a.json", [TACRED | {"relation": 3}], "a.json entry 1 relation 3"),
            ("a.json", [TACRED, TACRED], "a.json entry 2 id a1 entry 1"),
            ("a.json", [], "a.json relation TACRED's SemEval's"),
            (
                "a.txt",
                '1\t"No <e1>tags</e1>."\nOther\n',
                "a.txt line 1 one <e2> </e2> <e1>",
            ),
            (
                "a.txt",
                '1\t"<e1>a</e1> <e1>b</e1> <e2>c</e2>"\n',
                "a.txt line 1 one <e1> </e1> <e2>",
            ),
            ("a.txt", '1\t"</e1>a<e1> <e2>c</e2>"\n', "a.txt line 1 <e1> </e1> <e2> </e2>"),
            ("a.txt", '1\t"<e1></e1> <e2>c</e2>"\n', "a.txt line 1 <e1> </e1> empty"),
            ("a.txt", SEMEVAL + SEMEVAL, "a.txt line 9 id 7 line 1"),
            ("a.txt", "Other\n", "a.txt line 1 id sentence Other"),
            ("a.txt", SEMEVAL + "Other\nOther\n", "a.txt line 9 id sentence Other"),
            ("a.csv", "x", "a.csv .json .jsonl .txt TACRED SemEval KBP37"),
        ],
    )
    def test_errors_name_position_and_problem(self, tmp_path, name, content, message):
        path = tmp_path / name
        path.write_text(content if isinstance(content, str) else json.dumps(content))
        with pytest.raises(InputError, match=naming(message)):
            read_relations(path)

    def test_skipped_examples_are_counted(self, tmp_path, caplog):
        path = tmp_path / "a.txt"
        path.write_text(KBP + '2\t"no tags"\nOther\n\n3\t"<e1>a</e1>"\nOther\n')
        with caplog.at_level(logging.WARNING):
            assert len(RelationTask.read(path, skip_bad=True)) == 2
        assert says(caplog.text, "2 examples")
        assert says(caplog.text, "1 empty mention")


class TestScores:
    """Relation A in both directions, B in one, and the negative class."""

    GOLD = ("A(e1,e2)", "A(e1,e2)", "A(e2,e1)", "B(e1,e2)", "B(e1,e2)", "Other", "Other")
    FOUND = ("A(e1,e2)", "A(e2,e1)", "A(e2,e1)", "A(e1,e2)", "Other", "B(e1,e2)", "Other")

    def test_micro_scores_exclude_the_negative_class(self):
        counts = count_relations(self.GOLD, self.FOUND, "Other")
        assert (counts.right, counts.predicted, counts.gold) == (2, 5, 5)
        assert counts.precision == counts.recall == counts.f1 == 40
        # Without a negative class all labels count, and micro F1 equals accuracy.
        assert count_relations(self.GOLD, self.FOUND, "").f1 == pytest.approx(100 * 3 / 7)

    def test_macro_f1_by_hand(self):
        # A: 2 right of 4 predictions, one of which has the wrong direction, and of 3 gold labels.
        a = 2 * (2 / 4) * (2 / 3) / (2 / 4 + 2 / 3)
        # B: none right of 1 prediction and 2 gold labels.
        assert macro_f1(self.GOLD, self.FOUND, "Other") == pytest.approx(100 * (a + 0) / 2)

    def test_classes_without_gold_labels_are_not_averaged(self):
        gold = ("A(e1,e2)", "Other")
        assert macro_f1(gold, ("A(e1,e2)", "C(e1,e2)"), "Other") == 100
        # But predicting it lowers micro precision.
        assert count_relations(gold, ("A(e1,e2)", "C(e1,e2)"), "Other").precision == 50
        assert macro_f1(("Other",), ("Other",), "Other") == 0

    def test_scores_are_zero_without_predicted_relations(self):
        counts = count_relations(("A(e1,e2)",), ("Other",), "Other")
        assert counts.precision == counts.recall == counts.f1 == 0

    def test_scores_by_relation(self):
        counts = score_by_relation(self.GOLD, self.FOUND)
        assert list(counts) == ["A(e1,e2)", "A(e2,e1)", "B(e1,e2)", "Other"]
        assert (counts["Other"].right, counts["Other"].predicted, counts["Other"].gold) == (1, 2, 2)

    def test_negative_class_and_direction_are_recognised_by_name(self):
        assert find_negative(["per:title", "no_relation"]) == "no_relation"
        assert find_negative(["NA", "x"]) == "NA"
        assert find_negative(["per:title"]) == ""
        assert is_directed(["A(e1,e2)", "Other"], "Other")
        assert not is_directed(["A(e1,e2)", "none"], "Other")
        assert not is_directed(["Other"], "Other")


LABELS = ["A(e1,e2)", "A(e2,e1)", "B(e1,e2)", "B(e2,e1)", "Other"]


@given(st.lists(st.tuples(st.sampled_from(LABELS), st.sampled_from(LABELS)), max_size=20))
@settings(deadline=None)
def test_macro_f1_equals_that_of_the_official_scorer(pairs):
    """The official scorer uses a confusion matrix that also counts wrong directions."""
    matrix, wrong, proposed, actual = {}, {}, {}, {}
    for gold, found in pairs:
        one, other = gold.split("(")[0], found.split("(")[0]
        actual[one] = actual.get(one, 0) + 1
        if gold != found and one == other:
            wrong[one] = wrong.get(one, 0) + 1
        else:
            matrix[other, one] = matrix.get((other, one), 0) + 1
            proposed[other] = proposed.get(other, 0) + 1
    scores = []
    for name in actual.keys() - {"Other"}:
        right, guesses = matrix.get((name, name), 0), proposed.get(name, 0)
        precision = right / (guesses + wrong.get(name, 0)) if guesses else 0.0
        recall = right / actual[name]
        both = precision + recall
        scores.append(2 * precision * recall / both if both else 0.0)
    expected = 100 * sum(scores) / len(scores) if scores else 0.0
    found = macro_f1([gold for gold, _ in pairs], [label for _, label in pairs], "Other")
    assert found == pytest.approx(expected)


@pytest.fixture(scope="module")
def run(tmp_path_factory, tiny_encoder):
    folder = tmp_path_factory.mktemp("relations")
    data = relations(folder / "train.txt", copies=2)
    for name, preset in (("plain", "none"), ("seprem", "seprem")):
        settings = experiment(
            "relations", data, tiny_encoder, preset=preset, parser="linear",
            hidden_dropout=0.0, attention_dropout=0.0,
            training={"num_train_epochs": 11, "learning_rate": 3e-3, "eval_steps": 0.34},
        )  # fmt: skip
        train(settings, folder / name)
    return folder, data


def test_it_learns_and_breaks_down_its_errors(run):
    folder, data = run
    scores = evaluate(folder / "seprem", [data], by=["label", "confusion"])
    assert scores["f1"] > 70
    assert scores["macro_f1"] > 70
    assert set(scores) >= {"precision", "recall", "accuracy", "total", "truncated"}
    confusion = {key: value for key, value in scores.items() if key.startswith("confusion.")}
    assert sum(confusion.values()) == scores["total"]
    assert (
        sum(v for k, v in scores.items() if k.startswith("label.") and k.endswith(".total"))
        == (scores["total"])
    )


def test_predictions_in_the_formats_of_semeval_and_tacred(run, tmp_path):
    folder, data = run
    predict(folder / "plain", [data], tmp_path / "out.txt")
    lines = [line.split("\t") for line in (tmp_path / "out.txt").read_text().splitlines()]
    assert [key for key, _ in lines] == [example.id for example in read_relations(data).examples]
    assert {label for _, label in lines} <= {"Longer(e1,e2)", "Longer(e2,e1)", "Other"}
    (tmp_path / "test.json").write_text(json.dumps([TACRED, TACRED | {"id": "a2"}]))
    predict(folder / "plain", [tmp_path / "test.json"], tmp_path / "tacred.txt")
    lines = (tmp_path / "tacred.txt").read_text().splitlines()
    assert len(lines) == 2
    assert "\t" not in lines[0]


def test_runs_are_compared_by_micro_f1(run):
    folder, _ = run
    comparison = compare_runs([folder / "plain", folder / "seprem"])
    assert comparison.test.startswith("p: approximate randomisation on `f1`, for these runs")
    assert comparison.test.endswith("resampled: paired bootstrap")
    assert comparison.columns == ("precision", "recall", "f1", "macro_f1", "accuracy")
    assert comparison.n_examples == len(read_relations(run[1]).examples)


def test_batching_does_not_change_predictions(run):
    classifier = RelationClassifier.from_pretrained(run[0] / "seprem")
    inputs = [("A gull cried over Pier Nine.", (2, 6), (18, 27)), ("Rain fell.", (5, 9), (0, 4))]
    for triple, together in zip(inputs, classifier.stream(inputs), strict=True):
        alone = classifier.relation(*triple)
        assert alone.label == together.label
        assert alone.probabilities == pytest.approx(together.probabilities, abs=1e-2)
        assert not alone.truncated
    # Swapping subject and object changes the prediction.
    swapped = classifier.relation("Rain fell.", (0, 4), (5, 9))
    assert swapped.probabilities != together.probabilities
    with pytest.raises(InputError, match=naming("mention (0, 99) 10")):
        classifier.relation("Rain fell.", (0, 99), (0, 4))


def test_trees_from_the_data_file(tmp_path, tiny_encoder):
    other = TACRED | {"id": "a2", "relation": "no_relation", "obj_start": 6, "obj_end": 6}
    path = tmp_path / "train.json"
    path.write_text(json.dumps([TACRED, other]))
    settings = experiment(
        "relations", str(path), tiny_encoder, preset="seprem", parser=f"tacred:{path}",
        training={"num_train_epochs": 1},
    )  # fmt: skip
    metrics = train(settings, tmp_path / "run")
    assert "macro_f1" not in metrics
    assert evaluate(tmp_path / "run", [path])["total"] == 2
    item = open_model(tmp_path / "run").features(read_relations(path).examples).items[0]
    # *Obi*, the head of *Mr. Obi*, is two arcs below the root *rows*; *captain* is one below.
    depths = [item.text.syntax["depth"][place - 1] for place in item.markers]
    assert depths == [2, 1]
    assert open_model(tmp_path / "run").predictor.negative == "no_relation"


def test_the_negative_class_can_be_set(run, tmp_path):
    task = open_model(run[0] / "plain")
    examples = task.read(run[1])
    gold = [MentionRelation(example.relation, (), False) for example in examples]
    none = [MentionRelation("Longer(e1,e2)", (), False) for _ in examples]
    assert task.score(examples, gold)["f1"] == 100
    task.model.set_head(negative="Longer(e1,e2)")
    # If every prediction is the negative class, no relation is predicted.
    assert task.score(examples, none)["f1"] == 0
    settings = experiment(
        "relations", run[1], str(task.model.config.base), head={"negative": "Othe"}
    )
    with pytest.raises(InputError, match=naming("head.negative Othe Other")):
        RelationTask.new(settings, examples)


def test_unknown_relations_count_as_missed_with_one_warning(run, caplog):
    task = open_model(run[0] / "plain")
    example = RelationExample("0", "A gull.", (2, 6), (0, 1), "Longer(e3,e4)")
    found = [MentionRelation("Longer(e1,e2)", (1.0, 0.0, 0.0), False)]
    with caplog.at_level(logging.WARNING):
        scores = task.score([example], found)
        task.score([example], found)
    assert (scores["accuracy"], scores["recall"]) == (0, 0)
    assert [says(line, "1 gold labels") for line in caplog.messages].count(True) == 1
    assert "'Longer(e" in caplog.text


def test_unlabelled_examples_are_predicted_but_not_scored(run):
    task = open_model(run[0] / "plain")
    examples = [RelationExample("0", "A gull.", (2, 6), (0, 1), "")]
    with pytest.raises(InputError, match=naming("1 `syntagma predict`")):
        task.evaluate(examples)
    assert task.score(examples, task.predict(examples))["total"] == 0
    assert task.score_examples(examples, task.predict(examples)) == {}
    with pytest.raises(InputError, match=naming("example 0 relation")):
        task.features(examples)
    settings = experiment("relations", "none.txt", str(task.model.config.base))
    with pytest.raises(InputError, match=naming("data.train relation")):
        RelationTask.new(settings, examples)
