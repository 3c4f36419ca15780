"""Where the default encoder is found, and that it is the published one."""

from __future__ import annotations

import shutil

import pytest

from syntagma.encoders import default
from syntagma.encoders.load import encoder_weights, load_encoder_config, load_tokenizer
from syntagma.errors import DamagedFileError, InputError
from tests.messages import naming


@pytest.fixture(autouse=True)
def _forget():
    default.find_default.cache_clear()
    yield
    default.find_default.cache_clear()


def test_the_package_holds_the_published_weights():
    folder = default.find_default()
    if folder is None:
        pytest.skip("syntagma[offline] is not installed")
    assert default.resolve("default") == str(folder)
    assert default.resolve("my/encoder") == "my/encoder"


def test_other_weights_are_refused(tmp_path, monkeypatch):
    folder = default.find_default()
    if folder is None:
        pytest.skip("syntagma[offline] is not installed")
    default.find_default.cache_clear()
    shutil.copy(folder / "config.json", tmp_path)
    (tmp_path / "model.safetensors").write_bytes(b"something else")

    class File:
        name = "model.safetensors"

        def locate(self):
            return tmp_path / "model.safetensors"

    monkeypatch.setattr(default.metadata, "files", lambda _: [File()])
    with pytest.raises(
        DamagedFileError, match=naming("model.safetensors sha256 --force-reinstall")
    ):
        default.find_default()


def test_a_copy_elsewhere_is_taken(tiny_encoder, monkeypatch):
    monkeypatch.setenv("SYNTAGMA_ENCODER", tiny_encoder)
    assert load_encoder_config("default").hidden_size == 32
    assert load_tokenizer("default").is_fast
    assert encoder_weights("default")


def test_a_wrong_place_is_named(tmp_path, monkeypatch):
    monkeypatch.setenv("SYNTAGMA_ENCODER", str(tmp_path))
    with pytest.raises(InputError, match=naming(f"SYNTAGMA_ENCODER={tmp_path} config.json")):
        default.find_default()


def test_without_it_the_hub_is_named(monkeypatch):
    def missing(_):
        raise default.metadata.PackageNotFoundError

    monkeypatch.setattr(default.metadata, "files", missing)
    assert default.find_default() is None
    assert default.resolve("default") == default.HUB_NAME


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("no/such/place/at/all", "encoder no/such/place/at/all default"),
        ("", "encoder ''"),
    ],
)
def test_a_missing_encoder_is_named(name, message, monkeypatch):
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    with pytest.raises(InputError, match=naming(message)):
        load_encoder_config(name)


def test_a_folder_without_a_tokenizer_is_named(tmp_path, tiny_encoder):
    shutil.copy(f"{tiny_encoder}/config.json", tmp_path)
    with pytest.raises(InputError, match=naming(f"encoder {tmp_path} tokenizer.json")):
        load_tokenizer(str(tmp_path))


def test_a_tokenizer_that_pads_and_cuts_does_neither(tmp_path, tiny_encoder):
    tokenizer = load_tokenizer(tiny_encoder)
    tokenizer.backend_tokenizer.enable_padding(length=128)
    tokenizer.backend_tokenizer.enable_truncation(3)
    shutil.copytree(tiny_encoder, tmp_path / "encoder")
    tokenizer.backend_tokenizer.save(str(tmp_path / "encoder" / "tokenizer.json"))
    again = load_tokenizer(str(tmp_path / "encoder")).backend_tokenizer
    pieces = again.encode("the old ferry crossed the river", add_special_tokens=False).tokens
    assert "".join(pieces).replace("##", "") == "theoldferrycrossedtheriver"
