"""Results on a GPU equal those on the CPU up to rounding."""

from __future__ import annotations

import copy
import json

import pytest
import torch

from syntagma.evaluation import evaluate
from syntagma.parse.sources.load import load_parser
from syntagma.tasks import find_task
from syntagma.training.run import train
from tests.builders import dream, experiment, pairs, squad
from tests.conftest import SENTENCES

DEVICE = "cuda"
DATA = {
    "choice": (dream, "dialogues.json"),
    "pairs": (pairs, "pairs.jsonl"),
    "spans": (squad, "harbour.json"),
}

pytestmark = [
    pytest.mark.gpu,
    pytest.mark.skipif(not torch.cuda.is_available(), reason="there is no CUDA device"),
]


def make_settings(task, preset, folder, encoder, **changes):
    write, name = DATA[task]
    data = write(folder / name, copies=1)
    fixed = {"hidden_dropout": 0.0, "attention_dropout": 0.0, "parser": "linear"}
    return experiment(task, data, encoder, preset=preset, **fixed | changes)


@pytest.mark.parametrize("preset", ["none", "sg-net", "poi-net", "seprem"])
@pytest.mark.parametrize("name", DATA)
def test_a_training_step_equals_that_of_the_cpu(name, preset, tmp_path, tiny_encoder):
    settings = make_settings(name, preset, tmp_path, tiny_encoder)
    torch.manual_seed(0)
    task = find_task(name).new(settings, find_task(name).read(*settings.data.train))
    features = task.features(task.read(*settings.data.train))
    batch = task.collate([features[index] for index in range(4)])
    found = {}
    for device in ("cpu", DEVICE):
        model = copy.deepcopy(task.model).to(device).train()
        loss = model(**{key: value.to(device) for key, value in batch.items()}).loss
        loss.backward()
        gradients = {key: part.grad for key, part in model.named_parameters()}
        found[device] = (
            loss,
            {key: part.cpu() for key, part in gradients.items() if part is not None},
        )
    (loss, expected), (other, gradients) = found["cpu"], found[DEVICE]
    torch.testing.assert_close(other.cpu(), loss, atol=1e-4, rtol=1e-4)
    assert gradients.keys() == expected.keys()
    for key, gradient in expected.items():
        torch.testing.assert_close(gradients[key], gradient, atol=1e-4, rtol=1e-3, msg=key)


def test_a_run_is_trained_scored_and_resumed_on_a_gpu(tmp_path, tiny_encoder):
    settings = make_settings("pairs", "sg-net", tmp_path, tiny_encoder)
    metrics = train(settings, tmp_path / "run")
    (data,) = settings.data.dev
    for device in ("cpu", DEVICE):
        scores = evaluate(tmp_path / "run", [data], device=device, precision="float32")
        assert scores["accuracy"] == pytest.approx(metrics["accuracy"], abs=4)
    assert train(settings, tmp_path / "run", resume=True) == json.loads(
        (tmp_path / "run" / "metrics.json").read_text()
    )


def test_a_parser_finds_the_same_trees_on_a_gpu(tiny_parser):
    one, other = (
        load_parser(tiny_parser, device=device, precision="float32").parse_texts(SENTENCES)
        for device in ("cpu", DEVICE)
    )
    for parses, others in zip(one, other, strict=True):
        assert [parse.heads for parse in parses] == [parse.heads for parse in others]
