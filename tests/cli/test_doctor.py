"""``syntagma doctor`` recommends extras that exist and are used."""

from __future__ import annotations

import re
import sys
import tomllib
from importlib import metadata
from itertools import chain
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from syntagma.cli import doctor
from syntagma.cli.doctor import EXTRAS, report, summary
from syntagma.encoders import default
from syntagma.encoders.named_models import NAMED_MODELS
from syntagma.errors import DamagedFileError, install_command

ROOT = Path(__file__).parents[2]


def test_every_extra_for_users_is_looked_for():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    assert {*EXTRAS} == {*project["optional-dependencies"]} - {"dev", "docs"}


@pytest.mark.parametrize("extra", EXTRAS)
def test_every_extra_is_imported_by_the_code(extra):
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    assert extra in project["optional-dependencies"]
    code = "\n".join(path.read_text() for path in (ROOT / "src").rglob("*.py"))
    for module in EXTRAS[extra]:
        assert re.search(rf"^\s*(import|from) {module}\b", code, re.MULTILINE)


def test_each_encoder_has_its_path_or_its_download_command(tmp_path, monkeypatch):
    found = {"default": tmp_path, "accurate": None}

    def find(name):
        if name not in found:
            raise DamagedFileError(f"{name}: damaged")
        return found[name]

    monkeypatch.setattr(default, "find_download", find)
    lines = [line for line in report() if line.startswith("encoder")]
    assert lines[0].endswith(f"default: {tmp_path}")
    assert "`syntagma download accurate` (405 MB, once)" in lines[1]
    assert lines[2].endswith("multilingual: damaged")


def test_it_says_whether_the_server_can_run(tmp_path, monkeypatch):
    def line():
        return next(line for line in report() if line.startswith("serve "))

    monkeypatch.setattr(doctor, "find_spec", lambda name: object())
    monkeypatch.setattr(default, "find_download", lambda name: tmp_path)
    assert line().endswith("can run: syntagma serve")
    monkeypatch.setattr(default, "find_download", lambda name: None)
    assert "`syntagma download default`" in line()
    monkeypatch.setattr(doctor, "find_spec", lambda name: name != "uvicorn" or None)
    assert install_command("serve") in line()


def test_a_package_of_another_name_may_bring_a_module(monkeypatch):
    def version(name):
        if name in ("onnxruntime", "numpy"):  # as onnxruntime-gpu
            raise metadata.PackageNotFoundError(name)
        return "1.0"

    monkeypatch.setattr(doctor, "find_spec", lambda name: object())
    monkeypatch.setattr(doctor.metadata, "version", version)
    monkeypatch.setitem(sys.modules, "onnxruntime", SimpleNamespace(__version__="7.8+gpu"))
    lines = list(report())
    assert any("checked with onnxruntime 7.8+gpu" in line for line in lines)
    assert f"numpy          {np.__version__}" in lines
    assert summary()["packages"]["numpy"] == np.__version__


def test_no_extra_installs_weights():
    """Packages of model weights depend on packages that Syntagma does not use."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    dependencies = [*project["dependencies"], *chain(*project["optional-dependencies"].values())]
    packages = {
        package.partition("==")[0] for row in NAMED_MODELS.values() for package in row.packages
    }
    assert not any(one.startswith(tuple(packages)) for one in dependencies)
