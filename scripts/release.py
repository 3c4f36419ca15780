"""Build a release, check it, and install it as a user would.

    python scripts/release.py check                 # what states a version, or a Python, agrees
    python scripts/release.py build --out dist      # sdist, and the wheel from it; what is in them
    python scripts/release.py models --out dist-models  # packages of models that do not fit in it
    python scripts/release.py platforms --dist dist # dependencies exist for every system and Python
    python scripts/release.py install --dist dist --models dist-models
                                                    # fresh environment, local index, README, tests
    python scripts/release.py rehearse              # all of these, then what is left to do

`make release` is the last.  The workflow of a release (`.github/workflows/release.yml`) runs the
same commands, `install` on every system and Python.  Nothing is uploaded by this script.
"""

from __future__ import annotations

import argparse
import functools
import hashlib
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile
import tomllib
import zipfile
from collections.abc import Callable, Sequence
from pathlib import Path

from release_install import install
from release_tools import ROOT, ReleaseError, digest, found_in, read, run

WORKFLOW = ".github/workflows/release.yml"
MEGABYTES = 45
"""A wheel may not be larger: the models of the package are part of it."""
MODELS = "models"
"""Folder with a package for each model that does not fit in the wheel."""
TABLE = "src/syntagma/encoders/named_models.py"
PYTHONS = ("3.11", "3.12", "3.13", "3.14")
PLATFORMS = {
    "Linux": "x86_64-unknown-linux-gnu",
    "macOS": "aarch64-apple-darwin",
    "Windows": "x86_64-pc-windows-msvc",
}
"""Each system with its name for uv."""


def project() -> dict[str, object]:
    """The table ``project`` of pyproject.toml."""
    return tomllib.loads(read("pyproject.toml"))["project"]


def version_of_code() -> str:
    """The version that the package states."""
    found = re.search(r'^__version__ = "(.+)"$', read("src/syntagma/__init__.py"), re.MULTILINE)
    if not found:
        raise ReleaseError("src/syntagma/__init__.py states no __version__")
    return found[1]


# --- What states a version


def check(tag: str = "") -> list[str]:
    """Check that everything that states a version, or a Python, agrees.

    Args:
        tag: the tag that is released, such as ``v0.1.0``; with it, the changes must have a date.
    """
    version = version_of_code()
    if not re.fullmatch(r"\d+\.\d+\.\d+((a|b|rc)\d+)?", version):
        raise ReleaseError(f"expected a version such as 1.2.3 or 1.2.3rc1, got {version}")
    heading = re.search(r"^## (\S+) \((.+)\)$", read("CHANGELOG.md"), re.MULTILINE)
    if not heading or heading[1] != version:
        raise ReleaseError(f"the first heading of CHANGELOG.md must be `## {version} (…)`")
    cited = re.search(r"^version: (\S+)$", read("CITATION.cff"), re.MULTILINE)
    if not cited or cited[1] != version:
        raise ReleaseError(f"CITATION.cff must state version: {version}")
    if tag and tag != f"v{version}":
        raise ReleaseError(f"the tag is {tag}, the version of the package is {version}")
    if tag and not re.fullmatch(r"\d{4}-\d\d-\d\d", heading[2]):
        raise ReleaseError(f"CHANGELOG.md: expected the day of release, got ({heading[2]})")
    stated = re.findall(r"Python :: (3\.\d+)", str(project()["classifiers"]))
    if tuple(stated) != PYTHONS:
        raise ReleaseError(f"pyproject.toml lists Python {', '.join(stated)}, not {PYTHONS}")
    listed = f"[{', '.join(repr(each) for each in PYTHONS)}]".replace("'", '"')
    for name in (WORKFLOW, ".github/workflows/test.yml"):
        if listed not in read(name):
            raise ReleaseError(f"{name} must test Python {listed}")
    return [f"version {version} everywhere, Python {PYTHONS[0]} to {PYTHONS[-1]}"]


# --- What is built


def tracked(*folders: str) -> set[str]:
    """The files of the checkout that git tracks, in all folders or some."""
    done = subprocess.run(
        ["git", "ls-files", "-z", *folders], cwd=ROOT, check=True, capture_output=True, text=True
    )
    return set(done.stdout.split("\0")) - {""}


def build(out: Path) -> list[str]:
    """Build an sdist, and the wheel from it, and check what is in them."""
    if out.exists() and any(out.iterdir()):
        raise ReleaseError(f"{out}: expected a folder that is empty or does not exist")
    run(sys.executable, "-m", "build", "--outdir", out, ROOT)
    wheel, sdist = found_in(out)
    run(sys.executable, "-m", "twine", "check", "--strict", wheel, sdist)
    with zipfile.ZipFile(wheel) as archive:
        packed = set(archive.namelist())
        metadata = next(name for name in packed if name.endswith("/METADATA"))
        described = archive.read(metadata).decode("utf-8")
    if missing := tracked("src/syntagma") - {f"src/{name}" for name in packed}:
        raise ReleaseError(f"the wheel lacks {sorted(missing)[0]} and {len(missing) - 1} others")
    stray = {name for name in packed if name.split("/")[0] not in ("syntagma", metadata[:-9])}
    if stray:
        raise ReleaseError(f"the wheel has {sorted(stray)[0]}, which is not of the package")
    for name in ("LICENSE", "NOTICE"):
        if not any(each.endswith(f"/licenses/{name}") for each in packed):
            raise ReleaseError(f"the wheel lacks {name}")
    size = wheel.stat().st_size / 1e6
    if size > MEGABYTES:
        raise ReleaseError(f"the wheel has {size:.1f} MB, more than {MEGABYTES}")
    with tarfile.open(sdist) as archive:
        sent = {name.partition("/")[2] for name in archive.getnames()}
    left_out = tracked() - tracked(MODELS) - sent
    left_out = {name for name in left_out if not name.endswith(".gitignore")}
    if left_out:
        raise ReleaseError(f"the sdist lacks {sorted(left_out)[0]} and {len(left_out) - 1} others")
    with tempfile.TemporaryDirectory() as folder:
        run(sys.executable, "-m", "build", "--wheel", "--outdir", folder, ROOT)
        again = next(Path(folder).glob("*.whl"))
        if digest(again) != digest(wheel):
            raise ReleaseError("two builds of the wheel, from the checkout and the sdist, differ")
    found = [
        f"{wheel.name}: {size:.1f} MB, {len(packed)} files, SHA-256 {digest(wheel)}",
        f"{sdist.name}: {sdist.stat().st_size / 1e6:.1f} MB, SHA-256 {digest(sdist)}",
        "the wheel built from the checkout is the wheel built from the sdist, byte for byte",
    ]
    if re.search(r"\]\((?!https?:|#)", described):
        found.append(LINKS)
    return found


def build_models(out: Path) -> list[str]:
    """Build the packages of models, each with weights alone, and check what is in them.

    Returns:
        One line for each package.
    """
    if out.exists() and any(out.iterdir()):
        raise ReleaseError(f"{out}: expected a folder that is empty or does not exist")
    found = []
    for folder in sorted(path for path in (ROOT / MODELS).iterdir() if path.is_dir()):
        run(sys.executable, "-m", "build", "--outdir", out, folder)
        stem = f"syntagma_{folder.name.replace('-', '_')}-"
        wheel, sdist = next(out.glob(f"{stem}*.whl")), next(out.glob(f"{stem}*.tar.gz"))
        run(sys.executable, "-m", "twine", "check", "--strict", wheel, sdist)
        with zipfile.ZipFile(wheel) as archive:
            packed = set(archive.namelist())
            weights = [name for name in packed if name.endswith("/model.safetensors")]
            digests = [hashlib.sha256(archive.read(name)).hexdigest() for name in weights]
        package = weights[0].partition("/")[0] if weights else ""
        here = {name.removeprefix(f"{MODELS}/{folder.name}/") for name in tracked(str(folder))}
        if missing := {name for name in here if name.startswith(f"{package}/")} - packed:
            raise ReleaseError(f"{wheel.name} lacks {sorted(missing)[0]}")
        named = re.search(
            rf'name="{folder.name}".*?version="(.+?)".*?digest="(.+?)"', read(TABLE), re.DOTALL
        )
        if not named or digests != [named[2]] or f"-{named[1]}-" not in wheel.name:
            raise ReleaseError(f"{wheel.name} has not the version and weights that {TABLE} states")
        size = wheel.stat().st_size / 1e6
        found.append(f"{wheel.name}: {size:.1f} MB, SHA-256 {digest(wheel)}")
    return found


LINKS = "note: links of the README are relative, so they lead nowhere on the index's page"


# --- Dependencies on systems that this machine is not


def platforms(dist: Path, extras: Sequence[str]) -> list[str]:
    """Resolve the dependencies of the wheel for every system and Python, from the index.

    Nothing is downloaded but the metadata.  uv resolves as pip would on that system; every
    dependency must have a wheel for it.
    """
    wheel, _ = found_in(dist)
    found = []
    for system, platform in PLATFORMS.items():
        for python in PYTHONS:
            lacking: list[str] = []
            if not resolves(wheel, extras, platform, python):
                if not resolves(wheel, (), platform, python):
                    raise ReleaseError(f"{system}, Python {python}: no wheel of a dependency")
                lacking = [
                    extra for extra in extras if not resolves(wheel, [extra], platform, python)
                ]
            but = f" but for the extras {', '.join(lacking)}" if lacking else ""
            found.append(f"{system}, Python {python}: every dependency has a wheel{but}")
            print(found[-1], file=sys.stderr, flush=True)
    return found


def resolves(wheel: Path, extras: Sequence[str], platform: str, python: str) -> bool:
    """Whether the wheel with some extras can be installed on a system, from wheels alone."""
    named = f"[{','.join(extras)}]" if extras else ""
    command = [sys.executable, "-m", "uv", "pip", "compile", "--quiet", "--no-annotate"]
    command += ["--python-version", python, "--python-platform", platform]
    done = subprocess.run(
        [*command, "--only-binary", ":all:", "-"],
        input=f"syntagma{named} @ {wheel.as_uri()}",
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode and not extras:
        print(done.stderr)
    return not done.returncode


# --- All of it


def other_pythons() -> list[str]:
    """The supported Pythons of this machine that are not the one that runs this."""
    here = f"{sys.version_info.major}.{sys.version_info.minor}"
    found = []
    for python in PYTHONS:
        program = shutil.which(f"python{python}")
        works = program and not subprocess.run([program, "-c", ""], capture_output=True).returncode
        if python != here and program and works:
            found.append(program)
    return found


def compiles(program: str) -> list[str]:
    """Check that another Python compiles every file of the package."""
    with tempfile.TemporaryDirectory() as folder:
        shutil.copytree(ROOT / "src", Path(folder) / "src")
        run(program, "-W", "error", "-m", "compileall", "-q", Path(folder) / "src")
    return [f"{Path(program).name} compiles every file"]


def left_to_do(notes: Sequence[str]) -> list[str]:
    """What this script cannot do."""
    version = version_of_code()
    steps = []
    if "urls" not in project():
        steps.append(
            "name the repository and the documentation in [project.urls] of pyproject.toml"
        )
    if LINKS in notes:
        steps.append("make the links of README.md absolute, or the index's page has dead ones")
    if "is not in the Python package index" in read("docs/install.md"):
        steps.append(
            "write `pip install syntagma` into README.md and docs/install.md, which say that the "
            "package is not in the index"
        )
    if f"## {version} (unreleased)" in read("CHANGELOG.md"):
        steps.append(f"write the day of release into CHANGELOG.md: ## {version} (YEAR-MONTH-DAY)")
    return [
        *steps,
        f"on the index, make a trusted publisher of {WORKFLOW} and its environment pypi",
        f"git tag --sign v{version} && git push origin v{version}: the workflow builds, installs "
        "on Linux, macOS and Windows, and waits",
        "look at its results, and approve its environment pypi: the workflow uploads",
        "not run on this machine: macOS, Windows, and the Pythons that are not installed on it",
    ]


def rehearse(dist: Path | None) -> list[str]:
    """Do all that can be done on this machine, and say what is left."""
    with tempfile.TemporaryDirectory() as folder:
        place, models = dist or Path(folder) / "dist", Path(folder) / "models"
        steps: list[tuple[str, Callable[[], list[str]]]] = [
            ("versions", check),
            ("build", lambda: build(place)),
            ("models", lambda: build_models(models)),
            ("dependencies elsewhere", lambda: platforms(place, user_extras())),
            *(
                (f"{Path(each).name}", functools.partial(compiles, each))
                for each in other_pythons()
            ),
            ("sdist", lambda: install(place, sys.executable, models=models, sdist=True)),
            ("wheel", lambda: install(place, sys.executable, models=models)),
        ]
        notes: list[str] = []
        for name, step in steps:
            print(f"{name} …", file=sys.stderr, flush=True)
            notes += step()
    return [*notes, "", "left to do:", *(f"- {each}" for each in left_to_do(notes))]


def user_extras() -> list[str]:
    """The extras that are for users."""
    extras = project()["optional-dependencies"]
    assert isinstance(extras, dict)
    return [each for each in extras if each not in ("dev", "docs")]


def main(arguments: Sequence[str] | None = None) -> int:
    """Read the arguments, and run one of the commands."""
    options = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    commands = options.add_subparsers(dest="command", required=True)
    commands.add_parser("check").add_argument("--tag", default="", help="such as v0.1.0")
    commands.add_parser("build").add_argument("--out", type=Path, default=Path("dist"))
    commands.add_parser("models").add_argument("--out", type=Path, default=Path("dist-models"))
    for name in ("platforms", "install", "rehearse"):
        command = commands.add_parser(name)
        if name == "rehearse":
            command.add_argument("--out", type=Path, help="keep the wheel and the sdist here")
        else:
            command.add_argument("--dist", type=Path, default=Path("dist"))
        if name == "install":
            command.add_argument("--python", default=sys.executable, help="the interpreter")
            command.add_argument("--models", type=Path, default=Path("dist-models"))
            command.add_argument("--sdist", action="store_true", help="the sdist, not the wheel")
            command.add_argument("--no-tests", action="store_true")
        if name == "platforms":
            command.add_argument("--extras", nargs="*", default=user_extras())
    chosen = options.parse_args(arguments)
    try:
        match chosen.command:
            case "check":
                found = check(chosen.tag)
            case "build":
                found = build(chosen.out)
            case "models":
                found = build_models(chosen.out)
            case "platforms":
                found = platforms(chosen.dist, chosen.extras)
            case "install":
                found = install(
                    chosen.dist,
                    chosen.python,
                    models=chosen.models,
                    sdist=chosen.sdist,
                    tests=not chosen.no_tests,
                )
            case _:
                found = rehearse(chosen.out)
    except ReleaseError as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    print("\n".join(found))
    return 0


if __name__ == "__main__":
    sys.exit(main())
