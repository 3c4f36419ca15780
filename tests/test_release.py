"""What a release needs: versions that agree, workflows that are valid, a wheel that installs."""

from __future__ import annotations

import importlib
import re
import subprocess
import sys
import urllib.request
from pathlib import Path

import pytest

from syntagma.encoders.named_models import DOWNLOADS

ROOT = Path(__file__).parents[1]
WORKFLOWS = sorted((ROOT / ".github" / "workflows").glob("*.yml"))
STATED = (
    "CHANGELOG.md",
    "CITATION.cff",
    "pyproject.toml",
    "src/syntagma/__init__.py",
    *(path.relative_to(ROOT).as_posix() for path in WORKFLOWS),
)


@pytest.fixture
def release(monkeypatch):
    monkeypatch.syspath_prepend(str(ROOT / "scripts"))
    return importlib.import_module("release")


@pytest.fixture
def installing(release):
    return importlib.import_module("release_install")


@pytest.fixture
def checkout(release, tmp_path, monkeypatch):
    """A checkout of which one file after another can be changed."""
    for name in STATED:
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text((ROOT / name).read_text(encoding="utf-8"), encoding="utf-8")
    monkeypatch.setattr(importlib.import_module("release_tools"), "ROOT", tmp_path)
    return tmp_path


def test_what_states_a_version_agrees(release):
    assert release.check() == [
        f"version {release.version_of_code()} everywhere, Python 3.11 to 3.14"
    ]


@pytest.mark.parametrize(
    ("name", "old", "new", "message"),
    [
        ("src/syntagma/__init__.py", r'__version__ = "[^"]*"', '__version__ = "1.0"', "1.2.3.*1.0"),
        ("CHANGELOG.md", r"## \d\S* \(", "## 9.9.9 (", "CHANGELOG.md"),
        ("CITATION.cff", r"(?m)^version: .*$", "version: 9.9.9", "CITATION.cff"),
        (
            "pyproject.toml",
            r'.*"Programming Language :: Python :: 3.13",\n',
            "",
            "3.11, 3.12, 3.14",
        ),
        (".github/workflows/release.yml", r'"3.12", ', "", "release.yml.*3.12"),
    ],
)
def test_what_disagrees_is_named(release, checkout, name, old, new, message):
    text = (checkout / name).read_text(encoding="utf-8")
    changed = re.sub(old, new, text, count=1)
    assert changed != text
    (checkout / name).write_text(changed, encoding="utf-8")
    with pytest.raises(release.ReleaseError, match=message):
        release.check()


def test_a_tag_is_the_version_and_the_changes_have_a_date(release, checkout):
    version = release.version_of_code()
    with pytest.raises(release.ReleaseError, match=r"tag is v9\.9\.9"):
        release.check("v9.9.9")
    path = checkout / "CHANGELOG.md"
    text = path.read_text(encoding="utf-8")
    heading = re.compile(rf"## {re.escape(version)} \(.*\)")
    path.write_text(heading.sub(f"## {version} (unreleased)", text, count=1), encoding="utf-8")
    with pytest.raises(release.ReleaseError, match="expected the day of release"):
        release.check(f"v{version}")
    path.write_text(heading.sub(f"## {version} (2026-12-01)", text, count=1), encoding="utf-8")
    assert release.check(f"v{version}")


def test_the_commands_of_the_readme_are_found(installing):
    commands = installing.readme_commands()
    assert ["syntagma", "download", "default"] in commands
    asked = [words for words in commands if words[1] == "answer"]
    assert len(asked) == 2
    for words in asked:
        assert (ROOT / words[2]).exists()
        assert words[3].startswith("Who")
        assert words[3].endswith("?")


def test_the_readme_downloads_a_model_before_it_uses_it(installing):
    downloaded, used = set(), set()
    for words in installing.readme_commands():
        named = set(words[2:]) & set(DOWNLOADS)
        if words[1] == "download":
            downloaded |= named
        else:
            used |= named
            assert named <= downloaded
    assert used


def test_the_local_index_has_a_page_for_each_project(installing, tmp_path):
    names = ["syntagma-0.0.1.tar.gz", "syntagma_some_parser-1.1-py3-none-any.whl"]
    for name in names:
        (tmp_path / name).write_bytes(name.encode())
    with installing.local_index([tmp_path / name for name in names]) as address:
        for name, project in zip(names, ["syntagma", "syntagma-some-parser"], strict=True):
            with urllib.request.urlopen(f"{address}{project}/{name}") as file:
                assert file.read() == name.encode()


def test_models_that_were_not_built_are_named(release, tmp_path, capsys):
    for name in ("syntagma-0.0.1-py3-none-any.whl", "syntagma-0.0.1.tar.gz"):
        (tmp_path / name).touch()
    words = ["install", "--dist", str(tmp_path), "--models", str(tmp_path / "none")]
    assert release.main(words) == 1
    assert f"release.py models --out {tmp_path / 'none'}" in capsys.readouterr().err


def test_the_local_index_serves_what_it_was_given(installing, tmp_path):
    wheel = tmp_path / "syntagma-0.0.1-py3-none-any.whl"
    wheel.write_bytes(b"wheel")
    with installing.local_index([wheel]) as address:
        with urllib.request.urlopen(f"{address}syntagma/") as page:
            links = re.findall('href="([^"]+)"', page.read().decode())
        assert links == [f"{wheel.name}#sha256={installing.digest(wheel)}"]
        with urllib.request.urlopen(f"{address}syntagma/{wheel.name}") as file:
            assert file.read() == b"wheel"


def test_a_folder_without_what_was_built_is_named(release, tmp_path, capsys):
    assert release.main(["install", "--dist", str(tmp_path)]) == 1
    assert "expected one wheel and one sdist, got 0 and 0" in capsys.readouterr().err


def test_a_failed_command_is_shown_with_what_it_printed(release, capsys):
    with pytest.raises(release.ReleaseError, match="exit code 3"):
        release.run(sys.executable, "-c", "print('the reason'); raise SystemExit(3)")
    assert "the reason" in capsys.readouterr().out


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.name)
def test_workflows_are_valid(path):
    pytest.importorskip("check_jsonschema")
    done = subprocess.run(
        [sys.executable, "-m", "check_jsonschema", "--builtin-schema", "vendor.github-workflows",
         str(path)],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout


def test_workflows_run_scripts_that_exist(release):
    for path in WORKFLOWS:
        for command, name in re.findall(r"run: (\S+) (scripts/\S+\.py)", path.read_text()):
            assert command == "python"
            assert (ROOT / name).exists()
