"""Linear layers compute on few numbers of rows in bfloat16, and as ever in float32."""

from __future__ import annotations

import copy
import pickle

import pytest
import torch
from torch import nn

from syntagma.encoders.cpu.linear import missing_rows, pad_linear_layers, padded_rows


@pytest.fixture
def layer():
    torch.manual_seed(0)
    return nn.Sequential(nn.Linear(12, 7), nn.Linear(7, 5))


def padded(layer):
    other = copy.deepcopy(layer)
    pad_linear_layers(other)
    return other


def test_there_are_eight_numbers_of_rows_in_an_octave():
    assert len({padded_rows(n) for n in range(1025, 2049)}) == 8
    assert all(n <= padded_rows(n) <= max(16, n * 1.126) for n in range(1, 5000))


@pytest.mark.parametrize("shape", [(1, 12), (33, 12), (4, 9, 12), (0, 12), (12,)])
def test_bfloat16_differs_by_rounding_at_most(layer, shape):
    states = torch.randn(shape)
    with torch.autocast("cpu", torch.bfloat16):
        found, expected = padded(layer)(states), layer(states)
    assert found.shape == expected.shape
    assert found.dtype == expected.dtype == torch.bfloat16
    assert torch.allclose(found.float(), expected.float(), atol=0.02)


def test_the_layer_gets_a_padded_number_of_rows(layer):
    seen = []
    layer[0].register_forward_pre_hook(lambda _, inputs: seen.append(inputs[0].shape))
    other = padded(layer)
    rows = []
    original = torch.nn.functional.linear
    with pytest.MonkeyPatch.context() as patch, torch.autocast("cpu", torch.bfloat16):
        patch.setattr(
            torch.nn.functional,
            "linear",
            lambda x, *rest: (rows.append(len(x)), original(x, *rest))[1],
        )
        other(torch.randn(33, 12))
    assert rows == [36, 36]


def test_float32_is_the_same_bit_for_bit(layer):
    states = torch.randn(33, 12)
    assert torch.equal(padded(layer)(states), layer(states))
    assert missing_rows(states) == 0


def test_gradients_flow(layer):
    states = torch.randn(3, 11, 12)
    grads = []
    for model in (layer, padded(layer)):
        with torch.autocast("cpu", torch.bfloat16):
            model(states).float().square().sum().backward()
        grads.append(model[0].weight.grad)
    assert torch.allclose(*grads, rtol=0.05, atol=0.05)


def test_a_padded_model_is_copied_and_pickled_and_keeps_its_names(layer):
    other = padded(layer)
    assert other.state_dict().keys() == layer.state_dict().keys()
    states = torch.randn(5, 12)
    for again in (copy.deepcopy(other), pickle.loads(pickle.dumps(other))):
        with torch.no_grad():
            again[0].weight.zero_()
        assert not torch.equal(again(states), other(states))


def test_a_recorded_graph_has_no_padding(layer):
    exported = torch.export.export(padded(layer), (torch.randn(5, 12),))
    assert "pad" not in str(exported.graph)
