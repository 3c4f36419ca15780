"""Models on the lowest layers of an encoder: which weights they keep, and how they are saved."""

from __future__ import annotations

import pytest
import torch

from syntagma.encoders.load import build_encoder, encoder_weights, load_encoder_config
from syntagma.encoders.sites import find_sites, layers
from syntagma.errors import InputError
from syntagma.models.guided_encoder import GuidedEncoder
from tests.messages import naming

FAMILIES = ["bert", "mpnet", "distilbert", "deberta-v2", "electra", "modernbert"]


def first_layer_output(encoder):
    """The output of the first layer, before a norm that may follow the last one."""
    outputs = []
    layer = layers(encoder, find_sites(encoder.config.model_type, purpose="test"))[0]
    handle = layer.register_forward_hook(lambda *call: outputs.append(call[2]))
    with torch.no_grad():
        encoder(input_ids=torch.tensor([[2, 5, 7, 9, 3]]))
    handle.remove()
    return outputs[0][0] if isinstance(outputs[0], tuple) else outputs[0]


@pytest.mark.parametrize("family", FAMILIES)
def test_the_lowest_layers_compute_what_they_do_in_the_whole_encoder(family, encoder_folders):
    model = GuidedEncoder.from_pretrained(encoder_folders[family], num_hidden_layers=1)
    assert model.config.encoder.num_hidden_layers == 1
    whole = build_encoder(load_encoder_config(encoder_folders[family])).eval()
    whole.load_state_dict(encoder_weights(encoder_folders[family]), strict=False)
    expected, found = (first_layer_output(encoder) for encoder in (whole, model.encoder))
    torch.testing.assert_close(found, expected, atol=1e-6, rtol=0)


@pytest.mark.parametrize("bits", [None, 8, 32])
@pytest.mark.parametrize("family", ["bert", "mpnet"])
def test_it_is_saved_without_the_higher_layers(family, bits, encoder_folders, tmp_path):
    model = GuidedEncoder.from_pretrained(encoder_folders[family], num_hidden_layers=1)
    model.save_pretrained(tmp_path / "low", bits=bits)
    again = GuidedEncoder.from_pretrained(tmp_path / "low")
    assert again.state_dict().keys() == model.state_dict().keys()
    for name, weight in model.state_dict().items():
        assert torch.equal(again.state_dict()[name], weight), name
    # As the encoder of another model, it has the layers that it was saved with.
    assert GuidedEncoder.from_encoder(tmp_path / "low").config.encoder.num_hidden_layers == 1


@pytest.mark.parametrize("number", [0, 3])
def test_an_impossible_number_of_layers_is_rejected(number, encoder_folders):
    with pytest.raises(InputError, match=naming(f"num_hidden_layers 1 2 {number}")):
        GuidedEncoder.from_pretrained(encoder_folders["bert"], num_hidden_layers=number)
