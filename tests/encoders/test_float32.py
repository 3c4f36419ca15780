"""Linear layers in float32 that oneDNN computes give what torch's own give."""

from __future__ import annotations

import copy
import pickle

import pytest
import torch
from torch import nn

from syntagma.encoders import precision
from syntagma.encoders.cpu import float32, processor
from syntagma.encoders.cpu.float32 import OneDnnLinear, has_onednn, use_onednn

pytestmark = pytest.mark.skipif(not has_onednn(), reason="this build of torch has no oneDNN")


@pytest.fixture
def layers():
    torch.manual_seed(0)
    return nn.Sequential(nn.Linear(12, 7), nn.Linear(7, 5, bias=False))


@pytest.fixture
def calls(monkeypatch):
    """The number of rows of each product of oneDNN."""
    counted = []
    real = torch.ops.mkldnn._linear_pointwise

    def count(rows, *rest):
        counted.append(len(rows))
        return real(rows, *rest)

    monkeypatch.setattr(torch.ops.mkldnn, "_linear_pointwise", count)
    return counted


def by_onednn(layers):
    other = copy.deepcopy(layers)
    use_onednn(other)
    return other


@pytest.mark.parametrize("shape", [(1, 12), (33, 12), (4, 9, 12), (0, 12), (12,)])
def test_products_differ_in_the_last_digits_at_most(layers, calls, shape):
    states = torch.randn(shape)
    with torch.no_grad():
        found, expected = by_onednn(layers)(states), layers(states)
    assert found.shape == expected.shape
    torch.testing.assert_close(found, expected, atol=1e-5, rtol=1e-5)
    assert bool(calls) == bool(states.numel())


def test_code_is_compiled_for_few_numbers_of_rows(layers, calls):
    with torch.no_grad():
        by_onednn(layers)(torch.randn(33, 12))
    assert calls == [36, 36]


def test_rows_do_not_depend_on_how_many_there_are():
    """So that a parse does not depend on what else is parsed."""
    model = nn.Sequential(nn.Linear(384, 1536), nn.Linear(1536, 384))
    states = torch.randn(600, 384)
    with torch.no_grad():
        alone, together = by_onednn(model)(states[:40]), by_onednn(model)(states)[:40]
    torch.testing.assert_close(alone, together, atol=1e-5, rtol=1e-5)


def test_gradients_and_other_precisions_are_torchs(layers, calls):
    other = by_onednn(layers)
    states = torch.randn(3, 12)
    other(states).sum().backward()
    layers(states).sum().backward()
    assert torch.equal(other[0].weight.grad, layers[0].weight.grad)
    with torch.no_grad(), torch.autocast("cpu", torch.bfloat16):
        assert other(torch.randn(3, 12)).dtype == torch.bfloat16
    with torch.no_grad():
        other.double()(torch.randn(3, 12).double())
    assert calls == []


def test_weights_that_changed_are_used(layers):
    other = by_onednn(layers)
    states = torch.randn(3, 12)
    with torch.no_grad():
        before = other(states)
        other[0].weight.data += 1
        assert not torch.allclose(other(states), before)


def test_models_can_be_copied_and_pickled(layers):
    states = torch.randn(3, 12)
    other = by_onednn(layers)
    with torch.no_grad():
        expected = other(states)
        assert torch.equal(copy.deepcopy(other)(states), expected)
        assert torch.equal(pickle.loads(pickle.dumps(other))(states), expected)
    assert list(other.state_dict()) == list(layers.state_dict())


def wrapped(model):
    return [isinstance(each.forward, OneDnnLinear) for each in model]


def test_only_amds_processors_with_avx512_use_it(layers, monkeypatch):
    monkeypatch.setattr(torch.backends.mkl, "is_available", lambda: True)
    monkeypatch.setattr(precision, "fast_bfloat16", lambda _: False)
    for vendor, capability, expected in (
        ("AuthenticAMD", "AVX512", True),
        ("AuthenticAMD", "AVX2", False),
        ("GenuineIntel", "AVX512", False),
        ("", "AVX512", False),
    ):
        float32.is_faster.cache_clear()
        monkeypatch.setattr(processor, "described", lambda vendor=vendor: vendor)
        monkeypatch.setattr(
            torch.backends.cpu, "get_cpu_capability", lambda capability=capability: capability
        )
        model = copy.deepcopy(layers)
        precision.set_precision(model, "auto")
        assert wrapped(model) == [False, False], "scores are torch's unless asked otherwise"
        precision.set_precision(model, "auto", fast_float32=True)
        assert wrapped(model) == [expected, expected], (vendor, capability)
    float32.is_faster.cache_clear()
