"""The site: its navigation, its reference, its tutorials, and the build of all of it."""

from __future__ import annotations

import importlib.util
import json
import os
import re
import subprocess
import sys
from collections import Counter
from pathlib import Path
from types import ModuleType

import pytest
import yaml

import syntagma
from scripts.check_site import check
from syntagma.encoders.default import find_default

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"
TUTORIALS = sorted((DOCS / "tutorials").glob("*.ipynb"))
API = sorted((DOCS / "api").glob("*.md"))


def load(path: str) -> ModuleType:
    """A module of the site's configuration, which no package contains."""
    spec = importlib.util.spec_from_file_location(Path(path).stem, ROOT / path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def named_pages(part: dict) -> list[str]:
    """The pages that a part of the navigation names, with those below them."""
    own = [part[key] for key in ("root", "file") if key in part]
    below = [entry for tree in part.get("subtrees", []) for entry in tree["entries"]]
    return own + [name for entry in below for name in named_pages(entry)]


def test_the_navigation_names_every_page_once_and_nothing_else():
    text = (DOCS / "site" / "navigation.yml").read_text(encoding="utf-8")
    named = named_pages(yaml.safe_load(text))
    pages = [path for path in DOCS.rglob("*") if path.suffix in (".md", ".ipynb")]
    names = [path.relative_to(DOCS).with_suffix("").as_posix() for path in pages]
    assert Counter(named) == Counter(names)


def test_every_public_name_is_described_once_in_the_reference():
    text = "\n".join(page.read_text(encoding="utf-8") for page in API)
    described = re.findall(r"^\.\. auto\w+:: syntagma\.(\w+)$", text, re.MULTILINE)
    assert Counter(described) == Counter({*syntagma.__all__} - {"__version__"})


def test_members_named_in_the_reference_exist():
    text = "\n".join(page.read_text(encoding="utf-8") for page in API)
    found = re.findall(r"^\.\. autoclass:: (\S+)\n   :members: (\S.*)$", text, re.MULTILINE)
    assert len(found) > 15
    for name, members in found:
        module, _, attribute = name.rpartition(".")
        described = getattr(importlib.import_module(module), attribute)
        for member in members.split(", "):
            assert hasattr(described, member), f"{name}.{member}"


@pytest.mark.parametrize("path", TUTORIALS, ids=lambda path: path.stem)
def test_tutorials_are_kept_without_output(path):
    cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
    code = [cell for cell in cells if cell["cell_type"] == "code"]
    assert len(code) > 4
    for cell in code:
        assert cell["outputs"] == []
        assert cell["execution_count"] is None
    assert "".join(cells[0]["source"]).startswith("# ")


def test_links_in_tutorials_lead_to_files():
    assert len(TUTORIALS) == 3
    for path in TUTORIALS:
        for cell in json.loads(path.read_text(encoding="utf-8"))["cells"]:
            if cell["cell_type"] == "markdown":
                for target in re.findall(r"\]\(([^)#]+)", "".join(cell["source"]), re.DOTALL):
                    assert (path.parent / target).exists(), f"{path.name}: {target}"


def test_links_out_of_docs_are_changed_for_the_site():
    pages = load("docs/site/outside_files.py")

    def changed(text: str) -> str:
        return pages.LINK.sub(lambda link: pages.site_link(link, DOCS), text)

    assert changed("[train](train.md#a-tagger)") == "[train](train.md#a-tagger)"
    assert changed("[train.md](train.md#a-tagger)") == "[](train.md#a-tagger)"
    assert changed("[a](../examples/ferry.txt)") == "[a](path:../examples/ferry.txt)"
    assert changed("[a](../examples)") == "a"
    assert changed("[a](squad10k/index.html)") == "[a](as-it-is:squad10k/index.html)"
    assert (
        changed("![a](answers.png), [b](https://b.org)") == "![a](answers.png), [b](https://b.org)"
    )
    moved = pages.links_from_root("[a](docs/use.md#parse) [b](CHANGELOG.md) [c](LICENSE)")
    assert moved == "[a](use.md#parse) [b](changelog.md) [c](../LICENSE)"


@pytest.mark.parametrize(
    ("page", "problem"),
    [
        ('<a href="b.html">b</a>', "there is no such file"),
        ('<a href="a.html#x">x</a>', "no such anchor"),
        ('<a href="../a.html">a</a>', "not in the site"),
        ('<script src="https://cdn.org/a.js"></script>', "another host"),
        ('<p style="background: url(//b.org/a.png)">b</p>', "another host"),
    ],
)
def test_a_fault_in_a_built_page_is_found(page, problem, tmp_path):
    (tmp_path / "index.html").write_text(
        '<a href="a.html#here">a</a> <a href="https://b.org">b</a>'
    )
    (tmp_path / "a.html").write_text('<p id="here">')
    assert check(tmp_path) == []
    (tmp_path / "c.html").write_text(page)
    (found,) = check(tmp_path)
    assert found.startswith("c.html: ")
    assert problem in found
    (tmp_path / "c.html").unlink()
    (tmp_path / "a.css").write_text('@import "https://fonts.org/a.css";')
    assert "another host" in check(tmp_path)[0]


def environment() -> dict[str, str]:
    """Offline, with this checkout's package, and with the warnings that the site leaves out."""
    paths = [str(ROOT / "src"), os.environ.get("PYTHONPATH", "")]
    return os.environ | {
        "HF_HUB_OFFLINE": "1",
        "PYTHONPATH": os.pathsep.join(filter(None, paths)),
        "PYTHONWARNINGS": "ignore:IProgress not found",  # As conf.py of the site.
    }


@pytest.mark.slow
def test_the_site_is_built_without_a_warning(tmp_path):
    pytest.importorskip("myst_nb", reason="needs the extra docs")
    command = [sys.executable, "-m", "sphinx", "--quiet", "--fail-on-warning", "--keep-going"]
    command += ["-c", DOCS / "site", "-d", tmp_path / "trees", "-D", "nb_execution_mode=off"]
    done = subprocess.run(
        [*command, DOCS, tmp_path / "site"], env=environment(), capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    assert check(tmp_path / "site") == []
    reference = (tmp_path / "site" / "api" / "read.html").read_text(encoding="utf-8")
    assert 'id="syntagma.Reader.answer"' in reference
    for heading in ("Parameters", "Raises"):
        assert f">{heading}<" in reference
    assert (tmp_path / "site" / "squad10k" / "curves.svg").is_file()


@pytest.mark.slow
@pytest.mark.skipif(
    find_default() is None, reason="no default encoder: `syntagma download default`"
)
@pytest.mark.parametrize("path", TUTORIALS, ids=lambda path: path.stem)
def test_a_tutorial_runs(path, monkeypatch):
    nbclient = pytest.importorskip("nbclient", reason="needs the extra docs")
    import nbformat

    for name, value in environment().items():
        monkeypatch.setenv(name, value)
    notebook = nbformat.read(path, as_version=4)
    client = nbclient.NotebookClient(notebook, resources={"metadata": {"path": path.parent}})
    client.execute()  # Raises if a cell does.
    shown = json.dumps([cell.get("outputs", []) for cell in notebook.cells])
    wanted = {"ask-my-documents": "19:25", "train-my-parser": "LAS 9"}
    assert wanted.get(path.stem, "SG-Net, random trees") in shown
    # What is printed goes into the site: nothing of this machine.
    assert str(ROOT) not in shown
