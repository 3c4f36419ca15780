"""Imports point one way: a package may import only those to its left in CONTRIBUTING.md."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import pytest

import syntagma
from tests.messages import naming

ROOT = Path(syntagma.__file__).parent
LAYERS = [
    {"errors", "json_values", "file_names", "files", "csv_tables", "formats", "drafts", "outputs"}
    | {"settings", "batches", "progress", "checks", "plugins", "registry", "lifeline"}
    | {"control_groups", "cpu_threads", "free_memory"}
    | {"reprs", "views"},
    {"text"},
    {"extraction"},
    {"drawing"},
    {"encoders"},
    {"parse"},
    {"syntax"},
    {"models"},
    {"retrieval"},
    {"tasks"},
    {"datasets"},
    {"runs"},
    {"training"},
    {"evaluation"},
    {"packing"},
    {"analysis"},
    {"studies"},
    {"report"},
    {"reproduce"},
    {"export"},
    {"serve"},
    {"integrations"},
    {"cli"},
    {"__main__"},
]
LAYER = {name: number for number, names in enumerate(LAYERS) for name in names}
FILES = sorted(ROOT.rglob("*.py"))


def part_of(path: Path) -> str:
    return path.relative_to(ROOT).with_suffix("").parts[0]


def imported_parts(path: Path) -> set[str]:
    """All packages of Syntagma that a file imports, including inside functions."""
    parts = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: write imports in full"
            names = [node.module or ""]
            if node.module == "syntagma":
                names = [f"syntagma.{alias.name}" for alias in node.names]
        else:
            continue
        parts |= {name.split(".")[1] for name in names if name.startswith("syntagma.")}
    return parts


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(ROOT)))
def test_imports_point_left(path):
    own = part_of(path)
    if own == "__init__":
        return
    assert own in LAYER, f"add {own} to LAYERS"
    for part in imported_parts(path) - {"__version__", own}:
        assert LAYER[part] <= LAYER[own], f"{own} must not import {part}"
        assert LAYER[part] < LAYER[own] or len(LAYERS[LAYER[own]]) > 1, (own, part)


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(ROOT)))
def test_files_and_functions_are_short(path):
    assert len(path.read_text(encoding="utf-8").splitlines()) <= 400
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.FunctionDef):
            assert node.end_lineno is not None
            assert node.end_lineno - node.lineno < 90, f"{path.name}: {node.name}"


HEAVY = ("torch", "transformers", "numpy", "scipy", "lxml", "markdown_it", "pypdfium2")


@pytest.mark.parametrize(
    "module",
    ["syntagma", "syntagma.cli", "syntagma.report.answer_page"]
    + [
        f"syntagma.extraction.{name}" for name in ("worker", "find", "child", "html", "docx", "pdf")
    ],
)
def test_importing_loads_nothing_heavy(module):
    code = f"import sys, {module}; print([m for m in {HEAVY} if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_contributing_shows_the_same_import_order():
    text = (ROOT.parents[1] / "CONTRIBUTING.md").read_text(encoding="utf-8")
    shown = text.partition("function-local imports included:\n\n")[2].partition("\n\n")[0]
    found = [set(part.replace(",", " ").split()) for part in shown.split("←")]
    assert found == [names for names in LAYERS if names != {"__main__"}]


def test_public_names_are_few_and_sorted():
    # Functions for the commands, for loading models, and for registering parts.
    assert len(syntagma.__all__) <= 31
    assert sorted(syntagma.__all__) == list(syntagma.__all__)
    for name in syntagma.__all__:
        assert getattr(syntagma, name) is not None
    assert set(syntagma.__all__) <= set(dir(syntagma))
    with pytest.raises(AttributeError, match=naming("syntagma Raeder")):
        _ = syntagma.Raeder


def test_no_test_module_imports_another():
    """Code that several test modules need has a module of its own."""
    for path in Path(__file__).parent.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ImportFrom):
                names = [f"{node.module}.{alias.name}" for alias in node.names]
                assert not any(".test_" in name for name in names), f"{path}: {names}"
