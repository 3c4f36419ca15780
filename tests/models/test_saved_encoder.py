"""Building, saving and loading of guided encoders."""

from __future__ import annotations

import json
import shutil

import pytest
import torch
from safetensors.torch import load_file, save_file

from syntagma.encoders.config import SyntagmaConfig
from syntagma.encoders.reference import find_model
from syntagma.errors import DamagedFileError, InputError
from syntagma.models.guided_encoder import GuidedEncoder
from syntagma.models.guides import resolve_guides
from syntagma.models.span_model import SpanModel
from tests.conftest import tiny_config
from tests.guided import batch, guided
from tests.messages import naming


def test_a_model_can_be_built_saved_and_loaded(encoder_folders, tmp_path):
    guides = resolve_guides("sg-net", {})
    model = GuidedEncoder.from_pretrained(encoder_folders["bert"], guides=guides)
    model.save_pretrained(tmp_path)
    reloaded = GuidedEncoder.from_pretrained(tmp_path)
    with torch.no_grad():
        one, other = model(**batch()), reloaded(**batch())
    assert torch.equal(one.last_hidden_state, other.last_hidden_state)
    with pytest.raises(InputError, match=naming("config.json guides")):
        GuidedEncoder.from_pretrained(tmp_path, guides=guides)


def test_the_guided_encoder_of_a_task_model_can_be_loaded(encoder_folders, tmp_path):
    model = SpanModel.from_encoder(
        str(encoder_folders["bert"]), guides={"tree_distance": {}}, task="spans"
    )
    model.save_pretrained(tmp_path)
    taken = GuidedEncoder.from_pretrained(tmp_path)
    with torch.no_grad():
        found = taken(**batch(), depth=batch()["enter"]).last_hidden_state
        expected = model.encode(**batch(), depth=batch()["enter"]).last_hidden_state
    assert torch.equal(found, expected)
    assert (taken.config.task, taken.config.head) == ("", {})
    taken.save_pretrained(tmp_path / "encoder")
    reloaded = GuidedEncoder.from_pretrained(tmp_path / "encoder")
    assert reloaded.weights().keys() == taken.weights().keys()
    with pytest.raises(InputError, match=naming(f"{tmp_path / 'encoder'} spans")):
        SpanModel.load_saved(find_model(tmp_path / "encoder"), task="spans")


def test_the_encoder_of_a_translation_model_is_rejected(tmp_path):
    SyntagmaConfig(encoder=tiny_config("marian"), task="translation").save_pretrained(tmp_path)
    with pytest.raises(InputError, match=naming("translation Translator.from_pretrained")):
        GuidedEncoder.from_pretrained(tmp_path)


def test_defaults_of_transformers_are_accepted_when_saving(encoder_folders, tmp_path):
    model = GuidedEncoder.from_pretrained(
        encoder_folders["bert"], guides=resolve_guides("sg-net", {})
    )
    model.save_pretrained(tmp_path, safe_serialization=True, push_to_hub=False)
    reloaded = GuidedEncoder.from_pretrained(tmp_path)
    with torch.no_grad():
        one, other = model(**batch()), reloaded(**batch())
    assert torch.equal(one.last_hidden_state, other.last_hidden_state)


def test_settings_of_a_new_model_are_checked(tiny_encoder, tmp_path):
    def new(**settings):
        return GuidedEncoder.from_pretrained(tiny_encoder, **settings)

    with pytest.raises(InputError, match=naming("preset guides")):
        new(preset="sg-net")
    with pytest.raises(InputError, match=naming("guidez guides")):
        new(guidez={})
    with pytest.raises(InputError, match=naming("sgnet sg-net")):
        new(guides="sgnet")
    with pytest.raises(
        InputError, match=naming("tree_distance ancestor_attention.pieces first_piece share")
    ):
        new(guides={"tree_distance": {}, "ancestor_attention": {"pieces": "first_piece"}})
    with pytest.raises(InputError, match=naming("dtype float32 bfloat16 float16 bfloat17")):
        new(dtype="bfloat17")
    assert [type(guide).__name__ for guide in new(guides="poi-net").guides] == [
        "TagEmbedding",
        "CoAttentionGuide",
    ]
    assert not new(guides={"coattention": False}).guides
    assert new(dtype="bfloat16").dtype == torch.bfloat16
    new(guides="sg-net").save_pretrained(tmp_path / "new" / "folder")
    assert GuidedEncoder.from_pretrained(tmp_path / "new" / "folder").guides


def test_resized_embeddings_are_saved(encoder_folders, tmp_path):
    model = GuidedEncoder.from_pretrained(str(encoder_folders["bert"]))
    model.resize_token_embeddings(model.config.encoder.vocab_size + 3)
    model.save_pretrained(tmp_path)
    reloaded = GuidedEncoder.from_pretrained(tmp_path)
    assert torch.equal(reloaded.get_input_embeddings().weight, model.get_input_embeddings().weight)
    config = (tmp_path / "config.json").read_text()
    size = model.config.encoder.vocab_size
    (tmp_path / "config.json").write_text(config.replace(f": {size},", f": {size - 1},"))
    with pytest.raises(DamagedFileError, match=naming("model.safetensors config.json")):
        GuidedEncoder.from_pretrained(tmp_path)


@pytest.mark.parametrize("bits", [4, 32])
def test_a_model_with_another_base_encoder_is_rejected(
    bits, encoder_folders, tmp_path, monkeypatch
):
    """The base is found from any working directory, if its weights have not changed."""
    shutil.copytree(encoder_folders["bert"], tmp_path / "encoder")
    monkeypatch.chdir(tmp_path)
    GuidedEncoder.from_pretrained("encoder").save_pretrained("model", bits=bits)
    monkeypatch.chdir("/")
    GuidedEncoder.from_pretrained(tmp_path / "model")
    other = load_file(tmp_path / "encoder" / "model.safetensors")
    changed = {name: part * 1.5 for name, part in other.items()}
    save_file(changed, tmp_path / "encoder" / "model.safetensors", metadata={"format": "pt"})
    with pytest.raises(
        DamagedFileError, match=naming(f"{tmp_path / 'model'} {tmp_path / 'encoder'}")
    ):
        GuidedEncoder.from_pretrained(tmp_path / "model")
    shutil.rmtree(tmp_path / "encoder")
    with pytest.raises(
        InputError, match=naming(f"{tmp_path / 'model'} {tmp_path / 'encoder'} hub")
    ):
        GuidedEncoder.from_pretrained(tmp_path / "model")


def test_a_shipped_model_provides_its_encoder(tmp_path):
    model = GuidedEncoder.from_pretrained("default-reader")
    assert model.encoder.config.num_hidden_layers == 6
    # Saved with all weights, it no longer needs its base encoder.
    model.save_pretrained(tmp_path)
    assert not json.loads((tmp_path / "config.json").read_text())["storage"]


@pytest.mark.parametrize("bits", [16, 3, "4"])
def test_other_numbers_of_bits_are_rejected(bits, tmp_path):
    with pytest.raises(InputError, match=naming(f"bits 4 8 32 None {bits}")):
        guided("bert").save_pretrained(tmp_path / "new", bits=bits)
    assert not (tmp_path / "new").exists()


@pytest.mark.parametrize("guides", [["sg-net"], None, 3])
def test_invalid_guides_of_a_new_model_are_reported(guides, encoder_folders):
    with pytest.raises(InputError, match=naming(f"guides preset {guides}")):
        GuidedEncoder.from_pretrained(str(encoder_folders["bert"]), guides=guides)


def test_saved_weights_are_loaded_unchanged(encoder_folders, tmp_path):
    model = GuidedEncoder.from_pretrained(str(encoder_folders["bert"]), guides="sg-net")
    with pytest.raises(
        InputError, match=naming("save_pretrained max_shard_size variant model.safetensors")
    ):
        model.save_pretrained(tmp_path / "new", max_shard_size="50KB", variant="x")
    assert not (tmp_path / "new").exists()
    model.save_pretrained(tmp_path / "new")
    inputs = batch()
    reloaded = GuidedEncoder.from_pretrained(tmp_path / "new")(**inputs, num_items_in_batch=3)
    assert torch.equal(reloaded.last_hidden_state, model(**inputs).last_hidden_state)


def test_a_model_trained_with_lora_is_stored_by_its_rank(encoder_folders, tmp_path):
    model = GuidedEncoder.from_pretrained(encoder_folders["bert"])
    base = {name: part.clone() for name, part in model.encoder.state_dict().items()}
    torch.manual_seed(0)
    with torch.no_grad():
        for name, part in model.encoder.named_parameters():
            if name.endswith("query.weight"):
                part += 1e-2 * torch.randn(part.shape[0], 2) @ torch.randn(2, part.shape[1])
    model.save_pretrained(tmp_path / "lora", bits=8, rank=2)
    model.save_pretrained(tmp_path / "full", bits=8)
    sizes = [(tmp_path / name / "model.safetensors").stat().st_size for name in ("lora", "full")]
    assert sizes[0] < sizes[1]
    again = GuidedEncoder.from_pretrained(tmp_path / "lora").encoder.state_dict()
    for name, part in model.encoder.state_dict().items():
        torch.testing.assert_close(again[name], part, atol=1e-3, rtol=0)
        assert torch.equal(again[name], base[name]) != name.endswith("query.weight")


@pytest.mark.parametrize(("rank", "bits"), [(-1, 8), (4, None), (4, 32)])
def test_a_rank_needs_few_bits(rank, bits, tmp_path):
    with pytest.raises(InputError, match=naming(f"rank 4 8 {rank}")):
        guided("bert").save_pretrained(tmp_path / "new", bits=bits, rank=rank)
    assert not (tmp_path / "new").exists()
