"""Attention matches PyTorch's, with gradients that are at least as accurate."""

from __future__ import annotations

import pytest
import torch
from torch.nn import functional as F
from transformers import AutoModel, AutoModelForSeq2SeqLM

from syntagma.encoders import attention
from syntagma.encoders.attention import attend, use_attention
from syntagma.encoders.load import build_encoder
from tests.conftest import ENCODERS, tiny_config


def random_inputs(rows=3, n=21, n_heads=2, width=8, dtype=torch.bfloat16):
    torch.manual_seed(0)
    parts = [torch.randn(rows, n, n_heads, width, dtype=dtype).transpose(1, 2) for _ in range(3)]
    mask = torch.rand(rows, 1, n, n) < 0.6
    mask |= torch.eye(n, dtype=torch.bool)
    return [part.requires_grad_() for part in parts], mask


def gradients(function, parts, mask):
    for part in parts:
        part.grad = None
    states = function(*parts, mask)
    states.backward(torch.linspace(-1, 1, states.numel()).view_as(states).to(states.dtype))
    return states.detach(), [part.grad.clone() for part in parts]


def torch_attention(query, key, value, mask):
    return F.scaled_dot_product_attention(query, key, value, attn_mask=mask)


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16, torch.float16])
def test_states_match_pytorch_and_gradients_are_at_least_as_accurate(dtype):
    parts, mask = random_inputs(dtype=dtype)
    states, ours = gradients(attend, parts, mask)
    other_states, theirs = gradients(torch_attention, parts, mask)
    assert torch.equal(states, other_states)
    exact_parts = [part.detach().double().requires_grad_() for part in parts]
    _, exact = gradients(torch_attention, exact_parts, mask)
    for mine, other, right in zip(ours, theirs, exact, strict=True):
        assert mine.dtype == dtype
        assert (mine - right).norm() <= 1.05 * (other - right).norm()


def test_float_gradients_are_used_only_where_they_are_valid(monkeypatch):
    calls = []
    monkeypatch.setattr(
        attention, "attend_with_float_gradients",
        lambda *arguments, **_: calls.append(1) or torch_attention(*arguments[:4]),
    )  # fmt: skip
    parts, mask = random_inputs()
    attend(*parts, mask)
    assert len(calls) == 1
    attend(*parts, mask, dropout_prob=0.5)
    with torch.no_grad():
        attend(*parts, mask)
    attend(*(part.float() for part in parts), mask)
    attend(*(part.detach() for part in parts), mask)
    assert len(calls) == 1
    bias = torch.zeros(1, 2, 21, 21, requires_grad=True)
    attend(*(part.float() for part in parts), mask, bias=bias)
    assert len(calls) == 2


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16, torch.float16])
@pytest.mark.parametrize("shape", [(3, 2, 21, 21), (1, 2, 21, 21), (3, 1, 1, 21)])
def test_gradients_of_a_bias_are_as_accurate_as_pytorchs(dtype, shape):
    parts, mask = random_inputs(dtype=dtype)
    mask[0, :, 4] = False  # A row that may attend to nothing.
    bias = torch.randn(shape, dtype=dtype, requires_grad=True)

    def ours(query, key, value, bias):
        return attend(query, key, value, mask, bias=bias)

    def theirs(query, key, value, bias):
        return torch_attention(query, key, value, bias.masked_fill(~mask, -torch.inf))

    found, expected, exact = [], [], []
    for function, results, cast in (
        (ours, found, lambda part: part),
        (theirs, expected, lambda part: part),
        (theirs, exact, torch.Tensor.double),
    ):
        inputs = [cast(part.detach()).requires_grad_() for part in (*parts, bias)]
        states = function(*inputs)
        weights = torch.linspace(-1, 1, states.numel(), dtype=states.dtype)
        states.backward(weights.view_as(states))
        results += [states.detach(), *(part.grad for part in inputs)]
    total = bias.detach().masked_fill(~mask, -torch.inf)
    assert torch.equal(found[0], torch_attention(*(part.detach() for part in parts), total))
    for mine, other, right in zip(found[1:], expected[1:], exact[1:], strict=True):
        assert mine.dtype == dtype
        assert mine.isfinite().all()
        # PyTorch's keeps the states in float32, where the fused forward pass rounds them.
        assert (mine - right).norm() <= 1.2 * (other - right).norm() + 1e-6 * right.norm()


@pytest.mark.parametrize("model_type", ENCODERS)
def test_encoders_compute_the_same_and_get_similar_gradients(model_type):
    torch.manual_seed(0)
    ours, theirs = (
        build(tiny_config(model_type, 50, **no_dropout(model_type))).train()
        for build in (build_encoder, AutoModel.from_config)
    )
    use_attention(ours)
    if theirs.config._attn_implementation == "sdpa":
        assert ours.config._attn_implementation == attention.NAME
    theirs.load_state_dict(ours.state_dict(), strict=False)
    pieces = torch.randint(5, 50, (3, 40))
    seen = torch.ones_like(pieces)
    seen[1, 25:] = 0
    results = []
    for encoder in (ours, theirs):
        with torch.autocast("cpu", torch.bfloat16):
            states = encoder(input_ids=pieces, attention_mask=seen).last_hidden_state
        (states.float()[seen.bool()].pow(2) * torch.linspace(0, 1, 32)).sum().backward()
        shared = {name for name, p in ours.named_parameters() if p.grad is not None}
        grads = torch.cat([p.grad.flatten() for n, p in encoder.named_parameters() if n in shared])
        results.append((states.detach(), grads))
    (one, one_grad), (other, other_grad) = results
    assert torch.equal(one[seen.bool()], other[seen.bool()])
    assert (one_grad - other_grad).norm() < 0.02 * other_grad.norm()


@pytest.mark.parametrize("n_target", [1, 2, 17])
def test_decoders_get_similar_gradients(n_target):
    """Decoders attend causally to the target and fully to the source; encoders attend fully."""
    torch.manual_seed(0)
    config = tiny_config("bart", 50, dropout=0.0, attention_dropout=0.0, activation_dropout=0.0)
    both = AutoModelForSeq2SeqLM
    ours, theirs = build_encoder(config, both).train(), both.from_config(config).train()
    use_attention(ours)
    theirs.load_state_dict(ours.state_dict())
    source, target = torch.randint(5, 50, (3, 20)), torch.randint(5, 50, (3, n_target))
    results = []
    for model, rounded in ((theirs.double(), False), (ours, True)):
        with torch.autocast("cpu", torch.bfloat16, enabled=rounded):
            states = model(input_ids=source, decoder_input_ids=target, use_cache=False)[0]
        (states.double().pow(2) * torch.linspace(0, 1, states.shape[-1])).sum().backward()
        grads = {name: p.grad.double() for name, p in model.named_parameters()}
        results.append((states.detach().double(), grads))
    (exact, exact_grads), (found, found_grads) = results
    assert (found - exact).norm() < 0.02 * exact.norm()
    for name, exact in exact_grads.items():
        if "k_proj.bias" not in name and exact.norm() > 1e-6:
            assert (found_grads[name] - exact).norm() < 0.1 * exact.norm() + 1e-3, name


def no_dropout(model_type):
    if model_type == "distilbert":
        return {"dropout": 0.0, "attention_dropout": 0.0}
    if model_type == "modernbert":
        return {}
    return {"hidden_dropout_prob": 0.0, "attention_probs_dropout_prob": 0.0}


def test_an_encoder_with_another_attention_is_not_changed():
    encoder = AutoModel.from_config(tiny_config("bert", 50), attn_implementation="eager")
    use_attention(encoder)
    assert encoder.config._attn_implementation == "eager"


def test_no_saved_configuration_names_this_attention():
    encoder = build_encoder(tiny_config("bert", 50))
    use_attention(encoder)
    config = encoder.config
    assert config._attn_implementation == attention.NAME
    assert attention.NAME not in config.to_json_string()
