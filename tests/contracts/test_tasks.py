"""What must hold for every combination of task, guide and encoder, in training mode too.

A step lowers the loss and reaches every trainable parameter. Saving and loading, padding,
batching and gradient accumulation change nothing.
"""

from __future__ import annotations

from pathlib import Path

import pytest
import torch
from transformers import TrainerCallback

from syntagma.errors import InputError
from syntagma.evaluation import open_model
from syntagma.runs.folder import RunFolder
from syntagma.tasks import TASKS, find_task
from syntagma.training.run import training_arguments
from syntagma.training.trainable import prepare_encoder
from syntagma.training.trainer import SyntagmaTrainer
from tests.builders import brackets, experiment
from tests.conftest import ENCODERS, crossed
from tests.messages import naming

# Pre-training streams its data and masks it at random, and translation also has a decoder: both
# have their own tests.
EXCLUDED = {"pretraining", "translation"}
SAMPLES = {name: task.sample for name, task in TASKS.items() if name not in EXCLUDED}
FROZEN = {name for name, sample in SAMPLES.items() if sample.training.get("encoder") == "frozen"}
# The parser takes no guides; its cases differ in what it learns.
PARSERS = ["dependencies", "morphology", "separate", "joint"]
CASES = [
    (name, preset)
    for name, sample in SAMPLES.items()
    for preset in (PARSERS if name == "parsing" else sample.presets)
]
# Not one of the presets, and not for every encoder.
BIASES = {"tree_bias": {"labels": True}, "ancestor_heads": {}}
BIASED = [(name, guide) for guide in BIASES for name in SAMPLES if name != "parsing"]


@pytest.fixture(scope="module")
def data(tmp_path_factory) -> dict[str, str]:
    found = {}
    for name, sample in SAMPLES.items():
        folder = tmp_path_factory.mktemp(name)
        found[name] = sample.write(folder, 1 if name in ("parsing", "structural") else 2)
    return found | {"phrases": brackets(Path(found["parsing"]).with_suffix(".ptb"), copies=1)}


def build_task(name, preset, encoder_folder, data, **training):
    changes = {"hidden_dropout": 0.0, "attention_dropout": 0.0}
    path = data[name]
    if name == "parsing":
        if preset == "morphology":
            changes["head"] = {"morphology": ["feats", "lemmas"]}
        elif preset != "dependencies":
            path = f"{path}+{data['phrases']}"
            changes["head"] = {"decoding": preset}
    elif preset == "all":
        guides = {"ancestor_attention": {}, "tree_distance": {}}
        changes |= {"preset": "poi-net", "guides": guides}
    elif preset in BIASES:
        changes |= {"guides": {preset: BIASES[preset]}}
    else:
        changes |= {"preset": preset}
    settings = experiment(name, path, str(encoder_folder), training=training, **changes)
    task_class = find_task(name)
    examples = task_class.read(path)
    torch.manual_seed(0)
    return task_class.new(settings, examples), examples, settings


@pytest.mark.parametrize(
    ("name", "preset", "model_type"),
    [*crossed(CASES), *crossed(BIASED, [name for name in ENCODERS if name != "deberta-v2"])],
)
def test_a_step_lowers_the_loss_and_reaches_every_parameter(
    name, preset, model_type, encoder_folders, data
):
    task, examples, _ = build_task(name, preset, encoder_folders[model_type], data)
    features = task.features(examples)
    batch = task.collate([features[index] for index in range(min(8, len(features)))])
    model = task.model.train()
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-3 if name == "structural" else 0.02)
    losses = []
    for _ in range(3):
        loss = model(**batch).loss
        losses.append(loss.item())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    assert losses[-1] < losses[0]
    unreached = [
        key for key, parameter in model.named_parameters()
        if not key.startswith("encoder.") and parameter.requires_grad and parameter.grad is None
    ]  # fmt: skip
    assert not unreached
    if name in FROZEN:
        trainable = {key for key, parameter in model.named_parameters() if parameter.requires_grad}
        assert {key.partition(".")[0] for key in trainable} <= {"classifiers", "projection"}


@pytest.mark.parametrize(("name", "preset"), CASES + BIASED)
def test_saving_and_loading_changes_nothing(name, preset, encoder_folders, data, tmp_path):
    task, examples, _ = build_task(name, preset, encoder_folders["bert"], data)
    # Before saving, because a probe saves the mean and deviation of its training vectors.
    features = task.features(examples)
    task.save(tmp_path)
    reloaded = open_model(tmp_path)
    batch = task.collate([features[index] for index in range(4)])
    with torch.no_grad():
        one, other = task.model.eval()(**batch), reloaded.model.eval()(**batch)
    assert torch.equal(one.loss, other.loss)
    assert not list(tmp_path.glob("*.bin"))
    text = (tmp_path / "config.json").read_text()
    assert str(encoder_folders["bert"]) not in text


@pytest.mark.parametrize("name", SAMPLES)
def test_a_saved_model_computes_in_the_requested_precision(name, encoder_folders, data, tmp_path):
    task, examples, _ = build_task(name, dict(CASES[::-1])[name], encoder_folders["bert"], data)
    task.features(examples)
    task.save(tmp_path)
    for precision, is_lower in (("bfloat16", True), ("float32", False)):
        reloaded, seen = open_model(tmp_path, precision=precision), set()
        for module in reloaded.model.modules():
            module.register_forward_pre_hook(
                lambda *_, seen=seen: seen.add(torch.is_autocast_enabled("cpu"))
            )
        reloaded.predict(examples[:4])
        assert is_lower in seen
        assert precision == "bfloat16" or True not in seen


@pytest.mark.parametrize("name", SAMPLES)
def test_the_scores_of_examples_are_found_by_their_ids(name, encoder_folders, data):
    preset = "dependencies" if name == "parsing" else "none"
    task, examples, _ = build_task(name, preset, encoder_folders["bert"], data)
    some = examples[:4]
    rows = task.score_examples(some, task.predict(some))
    assert rows.keys() == {task.row_id(example, place) for place, example in enumerate(some)}


@pytest.mark.parametrize("training", [False, True])
@pytest.mark.parametrize(("name", "preset"), CASES)
def test_padding_changes_nothing(name, preset, training, encoder_folders, data):
    task, examples, _ = build_task(name, preset, encoder_folders["bert"], data)
    features = task.features(examples)
    by_length = sorted(range(len(features)), key=lambda index: features.lengths[index])
    short, long = features[by_length[0]], features[by_length[-1]]
    model = task.model.train(training)

    def gradients(batches):
        model.zero_grad()
        for batch in batches:
            model(**task.collate(batch)).loss.backward()
        return {key: p.grad.clone() for key, p in model.named_parameters() if p.grad is not None}

    # The gradient of a batch must be the weighted mean of the gradients of its examples.
    alone, together = gradients([[short]]), gradients([[short, long]])
    only_long = gradients([[long]])
    # The loss is a mean over examples, but that of the parser is a mean over words.
    n_short, n_long = (
        (len(item.encoded.shapes) if name == "parsing" else 1) for item in (short, long)
    )
    for key in alone:
        expected = (n_short * alone[key] + n_long * only_long[key]) / (n_short + n_long)
        torch.testing.assert_close(together[key], expected, atol=1e-5, rtol=1e-4, msg=key)


class KeepGradients(TrainerCallback):
    def __init__(self, model):
        self.model = model
        self.kept = None

    def on_pre_optimizer_step(self, args, state, control, **kwargs):
        if self.kept is None:
            self.kept = {
                key: p.grad.clone()
                for key, p in self.model.named_parameters()
                if p.grad is not None
            }
            control.should_training_stop = True


def first_gradients(encoder, data, folder: Path, **training):
    task, examples, settings = build_task(
        "spans", "none", encoder, data, num_train_epochs=1, max_grad_norm=1e9, **training
    )
    # Windows of equal length, so that the token budget alone decides how many are in a batch.
    features = task.features(examples)
    length = max(features.lengths)
    features.items[:] = [item for item in features.items if len(item) == length][:8]
    assert len(features.items) == 8
    task.features = lambda _: features
    run = RunFolder(folder)
    trainer = SyntagmaTrainer(
        task=task,
        settings=settings.training,
        arguments=training_arguments(run, settings.training, evaluates=False),
        train=examples,
        dev={},
        folder=run,
    )
    keep = KeepGradients(task.model)
    trainer.add_callback(keep)
    trainer.train()
    return keep.kept, length


def test_accumulating_gradients_changes_nothing(encoder_folders, data, tmp_path):
    encoder = encoder_folders["bert"]
    _, length = first_gradients(
        encoder, data, tmp_path / "probe", batch_tokens=10_000, gradient_accumulation_steps=1
    )
    one, _ = first_gradients(
        encoder, data, tmp_path / "one", batch_tokens=8 * length, gradient_accumulation_steps=1
    )
    four, _ = first_gradients(
        encoder, data, tmp_path / "four", batch_tokens=2 * length, gradient_accumulation_steps=4
    )
    assert one.keys() == four.keys()
    for key in one:
        torch.testing.assert_close(one[key], four[key], atol=1e-6, rtol=1e-4, msg=key)


@pytest.mark.parametrize("how", ["full", "layers", "frozen", "lora"])
def test_only_the_chosen_weights_are_trained(how, encoder_folders, data, tmp_path):
    if how == "lora":
        pytest.importorskip("peft")
    task, examples, settings = build_task(
        "spans", "sg-net", encoder_folders["bert"], data, encoder=how
    )
    before = {key: value.clone() for key, value in task.model.state_dict().items()}
    merge = prepare_encoder(task.model, settings.training)
    model = task.model.train()
    features = task.features(examples)
    batch = task.collate([features[index] for index in range(4)])
    optimizer = torch.optim.SGD([p for p in model.parameters() if p.requires_grad], lr=0.1)
    for _ in range(2):
        model(**batch).loss.backward()
        optimizer.step()
        optimizer.zero_grad()
    merge()
    after = task.model.state_dict()
    assert after.keys() == before.keys()
    moved = {key for key in before if not torch.equal(before[key], after[key])}
    in_encoder = {key for key in moved if key.startswith("encoder.")}
    assert {"span_scores.weight"} <= moved
    assert any(key.startswith("ancestor_attention.") for key in moved)
    table = "encoder.embeddings.word_embeddings.weight"
    if how == "frozen":
        assert not in_encoder
        # The weights of the encoder are not saved again.
        task.save(tmp_path, bits=8)
        size = (tmp_path / "model.safetensors").stat().st_size
        guide = sum(p.numel() for key, p in task.model.named_parameters() if key in moved)
        assert size < 2.2 * guide + 8000
    else:
        assert in_encoder
        assert (table in moved) == (how == "full")


NOT_TEXT = [
    ("choice", "", ("A gull.", None, ["yes", "no"]), "question None"),
    ("choice", "", (7, "Who?", ["yes", "no"]), "passage 7"),
    ("choice", "", ("A gull.", "Who?", ["yes", None]), "option None"),
    ("open_qa", "reader", (["Who?"], ["A gull."]), "question ['Who?']"),
    ("open_qa", "reader", ("Who?", ["A gull.", None]), "paragraph None"),
    ("pairs", "", ("A gull.", b"A gull."), "second text b'A gull.'"),
    ("pairs", "", (" ", "A gull."), "first text empty"),
    ("relations", "", (None, (0, 1), (2, 6)), "text None"),
    ("relations", "", ("A gull.", "A", (2, 6)), "mention (start, end) 'A'"),
    ("spans", "", ("A gull.", 1.5), "pair 1 question 1.5"),
    ("spans", "", (None, "Who?"), "pair 1 passage None"),
    ("typing", "", ("A gull.", (2.0, 6.0)), "mention (start, end) (2.0, 6.0)"),
    ("typing", "", ("A gull.", None), "mention (start, end) None"),
    ("typing", "", (["A gull."], (2, 6)), "text ['A gull.']"),
]


@pytest.mark.parametrize(("name", "attribute", "item", "message"), NOT_TEXT)
def test_inputs_that_are_not_text_are_reported(
    name, attribute, item, message, encoder_folders, data
):
    """Such as an empty cell of a table, in a stream of inputs."""
    task, _, _ = build_task(name, "none", encoder_folders["bert"], data)
    with pytest.raises(InputError, match=naming(message)):
        list(getattr(task, attribute or "predictor").stream([item]))
