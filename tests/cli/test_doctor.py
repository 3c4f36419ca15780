"""What the doctor recommends is there to be installed, and of use."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import pytest

from syntagma.cli.doctor import EXTRAS

ROOT = Path(__file__).parents[2]


@pytest.mark.parametrize("extra", EXTRAS)
def test_every_extra_has_code_behind_it(extra):
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    assert extra in project["optional-dependencies"]
    code = "\n".join(path.read_text() for path in (ROOT / "src").rglob("*.py"))
    for module in EXTRAS[extra]:
        assert re.search(rf"^\s*(import|from) {module}\b", code, re.MULTILINE)
