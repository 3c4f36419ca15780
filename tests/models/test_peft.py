"""Guides act and learn when PEFT wraps them."""

from __future__ import annotations

import pytest
import torch

from syntagma.models.pair_model import PairModel
from tests.guided import whole_batch

peft = pytest.importorskip("peft")
pytestmark = pytest.mark.filterwarnings("ignore:.*is_gradient_checkpointing:FutureWarning")
GUIDES = {"tree_distance": {"alpha": 0.5}, "ancestor_attention": {}, "tree_bias": {}}


def made(encoder: str) -> PairModel:
    torch.manual_seed(5)
    return PairModel.from_pretrained(encoder, guides=GUIDES, num_labels=2, parser="linear")


def test_guides_that_peft_wraps_act_and_learn(tiny_encoder, tmp_path):
    inputs, labels = whole_batch(), torch.tensor([0, 1, 1])
    with torch.no_grad():
        wanted = made(tiny_encoder)(**inputs).logits
    config = peft.LoraConfig(
        r=2, target_modules=["query", "value"], modules_to_save=["label_scores", *GUIDES]
    )
    model = peft.get_peft_model(made(tiny_encoder), config)
    model.eval()
    with torch.no_grad():
        # Adapters begin without effect.
        torch.testing.assert_close(model(**inputs).logits, wanted)
    assert len(model.base_model.model.guides) == len(GUIDES)
    model(**inputs, labels=labels).loss.backward()
    for name in ("label_scores", *GUIDES):
        trained = [p for key, p in model.named_parameters() if name in key and p.requires_grad]
        assert any(p.grad is not None and p.grad.abs().sum() > 0 for p in trained), name
    with torch.no_grad():
        for weight in model.parameters():
            if weight.requires_grad:
                weight += 0.05 * torch.randn_like(weight)
        found = model(**inputs).logits
        with model.disable_adapter():
            torch.testing.assert_close(model(**inputs).logits, wanted)
        model.save_pretrained(tmp_path / "adapter")
        again = peft.PeftModel.from_pretrained(made(tiny_encoder), tmp_path / "adapter").eval()
        torch.testing.assert_close(again(**inputs).logits, found)
        again.merge_and_unload().save_pretrained(tmp_path / "merged")
        merged = PairModel.from_pretrained(tmp_path / "merged")
        torch.testing.assert_close(merged(**inputs).logits, found, atol=1e-4, rtol=1e-4)
    assert not torch.allclose(found, wanted)
