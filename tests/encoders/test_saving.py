"""Bases in folders are found after a model was copied or moved."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from syntagma import GuidedEncoder
from syntagma.encoders.config import read_config
from syntagma.encoders.load import load_tokenizer
from syntagma.encoders.saving import rebase, relative_base
from syntagma.errors import InputError
from tests.conftest import save_encoder
from tests.messages import naming


def base_in(folder: Path) -> str:
    return json.loads((folder / "config.json").read_text())["base"]


def test_names_are_kept_and_folders_become_relative(tmp_path):
    assert relative_base("default", tmp_path) == "default"
    assert relative_base("google-bert/bert-base", tmp_path) == "google-bert/bert-base"
    assert relative_base(str(tmp_path / "encoder"), tmp_path / "models" / "one") == "../../encoder"
    # A plain name would be one of the hub.
    assert relative_base(str(tmp_path / "inner" / "encoder"), tmp_path) == "./inner/encoder"


def test_a_model_reached_by_a_link_finds_its_base(tmp_path):
    save_encoder(tmp_path / "disk" / "encoder", "bert")
    model = GuidedEncoder.from_pretrained(tmp_path / "disk" / "encoder")
    model.save_pretrained(tmp_path / "disk" / "models" / "small", bits=8)
    (tmp_path / "link").symlink_to(tmp_path / "disk" / "models" / "small")
    assert GuidedEncoder.from_pretrained(tmp_path / "link").config.base == str(
        tmp_path / "disk" / "encoder"
    )


@pytest.mark.parametrize("bits", [None, 8])
def test_nothing_of_the_tokenizer_of_another_model_remains(bits, encoder_folders, tmp_path):
    """The file that lists special tokens is one that the new tokenizer lacks."""
    GuidedEncoder.from_encoder(encoder_folders["roberta"]).save_pretrained(tmp_path)
    special = tmp_path / "special_tokens_map.json"
    special.write_text('{"pad_token": "<pad>"}')
    for name in ("added_tokens.json", special.name):
        assert not (encoder_folders["bert"] / name).exists()
    model = GuidedEncoder.from_encoder(encoder_folders["bert"])
    model.save_pretrained(tmp_path, bits=bits)
    assert not special.exists()
    assert (tmp_path / "tokenizer.json").exists() == (bits is None)
    assert load_tokenizer(tmp_path).pad_token == "[PAD]"
    # Its own tokenizer is kept, which may have more pieces than that of its base.
    load_tokenizer(tmp_path).save_pretrained(tmp_path)
    model.save_pretrained(tmp_path, bits=8)
    assert (tmp_path / "tokenizer.json").exists()
    GuidedEncoder.from_pretrained(tmp_path).save_pretrained(tmp_path, bits=8)
    assert (tmp_path / "tokenizer.json").exists()


def test_differences_from_an_encoder_do_not_take_its_place(tmp_path):
    save_encoder(tmp_path, "bert")
    before = (tmp_path / "model.safetensors").read_bytes()
    model = GuidedEncoder.from_encoder(tmp_path)
    with pytest.raises(InputError, match=naming(f"{tmp_path} bits 8")):
        model.save_pretrained(tmp_path, bits=8)
    assert (tmp_path / "model.safetensors").read_bytes() == before
    model.save_pretrained(tmp_path)
    GuidedEncoder.from_pretrained(tmp_path)


def test_a_folder_that_will_be_moved_or_was_copied_is_corrected(tmp_path):
    save_encoder(tmp_path / "encoder", "bert")
    model = GuidedEncoder.from_pretrained(tmp_path / "encoder")
    draft, home = tmp_path / "run" / "draft", tmp_path / "run"
    for folder in (draft, draft / "verifier"):
        model.save_pretrained(folder)
    (draft / "data").mkdir()
    (draft / "data" / "config.json").write_text("{}")  # Not a model's.
    rebase(draft, home)
    assert [base_in(draft), base_in(draft / "verifier")] == ["../encoder", "../../encoder"]
    for path in [*draft.iterdir()]:
        path.replace(home / path.name)
    for folder in (home, home / "verifier"):
        assert read_config(folder).base == str(tmp_path / "encoder")
        assert GuidedEncoder.from_pretrained(folder)
    copy = tmp_path / "far" / "away" / "copy"
    shutil.copytree(home, copy)
    rebase(copy, copy, origin=home)
    for folder in (copy, copy / "verifier"):
        assert read_config(folder).base == str(tmp_path / "encoder")
