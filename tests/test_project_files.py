"""What a hosting service reads: citation, security policy, issue forms."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import pytest
import typer
import yaml

import syntagma
from syntagma.cli import app

ROOT = Path(__file__).parent.parent
FORMS = sorted((ROOT / ".github" / "ISSUE_TEMPLATE").glob("*.yml"))
COMMANDS = typer.main.get_command(app).commands


def test_the_citation_is_of_this_version():
    citation = yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))
    # The keys that the format requires.
    assert {"cff-version", "message", "title", "authors"} <= set(citation)
    assert citation["version"] == syntagma.__version__
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert citation["license"] in project["license"]


def test_the_citation_names_the_papers():
    citation = yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))
    papers = " ".join((ROOT / "docs" / "papers.md").read_text(encoding="utf-8").split())
    assert len(citation["references"]) == 3
    for paper in citation["references"]:
        assert paper["title"] in papers
        assert str(paper["year"]) in papers
        for author in paper["authors"]:
            assert f"{author['given-names']} {author['family-names']}" in papers


@pytest.mark.parametrize("path", [p for p in FORMS if p.stem != "config"], ids=lambda p: p.stem)
def test_forms_are_complete(path):
    form = yaml.safe_load(path.read_text(encoding="utf-8"))
    assert {"name", "description", "body"} <= set(form)
    ids = [part["id"] for part in form["body"]]
    assert len(set(ids)) == len(ids)
    for part in form["body"]:
        assert part["type"] in {"markdown", "textarea", "input", "dropdown", "checkboxes"}
        assert part["attributes"]["label"]
    for name, options in re.findall(r"`syntagma ([a-z]+)([^`]*)`", path.read_text("utf-8")):
        known = {option for each in COMMANDS[name].params for option in each.opts}
        assert set(re.findall(r"--[a-z-]+", options)) <= known


def test_the_policy_points_to_pages_that_exist():
    text = (ROOT / "SECURITY.md").read_text(encoding="utf-8")
    links = re.findall(r"\]\(([^)]+)\)", text)
    assert links
    for link in links:
        assert (ROOT / link).is_file()
