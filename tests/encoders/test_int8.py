"""Linear layers in 8-bit integers: close to float32, for inference on CPUs only."""

from __future__ import annotations

import copy
import pickle

import pytest
import torch
from torch import nn

from syntagma.encoders.cpu import int8
from syntagma.encoders.cpu.int8 import SMALLEST, Int8Linear, has_int8, use_int8
from syntagma.errors import InputError
from syntagma.parse.sources.load import load_parser
from syntagma.tasks.experiment import TrainingSettings
from tests.conftest import SENTENCES
from tests.messages import naming

needs_int8 = pytest.mark.skipif(not has_int8(), reason="a CPU with VNNI is needed")


def rounded(layer: nn.Module) -> bool:
    return isinstance(layer.forward, Int8Linear)


@pytest.fixture
def layer() -> nn.Linear:
    torch.manual_seed(0)
    return nn.Linear(96, 64)


def relative_error(found: torch.Tensor, exact: torch.Tensor) -> float:
    return float((found - exact).norm() / exact.norm())


@needs_int8
def test_products_are_close_to_those_in_float32(layer):
    states = torch.randn(3, 7, 96)
    with torch.inference_mode():
        exact = layer(states)
        use_int8(layer)
        found = layer(states)
    assert found.shape == exact.shape
    # About one per cent, and not none.
    assert 1e-4 < relative_error(found, exact) < 0.02


@needs_int8
def test_rows_of_different_size_keep_their_precision(layer):
    with torch.no_grad():
        layer.weight[::2] *= 1000
    states = torch.randn(5, 96)
    with torch.inference_mode():
        exact = layer(states)
        use_int8(layer)
        found = layer(states)
    assert relative_error(found[:, 1::2], exact[:, 1::2]) < 0.02


@needs_int8
def test_a_layer_without_bias_or_with_a_row_of_zeros(layer):
    plain = nn.Linear(96, 64, bias=False)
    with torch.no_grad():
        plain.weight[3] = 0
    use_int8(plain)
    with torch.inference_mode():
        assert not plain(torch.randn(2, 96))[:, 3].any()


@needs_int8
def test_weights_and_their_names_stay(layer):
    before = {name: value.clone() for name, value in layer.state_dict().items()}
    use_int8(layer)
    after = layer.state_dict()
    assert after.keys() == before.keys()
    assert all(torch.equal(after[name], before[name]) for name in before)


@needs_int8
def test_gradients_are_computed_in_float32(layer):
    states = torch.randn(4, 96, requires_grad=True)
    exact = layer(states)
    use_int8(layer)
    torch.testing.assert_close(layer(states), exact)
    layer(states).sum().backward()
    assert states.grad is not None


@needs_int8
def test_small_layers_and_other_modules_are_left_alone():
    model = nn.Sequential(
        nn.Linear(96, SMALLEST - 1), nn.LayerNorm(SMALLEST - 1), nn.Embedding(5, 96)
    )
    use_int8(model)
    assert not any(rounded(module) for module in model)


@needs_int8
@pytest.mark.parametrize("make", [copy.deepcopy, lambda layer: pickle.loads(pickle.dumps(layer))])
def test_copies_compute_the_same(layer, make):
    use_int8(layer)
    states = torch.randn(4, 96)
    with torch.inference_mode():
        found = layer(states)
        copied = make(layer)
        assert rounded(copied)
        torch.testing.assert_close(copied(states), found)
        with torch.no_grad():
            copied.weight.zero_()


@needs_int8
def test_zero_is_kept_and_no_input_is_out_of_range(layer):
    use_int8(layer)
    with torch.inference_mode():
        for states in (torch.zeros(2, 96), torch.full((2, 96), -3.0), torch.full((2, 96), 1e-44)):
            exact = layer.forward.original(states)
            torch.testing.assert_close(layer(states), exact, rtol=0.02, atol=0.02)
        for scale in (1e-3, 1.0, 1e4):
            states = scale * torch.rand(50, 96) - 0.3 * scale
            error = relative_error(layer(states), layer.forward.original(states))
            assert error < 0.03


@needs_int8
def test_query_key_and_value_share_their_rounded_inputs(monkeypatch):
    attention = nn.Module()
    for name in ("query", "key", "value"):
        setattr(attention, name, nn.Linear(96, 64))
    use_int8(attention)
    calls = []
    rounding = int8.round_inputs
    monkeypatch.setattr(int8, "round_inputs", lambda x: calls.append(1) or rounding(x))
    with torch.inference_mode():
        for _ in range(2):
            states = torch.randn(5, 96)
            for layer in (attention.query, attention.key, attention.value):
                error = relative_error(layer(states), layer.forward.original(states))
                assert error < 0.02
    assert len(calls) == 2


@needs_int8
def test_what_is_computed_for_a_row_does_not_depend_on_the_others(layer):
    use_int8(layer)
    states = torch.randn(9, 96) * torch.logspace(-3, 3, 9).unsqueeze(1)
    with torch.inference_mode():
        together = layer(states)
        for number, row in enumerate(states):
            assert torch.equal(layer(row), together[number])
            assert relative_error(together[number], layer.forward.original(row)) < 0.03


@needs_int8
def test_a_batch_of_one_or_of_no_rows(layer):
    use_int8(layer)
    with torch.inference_mode():
        assert layer(torch.randn(96)).shape == (64,)
        assert layer(torch.randn(2, 3, 4, 96)).shape == (2, 3, 4, 64)
        assert layer(torch.randn(0, 96)).shape == (0, 64)
        assert torch.allclose(layer(torch.zeros(2, 96)), layer.bias.expand(2, -1))


def test_elsewhere_it_is_refused_and_the_parser_made_for_it_computes_in_float32(monkeypatch):
    monkeypatch.setattr(int8, "has_int8", lambda: False)
    with pytest.raises(InputError, match=naming("int8 VNNI float32")):
        use_int8(nn.Linear(96, 64))


def test_it_is_for_cpus_and_not_for_training():
    with pytest.raises(InputError, match=naming("int8 meta bfloat16")):
        use_int8(nn.Linear(96, 64, device="meta"))
    with pytest.raises(InputError, match=naming("int8 float32")):
        TrainingSettings(precision="int8")
    with pytest.raises(InputError, match=naming("precision int8 int4")):
        load_parser("default-parser", precision="int4")


@needs_int8
def test_a_parser_computes_in_int8_where_it_is_told_to():
    exact, fast = (load_parser("default-parser", precision=how) for how in ("float32", "int8"))
    assert not any(rounded(module) for module in exact.model.modules())
    assert sum(rounded(module) for module in fast.model.encoder.modules()) == 36
    expected, found = (list(parser.parse_texts(SENTENCES)) for parser in (exact, fast))
    heads = [
        (one.heads[word] == other.heads[word])
        for text, same in zip(expected, found, strict=True)
        for one, other in zip(text, same, strict=True)
        for word in range(len(one))
    ]
    assert sum(heads) / len(heads) > 0.95
