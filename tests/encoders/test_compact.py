"""Differences stored in a few bits are small, close to the original, and complete."""

from __future__ import annotations

import pytest
import torch

from syntagma.encoders.compact import (
    EXACT,
    GROUP,
    belongs,
    compact,
    expand,
    factors,
    quantize,
    restore,
)
from syntagma.errors import DamagedFileError
from tests.messages import naming


@pytest.mark.parametrize("bits", [4, 8])
@pytest.mark.parametrize("shape", [(1,), (63,), (64,), (3, 50), (2, 3, 64)])
def test_rounding_stays_within_half_a_step(bits, shape):
    torch.manual_seed(0)
    difference = torch.randn(shape) * 1e-3
    codes, scales = quantize(difference, bits=bits)
    found = restore(codes, scales, difference.shape, bits=bits)
    n_groups = -(-difference.numel() // GROUP)
    assert codes.dtype == torch.uint8
    assert codes.numel() == n_groups * GROUP * bits // 8
    step = scales.float().repeat_interleave(GROUP)[: difference.numel()].view(shape)
    assert ((found - difference).abs() <= 0.51 * step + 1e-9).all()


def test_zero_differences_stay_zero():
    codes, scales = quantize(torch.zeros(100), bits=4)
    assert (restore(codes, scales, torch.Size([100]), bits=4) == 0).all()


def test_changed_new_and_unchanged_weights_are_restored():
    base = {"a": torch.randn(8, 8), "b": torch.randn(5)}
    weights = {"a": base["a"] + 1e-3 * torch.randn(8, 8), "b": base["b"].clone()}
    weights |= {"head": torch.randn(3, 3), "count": torch.tensor(7)}
    small = compact(weights, base, bits=8)
    assert set(small) == {"a::codes", "a::scales", "head", "count", "::sample"}
    found = expand(small, base, bits=8)
    assert torch.equal(found["b"], weights["b"])
    assert found["count"] == 7
    torch.testing.assert_close(found["a"], weights["a"], atol=3e-5, rtol=0)
    torch.testing.assert_close(found["head"], weights["head"], atol=2e-3, rtol=1e-3)


def test_differences_from_another_encoder_are_rejected():
    small = compact({"a": torch.ones(4)}, {"a": torch.zeros(4)}, bits=4)
    with pytest.raises(DamagedFileError, match=naming("a base")):
        expand(small, {"b": torch.zeros(4)}, bits=4)


@pytest.mark.parametrize("bits", [4, EXACT])
def test_the_base_is_recognised(bits):
    torch.manual_seed(0)
    base = {"a": torch.randn(8, 8) / 20, "b": torch.randn(5), "places": torch.arange(3)}
    small = compact(base | {"a": base["a"] + 1e-3}, base, bits=bits)
    assert belongs(small, base)
    rounded = {name: part.bfloat16() if part.is_floating_point() else part
               for name, part in base.items()}  # fmt: skip
    assert belongs(small, rounded), "a copy in bfloat16 is accepted"
    assert not belongs(small, base | {"a": base["a"] + 1e-3}), (
        "a base that was trained further is rejected"
    )
    assert not belongs(small, {"a": base["a"]})
    del small["::sample"]
    assert belongs(small, {}), "files without samples are accepted"


def low_rank(rank, n_rows=48, n_columns=40):
    torch.manual_seed(0)
    return 1e-2 * torch.randn(n_rows, rank) @ torch.randn(rank, n_columns)


@pytest.mark.parametrize("rank", [3, 5])
def test_factors_of_at_least_the_rank_are_exact(rank):
    difference = low_rank(3)
    left, right = factors(difference, rank)
    assert (left.shape, right.shape) == ((rank, 48), (rank, 40))
    torch.testing.assert_close(left.T @ right, difference, atol=1e-6, rtol=0)


def test_factors_of_a_lower_rank_give_the_nearest_matrix():
    difference = low_rank(3)
    left, right = factors(difference, 2)
    # Eckart and Young (1936): the error is the first singular value that is left out.
    lost = torch.linalg.matrix_norm(left.T @ right - difference, 2)
    torch.testing.assert_close(lost, torch.linalg.svdvals(difference)[2], atol=1e-6, rtol=1e-4)


@pytest.mark.parametrize(("bits", "tolerance"), [(8, 2e-3), (4, 3e-2)])
def test_differences_of_low_rank_are_stored_as_two_factors(bits, tolerance):
    base = {"a": torch.randn(48, 40), "bias": torch.zeros(48), "thin": torch.zeros(48, 3)}
    weights = {"a": base["a"] + low_rank(3), "bias": torch.ones(48), "thin": torch.ones(48, 3)}
    small = compact(weights, base, bits=bits, rank=3)
    assert {name for name in small if name.startswith("a::")} == {
        *("a::left::codes", "a::left::scales", "a::right::codes", "a::right::scales")
    }
    # A vector and a matrix that is smaller than its factors are stored in full.
    assert {"bias::codes", "thin::codes"} <= set(small)
    found = expand(small, base, bits=bits, rank=3)
    assert found.keys() == weights.keys()
    torch.testing.assert_close(found["a"], weights["a"], atol=tolerance, rtol=0)
    torch.testing.assert_close(found["thin"], weights["thin"], atol=1e-3, rtol=0)


@pytest.mark.parametrize("change", ["no rank", "another rank", "no right factor", "a vector"])
def test_damaged_factors_are_rejected(change):
    base = {"a": torch.zeros(48, 40)}
    small = compact({"a": low_rank(3)}, base, bits=8, rank=3)
    rank = {"no rank": 0, "another rank": 9}.get(change, 3)
    if change == "no right factor":
        del small["a::right::codes"]
    if change == "a vector":
        base = {"a": torch.zeros(48)}
    with pytest.raises(DamagedFileError, match=r"'a(::left|::right)?'"):
        expand(small, base, bits=8, rank=rank)
