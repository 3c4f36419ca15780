"""Encoders in unusual states: half precision, incomplete, damaged, with remote code."""

from __future__ import annotations

import json
import shutil
import sys
from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file, save_file

from syntagma.encoders.config import SyntagmaConfig
from syntagma.encoders.load import (
    build_encoder,
    encoder_weights,
    load_encoder_config,
    load_tokenizer,
)
from syntagma.encoders.reference import find_model
from syntagma.errors import DamagedFileError, InputError
from syntagma.models.guided_encoder import GuidedEncoder
from syntagma.models.guides import resolve_guides
from syntagma.syntax.tokenizer import SyntaxTokenizer
from tests.conftest import save_encoder, tiny_config
from tests.guided import batch, whole_batch
from tests.messages import naming, says

WEIGHTS = "model.safetensors"


@pytest.fixture
def bert(encoder_folders, tmp_path) -> Path:
    return Path(shutil.copytree(encoder_folders["bert"], tmp_path / "bert"))


def change(path: Path, **values) -> None:
    path.write_text(json.dumps(json.loads(path.read_text()) | values))


@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
def test_half_precision_weights_become_float32(bert, tmp_path, dtype):
    change(bert / "config.json", dtype=dtype)
    half = {name: w.to(getattr(torch, dtype)) for name, w in load_file(bert / WEIGHTS).items()}
    save_file(half, bert / WEIGHTS, metadata={"format": "pt"})
    guides = {"pos_embedding": {}, "tree_distance": {}, "ancestor_attention": {}}
    model = GuidedEncoder.from_pretrained(str(bert), guides=guides)
    assert {weight.dtype for weight in model.parameters()} == {torch.float32}
    model.save_pretrained(tmp_path / "saved")
    again = GuidedEncoder.from_pretrained(tmp_path / "saved")
    assert {weight.dtype for weight in again.parameters()} == {torch.float32}
    with torch.no_grad():
        states = [one(**whole_batch()).last_hidden_state for one in (model, again)]
    assert torch.equal(*states)


def test_missing_weights_are_reported(bert):
    weights = load_file(bert / WEIGHTS)
    rest = {name: weight for name, weight in weights.items() if "layer.1." not in name}
    save_file(rest, bert / WEIGHTS, metadata={"format": "pt"})
    with pytest.raises(
        DamagedFileError, match=naming("bert 16 encoder.layer.1.attention.output.LayerNorm.bias")
    ):
        GuidedEncoder.from_pretrained(str(bert))


def test_a_damaged_file_is_reported(bert):
    (bert / WEIGHTS).write_bytes((bert / WEIGHTS).read_bytes()[:-100])
    with pytest.raises(InputError, match=naming(f"encoder {bert}")):
        GuidedEncoder.from_pretrained(str(bert))


def test_weights_of_another_size_are_reported(bert):
    change(bert / "config.json", intermediate_size=64)
    with pytest.raises(InputError, match=naming(f"encoder {bert}")):
        GuidedEncoder.from_pretrained(str(bert))


def test_remote_code_is_not_run(bert, monkeypatch):
    """Nor is the user asked whether to run it."""
    monkeypatch.setattr("builtins.input", lambda *_: pytest.fail("the user was asked"))
    change(bert / "config.json", model_type="own", auto_map={"AutoConfig": "own.Own"})
    (bert / "own.py").write_text("raise SystemExit('was run')\n")
    for load in (load_encoder_config, encoder_weights):
        with pytest.raises(InputError, match=naming(f"encoder {bert} code")):
            load(str(bert))
    change(bert / "tokenizer_config.json", auto_map={"AutoTokenizer": ["own.Own", None]})
    load_tokenizer(str(bert))


@pytest.mark.parametrize("name", ["my models/bert", "a//b", "no/such"])
def test_an_invalid_name_is_reported(name):
    assert find_model(name).kind == "encoder"
    with pytest.raises(InputError, match=naming(f"encoder {name} hub")):
        GuidedEncoder.from_pretrained(name)


def test_a_saved_model_on_the_hub_can_be_the_base_of_another(
    encoder_folders, tmp_path, monkeypatch
):
    folder = tmp_path / "fetched"
    model = GuidedEncoder.from_pretrained(str(encoder_folders["bert"]), guides="sg-net")
    model.save_pretrained(folder)
    shutil.copy(encoder_folders["bert"] / "tokenizer.json", folder)
    monkeypatch.setattr("syntagma.encoders.hub.is_reachable", lambda: True)
    monkeypatch.setattr(
        "huggingface_hub.hf_hub_download", lambda *_, **__: str(folder / "config.json")
    )
    monkeypatch.setattr("huggingface_hub.snapshot_download", lambda *_, **__: str(folder))
    built = GuidedEncoder.from_encoder("someone/model", guides="sg-net")
    for name, weight in model.named_parameters():
        assert torch.equal(built.get_parameter(name), weight), name
    tokenizer = SyntaxTokenizer.from_pretrained("someone/model", parser="linear")
    assert tokenizer.pieces == "share"


def test_guides_find_a_number_of_heads_that_divides_the_width():
    """The attention of some small T5 models is wider or narrower than their states."""
    config = tiny_config("t5", d_model=32, d_kv=8, num_heads=6)
    guides = resolve_guides("sg-net", {})
    model = GuidedEncoder(SyntagmaConfig(encoder=config, guides=guides)).eval()
    assert model.ancestor_attention.layers[0].n_heads == 4
    assert model(**batch()).last_hidden_state.shape == (3, 9, 32)


def test_a_short_batch_does_not_change_how_long_ones_are_read():
    torch.manual_seed(0)
    encoder = tiny_config("big_bird", attention_type="block_sparse")
    model = GuidedEncoder(SyntagmaConfig(encoder=encoder)).eval()
    ids = torch.arange(96).remainder(80).add(5).unsqueeze(0)
    with torch.no_grad():
        before = model(ids, torch.ones_like(ids)).last_hidden_state
        model(ids[:, :12], torch.ones(1, 12))
        after = model(ids, torch.ones_like(ids)).last_hidden_state
    assert torch.equal(before, after)


@pytest.mark.parametrize("package", ["sentencepiece", "google.protobuf"])
def test_a_sentencepiece_tokenizer_needs_its_packages(tmp_path, monkeypatch, package):
    """Transformers would ask for tiktoken, which cannot read the file."""
    save_encoder(tmp_path / "model", "albert")
    for file in (tmp_path / "model").glob("*token*"):
        file.unlink()
    (tmp_path / "model/spiece.model").write_bytes(b"\x0a\x00")
    monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(InputError, match=naming("tokenizer '.[sentencepiece]'")):
        load_tokenizer(str(tmp_path / "model"))


def test_a_folder_named_like_an_encoder_is_written_with_a_dot(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "default").mkdir()
    (tmp_path / "default" / "config.json").write_text("{}", encoding="utf-8")
    with pytest.raises(InputError, match=naming("default ./default")):
        _ = find_model("default").settings


READ_PADDING = {
    "bert": ({}, False),
    "convbert": ({}, False),
    "convbert narrow": ({"embedding_size": 16, "conv_kernel_size": 5}, False),
    "electra": ({}, False),
    "mobilebert": ({"trigram_input": True}, False),
    "mobilebert without trigrams": ({"trigram_input": False}, False),
    "mpnet": ({}, False),
    "nystromformer": ({"segment_means_seq_len": 64}, True),
    "yoso": ({}, True),
}
"""Settings of encoders, and whether the states of a text depend on the padding after it."""


@pytest.mark.parametrize("name", READ_PADDING)
def test_encoders_whose_states_depend_on_padding_are_known(name, caplog):
    settings, depends = READ_PADDING[name]
    torch.manual_seed(0)
    encoder = build_encoder(tiny_config(name.partition(" ")[0], **settings)).eval()
    pieces = torch.randint(5, 90, (1, 9))
    padded = torch.nn.functional.pad(pieces, (0, 7), value=1)
    with torch.no_grad():
        # After training, neither biases nor the vector of the padding piece are 0.
        encoder.get_input_embeddings().weight[1].normal_()
        for part, weight in encoder.named_parameters():
            if part.endswith("bias"):
                weight.normal_(std=0.1)
        alone = encoder(input_ids=pieces, attention_mask=torch.ones_like(pieces))
        beside = encoder(input_ids=padded, attention_mask=(padded != 1).long())
    states, others = alone.last_hidden_state, beside.last_hidden_state[:, :9]
    assert torch.allclose(states, others, atol=1e-5, rtol=1e-4) != depends
    assert says(caplog.text, f"{name.partition(' ')[0]} padding batch") == depends
