"""The version of a folder's format: each kind of folder that is written states its own."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import syntagma
from syntagma.errors import DamagedFileError, InputError

CONVERT = "convert it with scripts/convert_to_0_1.py FOLDER"


def stamp(version: int) -> dict[str, Any]:
    """The first entries of a file that states the format of its folder.

    Args:
        version: of the format.  A writer raises it when older versions cannot read what it writes.
    """
    return {"format_version": version, "syntagma_version": syntagma.__version__}


def check_format(values: Mapping[str, Any], path: Path, known: int, *, remedy: str) -> None:
    """Check that this version can read a folder, before anything else in it is read.

    Args:
        values: content of the file that states the format.
        path: path of that file.
        known: highest version of the format that can be read.
        remedy: what to do about a damaged file, for the message.

    Raises:
        InputError: the folder was written before release 0.1.0, or in a later format.
        DamagedFileError: the file states no version.
    """
    found, version = values.get("format_version"), str(values.get("syntagma_version"))
    if found is None:
        raise InputError(
            f"{path}: written before release 0.1.0 (it has no format_version); {CONVERT}"
        )
    # Whoever writes true for a number has damaged the file; bool is an int in Python.
    is_number = isinstance(found, int) and not isinstance(found, bool) and found > 0
    if not is_number or not re.match(r"\d+\.\d+", version):
        raise DamagedFileError(
            f"{path}: expected a whole number from 1 as format_version and a version such as "
            f"{syntagma.__version__}, got {found!r} and {version!r}; {remedy}"
        )
    if found > known:
        raise InputError(
            f"{path}: written by Syntagma {version} in format {found}, and this version reads "
            f"formats up to {known}; update Syntagma to {version} or later"
        )
