"""Dropout of our own does what torch's does."""

import copy

import pytest
import torch
from torch import nn
from torch.nn import functional

from syntagma.encoders.cpu.dropout import fast_functional_dropout, use_fast_dropout


def fast(module):
    use_fast_dropout(module)
    return module.train()


@pytest.mark.parametrize("probability", [0.1, 0.33, 0.5, 1 - 2**-18])
@pytest.mark.parametrize("shape", [(1000, 1001), (7,), ()])
def test_dropout_drops_its_share_and_scales_the_rest(probability, shape):
    torch.manual_seed(0)
    states = torch.full(shape, 3.0, dtype=torch.float64, requires_grad=True)
    kept = fast(nn.Dropout(probability))(states)
    assert kept.shape == shape
    assert kept.isfinite().all()
    if states.numel() < 1000 or probability > 0.9:
        return
    # Five standard deviations of a million draws.
    share = (kept == 0).double().mean().item()
    assert share == pytest.approx(probability, abs=5 * (probability / 1e6) ** 0.5)
    assert kept.mean().item() == pytest.approx(3, abs=0.02)
    assert kept.unique().numel() == 2


def test_dropped_states_are_independent_of_their_neighbours():
    torch.manual_seed(0)
    dropped = (fast(nn.Dropout(0.5))(torch.ones(2**20)) == 0).double() - 0.5
    for distance in (1, 2, 3, 4, 8):
        together = (dropped[distance:] * dropped[:-distance]).mean().item() * 4
        assert abs(together) < 5 / 2**10


def test_gradients_pass_where_states_did():
    torch.manual_seed(0)
    states = torch.randn(40, 30, requires_grad=True)
    kept = fast(nn.Dropout(0.3))(states)
    kept.sum().backward()
    assert torch.allclose(states.grad * states, kept)
    assert (states.grad == 0).any()


def test_the_seed_says_which():
    states, dropout = torch.ones(100, 100), fast(nn.Dropout(0.2))
    torch.manual_seed(3)
    first, second = dropout(states), dropout(states)
    torch.manual_seed(3)
    assert torch.equal(dropout(states), first)
    assert not torch.equal(first, second)


def test_functions_that_layers_call_are_the_same_dropout():
    states = torch.ones(300, 300)
    torch.manual_seed(4)
    expected = fast(nn.Dropout(0.3))(states)
    torch.manual_seed(4)
    with fast_functional_dropout(active=True):
        found = functional.dropout(states, p=0.3, training=True)
        assert functional.dropout(states, p=0.3, training=False) is states
        assert torch.equal(functional.relu(-states), torch.zeros(300, 300))
    assert torch.equal(found, expected)
    torch.manual_seed(4)
    assert not torch.equal(functional.dropout(states, p=0.3, training=True), expected)


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float32])
def test_dropout_keeps_the_type(dtype):
    assert fast(nn.Dropout(0.1))(torch.ones(10, dtype=dtype)).dtype == dtype


def test_reading_is_as_it_was():
    torch.manual_seed(0)
    layer = nn.Sequential(nn.Linear(8, 8), nn.Dropout(0.5)).eval()
    ours, states = copy.deepcopy(layer), torch.randn(5, 8)
    use_fast_dropout(ours)
    assert torch.equal(layer(states), ours(states))
    assert ours.state_dict().keys() == layer.state_dict().keys()
