"""Encoders return their attention weights while they are watched."""

from __future__ import annotations

import pytest
import torch

from syntagma.encoders.observe import watch_attention
from syntagma.models.guided_encoder import GuidedEncoder
from tests.conftest import ENCODERS


class TestWatching:
    @pytest.mark.parametrize("model_type", ENCODERS)
    def test_every_encoder_returns_weights_and_is_restored(self, encoder_folders, model_type):
        model = GuidedEncoder.from_encoder(str(encoder_folders[model_type]))
        ids = torch.randint(5, 60, (2, 12), generator=torch.Generator().manual_seed(0))
        mask = torch.ones_like(ids)
        mask[1, 9:] = 0
        with torch.no_grad():
            before = model.encode(ids, mask).last_hidden_state
            with watch_attention(model.trunk) as layers:
                seen = model.encode(ids, mask).last_hidden_state
            after = model.encode(ids, mask).last_hidden_state
        assert torch.equal(before, after)
        assert torch.allclose(before[0], seen[0], atol=1e-5)
        assert len(layers) == 2
        for weights in layers:
            assert weights.shape == (2, 4, 12, 12)
            assert torch.allclose(weights.sum(-1), torch.ones(2, 4, 12), atol=1e-5)
            assert not weights[1, :, :9, 9:].any()

    def test_weights_equal_those_computed_from_the_states(self, tiny_encoder):
        """Recompute the weights from the input of the last layer."""
        model = GuidedEncoder.from_encoder(tiny_encoder)
        ids = torch.randint(5, 60, (1, 12), generator=torch.Generator().manual_seed(0))
        mask = torch.ones_like(ids)
        with torch.no_grad():
            with watch_attention(model.trunk) as layers:
                model.encode(ids, mask)
            states = model.encoder(ids, mask, output_hidden_states=True).hidden_states[-2]
            attention = model.encoder.encoder.layer[-1].attention.self
            query, key = (
                part(states)[0].view(12, 4, 8).transpose(0, 1)
                for part in (attention.query, attention.key)
            )
        expected = (query @ key.mT / 8**0.5).softmax(-1)
        assert torch.allclose(layers[-1][0], expected, atol=1e-5)

    def test_an_encoder_is_restored_after_an_error(self, tiny_encoder):
        model = GuidedEncoder.from_encoder(tiny_encoder)
        before = model.encoder.config._attn_implementation
        with pytest.raises(RuntimeError), watch_attention(model.trunk):
            raise RuntimeError
        assert model.encoder.config._attn_implementation == before
        assert not model.encoder._forward_hooks
        assert not model.encoder._forward_pre_hooks
