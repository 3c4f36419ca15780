"""The French pairs: what they say, and what their labels depend on."""

from __future__ import annotations

import json
import re
from collections import Counter

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


def test_the_label_depends_on_what_changed(rows):
    labels = {(row["changed"], row["gold_label"]) for row in rows}
    assert labels == {
        ("nothing", "entailment"),
        ("negation", "contradiction"),
        ("verb", "neutral"),
        ("agent", "neutral"),
        ("patient", "neutral"),
    }
    assert Counter(row["gold_label"] for row in rows) == {
        "entailment": len(rows) / 4,
        "contradiction": len(rows) / 4,
        "neutral": len(rows) / 2,
    }


def test_no_construction_or_person_gives_the_label_away(rows):
    for words in ("C'est ", "Voici ", "est .* par ", "forgeron|boulanger"):
        found = [row for row in rows if re.search(words, row["sentence2"])]
        assert {row["gold_label"] for row in found} == {"entailment", "contradiction", "neutral"}


def test_only_a_contradiction_is_denied(rows):
    for row in rows:
        assert " pas" not in row["sentence1"]
        denied = bool(re.search(r"\bn(e |').* pas\b", row["sentence2"]))
        assert denied == (row["gold_label"] == "contradiction")


def test_nobody_of_dev_is_in_training(made):
    people = {part: {*french_pairs.PEOPLE[part]} for part in ("train", "dev")}
    assert not people["train"] & people["dev"]
    text = (made / "train.jsonl").read_text(encoding="utf-8").lower()
    assert not any(name in text for name in people["dev"])


def test_sentences_are_written_as_in_french():
    event = french_pairs.Event("le marin", "conduit", "la serveuse")
    assert [french_pairs.written(each, event) for each in french_pairs.CONSTRUCTIONS] == [
        "Le marin conduit la serveuse.",
        "La serveuse est conduite par le marin.",
        "C'est le marin qui conduit la serveuse.",
        "C'est la serveuse que le marin conduit.",
        "Voici le marin qui conduit la serveuse.",
        "Voici la serveuse que le marin conduit.",
    ]
    denied = french_pairs.Event("la danseuse", "attend", "le berger", denied=True)
    assert french_pairs.written("active", denied) == "La danseuse n'attend pas le berger."
    assert french_pairs.written("passive", denied) == (
        "Le berger n'est pas attendu par la danseuse."
    )


def test_the_recipe_reads_them_with_all_guides(made):
    settings = load_experiment("experiments/french_pairs.yaml")
    assert settings.preset == "all"
    assert settings.parser == "multilingual-parser:fr"
    assert len(read_pairs(made / "dev.jsonl").examples) == 1000
