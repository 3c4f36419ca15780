"""Probes of frozen sentence vectors."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest
import torch
from safetensors.torch import load_file

from syntagma.analysis.parameters import read_numbers
from syntagma.errors import InputError
from syntagma.evaluation import evaluate, open_model
from syntagma.settings import build
from syntagma.tasks.experiment import Experiment
from syntagma.tasks.probing.data import ProbeExample, read_probe, write_probe
from syntagma.tasks.probing.task import ProbingTask
from syntagma.training.run import train
from tests.builders import probing
from tests.corpora import make_corpus, pretraining
from tests.messages import naming, says


class TestFiles:
    def test_splits_and_round_trip(self, tmp_path):
        examples = [
            ProbeExample("1", "tr", "NN", "A gull cried ."),
            ProbeExample("2", "va", "NNS", "Gulls cried ."),
            ProbeExample("3", "te", "NN", "The gull , it cried ."),
        ]
        write_probe(tmp_path / "a.txt", examples)
        assert read_probe(tmp_path / "a.txt") == examples
        assert read_probe(f"{tmp_path / 'a.txt'}#va") == [examples[1]]

    @pytest.mark.parametrize(
        ("text", "part", "message"),
        [
            ("tr\tNN\n", "", "a.txt line 1 tr va te tr\\tNN"),
            ("tr\tNN\tA .\nxx\tNN\tB .\n", "", "a.txt line 2 tr va te xx\\tNN\\tB"),
            ("tr\tNN\tA .\n", "#dev", "a.txt#dev te tr va"),
            ("tr\tNN\tA .\nva\tNN\tB .\n", "#te", "a.txt#te example tr va"),
            ("\n", "#te", "a.txt#te example"),
        ],
    )
    def test_invalid_files_are_named(self, tmp_path, text, part, message):
        (tmp_path / "a.txt").write_text(text)
        with pytest.raises(InputError, match=naming(message)):
            read_probe(f"{tmp_path / 'a.txt'}{part}")

    def test_a_split_of_a_file_in_a_folder_with_a_hash_sign(self, tmp_path):
        folder = tmp_path / "c#"
        folder.mkdir()
        (folder / "a.txt").write_text("tr\tNN\tA .\nte\tNN\tB .\n")
        assert len(read_probe(folder / "a.txt")) == 2
        assert [example.text for example in read_probe(f"{folder / 'a.txt'}#te")] == ["B ."]

    def test_invalid_lines_are_skipped_and_counted(self, tmp_path, caplog):
        (tmp_path / "a.txt").write_text("tr\tNN\tA .\nnonsense\n")
        assert len(read_probe(tmp_path / "a.txt", skip_bad=True)) == 1
        assert says(caplog.text, "1 lines")


def experiment(data, encoder, *, training=None, head=None, **changes):
    values = {
        "head": {"max_length": 96, "hidden": 20, "dropout": 0.1} | (head or {}),
        "task": "probing",
        "encoder": str(encoder),
        "parser": "linear",
        "data": {"train": [f"{data}#tr"], "dev": [f"{data}#va"]},
        "training": {
            "encoder": "frozen",
            "num_train_epochs": 20,
            "eval_steps": 0.25,
            "learning_rate": 1e-2,
            "batch_tokens": 16,
            "precision": "float32",
        }
        | (training or {}),
    }
    return build(Experiment, values | changes)


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    return probing(tmp_path_factory.mktemp("probing") / "gulls.txt")


@pytest.mark.parametrize(
    ("preset", "hidden"),
    [("none", 0), ("none", 20), ("sg-net", 20), ("seprem", 0), ("poi-net", 20)],
)
def test_a_probe_learns_without_changing_the_encoder(preset, hidden, data, tiny_encoder, tmp_path):
    settings = experiment(data, tiny_encoder, preset=preset, head={"hidden": hidden})
    metrics = train(settings, tmp_path / "run")
    assert metrics["accuracy"] == 100
    assert metrics["majority"] == 50
    scores = evaluate(tmp_path / "run", [f"{data}#te"], by=["label"])
    assert scores["accuracy"] > 90
    assert scores["label.gulls.total"] == scores["label.words.total"] == scores["total"] / 2
    from syntagma.encoders.load import encoder_weights

    model = open_model(tmp_path / "run").model
    for name, weight in encoder_weights(tiny_encoder).items():
        assert torch.equal(model.encoder.state_dict()[name], weight)
    assert len(json.loads((tmp_path / "run" / "examples.json").read_text())) == metrics["total"]
    # The scale of the states is saved with the model, but is not a parameter.
    numbers = read_numbers(tmp_path / "run")
    assert numbers is not None
    assert numbers.total == sum(weight.numel() for weight in model.parameters())


def test_the_guides_of_a_saved_model_are_probed(data, tiny_encoder, tmp_path):
    pytest.importorskip("pyarrow")
    corpus = make_corpus(tmp_path, copies=2)
    train(pretraining(corpus, tiny_encoder, training={"max_steps": 3}), tmp_path / "model")
    settings = experiment(
        data, tmp_path / "model", preset="saved", training={"num_train_epochs": 1}
    )
    task = ProbingTask.new(settings, ProbingTask.read(f"{data}#tr"))
    weights = load_file(tmp_path / "model" / "model.safetensors")
    assert task.model.tree_distance.alpha.item() == weights["tree_distance.alpha"].item()
    assert not task.model.tree_distance.alpha.requires_grad
    assert task.model.config.guides.keys() == {"tree_distance"}


def test_invalid_settings_are_reported(data, tiny_encoder):
    examples = ProbingTask.read(f"{data}#tr")
    with pytest.raises(InputError, match=naming("training.encoder frozen full")):
        ProbingTask.new(experiment(data, tiny_encoder, training={"encoder": "full"}), examples)
    with pytest.raises(InputError, match=naming("preset saved bert")):
        ProbingTask.new(experiment(data, tiny_encoder, preset="saved"), examples)
    with pytest.raises(
        InputError, match=naming("gulls.txt gulls.txt#tr gulls.txt#va gulls.txt#te")
    ):
        ProbingTask.read(data)
    one = [example for example in examples if example.label == "gulls"]
    with pytest.raises(InputError, match=naming("data.train label gulls")):
        ProbingTask.new(experiment(data, tiny_encoder), one)
    several = experiment(data, tiny_encoder, head={"hidden": [5, 6]})
    several = replace(several, data=replace(several.data, dev=()))
    with pytest.raises(InputError, match=naming("data.dev 2 head.hidden head.dropout head.l2")):
        ProbingTask.new(several, examples)
    for head, message in [
        ({"chosen": 1}, "head.chosen"),
        ({"hidden": []}, "head hidden"),
        ({"dropout": [0.1, 1.0]}, "head dropout [0, 1) 1.0"),
        ({"l2": -1.0}, "head l2 0 -1.0"),
    ]:
        with pytest.raises(InputError, match=naming(message)):
            ProbingTask.new(experiment(data, tiny_encoder, head=head), examples)


def test_the_best_of_several_classifiers_is_kept(data, tiny_encoder, tmp_path):
    """One candidate can learn, the other hardly can; each is trained as if it were the only one."""
    heads = {"both": {"hidden": [0], "l2": [1e6, 0.0]}, "alone": {"hidden": 0, "l2": 0.0}}
    for name, head in heads.items():
        head |= {"dropout": 0.0}
        settings = experiment(data, tiny_encoder, head=head, training={"num_train_epochs": 6})
        metrics = train(settings, tmp_path / name)
        assert metrics["accuracy"] == 100
    saved = json.loads((tmp_path / "both" / "config.json").read_text())["head"]
    assert saved["chosen"] == 1
    task = open_model(tmp_path / "both")
    examples = task.read(f"{data}#te")
    assert all(not found.candidates for found in task.predict(examples))
    best = task.evaluate(examples)["accuracy"]
    assert best > 90
    task.model.head = replace(task.model.head, chosen=0)
    assert task.evaluate(examples)["accuracy"] < best


def test_each_classifier_is_trained_as_if_alone(data, tiny_encoder):
    """The loss of a classifier, and thus its gradient, does not depend on the others."""
    torch.manual_seed(0)
    head = {"hidden": [5, 0], "dropout": [0.0], "l2": [0.0, 0.1]}
    task = ProbingTask.new(
        experiment(data, tiny_encoder, head=head), ProbingTask.read(f"{data}#tr")
    )
    examples = task.read(f"{data}#tr")
    batch = task.collate([task.features(examples)[index] for index in range(8)])
    model = task.model.train()
    whole = model(**batch).loss
    assert model(**batch).logits.shape == (8, 4, 2)
    losses = []
    for number in range(4):
        model.head = replace(model.head, chosen=number)
        losses.append(model(**batch).loss)
    assert whole.item() == pytest.approx(sum(loss.item() for loss in losses), rel=1e-5)
    weights = model.classifiers[3][-1].weight.square().sum() * 0.1
    scores = model(**batch).logits[:, 0]
    plain = torch.nn.functional.cross_entropy(scores, batch["labels"])
    assert losses[3].item() == pytest.approx((plain + weights).item(), rel=1e-5)


def test_truncated_sentences_are_counted(data, tiny_encoder, tmp_path):
    settings = experiment(
        data, tiny_encoder, head={"max_length": 8}, training={"num_train_epochs": 1}
    )
    metrics = train(settings, tmp_path / "run")
    task = open_model(tmp_path / "run")
    examples = task.read(f"{data}#va")
    special = task.predictor.texts.builder.n_special(1)
    encoded = task.predictor.texts.encode([example.text for example in examples])
    cut = [len(encoded[example.text]) + special > 8 for example in examples]
    assert 0 < metrics["truncated"] == pytest.approx(100 * sum(cut) / len(cut))


def test_unseen_labels_count_as_wrong_with_a_warning(data, tiny_encoder, tmp_path, caplog):
    settings = experiment(data, tiny_encoder, training={"num_train_epochs": 1})
    task = ProbingTask.new(settings, ProbingTask.read(f"{data}#tr"))
    strange = [ProbeExample("1", "te", "terns", "A tern cried .")]
    assert task.evaluate(strange)["accuracy"] == 0
    assert says(caplog.text, "1 gold labels")


def test_vectors_are_standardised_by_the_training_set(data, tiny_encoder):
    settings = experiment(data, tiny_encoder, head={"hidden": 0, "dropout": 0.0, "l2": 0.0})
    examples = ProbingTask.read(f"{data}#tr")
    task = ProbingTask.new(settings, examples)
    features = task.features(examples)
    vectors = torch.stack([features[index].vector for index in range(len(examples))])
    task.model.classifiers[0] = torch.nn.Identity()
    # It does not depend on the batch size, and is the same in training and evaluation.
    for model in (task.model.train(), task.model.eval()):
        normed = torch.cat([model(part).logits[:, 0] for part in vectors.split(3)])
        assert normed.mean(0).abs().max() < 1e-4
        assert (normed.std(0, correction=0) - 1).abs().max() < 0.01


@pytest.mark.parametrize(
    ("texts", "message"),
    [
        ("A gull cried .", "list texts 'A gull cried .'"),
        (b"A gull cried .", "list texts bytes decode"),
        ({"A gull": 1}, "list texts {'A gull': 1}"),
        (None, "list texts None"),
        (["A gull .", None], "text string None"),
        ([["A", "gull"]], "text string ['A', 'gull']"),
    ],
)
def test_what_is_not_a_list_of_sentences_is_reported(texts, message, data, tiny_encoder):
    probe = ProbingTask.new(
        experiment(data, tiny_encoder), ProbingTask.read(f"{data}#tr")
    ).predictor
    with pytest.raises(InputError, match=naming(message)):
        list(probe.stream(texts))
    with pytest.raises(InputError, match=naming(message)):
        probe.vectors(texts)
    [alone] = probe.vectors(["A gull cried ."])
    assert alone.values.shape == (probe.model.config.encoder.hidden_size,)
    assert list(probe.stream(iter(["A gull cried ."]))) == probe.classify([alone])


def test_sentences_are_not_tokenised_again(data, tiny_encoder):
    """Otherwise words such as `ca n't` would be tokenised again, and some sentences split."""
    settings = experiment(data, tiny_encoder, preset="sg-net", parser="linear")
    task = ProbingTask.new(settings, ProbingTask.read(f"{data}#tr"))
    [parses] = task.predictor.texts.cache.source.parse_texts(["It ca n't . Go !"])
    assert [parse.sentence.forms for parse in parses] == [("It", "ca", "n't", ".", "Go", "!")]
