"""Install what was built as a user would: from an index, into a fresh environment."""

from __future__ import annotations

import contextlib
import functools
import http.server
import os
import re
import shutil
import tarfile
import tempfile
import threading
from collections.abc import Iterator, Sequence
from pathlib import Path

from release_tools import ROOT, ReleaseError, digest, found_in, packages_of_models, read, run

TESTED = ("tests/text", "tests/syntax", "tests/models", "tests/cli/test_help.py")
"""Tests that need nothing but the package, pytest and Hypothesis."""
TOOLS = ("pytest", "pytest-xdist", "hypothesis")


@contextlib.contextmanager
def local_index(files: Sequence[Path]) -> Iterator[str]:
    """Serve wheels and sdists as an index (PEP 503) on this machine, and yield its address."""
    with tempfile.TemporaryDirectory() as folder:
        links: dict[Path, list[str]] = {}
        for path in files:
            page = Path(folder) / "simple" / project_of(path)
            page.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(path, page / path.name)
            link = f'<a href="{path.name}#sha256={digest(path)}">{path.name}</a>'
            links.setdefault(page, []).append(link)
        for page, found in links.items():
            text = "<!DOCTYPE html>\n" + "\n".join(found)
            (page / "index.html").write_text(text, encoding="utf-8")
        handler = functools.partial(Quiet, directory=folder)
        with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
            thread = threading.Thread(target=server.serve_forever, daemon=True)
            thread.start()
            try:
                yield f"http://127.0.0.1:{server.server_port}/simple/"
            finally:
                server.shutdown()


def project_of(path: Path) -> str:
    """The normalised name (PEP 503) of the project that a wheel or an sdist is of."""
    return path.name.partition("-")[0].lower().replace("_", "-")


class Quiet(http.server.SimpleHTTPRequestHandler):
    """Serves a folder, and prints nothing."""

    def log_message(self, format: str, *args: object) -> None:
        """Print nothing."""


class Environment:
    """A fresh virtual environment in which nothing of this checkout can be imported.

    Args:
        folder: where it is made.
        python: the interpreter that makes it.
    """

    def __init__(self, folder: Path, python: str) -> None:
        run(python, "-m", "venv", folder)
        self.bin = folder / ("Scripts" if os.name == "nt" else "bin")
        kept = {key: value for key, value in os.environ.items() if not key.startswith("PYTHON")}
        self.variables = kept | {
            "PATH": f"{self.bin}{os.pathsep}{os.environ['PATH']}",
            "PYTHONIOENCODING": "utf-8",
            "HF_HUB_OFFLINE": "1",
            "SYNTAGMA_HOME": str(folder / "home"),
        }

    def __call__(self, *command: str | Path, place: Path) -> str:
        """Run a command of the environment in a folder, and return what it prints."""
        program, *rest = command
        found = shutil.which(str(program), path=str(self.bin))
        return run(found or program, *rest, cwd=place, env=self.variables)

    def find_links(self, pages: Sequence[str]) -> None:
        """Let pip take packages from these pages too, whichever command of the environment runs it.

        PIP_EXTRA_INDEX_URL would replace the indexes that pip's configuration file names, and the
        other packages may come from those.
        """
        known = self.variables.get("PIP_FIND_LINKS", "").split()
        self.variables["PIP_FIND_LINKS"] = " ".join([*known, *pages])

    def install(self, *arguments: str | Path, place: Path) -> None:
        """Install with pip, with the versions of constraints.txt."""
        settings = (
            "--quiet",
            "--disable-pip-version-check",
            "--constraint",
            ROOT / "constraints.txt",
        )
        self("python", "-m", "pip", "install", *settings, *arguments, place=place)


def readme_python() -> str:
    """The Python example of the README."""
    found = re.search(r"```python\n(.+?)```", read("README.md"), re.DOTALL)
    assert found
    return found[1]


def readme_commands() -> list[list[str]]:
    """The commands of the README that read and parse, with names of files of the examples."""
    lines = [
        line.split("#")[0].split()
        for line in read("README.md").splitlines()
        if re.match(r"    syntagma (download|answer|parse) ", line)
    ]
    given = {"FILE": "examples/ferry.txt", "FOLDER": "examples/harbour"}
    question = ["Who fitted a coal barge with an engine?"]
    commands = []
    for words in lines:
        words = [given.get(word, word) for word in words]
        if '"Who' in words:
            start = words.index('"Who')
            words[start : start + 2] = question
        commands.append(words)
    if len(commands) < 4:
        raise ReleaseError(f"README.md: expected 4 commands to try, found {len(commands)}")
    return commands


def install(
    dist: Path, python: str, *, models: Path, sdist: bool = False, tests: bool = True
) -> list[str]:
    """Install from a local index into a fresh environment, and do what the README says.

    Args:
        dist: the folder with the wheel and the sdist.
        python: the interpreter.
        models: the folder with the packages of models, which the README's commands download.
        sdist: install the sdist in place of the wheel, and only see that it starts.
        tests: run the tests that need nothing but the package, out of the sdist.
    """
    wheel, source = found_in(dist)
    version = wheel.name.split("-")[1]
    packed = [] if sdist else packages_of_models(models)
    with (
        tempfile.TemporaryDirectory() as folder,
        local_index([source if sdist else wheel, *packed]) as index,
    ):
        work = Path(folder)
        with tarfile.open(source) as archive:
            archive.extractall(work, filter="data")
        place = work / source.name.removesuffix(".tar.gz")
        shutil.rmtree(place / "src")  # So only what was installed can be imported.
        environment = Environment(work / "venv", python)
        wanted = f"syntagma{'' if sdist else '[documents]'}=={version}"
        environment.install("--extra-index-url", index, wanted, place=work)
        about = environment("syntagma", "--version", place=place).strip()
        if version not in about:
            raise ReleaseError(f"expected version {version}, got {about}")
        if sdist:
            return [f"the sdist installs and starts: {about}"]
        pages = {f"{index}{project_of(path)}/" for path in packed}
        environment.find_links(sorted(pages))
        for words in readme_commands():
            environment(*words, place=place)
        (place / "readme.py").write_text(readme_python(), encoding="utf-8")
        environment("python", "readme.py", place=place)
        environment("syntagma", "doctor", place=place)
        if not (place / "page.html").exists():
            raise ReleaseError("the README's `syntagma answer … --html page.html` wrote no page")
        found = [f"the wheel installs and does what the README says: {about}"]
        if tests:
            environment.install("--extra-index-url", index, f"syntagma[train,stats]=={version}",
                                *TOOLS, place=work)  # fmt: skip
            printed = environment(
                "python", "-m", "pytest", "--quiet", "-n", "2", "-p", "no:cacheprovider", *TESTED,
                place=place,
            )  # fmt: skip
            found.append(f"its tests: {printed.strip().splitlines()[-1]}")
        return found
