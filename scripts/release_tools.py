"""What the parts of `release.py` share."""

from __future__ import annotations

import hashlib
import subprocess
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent


class ReleaseError(Exception):
    """Something about the release is not as it must be; the message says what."""


def read(name: str) -> str:
    """The text of a file of the checkout."""
    return (ROOT / name).read_text(encoding="utf-8")


def run(*command: str | Path, **settings: object) -> str:
    """Run a command and return what it prints; what it printed is shown if it fails."""
    done = subprocess.run(
        [str(part) for part in command],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        encoding="utf-8",
        errors="replace",
        **settings,  # type: ignore[call-overload]
    )
    if done.returncode:
        print(done.stdout)
        words = " ".join(str(part) for part in command)
        raise ReleaseError(f"`{words}` ended with exit code {done.returncode}")
    return str(done.stdout)


def digest(path: Path) -> str:
    """The SHA-256 digest of a file."""
    return hashlib.sha256(path.read_bytes()).hexdigest()


def found_in(dist: Path) -> tuple[Path, Path]:
    """The wheel and the sdist of a folder.

    Raises:
        ReleaseError: it does not have exactly one of each.
    """
    wheels, sdists = sorted(dist.glob("*.whl")), sorted(dist.glob("*.tar.gz"))
    if len(wheels) != 1 or len(sdists) != 1:
        raise ReleaseError(
            f"{dist}: expected one wheel and one sdist, got {len(wheels)} and {len(sdists)}; "
            f"build them: python scripts/release.py build --out {dist}"
        )
    return wheels[0].resolve(), sdists[0].resolve()


def packages_of_models(folder: Path) -> list[Path]:
    """The wheels of the models that are packages of their own.

    Raises:
        ReleaseError: the folder has none.
    """
    found = sorted(folder.glob("*.whl"))
    if not found:
        raise ReleaseError(
            f"{folder}: expected the packages of models, found no wheel; "
            f"build them: python scripts/release.py models --out {folder}"
        )
    return [path.resolve() for path in found]
