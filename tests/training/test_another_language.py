"""From a treebank of another language to a model that reads with its trees."""

from __future__ import annotations

import json
import logging
import random

import pytest

from syntagma.evaluation import evaluate, open_model
from syntagma.parse.parser import JointParser
from syntagma.training.run import train
from tests import builders

NOUNS = ("chien", "marin", "voisin", "facteur", "boulanger", "pêcheur")
VERBS = ("suit", "voit", "attend", "appelle")
PARTICIPLES = dict(zip(VERBS, ("suivi", "vu", "attendu", "appelé"), strict=True))
ACTIVE = (("det", 2, "DET"), ("nsubj", 3, "NOUN"), ("root", 0, "VERB"), ("det", 5, "DET"),
          ("obj", 3, "NOUN"), ("punct", 3, "PUNCT"))  # fmt: skip
PASSIVE = (("det", 2, "DET"), ("nsubj:pass", 4, "NOUN"), ("aux:pass", 4, "AUX"),
           ("root", 0, "VERB"), ("case", 7, "ADP"), ("det", 7, "DET"), ("obl:agent", 4, "NOUN"),
           ("punct", 4, "PUNCT"))  # fmt: skip


def active(subject, verb, thing):
    return ["Le", subject, verb, "le", thing, "."]


def passive(subject, verb, thing):
    """The same in the passive, with the contraction *au* nowhere: each word is a token."""
    return ["Le", thing, "est", PARTICIPLES[verb], "par", "le", subject, "."]


def conllu(words, tree):
    text = " ".join(words[:-1]) + words[-1]
    rows = [f"# text = {text}"]
    for number, (word, (relation, head, upos)) in enumerate(zip(words, tree, strict=True), start=1):
        misc = "SpaceAfter=No" if number == len(words) - 1 else "_"
        rows.append(
            f"{number}\t{word}\t{word.lower()}\t{upos}\t_\t_\t{head}\t{relation}\t_\t{misc}"
        )
    return text, "\n".join(rows) + "\n\n"


def made(draw):
    subject, thing = draw.sample(NOUNS, 2)
    return subject, draw.choice(VERBS), thing


@pytest.fixture(scope="module")
def parser(tmp_path_factory, tiny_encoder):
    """A parser trained on a French treebank, with its words, tags and trees."""
    folder = tmp_path_factory.mktemp("french")
    draw = random.Random(1)
    sentences = [conllu(active(*made(draw)), ACTIVE)[1] for _ in range(60)]
    sentences += [conllu(passive(*made(draw)), PASSIVE)[1] for _ in range(60)]
    draw.shuffle(sentences)
    path = folder / "fr_made-ud-train.conllu"
    path.write_text("".join(sentences), encoding="utf-8")
    training = {"num_train_epochs": 6, "learning_rate": 3e-3, "head_learning_rate": 1e-2}
    head = {"morphology": ["auto"], "segmentation": "learned"}
    settings = builders.experiment("parsing", str(path), tiny_encoder, head=head, training=training)
    train(settings, folder / "parser")
    return folder / "parser"


def pairs(path, seed, n=120):
    """Who does it to whom: a passive sentence says the same, or the reverse."""
    draw = random.Random(seed)
    rows = []
    for number in range(n):
        subject, verb, thing = made(draw)
        same = number % 2 == 0
        other = passive(subject, verb, thing) if same else passive(thing, verb, subject)
        rows.append(
            {
                "sentence1": conllu(active(subject, verb, thing), ACTIVE)[0],
                "sentence2": conllu(other, PASSIVE)[0],
                "gold_label": "entailment" if same else "contradiction",
            }
        )
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return str(path)


def test_all_guides_read_a_parser_of_another_language(parser, tmp_path, tiny_encoder, caplog):
    data = pairs(tmp_path / "pairs.jsonl", seed=2)
    settings = builders.experiment(
        "pairs", data, tiny_encoder, preset="all", parser=str(parser),
        training={"num_train_epochs": 2},
    )  # fmt: skip
    with caplog.at_level(logging.WARNING):
        metrics = train(settings, tmp_path / "run")
    guides = json.loads((tmp_path / "run" / "config.json").read_text())["guides"]
    assert {"ancestor_attention", "tree_distance", "pos_embedding", "coattention"} <= guides.keys()
    # The treebank has no tags of its own, so POI-Net reads universal ones.
    assert guides["pos_embedding"]["tags"] == "upos"
    assert "seems to be in" not in caplog.text
    again = evaluate(tmp_path / "run", [data], precision="float32")
    assert again["accuracy"] == pytest.approx(metrics["accuracy"])
    # Other trees give other scores: the model reads those of the French parser.
    predictor = open_model(tmp_path / "run").predictor
    assert predictor.texts is not None
    parsed = JointParser.from_pretrained(parser)("Le marin est vu par le chien.")
    assert [len(parse.sentence.forms) for parse in parsed] == [8]
    assert parsed[0].upos[3] == "VERB"
