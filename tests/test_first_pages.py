"""The pages on writing a guide and a task say what works: their code is run as it is written."""

from __future__ import annotations

import re
from importlib import import_module
from pathlib import Path
from types import ModuleType

import pytest

from syntagma.encoders.default import find_default
from syntagma.evaluation import evaluate, open_model
from syntagma.models.guides import GUIDES
from syntagma.report.write import write_report

ROOT = Path(__file__).parents[1]
pytestmark = pytest.mark.skipif(
    find_default() is None, reason="no default encoder: `syntagma download default`"
)


def run_page(name: str, folder: Path, monkeypatch) -> ModuleType:
    """Run the Python blocks of a page as the module that a reader would make of them."""
    text = (ROOT / "docs" / name).read_text(encoding="utf-8")
    blocks = re.findall(r"^```python\n(.*?)^```", text, re.MULTILINE | re.DOTALL)
    file = folder / f"{name.removesuffix('.md').replace('-', '_')}.py"
    file.write_text("\n".join(blocks), encoding="utf-8")
    monkeypatch.syspath_prepend(folder)
    return import_module(file.stem)


@pytest.fixture
def place(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_the_first_guide(place, capsys, monkeypatch):
    try:
        page = run_page("your-first-guide.md", place, monkeypatch)
        printed = capsys.readouterr().out
        assert "depth" in printed
        assert "DepthSettings(deepest=8)" in printed
        assert page.task.model.depth_embedding.table.weight.abs().sum() > 0
        scores = evaluate("runs/depth", [page.data])
        assert scores["total"] == 32
        assert "depth_embedding" not in dict(open_model("runs/plain").model.named_children())
        write_report(["runs/plain", "runs/depth"], place / "report")
        assert "depth" in (place / "report" / "index.html").read_text(encoding="utf-8")
    finally:
        GUIDES.unregister("depth_embedding")
