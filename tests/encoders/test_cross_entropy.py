"""The cross-entropy over many classes equals PyTorch's."""

import pytest
import torch
from torch.nn import functional

from syntagma.encoders.cpu import cross_entropy as module
from syntagma.encoders.cpu.cross_entropy import cross_entropy


@pytest.mark.parametrize("smoothing", [0.0, 0.1])
@pytest.mark.parametrize("rows", [1, 7, 1000])
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.bfloat16])
def test_loss_and_gradients_match_pytorch(smoothing, rows, dtype, monkeypatch):
    monkeypatch.setattr(module, "CPU_BLOCK", 50 * rows)
    torch.manual_seed(0)
    scores = (4 * torch.randn(23, 50)).to(dtype).requires_grad_()
    targets = torch.randint(50, (23,))
    expected = functional.cross_entropy(scores.float(), targets, label_smoothing=smoothing)
    gradient = torch.autograd.grad(3 * expected, scores)[0]
    loss = cross_entropy(scores, targets, smoothing=smoothing)
    found = torch.autograd.grad(3 * loss, scores)[0]
    torch.testing.assert_close(loss, expected)
    assert found.dtype == dtype
    tolerance = 1e-2 if dtype == torch.bfloat16 else 1e-6
    torch.testing.assert_close(
        found, gradient, atol=tolerance * gradient.abs().max().item(), rtol=tolerance
    )


def test_classes_with_minus_infinity_get_no_gradient():
    scores = torch.randn(6, 9).masked_fill(torch.arange(9) > 4, -torch.inf).requires_grad_()
    loss = cross_entropy(scores, torch.tensor([0, 1, 2, 3, 4, 0]))
    loss.backward()
    assert loss.isfinite()
    assert not scores.grad[:, 5:].any()
    assert scores.grad[:, :5].all()
