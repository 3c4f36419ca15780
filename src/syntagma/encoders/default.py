"""Where named models are found: downloaded encoders, and models that come with the package."""

from __future__ import annotations

import functools
import hashlib
import os
import sys
from importlib import metadata, resources
from pathlib import Path

from syntagma.encoders import hub
from syntagma.encoders.named_models import NAMED_MODELS, NamedModel, names_of
from syntagma.errors import DamagedFileError, InputError
from syntagma.files import read_json

DEFAULT = "default"
DEFAULT_PARSER = "default-parser"
DEFAULT_READER = "default-reader"
ENCODERS = names_of("encoder")
SHIPPED = names_of("parser", "reader")

CONFIG, WEIGHTS, TOKENIZER = "config.json", "model.safetensors", "tokenizer.json"
STAMP = "syntagma_encoder.json"
"""Says what a downloaded folder holds; written last, so that the folder is whole if it is there."""


def home_folder() -> Path:
    """Where encoders are kept: ``$SYNTAGMA_HOME``, else ``syntagma`` in the user's data folder."""
    if folder := os.environ.get("SYNTAGMA_HOME"):
        return Path(folder)
    if folder := os.environ.get("XDG_DATA_HOME"):
        return Path(folder) / "syntagma"
    if sys.platform == "win32":
        data = os.environ.get("LOCALAPPDATA", "~/AppData/Local")
    else:
        data = "~/Library/Application Support" if sys.platform == "darwin" else "~/.local/share"
    return Path(os.path.expanduser(data)) / "syntagma"


def encoder_folder(name: str) -> Path:
    """Where a named encoder lies once it is downloaded."""
    return home_folder() / "encoders" / name


def find_default() -> Path | None:
    """The folder of the default encoder, or ``None`` where it has to be downloaded.

    Raises:
        InputError: ``$SYNTAGMA_ENCODER`` names no model folder.
        DamagedFileError: its weights are not the published ones.
    """
    return find_encoder(DEFAULT)


def find_encoder(name: str) -> Path | None:
    """The folder of a named encoder, or ``None`` where it has to be downloaded.

    It is where ``syntagma download`` put it, in an installed package, or in the cache of the
    Hugging Face hub.  For ``default``, ``$SYNTAGMA_ENCODER`` names a copy elsewhere, which is taken
    as it is.

    Raises:
        InputError: the variable names no model folder.
        DamagedFileError: the weights are not the published ones.
    """
    row = NAMED_MODELS[name]
    place = os.environ.get("SYNTAGMA_ENCODER")
    if name == DEFAULT and place:
        if not (Path(place) / CONFIG).is_file():
            raise InputError(f"SYNTAGMA_ENCODER={place}: no model folder (it has no {CONFIG})")
        return Path(place)
    return find_downloaded(row) or _find_installed(row) or _find_cached(row)


def find_downloaded(row: NamedModel) -> Path | None:
    """The folder where ``syntagma download`` put an encoder, or ``None`` before that.

    Raises:
        DamagedFileError: what is there is not what was put there, or of another version.
    """
    folder = encoder_folder(row.name)
    if not (folder / STAMP).is_file():
        return None
    stamp = read_json(folder / STAMP)
    digest = stamp.get("sha256") if isinstance(stamp, dict) else None
    if digest != row.digest or not _is_published(folder, row):
        raise DamagedFileError(
            f"{folder}: not the weights of {row.name} {row.version} (sha256 {row.digest[:12]}…); "
            f"get them again with `syntagma download {row.name}`"
        )
    return folder


def _find_installed(row: NamedModel) -> Path | None:
    """The folder in an installed package of the default encoder.

    The package is located by its metadata and never imported: that would load other libraries.
    """
    if row.name != DEFAULT:
        return None
    package = row.packages[0].partition("==")[0]
    try:
        files = metadata.files(package) or []
    except metadata.PackageNotFoundError:
        return None
    weights = next((Path(str(file.locate())) for file in files if file.name == WEIGHTS), None)
    if weights is None or not weights.is_file():
        return None
    if not _is_published(weights.parent, row):
        raise DamagedFileError(
            f"{weights}: not the published weights (sha256 {row.digest[:12]}…); "
            f"`pip uninstall {package}`, then `syntagma download {row.name}`"
        )
    return weights.parent


def _find_cached(row: NamedModel) -> Path | None:
    """The folder in the hub's cache, if the weights there are the published ones."""
    if not row.revision:
        return None
    folder = hub.cached_files(row.hub, (CONFIG, TOKENIZER, WEIGHTS), revision=row.revision)
    return folder if folder and _is_published(folder, row) else None


def _is_published(folder: Path, row: NamedModel) -> bool:
    weights = folder / WEIGHTS
    if not weights.is_file() or weights.stat().st_size != row.size:
        return False
    return sha256(weights) == row.digest


def sha256(path: Path) -> str:
    """The digest of a file, computed once a process while the file does not change."""
    state = path.stat()
    return _sha256(str(path.absolute()), state.st_size, state.st_mtime_ns)


@functools.cache
def _sha256(path: str, size: int, changed: int) -> str:
    with open(path, "rb") as raw:
        return hashlib.file_digest(raw, "sha256").hexdigest()


def how_to_get(name: str) -> str:
    """What to do where a named encoder is not on the machine."""
    row = NAMED_MODELS[name]
    size = f"{row.download_size / 1e6:.0f} MB"
    return f"it is not on this machine; get it with `syntagma download {name}` ({size}, once)"


def require_encoder(name: str) -> None:
    """Stop where the encoder of a named model is neither on the machine nor can be fetched.

    Called by commands before they import torch, so that a new user learns it at once.

    Args:
        name: of a named model; any other name is let through.

    Raises:
        InputError: it has to be downloaded.
    """
    if name not in NAMED_MODELS or Path(name).is_dir():
        return
    encoder = NAMED_MODELS[name].encoder or name
    if find_encoder(encoder) is None and resolve(encoder) and not hub.is_reachable():
        raise InputError(f"encoder {encoder!r}: {how_to_get(encoder)}; {hub.why_unreachable()}")


def resolve(name: str) -> str:
    """What to load for an encoder's name: a folder, or a name on the Hugging Face hub.

    Args:
        name: of a named encoder such as ``default``, a folder, the name of a model that comes with
            the package, or a hub name.

    Raises:
        InputError: it is a named encoder that has to be downloaded and that the hub does not have.
    """
    if name in SHIPPED and not Path(name).is_dir():
        return str(shipped(name))
    if name not in ENCODERS:
        return name
    if folder := find_encoder(name):
        return str(folder)
    row = NAMED_MODELS[name]
    if not row.revision:
        raise InputError(
            f"encoder {name!r}: {how_to_get(name)}; {row.hub} on the Hugging Face hub has other "
            f"weights, to be used by that name"
        )
    return row.hub


def shipped(name: str) -> Path:
    """The folder of a model that comes with the package.

    Raises:
        InputError: no model of the package is called so, or this installation lacks it.
    """
    if name not in SHIPPED:
        raise InputError(f"{name}: no such model folder; give one, or {' or '.join(SHIPPED)}")
    folder = Path(str(resources.files("syntagma"))) / "weights" / name
    if not (folder / CONFIG).is_file():
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
