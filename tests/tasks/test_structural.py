"""Structural probes recover trees from hidden states, and scores equal those by hand."""

from __future__ import annotations

import json

import numpy as np
import pytest
import torch
from safetensors.torch import load_file

pytest.importorskip("scipy")

from syntagma.analysis.robustness import parser_table
from syntagma.errors import InputError
from syntagma.evaluation import evaluate, open_model
from syntagma.settings import build
from syntagma.tasks.experiment import Experiment
from syntagma.tasks.parsing.treebanks import TreeExample
from syntagma.tasks.probing.structural import StructuralTask
from syntagma.tasks.probing.tree_recovery import (
    ProbedSentence,
    gold_depths,
    gold_distances,
    smallest_tree,
    spearman,
)
from syntagma.text.sentence import Parse, Sentence
from syntagma.training.run import train
from tests.builders import treebank
from tests.messages import naming, says


def example(heads, punctuation=()):
    forms = ["-RRB-" if place in punctuation else f"w{place}" for place in range(len(heads))]
    gold = Parse(Sentence.from_words(forms), tuple(heads))
    return TreeExample("a", gold, None)


TREE = [2, 0, 2, 5, 3, 2]


def walk(heads):
    """Compute distances naively, by walking along the arcs."""
    n = len(heads)
    near = np.full((n, n), 99)
    for place, head in enumerate(heads):
        near[place, place] = 0
        if head:
            near[place, head - 1] = near[head - 1, place] = 1
    for k in range(n):
        near = np.minimum(near, near[:, k : k + 1] + near[k : k + 1])
    return near


def test_distances_and_depths_are_those_of_the_tree():
    tree = example(TREE)
    assert (gold_distances(tree) == walk(TREE)).all()
    assert (gold_depths(tree) == walk(TREE)[1]).all()


def test_gold_distances_give_the_gold_tree():
    tree = example(TREE, punctuation=[5])
    words = [0, 1, 2, 3, 4]
    found = smallest_tree(gold_distances(tree), words)
    assert found == {(0, 1), (1, 2), (3, 4), (2, 4)}


@pytest.fixture
def task(tmp_path, tiny_encoder):
    return build_task(treebank(tmp_path / "tides.conllu"), tiny_encoder)


def experiment(data, encoder, *, head=None, training=None, **changes):
    values = {
        "task": "structural",
        "encoder": str(encoder),
        "parser": "linear",
        "data": {"train": [data], "dev": [data]},
        "head": {"max_length": 96, "rank": 16} | (head or {}),
        "training": {
            "encoder": "frozen",
            "num_train_epochs": 40,
            "eval_steps": 0.25,
            "learning_rate": 3e-2,
            "batch_tokens": 128,
            "precision": "float32",
        }
        | (training or {}),
    }
    return build(Experiment, values | changes)


def build_task(data, encoder, **changes):
    torch.manual_seed(0)
    settings = experiment(data, encoder, **changes)
    return StructuralTask.new(settings, StructuralTask.read(data))


def test_scores_by_hand(task):
    tree = example(TREE, punctuation=[5])
    gold = ProbedSentence(gold_distances(tree))
    scores = task.score([tree], [gold])
    assert scores["uuas"] == scores["accuracy"] == 100
    # Of the gold arcs 0-1, 1-2, 2-4 and 3-4, three connect adjacent words.
    assert scores["chain_uuas"] == 75
    assert scores["spearman"] == pytest.approx(100)
    near = np.abs(np.subtract.outer(np.arange(6), np.arange(6))).astype(np.float32)
    assert task.score([tree], [ProbedSentence(near)])["uuas"] == 75
    rows = task.score_examples([tree, tree], [gold, ProbedSentence(near)])
    assert [row["accuracy"] for row in rows.values()] == [4, 3]
    assert len(rows) == 2, "sentences with equal ids are kept apart"


def test_symbols_tagged_as_words_are_not_punctuation(task):
    """The per cent sign is punctuation in Unicode, but a noun in Penn's tag set."""
    sentence = Sentence.from_words(["tides", "rose", "3", "%", "."])
    tags = ("NNS", "VBD", "CD", "NN", ".")
    for xpos, uuas in ((tags, 100 * 2 / 3), (("_",) * 5, 100)):
        tree = TreeExample("a", Parse(sentence, (2, 0, 4, 2, 2), xpos=xpos), None)
        near = np.abs(np.subtract.outer(np.arange(5), np.arange(5))).astype(np.float32)
        assert task.score([tree], [ProbedSentence(near)])["uuas"] == pytest.approx(uuas)


def test_rank_correlation_equals_scipys():
    from scipy.stats import spearmanr

    random = np.random.default_rng(0)
    tree = example(TREE)
    values = random.random((6, 6)).astype(np.float32)
    gold = gold_distances(tree)
    expected = np.mean([spearmanr(gold[row], values[row]).statistic for row in range(6)])
    assert spearman([tree], [ProbedSentence(values)], gold_distances) == pytest.approx(
        100 * expected
    )


@pytest.mark.parametrize("kind", ["distance", "depth"])
def test_the_loss_is_that_of_the_paper(kind, tmp_path, tiny_encoder):
    data = treebank(tmp_path / "tides.conllu")
    task = build_task(data, tiny_encoder, head={"kind": kind})
    examples = task.read(data)[:3]
    items = [task.features(examples)[index] for index in range(3)]
    batch = task.collate(items)
    with torch.no_grad():
        found = task.model.train()(**batch)
    losses = []
    for item in items:
        places = item.states.float() @ task.model.projection.weight.T
        if kind == "depth":
            seen = (places**2).sum(-1)
        else:
            seen = ((places[:, None] - places[None]) ** 2).sum(-1)
        losses.append((seen - torch.from_numpy(item.targets)).abs().mean().item())
    assert found.loss.item() == pytest.approx(np.mean(losses), rel=1e-4)


@pytest.mark.parametrize("preset", ["none", "sg-net", "seprem"])
@pytest.mark.parametrize("kind", ["distance", "depth"])
@pytest.mark.slow
def test_a_probe_learns_from_frozen_states(kind, preset, tmp_path, tiny_encoder):
    data = treebank(tmp_path / "tides.conllu")
    settings = experiment(data, tiny_encoder, head={"kind": kind}, preset=preset)
    metrics = train(settings, tmp_path / "run")
    # Every word depends on the previous one, so positions suffice to find the tree.
    if kind == "distance":
        assert metrics["chain_uuas"] == 100
        assert metrics["uuas"] > 40
    else:
        # Only about one word in ten is a root.
        assert metrics["root_accuracy"] > 40
    task = open_model(tmp_path / "run")
    task.predictor.precision = "float32"
    assert task.evaluate(task.read(data)) == pytest.approx(metrics, rel=1e-3)
    lines = (tmp_path / "run" / "predictions.jsonl").read_text().splitlines()
    assert len(json.loads(lines[0])["values"]) == len(task.read(data)[0].gold)


def words_of(examples):
    return [example.gold.sentence.forms for example in examples]


def test_the_control_is_independent_of_the_sentence(tmp_path, tiny_encoder):
    data = treebank(tmp_path / "tides.conllu")
    task = build_task(data, tiny_encoder, head={"states": "embeddings"})
    words = {}
    sentences = words_of(task.read(data))
    for forms, states in zip(sentences, task.predictor.word_states(sentences), strict=True):
        for form, state in zip(forms, states, strict=True):
            assert torch.equal(words.setdefault(form, state), state)


@pytest.mark.parametrize("preset", ["none", "seprem"])
def test_each_layer_of_an_encoder_can_be_read(preset, tmp_path, encoder_folders):
    data = treebank(tmp_path / "tides.conllu")
    for name in ("bert", "albert", "distilbert", "modernbert"):
        read = {}
        for layer in (1, 2, None):
            head = {"layer": layer}
            task = build_task(data, encoder_folders[name], head=head, preset=preset)
            sentences = words_of(task.read(data)[:4])
            read[layer] = torch.cat(task.predictor.word_states(sentences))
        assert not torch.equal(read[1], read[2]), name
        # A norm after the last layer, if there is one, is not part of the layer.
        if name != "modernbert":
            assert torch.equal(read[2], read[None]), name
        task = build_task(data, encoder_folders[name], head={"layer": 9}, preset=preset)
        with pytest.raises(InputError, match=naming("layer 9 1 2")):
            task.predictor.word_states(sentences)


@pytest.mark.parametrize(
    ("head", "message"),
    [
        ({"layer": 0}, "head layer 1 0"),
        ({"layer": 1, "states": "embeddings"}, "head layer 1 states embeddings"),
        ({"rank": 0}, "head rank 1 0"),
        ({"max_length": 9999}, "head.max_length 9999 160"),
    ],
)
def test_invalid_settings_are_reported(head, message, tmp_path, tiny_encoder):
    data = treebank(tmp_path / "tides.conllu")
    with pytest.raises(InputError, match=naming(message)):
        train(experiment(data, tiny_encoder, head=head), tmp_path / "run")


def test_sentences_that_are_too_long_count_as_wrong(tmp_path, tiny_encoder, caplog):
    data = treebank(tmp_path / "tides.conllu")
    for kind in ("distance", "depth"):
        task = build_task(data, tiny_encoder, head={"kind": kind})
        examples = task.read(data)
        special = task.predictor.texts.builder.n_special(1)
        encoded = task.predictor.texts.encode([" ".join(forms) for forms in words_of(examples)])
        lengths = sorted(len(text) + special for text in encoded.values())
        room = lengths[len(lengths) // 2]
        task = build_task(data, tiny_encoder, head={"kind": kind, "max_length": room})
        long = [len(encoded[" ".join(forms)]) + special > room for forms in words_of(examples)]
        assert 0 < sum(long) < len(long)
        caplog.clear()
        assert len(task.features(examples)) == len(examples) - sum(long)
        assert says(caplog.text, f"{sum(long)} {len(examples)} sentences")
        predictions = task.predict(examples)
        scores = task.score(examples, predictions)
        assert scores["too_long"] == pytest.approx(100 * sum(long) / len(long))
        rows = list(task.score_examples(examples, predictions).values())
        assert all(row["accuracy"] == 0 for row, is_long in zip(rows, long, strict=True) if is_long)
        assert all(row["arcs"] > 0 for row in rows)


def test_a_trainable_encoder_is_rejected(tmp_path, tiny_encoder):
    data = treebank(tmp_path / "tides.conllu")
    with pytest.raises(InputError, match=naming("training.encoder frozen full")):
        build_task(data, tiny_encoder, training={"encoder": "full"})


def test_guides_read_the_trees_of_the_named_source(tmp_path, tiny_encoder):
    data = treebank(tmp_path / "tides.conllu")
    states = {}
    for parser in ("linear", "linear:right", f"conllu:{data}"):
        task = build_task(data, tiny_encoder, preset="seprem", parser=parser)
        sentences = words_of(task.read(data))
        states[parser] = torch.cat(task.predictor.word_states(sentences))
    assert not torch.equal(states["linear"], states["linear:right"])
    # In this treebank each word depends on the previous one.
    assert torch.equal(states["linear"], states[f"conllu:{data}"])


def test_only_the_projection_is_saved(tmp_path, tiny_encoder):
    data = treebank(tmp_path / "tides.conllu")
    train(experiment(data, tiny_encoder, training={"num_train_epochs": 2}), tmp_path / "run")
    weights = load_file(tmp_path / "run" / "model.safetensors")
    own = {name for name in weights if not name.startswith("::")}
    assert own == {"projection.weight"}, "the published encoder is not saved again"
    assert weights["projection.weight"].dtype == torch.float32


def test_probes_are_compared_by_the_trees_that_their_guides_read(tmp_path, tiny_encoder):
    data = treebank(tmp_path / "tides.conllu")
    settings = experiment(data, tiny_encoder, training={"num_train_epochs": 1}, preset="seprem")
    train(settings, tmp_path / "run")
    found = parser_table([tmp_path / "run"], ["own", "random"], data=[data])
    (differences,) = found.intervals.values()
    assert list(differences[0]) == ["examples"]
    assert found.n_examples == 24


def test_a_saved_probe_is_evaluated(tmp_path, tiny_encoder):
    data = treebank(tmp_path / "tides.conllu")
    train(experiment(data, tiny_encoder, training={"num_train_epochs": 1}), tmp_path / "run")
    assert evaluate(tmp_path / "run", [data])["total"] == 24
