"""Grouping of examples, and scores of systems by group."""

from __future__ import annotations

import itertools
import json
import re
import shutil

import numpy as np
import pytest
from typer.testing import CliRunner

pytest.importorskip("scipy")

from syntagma.analysis import breakdown, compare
from syntagma.analysis.breakdown import Breakdown, break_down, break_down_by, write_breakdowns
from syntagma.analysis.groups import Group, Grouping, group_by, trend
from syntagma.analysis.systems import read_systems
from syntagma.cli import app
from syntagma.errors import InputError
from syntagma.tasks import find_task
from syntagma.tasks.pairs.data import PairExample
from syntagma.tasks.spans.squad import SpanExample
from tests.builders import squad
from tests.messages import naming, says
from tests.written_runs import change_settings, written_run


def question(number, text, answer="a", **changes):
    return SpanExample(
        str(number), "The pier.", text, answers=(answer,) if answer else (), **changes
    )


QUESTIONS, PAIRS = find_task("spans").groupings, find_task("pairs").groupings
LENGTHS = [1, 1, 1, 1, 2, 3, 4, 5, 9, 20]
EXAMPLES = [question(k, " ".join(["why"] * n)) for k, n in enumerate(LENGTHS)]


class TestGroups:
    def test_groups_of_equal_range_have_equal_widths(self):
        found = group_by("question_length", EXAMPLES, QUESTIONS, cut="range", n_groups=4)
        assert [(group.low, group.high, len(group.keys)) for group in found.groups] == [
            (1, 5, 8),
            (9, 9, 1),
            (20, 20, 1),
        ]

    def test_groups_of_equal_size_have_equal_sizes(self):
        found = group_by("question_length", EXAMPLES, QUESTIONS, cut="size", n_groups=5)
        assert [(group.name, group.mean, len(group.keys)) for group in found.groups] == [
            ("1", 1.0, 2), ("1", 1.0, 2), ("2–3", 2.5, 2), ("4–5", 4.5, 2), ("9–20", 14.5, 2),
        ]  # fmt: skip

    def test_equal_values_stay_together_if_there_are_few(self):
        found = group_by("question_length", EXAMPLES, QUESTIONS, cut="size", n_groups=8)
        assert [(group.low, group.high) for group in found.groups][:2] == [(1, 1), (2, 2)]
        assert [len(group.keys) for group in found.groups][:2] == [4, 1]
        for group, after in itertools.pairwise(found.groups):
            assert group.high < after.low

    @pytest.mark.parametrize("cut", ["size", "range"])
    def test_groups_do_not_depend_on_the_order_of_the_data(self, cut):
        """Many questions have the same length; their group must not depend on the file order."""
        mixed = [EXAMPLES[place] for place in np.random.default_rng(1).permutation(len(EXAMPLES))]
        found, other = (
            group_by("question_length", examples, QUESTIONS, cut=cut, n_groups=3)
            for examples in (EXAMPLES, mixed)
        )
        assert [set(g.keys) for g in found.groups] == [set(g.keys) for g in other.groups]

    def test_names_have_enough_digits_to_distinguish_groups(self):
        values = {str(k): 99.9 + k / 1000 for k in range(100)}
        examples = [question(k, "why") for k in range(100)]
        found = group_by("parse_confidence", examples, QUESTIONS, values=values, n_groups=4)
        assert [group.name for group in found.groups] == [
            "99.9–99.92", "99.93–99.95", "99.95–99.97", "99.98–100",
        ]  # fmt: skip

    def test_groupings_are_described(self):
        described = {
            n: group_by("question_length", EXAMPLES, QUESTIONS, n_groups=n).described()
            for n in (5, 8, 30)
        }
        assert described == {
            5: "groups of equal size",
            8: "equal values in the same group",
            30: "one group per value",
        }
        equal = group_by("question_length", EXAMPLES, QUESTIONS, cut="range", n_groups=30)
        assert equal.described() == "groups of equal range"

    def test_examples_without_a_number_are_in_no_group(self):
        examples = [question(1, "why", ""), question(2, "why", "the pier"), question(3, "why")]
        found = group_by("answer_length", examples, QUESTIONS)
        assert [(group.name, group.keys) for group in found.groups] == [
            ("1", ("3",)),
            ("2", ("2",)),
        ]

    def test_twenty_groups_of_many_examples_have_equal_sizes(self):
        values = {str(k): float(v) for k, v in enumerate(np.random.default_rng(0).random(1000))}
        examples = [question(k, "why") for k in range(1000)]
        found = group_by("confidence", examples, QUESTIONS, values=values)
        assert [len(group.keys) for group in found.groups] == [50] * 20

    @pytest.mark.parametrize(
        ("text", "expected"),
        [
            ("How many gulls cried?", "how many"),
            ("In what year did the pier burn?", "what"),
            ("Whose boat is it?", "who"),
            ("The pier burned when?", "when"),
            ("Name the captain.", "other"),
            ("how did who leave", "how"),
            ("Name it, whatever the howling wind shows", "other"),
            ("On the pier, who?", "who"),
        ],
    )
    def test_question_words(self, text, expected):
        (group,) = group_by("question_word", [question(1, text)], QUESTIONS).groups
        assert group.name == expected

    @pytest.mark.parametrize(
        ("answer", "expected"),
        [
            ("", "none"),
            ("14 March", "date"),
            ("1931", "date"),
            ("14 crates", "number"),
            ("twenty-five", "number"),
            ("two hundred and six", "number"),
            ("they may sink", "phrase"),
            ("in May", "date"),
            ("Ms. Okafor", "name"),
            ("oak", "word"),
            ("the old pier", "phrase"),
            ("because the rain fell on the roofs", "clause"),
        ],
    )
    def test_answer_types(self, answer, expected):
        (group,) = group_by("answer_type", [question(1, "why", answer)], QUESTIONS).groups
        assert group.name == expected

    def test_categories_are_ordered_by_size(self):
        examples = [PairExample(str(k), "a b", "c", "no" if k % 3 else "yes") for k in range(9)]
        found = group_by("label", examples, PAIRS)
        assert [(group.name, len(group.keys)) for group in found.groups] == [("no", 6), ("yes", 3)]
        assert "premise_length" in PAIRS
        assert "question_length" not in PAIRS

    def test_unknown_properties_are_rejected(self):
        with pytest.raises(InputError, match=naming("question_lenght question_length")):
            group_by("question_lenght", EXAMPLES, QUESTIONS)
        with pytest.raises(InputError, match=naming("range size half")):
            group_by("question_length", EXAMPLES, QUESTIONS, cut="half")

    def test_the_trend_is_a_weighted_least_squares_fit(self):
        found = group_by("question_length", EXAMPLES, QUESTIONS, cut="range", n_groups=4)
        scores = [50.0, 40.0, 45.0]
        # The group mean, not the middle of its range: most questions of the first group are short.
        x, n = np.array([sum(LENGTHS[:8]) / 8, 9, 20]), np.array([8, 1, 1])
        slope, height = trend(found, scores)
        # Solve the normal equations of least squares with each group repeated n times.
        mean_x, mean_y = np.average(x, weights=n), np.average(scores, weights=n)
        expected = (n * (x - mean_x) * (scores - mean_y)).sum() / (n * (x - mean_x) ** 2).sum()
        assert slope == pytest.approx(expected)
        assert height == pytest.approx(mean_y - expected * mean_x)


def run(folder, data, right, preset="none"):
    written_run(folder, list(map(float, right.values())), preset=preset)
    change_settings(folder, data={"train": ["/data/train.json"], "dev": [data]})
    rows = {key: {"exact": float(value), "f1": float(value)} for key, value in right.items()}
    (folder / "examples.json").write_text(json.dumps(rows))
    exact = 100 * sum(right.values()) / len(right)
    (folder / "metrics.json").write_text(json.dumps({"exact": exact, "f1": exact}))
    return folder


@pytest.fixture
def runs(tmp_path):
    data = squad(tmp_path / "harbour.json", copies=2)
    keys = [f"{copy}-{which}" for copy in range(2) for which in [*range(6), "no"]]
    plain = {key: "no" in key for key in keys}
    guided = {key: "no" in key or key.startswith("0") for key in keys}
    return [
        run(tmp_path / "plain", data, plain),
        run(tmp_path / "sg-net", data, guided, preset="sg-net"),
    ]


def test_scores_are_means_over_groups(runs):
    found = break_down(runs, "question_word")
    by_name = {group.name: number for number, group in enumerate(found.grouping.groups)}
    assert found.systems["plain"][by_name["who"]] == 100
    assert found.systems["plain"][by_name["what"]] == 0
    assert found.systems["sg-net"][by_name["what"]] == 50
    assert found.rows()[0] == ["question_word", "n", "plain", "sg-net"]
    lengths = break_down(runs, "question_length")
    assert lengths.table().startswith("exact (%) by question_length, one group per value\n")
    assert "slope" in lengths.table()
    values = json.loads(json.dumps(lengths.to_dict()))
    assert [group["scores"]["plain"] for group in values["groups"]] == list(
        lengths.systems["plain"]
    )
    assert (
        values["trends"]["sg-net"]["slope"] == trend(lengths.grouping, lengths.systems["sg-net"])[0]
    )
    assert break_down(runs, "question_word", metric="f1").caption == "f1 (%) by question_word"


def test_one_run_can_be_broken_down(runs, tmp_path):
    out = tmp_path / "groups.json"
    command = ["compare", str(runs[1]), "--by", "question_word", "--json", str(out)]
    found = CliRunner().invoke(app, command)
    assert found.exit_code == 0, found.output
    assert found.output.startswith("exact (%) by question_word\n")
    [groups] = json.loads(out.read_text())["groups"]
    assert {group["name"]: group["scores"]["sg-net"] for group in groups["groups"]}["what"] == 50
    alone = CliRunner().invoke(app, ["compare", str(runs[1])])
    assert says(str(alone.exception), "two run folders")


def test_seeds_of_one_system_have_a_table_and_groups(runs, tmp_path):
    seeds = []
    for seed in (1, 2):
        seeds.append(tmp_path / f"sg-net-{seed}")
        shutil.copytree(runs[1], seeds[-1])
        change_settings(seeds[-1], training={"seed": seed})
    out = tmp_path / "values.json"
    command = ["compare", *map(str, seeds), "--by", "question_word", "--json", str(out)]
    found = CliRunner().invoke(app, command)
    assert found.exit_code == 0, found.output
    assert says(found.output, "no test one system")
    values = json.loads(out.read_text())
    assert values["systems"][0]["seeds"] == [1, 2]
    assert len(values["groups"]) == 1


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--cut", "bogus"], "range size bogus"),
        (["--cut", "range"], "--cut --by"),
        (["--by", "question_word", "--plot", "x.txt"], "x.txt .svg .pdf .png"),
        (["--by", "question_wort"], "question_wort question_word"),
        (["--json", "."], "folder file"),
        (["--answer-tags", "--metric", "bogus"], "exact f1 bogus"),
        (["--data", "dev.json", "--metric", "bogus"], "exact bogus"),
    ],
)
def test_arguments_are_checked_before_runs_are_read(runs, monkeypatch, options, message):
    pytest.importorskip("matplotlib")
    monkeypatch.setattr(compare, "compare_runs", None)
    monkeypatch.setattr(breakdown, "break_down_by", None)
    found = CliRunner().invoke(app, ["compare", str(runs[1]), *options])
    assert isinstance(found.exception, InputError)
    assert re.search(naming(message), str(found.exception))


def test_trees_are_parsed_once_for_all_groups(runs, monkeypatch):
    measured = []

    def measure(examples, names):
        measured.append(names)
        return {name: {each.id: 1.0 for each in examples} for name in names}

    monkeypatch.setattr(breakdown, "measure_parses", measure)
    names = ["parse_confidence", "question_word", "dependency_depth"]
    found = break_down_by(read_systems(runs), names)
    assert [each.grouping.property for each in found] == names
    assert measured == [["dependency_depth", "parse_confidence"]]


def test_the_figure_shows_both_systems(runs, tmp_path):
    pytest.importorskip("matplotlib")
    found = [break_down(runs, name) for name in ("question_word", "question_length")]
    write_breakdowns(found, tmp_path / "groups.svg")
    picture = (tmp_path / "groups.svg").read_text()
    for word in ("plain", "sg-net", "question length", "what (12)"):
        assert f">{word}<" in picture
    with pytest.raises(InputError, match=naming("groups.bmp .svg .pdf .png")):
        write_breakdowns(found, tmp_path / "groups.bmp")


def test_many_categories_have_horizontal_bars(tmp_path):
    """Thirty long names do not fit side by side under vertical bars."""
    pytest.importorskip("matplotlib")
    for count, turned in ((12, True), (30, False)):
        groups = tuple(Group(f"org:founded_by_{n}", n, n, n, (str(n),)) for n in range(count))
        found = Breakdown(Grouping("relation", False, groups), "f1", {"plain": (50.0,) * count})
        write_breakdowns([found], tmp_path / f"{count}.svg")
        picture = (tmp_path / f"{count}.svg").read_text()
        labels = [line for line in picture.splitlines() if ">org:founded_by_" in line]
        assert len(labels) == count
        assert all(("rotate(-45" in line) == turned for line in labels)


def test_changed_data_is_rejected(runs, tmp_path):
    squad(tmp_path / "harbour.json", copies=1)
    with pytest.raises(InputError, match=naming("plain harbour.json")):
        break_down(runs, "question_word")


def test_a_property_without_examples_is_rejected(tmp_path):
    data = tmp_path / "dev.json"
    row = {"id": "1", "question": "Why?", "answers": [], "is_impossible": True}
    paragraph = {"context": "The pier.", "qas": [row]}
    data.write_text(json.dumps({"data": [{"title": "", "paragraphs": [paragraph]}]}))
    with pytest.raises(InputError, match=naming("answer_length")):
        break_down([run(tmp_path / "plain", str(data), {"1": True})], "answer_length")


def test_gold_classes_are_scored_by_accuracy(tmp_path):
    """F1 within a gold class would miss its false positives, which are in other classes."""
    data = tmp_path / "dev.json"
    relations = ["no_relation", "no_relation", "per:origin"]
    rows = [
        {"id": str(number), "relation": relation, "token": ["Ada", "left", "Rome"],
         "subj_start": 0, "subj_end": 0, "obj_start": 2, "obj_end": 2,
         "subj_type": "PERSON", "obj_type": "CITY"}
        for number, relation in enumerate(relations)
    ]  # fmt: skip
    data.write_text(json.dumps(rows))
    folders = []
    for name, found in (("plain", [0, 0, 1]), ("other", [0, 1, 1])):
        dev = {"train": ["/data/train.json"], "dev": [str(data)]}
        preset = {"plain": "none", "other": "sg-net"}[name]
        folder = written_run(tmp_path / name, [1.0], task="relations", preset=preset, data=dev)
        scores = {
            str(number): {"accuracy": float(predicted == gold), "right": predicted * gold,
                          "predicted": predicted, "gold": gold}
            for number, (predicted, gold) in enumerate(zip(found, [0, 0, 1], strict=True))
        }  # fmt: skip
        (folder / "examples.json").write_text(json.dumps(scores))
        (folder / "metrics.json").write_text(json.dumps({"f1": 100.0, "accuracy": 100.0}))
        folders.append(folder)
    found = break_down(folders, "relation")
    assert found.score == "accuracy"
    assert found.rows()[1:] == [
        ["no_relation", "2", "100.0", "50.0"],
        ["per:origin", "1", "100.0", "100.0"],
    ]
