"""Recomputed layers give the same gradients with less memory."""

from __future__ import annotations

import copy
import json
import pickle
from dataclasses import replace

import pytest
import torch
from torch.autograd.graph import saved_tensors_hooks

from syntagma.analysis.systems import read_systems
from syntagma.encoders.sites import find_sites, layers
from syntagma.errors import InputError
from syntagma.models.guided_encoder import GuidedEncoder
from syntagma.training.run import train
from tests.builders import experiment, pairs
from tests.conftest import SUPPORTED
from tests.guided import GUIDES, guided, whole_batch
from tests.messages import naming


def gradients(model: GuidedEncoder) -> tuple[dict[str, torch.Tensor], int]:
    """The gradients of a step with dropout, and how many numbers were saved for them."""
    kept = 0

    def count(tensor: torch.Tensor) -> torch.Tensor:
        nonlocal kept
        kept += tensor.numel()
        return tensor

    torch.manual_seed(5)
    with saved_tensors_hooks(count, lambda tensor: tensor):
        loss = model(**whole_batch()).last_hidden_state.square().mean()
    loss.backward()
    found = {name: p.grad for name, p in model.named_parameters() if p.grad is not None}
    return found, kept


@pytest.mark.parametrize("model_type", SUPPORTED)
def test_gradients_are_the_same_bit_for_bit(model_type):
    model, again = guided(model_type, **GUIDES).train(), guided(model_type, **GUIDES).train()
    again.gradient_checkpointing_enable()
    expected, kept = gradients(model)
    found, kept_again = gradients(again)
    assert found.keys() == expected.keys()
    assert all(torch.equal(found[name], expected[name]) for name in expected)
    assert kept_again < 0.7 * kept


def test_hooks_run_once_and_layers_twice():
    """What a guide adds before a layer must not be added twice."""
    model = guided("bert", **GUIDES).train()
    model.gradient_checkpointing_enable()
    changed, computed = [], []
    guide, before = model.tree_distance, model.tree_distance.before_layer
    guide.before_layer = lambda index, *rest: changed.append(index) or before(index, *rest)
    for layer in layers(model.trunk, find_sites("bert", purpose="")):
        layer.attention.register_forward_pre_hook(lambda *_: computed.append(1))
    gradients(model)
    assert changed == [0, 1]
    assert len(computed) == 4


def test_evaluation_and_names_do_not_change():
    model = guided("bert", **GUIDES).train().eval()
    forwards = [part.forward for part in model.modules()]
    names = model.state_dict().keys()
    expected = model(**whole_batch()).last_hidden_state
    model.gradient_checkpointing_enable()
    model.gradient_checkpointing_enable({"use_reentrant": False})
    assert torch.equal(model(**whole_batch()).last_hidden_state, expected)
    assert model.state_dict().keys() == names
    model.gradient_checkpointing_disable()
    assert [part.forward for part in model.modules()] == forwards


def test_a_copy_computes_with_its_own_weights():
    model = guided("bert", **GUIDES).train()
    model.gradient_checkpointing_enable()
    other = copy.deepcopy(model)
    with torch.no_grad():
        for weight in other.parameters():
            weight.zero_()
    assert all(not gradient.isnan().any() for gradient in gradients(model)[0].values())
    found, _ = gradients(other)
    assert all(not found[name].any() for name in found if ".query." in name)
    assert model(**whole_batch()).last_hidden_state.any()
    assert not other.trunk(whole_batch()["input_ids"]).last_hidden_state.any()


def test_a_model_with_recomputed_layers_can_be_pickled():
    model = guided("bert", **GUIDES).train()
    model.gradient_checkpointing_enable()
    other = pickle.loads(pickle.dumps(model))
    expected, kept = gradients(model)
    found, kept_again = gradients(other)
    assert kept_again == kept
    assert all(torch.equal(found[name], expected[name]) for name in expected)


def test_training_gives_the_same_model(tmp_path, tiny_encoder):
    data = pairs(tmp_path / "pairs.jsonl", copies=2)
    settings = experiment("pairs", data, tiny_encoder, preset="seprem", parser="linear")
    train(settings, tmp_path / "kept")
    again = replace(settings, training=replace(settings.training, gradient_checkpointing=True))
    train(again, tmp_path / "again")
    for name in ("model.safetensors", "metrics.json", "examples.json"):
        kept, computed = ((tmp_path / run / name).read_bytes() for run in ("kept", "again"))
        assert kept == computed
    assert json.loads((tmp_path / "again" / "config.json").read_text())["task"] == "pairs"
    # Runs that differ only in how they save memory belong to one system.
    first, second = (read_systems([tmp_path / run])[0].runs[0] for run in ("kept", "again"))
    assert first.kind == second.kind


def test_an_encoder_without_a_row_in_the_table_is_rejected():
    model = guided("bert", **GUIDES).train()
    model.config.encoder.model_type = "unheard-of"
    with pytest.raises(InputError, match=naming("unheard-of albert bert")):
        model.gradient_checkpointing_enable()
