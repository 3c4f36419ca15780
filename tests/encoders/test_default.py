"""Named encoders are found in several places, and their weights are checked."""

from __future__ import annotations

import json
import shutil
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import huggingface_hub
import pytest

from syntagma.encoders import default
from syntagma.encoders.load import encoder_weights, load_encoder_config, load_tokenizer
from syntagma.encoders.named_models import NAMED_MODELS, NamedModel
from syntagma.errors import DamagedFileError, InputError
from tests.messages import naming


@pytest.fixture(autouse=True)
def _no_encoders(tmp_path, monkeypatch):
    """Hide all encoders except those that a test puts in place."""
    monkeypatch.setenv("SYNTAGMA_HOME", str(tmp_path / "home"))
    monkeypatch.delenv("SYNTAGMA_ENCODER", raising=False)
    monkeypatch.setattr(huggingface_hub.constants, "HF_HUB_CACHE", str(tmp_path / "hub"))
    monkeypatch.setattr(default.metadata, "files", _missing)


def _missing(_):
    raise default.metadata.PackageNotFoundError


@pytest.fixture
def row(tiny_encoder, monkeypatch) -> NamedModel:
    """Replace the default encoder with a tiny one."""
    weights = Path(tiny_encoder) / "model.safetensors"
    changed = replace(
        NAMED_MODELS["default"], digest=default.sha256(weights), size=weights.stat().st_size
    )
    monkeypatch.setitem(NAMED_MODELS, "default", changed)
    return changed


def put_in_home(encoder: str, row: NamedModel) -> Path:
    folder = Path(shutil.copytree(encoder, default.download_folder("default")))
    (folder / default.STAMP).write_text(json.dumps({"sha256": row.digest}))
    return folder


def put_in_package(encoder: Path, monkeypatch) -> Path:
    file = SimpleNamespace(name="model.safetensors", locate=lambda: encoder / "model.safetensors")
    monkeypatch.setattr(default.metadata, "files", lambda _: [file])
    return encoder


def put_in_cache(encoder: str, row: NamedModel, cache: Path, ref: str) -> Path:
    """Lay out a model like the hub library's cache, under a commit or the branch ``main``."""
    model = cache / f"models--{row.hub.replace('/', '--')}"
    commit = ref
    if ref == "main":
        commit = "1" * 40
        (model / "refs").mkdir(parents=True)
        (model / "refs" / "main").write_text(commit)
    return Path(shutil.copytree(encoder, model / "snapshots" / commit))


def test_places_are_searched_in_order(tmp_path, tiny_encoder, row, monkeypatch):
    assert default.find_default() is None
    assert default.resolve("default") == row.hub == "sentence-transformers/all-MiniLM-L6-v2"
    for ref in (row.revision, "main"):
        cached = put_in_cache(tiny_encoder, row, tmp_path / "hub", ref)
        assert default.resolve("default") == str(cached)
    packaged = put_in_package(shutil.copytree(tiny_encoder, tmp_path / "package"), monkeypatch)
    assert default.resolve("default") == str(packaged)
    home = put_in_home(tiny_encoder, row)
    assert default.resolve("default") == str(home)
    monkeypatch.setenv("SYNTAGMA_ENCODER", tiny_encoder)
    assert default.resolve("default") == tiny_encoder
    assert default.resolve("my/encoder") == "my/encoder"
    assert default.resolve("accurate") == "sentence-transformers/all-mpnet-base-v2"
    with pytest.raises(InputError, match=naming("'multilingual' `syntagma download multilingual`")):
        default.resolve("multilingual")


def test_other_weights_in_the_cache_are_ignored(tmp_path, tiny_encoder, row):
    cached = put_in_cache(tiny_encoder, row, tmp_path / "hub", "main")
    (cached / "model.safetensors").write_bytes(b"something else")
    assert default.find_default() is None
    # The published ones are found beside them.
    published = put_in_cache(tiny_encoder, row, tmp_path / "hub", row.revision)
    assert default.find_default() == published


def test_other_weights_in_a_package_are_rejected(tmp_path, tiny_encoder, row, monkeypatch):
    packaged = put_in_package(shutil.copytree(tiny_encoder, tmp_path / "package"), monkeypatch)
    data = (packaged / "model.safetensors").read_bytes()
    (packaged / "model.safetensors").write_bytes(data[:-1] + b"?")
    with pytest.raises(DamagedFileError, match=naming("`syntagma download default`")):
        default.find_default()


def test_weights_are_hashed_once_per_process(tiny_encoder, row, monkeypatch):
    folder = put_in_home(tiny_encoder, row)
    assert default.find_default() == folder
    monkeypatch.setattr(default.hashlib, "file_digest", lambda *_: pytest.fail("read again"))
    assert default.find_default() == folder


@pytest.mark.parametrize(
    ("platform", "environment", "place"),
    [
        ("linux", {"SYNTAGMA_HOME": "/one"}, "/one"),
        ("linux", {"XDG_DATA_HOME": "/two"}, "/two/syntagma"),
        ("linux", {}, "/home/ada/.local/share/syntagma"),
        ("darwin", {}, "/home/ada/Library/Application Support/syntagma"),
        ("win32", {"LOCALAPPDATA": "/local"}, "/local/syntagma"),
    ],
)
def test_the_data_folder_depends_on_platform_and_environment(
    platform, environment, place, monkeypatch
):
    for name in ("SYNTAGMA_HOME", "XDG_DATA_HOME", "LOCALAPPDATA"):
        monkeypatch.delenv(name, raising=False)
    for name, value in {"HOME": "/home/ada", **environment}.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setattr(default.sys, "platform", platform)
    assert default.home_folder() == Path(place)


@pytest.mark.parametrize("name", ["default", "default-reader", "accurate", "multilingual"])
def test_a_missing_encoder_is_reported_before_work_begins(name, monkeypatch):
    monkeypatch.setattr(default.hub, "is_reachable", lambda: False)
    encoder = name.partition("-")[0]
    with pytest.raises(InputError, match=naming(f"`syntagma download {encoder}`")):
        default.require_encoder(name)
    default.require_encoder("my/encoder")
    monkeypatch.setattr(default.hub, "is_reachable", lambda: True)
    if name != "multilingual":
        default.require_encoder(name)


def test_an_environment_variable_may_name_another_copy(tiny_encoder, monkeypatch):
    monkeypatch.setenv("SYNTAGMA_ENCODER", tiny_encoder)
    assert load_encoder_config("default").hidden_size == 32
    assert load_tokenizer("default").is_fast
    assert encoder_weights("default")


def test_an_invalid_environment_variable_is_reported(tmp_path, monkeypatch):
    monkeypatch.setenv("SYNTAGMA_ENCODER", str(tmp_path))
    with pytest.raises(InputError, match=naming(f"SYNTAGMA_ENCODER={tmp_path} config.json")):
        default.find_default()


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("no/such/place/at/all", "encoder no/such/place/at/all default"),
        ("", "encoder ''"),
    ],
)
def test_a_missing_encoder_is_reported(name, message, monkeypatch):
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    with pytest.raises(InputError, match=naming(message)):
        load_encoder_config(name)


def test_a_folder_without_a_tokenizer_is_reported(tmp_path, tiny_encoder):
    shutil.copy(f"{tiny_encoder}/config.json", tmp_path)
    with pytest.raises(InputError, match=naming(f"encoder {tmp_path} tokenizer.json")):
        load_tokenizer(str(tmp_path))


def test_padding_and_truncation_of_a_tokenizer_are_turned_off(tmp_path, tiny_encoder):
    tokenizer = load_tokenizer(tiny_encoder)
    tokenizer.backend_tokenizer.enable_padding(length=128)
    tokenizer.backend_tokenizer.enable_truncation(3)
    shutil.copytree(tiny_encoder, tmp_path / "encoder")
    tokenizer.backend_tokenizer.save(str(tmp_path / "encoder" / "tokenizer.json"))
    again = load_tokenizer(str(tmp_path / "encoder")).backend_tokenizer
    pieces = again.encode("the old ferry crossed the river", add_special_tokens=False).tokens
    assert "".join(pieces).replace("##", "") == "theoldferrycrossedtheriver"
