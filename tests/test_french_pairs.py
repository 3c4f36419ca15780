"""The French pairs: only who does what tells the label."""

from __future__ import annotations

import json
import re
from collections import Counter, defaultdict

import french_pairs
import pytest

from syntagma.tasks.experiment import load_experiment
from syntagma.tasks.pairs.data import read_pairs


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    folder = tmp_path_factory.mktemp("pairs")
    french_pairs.write_pairs(folder)
    return folder


@pytest.fixture(params=["train", "dev"])
def rows(made, request):
    lines = (made / f"{request.param}.jsonl").read_text(encoding="utf-8").splitlines()
    return [json.loads(line) for line in lines]


def test_both_labels_have_the_same_sentences_and_words(rows):
    assert len(rows) % 4 == 0
    for column in ("sentence1", "sentence2"):
        labels = defaultdict(Counter)
        for row in rows:
            labels[row[column]][row["gold_label"]] += 1
        assert all(len({*counts.values()}) == 1 and len(counts) == 2 for counts in labels.values())
    words = defaultdict(set)
    for place in range(0, len(rows), 4):
        for row in rows[place : place + 4]:
            found = re.findall(r"\w+", f"{row['sentence1']} {row['sentence2']}".lower())
            words[place].add(tuple(sorted(found)))
    assert all(len(found) == 1 for found in words.values())


def test_nobody_of_dev_is_in_training(made):
    people = {part: {*french_pairs.PEOPLE[part]} for part in ("train", "dev")}
    assert not people["train"] & people["dev"]
    text = (made / "train.jsonl").read_text(encoding="utf-8").lower()
    assert not any(name in text for name in people["dev"])


def test_sentences_are_written_as_in_french():
    event = french_pairs.Event("le marin", "conduit", "la serveuse")
    assert {french_pairs.written(each, event) for each in french_pairs.CONSTRUCTIONS} == {
        "Le marin conduit la serveuse.",
        "La serveuse est conduite par le marin.",
        "C'est le marin qui conduit la serveuse.",
        "C'est la serveuse que le marin conduit.",
        "Le marin, qui conduit la serveuse, sourit.",
        "La serveuse, que le marin conduit, sourit.",
        "La serveuse, le marin la conduit.",
    }


def test_the_recipe_reads_them_with_all_guides(made):
    settings = load_experiment("experiments/french_pairs.yaml")
    assert settings.preset == "all"
    assert settings.parser == "multilingual-parser:fr"
    assert len(read_pairs(made / "dev.jsonl").examples) == 1000
