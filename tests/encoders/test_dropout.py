"""Fast dropout has the properties of PyTorch's."""

import copy

import pytest
import torch
from torch import nn
from torch.nn import functional

from syntagma.encoders.cpu.dropout import (
    FastDropout,
    current_functional_dropout,
    replace_dropout,
    replace_functional_dropout,
)


class FunctionalLayer(nn.Module):
    """A layer that calls the dropout function, as BART's layers do."""

    def __init__(self, probability: float) -> None:
        super().__init__()
        self.probability = probability
        self.weight = nn.Parameter(torch.ones(()))

    def forward(self, states):
        return functional.dropout(states, p=self.probability, training=self.training)


@pytest.mark.parametrize("probability", [0.1, 0.33, 0.5, 1 - 2**-18])
@pytest.mark.parametrize("shape", [(1000, 1001), (7,), ()])
def test_dropout_drops_its_share_and_scales_the_rest(probability, shape):
    torch.manual_seed(0)
    states = torch.full(shape, 3.0, dtype=torch.float64, requires_grad=True)
    kept = FastDropout(probability)(states)
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
    dropped = (FastDropout(0.5)(torch.ones(2**20)) == 0).double() - 0.5
    for distance in (1, 2, 3, 4, 8):
        together = (dropped[distance:] * dropped[:-distance]).mean().item() * 4
        assert abs(together) < 5 / 2**10


def test_gradients_are_dropped_with_their_states():
    torch.manual_seed(0)
    states = torch.randn(40, 30, requires_grad=True)
    kept = FastDropout(0.3)(states)
    kept.sum().backward()
    assert torch.allclose(states.grad * states, kept)
    assert (states.grad == 0).any()


def test_the_seed_determines_the_mask():
    states, dropout = torch.ones(100, 100), FastDropout(0.2)
    torch.manual_seed(3)
    first, second = dropout(states), dropout(states)
    torch.manual_seed(3)
    assert torch.equal(dropout(states), first)
    assert not torch.equal(first, second)


def test_functional_dropout_of_a_wrapped_module_is_fast_in_training():
    states = torch.ones(300, 300)
    torch.manual_seed(4)
    expected = FastDropout(0.3)(states)
    layer = FunctionalLayer(0.3)
    torch.manual_seed(4)
    assert not torch.equal(layer(states), expected)
    replace_functional_dropout(layer)
    replace_functional_dropout(layer)
    torch.manual_seed(4)
    assert torch.equal(layer(states), expected)
    assert layer.eval()(states) is states


def test_functional_dropout_is_repeated_when_a_layer_is_recomputed():
    """A recomputed layer drops in the backward pass what it dropped in the forward pass."""
    contexts = []

    class Remembering(FunctionalLayer):
        def forward(self, states):
            contexts.append(current_functional_dropout())
            return super().forward(states)

    states, layer = torch.ones(300, 300), Remembering(0.3)
    replace_functional_dropout(layer)
    torch.manual_seed(4)
    expected = layer(states)
    torch.manual_seed(4)
    with contexts[0]:
        assert torch.equal(FunctionalLayer(0.3)(states), expected)
        assert torch.equal(functional.relu(-states), torch.zeros(300, 300))


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float32])
def test_dropout_keeps_the_dtype(dtype):
    assert FastDropout(0.1)(torch.ones(10, dtype=dtype)).dtype == dtype


def test_replaced_modules_keep_the_structure_of_the_model():
    torch.manual_seed(0)
    shared = nn.Dropout(0.5)
    model = nn.Sequential(nn.Linear(8, 8), shared, nn.Sequential(shared, nn.Dropout(0.2))).eval()
    ours, states = copy.deepcopy(model), torch.randn(5, 8)
    replace_dropout(ours)
    assert torch.equal(model(states), ours(states))
    assert ours.state_dict().keys() == model.state_dict().keys()
    assert [part.training for part in ours.modules()] == [False] * 5
    assert ours[1] is ours[2][0]
    assert [ours[1].p, ours[2][1].p] == [0.5, 0.2]
    assert all(isinstance(part, FastDropout) for part in (ours[1], ours[2][1]))
    kinds = [*ours.modules()]
    replace_dropout(ours)
    assert [*ours.modules()] == kinds
