"""Weights that are kept packed give the same products, and never old ones."""

from __future__ import annotations

import copy
import pickle
import threading
from types import SimpleNamespace

import pytest
import torch
from torch import nn
from transformers import AutoModel

from syntagma.encoders.cpu import packed
from syntagma.encoders.cpu.linear import pad_linear_layers
from syntagma.encoders.cpu.packed import (
    PackedLinear,
    forget_packed,
    has_packing,
    pack_linear_layers,
)
from syntagma.encoders.cpu.shared_inputs import SharedInputs, layers_together
from syntagma.encoders.precision import set_precision
from syntagma.tasks.experiment import TrainingSettings
from syntagma.training.trainable import prepare_encoder
from tests.conftest import tiny_config

pytestmark = pytest.mark.skipif(not has_packing(), reason="oneDNN in bfloat16 is needed")


class Attention(nn.Module):
    """Three layers that read the same inputs, and one that reads theirs."""

    def __init__(self) -> None:
        super().__init__()
        self.query, self.key, self.value = (nn.Linear(48, 32) for _ in range(3))
        self.output = nn.Linear(32, 48, bias=False)

    def forward(self, states):
        return self.output(self.query(states) * self.key(states) + self.value(states))


@pytest.fixture
def model():
    torch.manual_seed(0)
    return Attention().eval()


@pytest.fixture
def states():
    return torch.randn(3, 11, 48)


def computed(model, states):
    with torch.no_grad(), torch.autocast("cpu", torch.bfloat16):
        return model(states)


def packed_copy(model):
    other = copy.deepcopy(model)
    pack_linear_layers(other)
    return other


@pytest.mark.parametrize("shape", [(1, 48), (3, 11, 48), (200, 48), (48,), (0, 48)])
@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
def test_products_are_those_of_torch_bit_for_bit(model, shape, dtype):
    states = torch.randn(shape, dtype=dtype)
    found, expected = computed(packed_copy(model), states), computed(model, states)
    assert torch.equal(found, expected)
    assert found.dtype == expected.dtype


def test_a_view_of_other_numbers_is_read_as_it_is(model):
    states = torch.randn(11, 3, 48).transpose(0, 1)
    other = packed_copy(model)
    assert torch.equal(computed(other, states), computed(other, states.contiguous()))


def test_outside_of_bfloat16_and_for_gradients_nothing_is_packed(model, states):
    other = packed_copy(model)
    with torch.no_grad():
        assert torch.equal(other(states), model(states))
    with torch.autocast("cpu", torch.bfloat16):
        other(states).float().sum().backward()
    assert other.query.weight.grad is not None
    assert other.query.forward.packed is None


def change_in_place(layer):
    with torch.no_grad():
        layer.weight.mul_(2)


def change_bias(layer):
    with torch.no_grad():
        layer.bias.add_(1)


def replace(layer):
    layer.weight = nn.Parameter(torch.randn_like(layer.weight))


def load(layer):
    layer.load_state_dict({name: value + 1 for name, value in layer.state_dict().items()})


def assign(layer):
    state = {name: value + 1 for name, value in layer.state_dict().items()}
    layer.load_state_dict(state, assign=True)


def train(layer):
    optimizer = torch.optim.AdamW(layer.parameters(), lr=0.1, fused=True)
    layer(torch.randn(4, 48)).sum().backward()
    optimizer.step()


def drop_bias(layer):
    layer.bias = None


@pytest.mark.parametrize(
    "change", [change_in_place, change_bias, replace, load, assign, train, drop_bias]
)
def test_changed_weights_are_packed_again(model, states, change):
    other = packed_copy(model)
    before = computed(other, states)
    change(other.query)
    after = computed(other, states)
    assert not torch.equal(after, before)
    model.query = nn.Linear(48, 32, bias=other.query.bias is not None)
    model.query.load_state_dict(other.query.state_dict())
    assert torch.equal(after, computed(model, states))


def test_a_change_that_torch_does_not_record_can_be_announced(model, states):
    other = packed_copy(model)
    before = computed(other, states)
    other.query.weight.data.mul_(2)
    forget_packed(other)
    assert not torch.equal(computed(other, states), before)


def test_merged_lora_weights_are_packed_again():
    pytest.importorskip("peft")
    torch.manual_seed(0)
    encoder = AutoModel.from_config(tiny_config("bert")).eval()
    whole = SimpleNamespace(encoder=encoder)
    merge = prepare_encoder(whole, TrainingSettings(encoder="lora", lora_rank=2))
    pack_linear_layers(encoder)
    for name, parameter in encoder.named_parameters():
        if "lora_B" in name:
            nn.init.normal_(parameter)
    ids = torch.randint(5, 20, (2, 9))
    with torch.no_grad(), torch.autocast("cpu", torch.bfloat16):
        before = encoder(ids).last_hidden_state
        merge()
        after = encoder(ids).last_hidden_state
        forget_packed(encoder)
        assert torch.equal(encoder(ids).last_hidden_state, after)
    # Equal but for rounding: the low-rank matrices are part of the weights now.
    assert torch.allclose(before, after, atol=0.1)


@pytest.mark.parametrize("make", [copy.deepcopy, lambda model: pickle.loads(pickle.dumps(model))])
def test_copies_have_weights_of_their_own(model, states, make):
    other = packed_copy(model)
    before = computed(other, states)
    again = make(other)
    assert torch.equal(computed(again, states), before)
    change_in_place(again.query)
    assert not torch.equal(computed(again, states), before)
    assert torch.equal(computed(other, states), before)


def test_names_of_weights_stay(model):
    assert packed_copy(model).state_dict().keys() == model.state_dict().keys()


def test_query_key_and_value_prepare_their_inputs_once(model, states, monkeypatch):
    other, calls = packed_copy(model), []
    pad_rows = packed.pad_rows
    monkeypatch.setattr(packed, "pad_rows", lambda x: calls.append(1) or pad_rows(x))
    for _ in range(2):
        computed(other, states)
    assert len(calls) == 4  # Twice those of the three, twice those of the output.
    assert other.query.forward.shared.inputs is None


def test_inputs_of_two_threads_are_not_mixed_up(model):
    other = packed_copy(model)
    given = [torch.randn(5, 48) for _ in range(8)]
    expected = [computed(model, states) for states in given]
    wrong = []

    def work(number):
        for _ in range(50):
            if not torch.equal(computed(other, given[number]), expected[number]):
                wrong.append(number)

    threads = [threading.Thread(target=work, args=(number,)) for number in range(len(given))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


def test_shared_inputs_are_prepared_again_for_another_tensor():
    shared, one, two = SharedInputs(2), torch.ones(2), torch.zeros(2)
    made = [shared.prepared(states, lambda x: x + 1) for states in (one, one, two, one)]
    assert [each[0].item() for each in made] == [2, 2, 1, 2]
    assert made[0] is made[1]
    # An equal tensor that is another object is not the same: it may be at the same address.
    assert shared.prepared(torch.ones(2), lambda x: x + 5)[0] == 6


def test_layers_are_together_only_where_all_have_their_names(model):
    assert layers_together(model) == [[model.query, model.key, model.value]]
    del model.key
    assert not layers_together(model)


def test_precision_packs_models_on_cpus(model, monkeypatch):
    set_precision(model, "float32")
    assert not isinstance(model.query.forward, PackedLinear)
    pad_linear_layers(model)
    set_precision(model, "bfloat16")
    assert isinstance(model.query.forward, PackedLinear)


def test_without_onednn_nothing_changes(model, states, monkeypatch):
    monkeypatch.setattr(packed, "has_packing", lambda: False)
    expected = computed(model, states)
    pack_linear_layers(model)
    assert "forward" not in vars(model.query)
    assert torch.equal(computed(model, states), expected)
