"""A matrix made from other weights is multiplied by as linear layers are, never an old one."""

from __future__ import annotations

import copy
import pickle

import pytest
import torch

from syntagma.encoders.cpu.int8 import Int8Linear, has_int8, use_int8
from syntagma.encoders.cpu.packed import has_packing, pack_linear_layers
from syntagma.parse.biaffine import Biaffine

needs_int8 = pytest.mark.skipif(not has_int8(), reason="a CPU with VNNI is needed")
needs_packing = pytest.mark.skipif(not has_packing(), reason="oneDNN in bfloat16 is needed")


@pytest.fixture
def scorer():
    torch.manual_seed(0)
    scorer = Biaffine(40, 3)
    torch.nn.init.normal_(scorer.weight, std=0.1)
    return scorer


@pytest.fixture
def pairs():
    return torch.randn(9, 40), torch.randn(9, 40)


def relative_error(found, exact):
    return float((found.float() - exact).norm() / exact.norm())


def test_the_scores_follow_the_formula(scorer, pairs):
    one = torch.ones(9, 1)
    left, right = (torch.cat([each, one], 1) for each in pairs)
    expected = torch.einsum("ni,rij,nj->nr", left, scorer.weight, right)
    for grad in (True, False):
        with torch.set_grad_enabled(grad):
            torch.testing.assert_close(scorer.given_pairs(*pairs), expected)
    every = scorer.all_pairs(pairs[0][None], pairs[1][None])[0]
    torch.testing.assert_close(every.diagonal(), expected[:, 0])


@needs_int8
def test_in_8_bits_it_is_close(scorer, pairs):
    exact = scorer.given_pairs(*pairs).detach()
    use_int8(scorer)
    with torch.inference_mode():
        found = scorer.given_pairs(*pairs)
    assert isinstance(scorer._layer.forward, Int8Linear)
    assert 1e-5 < relative_error(found, exact) < 0.05


@needs_int8
def test_a_small_matrix_is_left_alone():
    scorer = Biaffine(8, 3)
    use_int8(scorer)
    assert scorer.wrapper is None


@needs_packing
def test_in_bfloat16_it_is_close(scorer, pairs):
    exact = scorer.given_pairs(*pairs).detach()
    pack_linear_layers(scorer)
    with torch.no_grad(), torch.autocast("cpu", torch.bfloat16):
        found = scorer.given_pairs(*pairs)
    assert scorer._layer.forward.packed is not None
    assert relative_error(found, exact) < 0.02


@needs_int8
def test_training_changes_the_matrix(scorer, pairs):
    use_int8(scorer)
    optimizer = torch.optim.AdamW(scorer.parameters(), lr=0.1, fused=True)
    with torch.no_grad():
        before = scorer.given_pairs(*pairs)
    scorer.given_pairs(*pairs).sum().backward()
    optimizer.step()
    with torch.no_grad():
        after = scorer.given_pairs(*pairs)
    assert not torch.allclose(after, before, atol=0.1)
    assert relative_error(after, scorer.given_pairs(*pairs).detach()) < 0.05


@needs_int8
@pytest.mark.parametrize("make", [copy.deepcopy, lambda scorer: pickle.loads(pickle.dumps(scorer))])
def test_copies_have_matrices_of_their_own(scorer, pairs, make):
    use_int8(scorer)
    with torch.no_grad():
        before = scorer.given_pairs(*pairs)
        other = make(scorer)
        torch.testing.assert_close(other.given_pairs(*pairs), before)
        other.weight.zero_()
        assert not other.given_pairs(*pairs).any()
        torch.testing.assert_close(scorer.given_pairs(*pairs), before)


@needs_int8
def test_its_layer_is_no_part_of_the_model(scorer, pairs):
    names = list(scorer.state_dict())
    use_int8(scorer)
    with torch.no_grad():
        scorer.given_pairs(*pairs)
    assert list(scorer.state_dict()) == names
    assert list(scorer.children()) == []
