"""The pairs that only structure decides: nothing else tells the label, and the trees are right."""

from __future__ import annotations

import json
import random
import re
import sys
from collections import Counter, defaultdict

import numpy as np
import pytest
import structural_pairs
from structural_pairs import LABELS, area_under_curve, draw_group, mean_interval, sentence_of
from structure_templates import words
from structure_templates.constructions import CONSTRUCTIONS, KEPT_OUT

from syntagma.errors import InputError
from syntagma.parse.sources.load import load_source
from syntagma.tasks.pairs.data import read_pairs
from syntagma.text.conllu import read_conllu
from tests.messages import naming


def make(monkeypatch, folder, *arguments) -> None:
    given = ["structural_pairs.py", "make", "--out", str(folder), *map(str, arguments)]
    monkeypatch.setattr(sys, "argv", given)
    structural_pairs.main()


def rows_in(path):
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    folder = tmp_path_factory.mktemp("structure")
    with pytest.MonkeyPatch.context() as patch:
        make(patch, folder, "--train", 150, "--dev", 45, "--kept-out", 45)
    return folder


@pytest.fixture(params=structural_pairs.PARTS)
def rows(made, request):
    return rows_in(made / f"{request.param}.jsonl")


def words_of(text: str) -> Counter[str]:
    return Counter(re.findall(r"\w+", text.lower()))


class TestNothingButStructureTellsTheLabel:
    def test_premises_and_conclusions_have_each_label_equally_often(self, rows):
        for column in ("sentence1", "sentence2"):
            labels = defaultdict(Counter)
            for row in rows:
                labels[row[column]][row["gold_label"]] += 1
            assert all(counts[LABELS[0]] == counts[LABELS[1]] > 0 for counts in labels.values())

    def test_the_words_of_a_group_are_the_same_under_both_labels(self, rows):
        groups = defaultdict(list)
        for row in rows:
            groups[row["pairID"].rpartition("-")[0]].append(row)
        for pairs in groups.values():
            assert Counter(row["gold_label"] for row in pairs) == dict.fromkeys(LABELS, 2)
            assert len({str(sorted(words_of(row["sentence1"]).items())) for row in pairs}) == 1
            for conclusion in {row["sentence2"] for row in pairs}:
                labels = {row["gold_label"] for row in pairs if row["sentence2"] == conclusion}
                assert labels == {*LABELS}
            assert len({(row["sentence1"], row["sentence2"]) for row in pairs}) == 4

    def test_overlap_and_length_say_nothing(self, rows):
        features = defaultdict(Counter)
        for row in rows:
            first, second = words_of(row["sentence1"]), words_of(row["sentence2"])
            overlap = (first & second).total(), first.total(), second.total()
            features[row["gold_label"]][overlap] += 1
        assert features[LABELS[0]] == features[LABELS[1]]


def test_constructions_that_are_kept_out_are_in_no_training_pair(made):
    found = {
        part: {row["pairID"].split("-")[0] for row in rows_in(made / f"{part}.jsonl")}
        for part in structural_pairs.PARTS
    }
    assert found["kept_out"] == {*KEPT_OUT}
    assert found["train"] == found["dev"] == {*CONSTRUCTIONS} - {*KEPT_OUT}


def test_no_premise_is_in_two_parts(made):
    premises = [
        {row["sentence1"] for row in rows_in(made / f"{part}.jsonl")}
        for part in structural_pairs.PARTS
    ]
    assert not premises[0] & premises[1]
    assert not (premises[0] | premises[1]) & premises[2]


def test_every_sentence_has_its_tree(made):
    source = load_source(f"conllu:{made / 'trees.conllu'}")
    for part in structural_pairs.PARTS:
        texts = [row[name] for row in rows_in(made / f"{part}.jsonl") for name in row][:40]
        texts = [text for text in texts if text.endswith(".")]
        for parses in source.parse_texts(texts):
            assert len(parses) == 1
            assert parses[0].heads.count(0) == 1


def test_a_text_never_has_two_trees(made):
    trees = defaultdict(set)
    for sentence in read_conllu(made / "trees.conllu"):
        trees[sentence.text].add(sentence.rows)
    assert all(len(each) == 1 for each in trees.values())


@pytest.mark.parametrize(
    ("construction", "premise"),
    [
        ("object_relative", r"The \w+ (\w+ the \w+ )?that the \w+ \w+( \w+)?\."),
        ("reduced_relative", r"The \w+ \w+ by the \w+ \w+\."),
        ("dative_shift", r"The \w+ \w+ the \w+ the \w+\."),
        ("gapping", r"The \w+ \w+ the \w+ and the \w+ the \w+\."),
        ("possessive", r"The \w+'s \w+ \w+ the \w+\."),
        ("object_control", r"The \w+ \w+ the \w+ to \w+\."),
    ],
)
def test_the_premises_have_the_form_of_their_construction(construction, premise, monkeypatch):
    monkeypatch.setattr(structural_pairs, "TIMED", 0.0)
    for seed in range(20):
        group = draw_group(construction, random.Random(seed))
        for root in group.premises:
            assert re.fullmatch(premise, sentence_of(root)), sentence_of(root)


def facts_of(root) -> set[tuple[str, str, str]]:
    """Read (agent, act, patient) off a tree, by its relations alone; "" for nobody."""
    found: set[tuple[str, str, str]] = set()

    def named(node, antecedent):
        return antecedent if node.word == "that" else node.word

    def walk(node, antecedent="", subject=""):
        children = [*node.left, *node.right]
        by = {relation: named(child, antecedent) for relation, child in children}
        agent = by.get("nsubj") or by.get("obl:agent") or ""
        patient = by.get("nsubj:pass") or by.get("obj") or ""
        if node.upos == "VERB":
            if node.xpos == "VBN" and not patient:
                patient = antecedent
            agent = agent or (subject if node.xpos != "VBN" else "")
            found.add((agent, node.word, patient))
        for relation, child in children:
            if relation in ("acl:relcl", "acl"):
                walk(child, node.word)
            elif relation == "xcomp":
                walk(child, antecedent, by.get("obj", ""))
            elif (relation == "conj" and child.upos == "VERB") or relation == "advcl":
                walk(child, antecedent, agent)
            elif relation == "conj":
                orphan = next(each for name, each in child.right if name == "orphan")
                found.add((child.word, node.word, orphan.word))
            else:
                walk(child, antecedent)

    walk(root)
    return found


@pytest.mark.parametrize(
    "construction",
    [name for name in CONSTRUCTIONS if name not in ("attribute",) and "dative" not in name],
)
def test_a_conclusion_follows_from_the_tree_of_its_own_premise_only(construction):
    for seed in range(30):
        group = draw_group(construction, random.Random(seed))
        premises = [facts_of(root) for root in group.premises]
        for which, root in enumerate(group.conclusions):
            ((agent, act, patient),) = facts_of(root)
            bare = {
                (a, w, "" if not patient else p)
                for a, word, p in premises[which]
                for w in (word, *_pasts(word))
            }
            wrong = {
                (a, w, "" if not patient else p)
                for a, word, p in premises[1 - which]
                for w in (word, *_pasts(word))
            }
            assert (agent, act, patient) in bare
            assert (agent, act, patient) not in wrong


def _pasts(word: str) -> set[str]:
    return {words.past(base) for base in words.MOVES if word in (base, words.gerund(base))}


def test_a_construction_that_does_not_exist_is_an_error(tmp_path, monkeypatch):
    with pytest.raises(InputError, match=naming("--keep-out topic object_cleft")):
        make(monkeypatch, tmp_path, "--keep-out", "topic")
    with pytest.raises(InputError, match=naming(f"--keep-out {len(CONSTRUCTIONS)}")):
        make(monkeypatch, tmp_path, "--keep-out", *CONSTRUCTIONS)


class TestScores:
    def test_the_area_counts_pairs_in_the_right_order(self):
        assert area_under_curve([0.9, 0.8], [0.1, 0.2]) == 1.0
        assert area_under_curve([0.9, 0.1], [0.5, 0.5]) == 0.5
        assert area_under_curve([0.5], [0.5]) == 0.5

    def test_intervals_are_over_groups(self):
        low, high = mean_interval(np.array([0.0, 1.0] * 50))
        assert 35 < low < 45
        assert 55 < high < 65

    def test_differences_are_paired_by_seed(self):
        def found(*areas):
            return {
                seed: {"dev all": structural_pairs.Found(np.ones(4), np.full(4, area))}
                for seed, area in enumerate(areas, start=1)
            }

        rows = list(
            structural_pairs.table_rows(
                {"plain": found(0.5, 0.7), "sg-net": found(0.6, 0.9)}, "plain"
            )
        )
        assert rows[1]["area"] == pytest.approx(75)
        assert rows[1]["area_difference"] == pytest.approx(15)
        low, high = rows[1]["area_difference_interval"]
        assert (low + high) / 2 == pytest.approx(15)

    def test_a_run_without_a_seed_is_an_error(self):
        with pytest.raises(InputError, match=naming("runs/plain SYSTEM-SEED")):
            structural_pairs.system_and_seed("runs/plain")
        assert structural_pairs.system_and_seed("runs/structure_sg-net-12") == ("sg-net", 12)


def test_the_pairs_are_read_as_they_were_written(made):
    examples = read_pairs(made / "kept_out.jsonl").examples
    assert len(examples) == 4 * 45
    assert {example.label for example in examples} == {*LABELS}
