"""What a model's name refers to: looked up once, then passed on as a value.

Users name models by strings: ``default``, ``default-reader``, a folder, a name on the Hugging Face
hub. :func:`find_model` turns such a name into a :class:`ModelRef`, and everything below works with
that, so that nobody asks the disk or the network twice.
"""

from __future__ import annotations

import functools
import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from syntagma.encoders import hub
from syntagma.encoders.default import CONFIG, SHIPPED, TOKENIZER, WEIGHTS, resolve, sha256
from syntagma.encoders.named_models import NAMED_MODELS
from syntagma.errors import DamagedFileError, InputError
from syntagma.files import read_json, require_path


@dataclass(frozen=True)
class ModelRef:
    """A model that was found by its name.

    Args:
        name: as the user wrote it.
        place: the folder, or a name on the hub for Transformers to load.
        config: ``config.json`` of a model that this package saved; ``None`` for a plain encoder.
    """

    name: str
    place: str
    config: Mapping[str, Any] | None = None

    @property
    def kind(self) -> Literal["model", "encoder"]:
        """``model``: saved by this package; ``encoder``: of Transformers, or not found at all."""
        return "encoder" if self.config is None else "model"

    @property
    def settings(self) -> Mapping[str, Any]:
        """``config.json`` of a saved model.

        Raises:
            InputError: it is not one.
        """
        if self.config is None:
            missing = "" if (self.folder / CONFIG).is_file() else f" (it has no {CONFIG})"
            raise InputError(
                f"{self.name}: expected a folder that `syntagma train` wrote, or "
                f"{' or '.join(SHIPPED)}; this is not one{missing}"
            )
        return self.config

    @property
    def folder(self) -> Path:
        """Where its files are, of one that is not only on the hub."""
        return Path(self.place)

    @functools.cached_property
    def base(self) -> ModelRef:
        """What a saved model was built on."""
        return find_model(self.settings["base"])

    @property
    def published(self) -> ModelRef:
        """The encoder that a chain of saved models goes back to; a plain encoder is itself."""
        return self if self.config is None else self.base.published

    @property
    def has_tokenizer(self) -> bool:
        """Whether the tokenizer's file is in its folder."""
        return (self.folder / TOKENIZER).is_file()

    @functools.cached_property
    def digest(self) -> str:
        """SHA-256 of its weight file; empty where that is not on this machine."""
        weights = self.folder / WEIGHTS
        return sha256(weights) if weights.is_file() else ""

    def identity(self) -> dict[str, str]:
        """Name, version and digest, for the records of what was made with it."""
        named = NAMED_MODELS.get(self.name)
        version = "" if named is None else named.version
        return {"name": self.name, "version": version, "digest": self.digest}


ModelName = str | Path | ModelRef
"""A name as users write it, or what it was found to be."""

_named: dict[tuple[str | None, ...], ModelRef] = {}
"""Named models that were found on this machine: a parser and a reader share their encoder's."""


def _key(name: str) -> tuple[str | None, ...]:
    return name, *map(os.environ.get, ("SYNTAGMA_ENCODER", "SYNTAGMA_HOME"))


def find_model(name: ModelName) -> ModelRef:
    """Look up a model's name.

    A name that is found nowhere is taken for one on the hub: what loads it says what is wrong.

    Args:
        name: ``default`` or another named model, a folder, or a hub name; a :class:`ModelRef` is
            returned as it is.

    Raises:
        InputError: it is not a name, or a shipped model is missing from this installation.
        DamagedFileError: the folder's ``config.json`` cannot be read.
    """
    if isinstance(name, ModelRef):
        return name
    require_path(name, "the name of a model, or its folder")
    if (known := _named.get(_key(str(name)))) is not None:
        return known
    place = resolve(str(name))
    if Path(place).is_dir():
        found = ModelRef(str(name), place, _own_config(Path(place)))
        if place != str(name):
            _named[_key(str(name))] = found
        return found
    if place == str(name) and place.count("/") == 1 and not Path(place).exists():
        return _on_hub(place)
    return ModelRef(str(name), place)


def _own_config(folder: Path) -> dict[str, Any] | None:
    """``config.json`` of a model that this package saved, else ``None``."""
    path = folder / CONFIG
    # Other programs' files are theirs to judge: they are not even parsed here.
    if not path.is_file() or b'"syntagma_version"' not in path.read_bytes():
        return None
    values = read_json(path)
    if not isinstance(values, dict):
        raise DamagedFileError(f"{path}: expected an object, got {values!r:.40}")
    return values


def _on_hub(name: str) -> ModelRef:
    """A model of this package is fetched whole; an encoder is left to Transformers."""
    config = hub.find_file(name, CONFIG)
    if config is None or _own_config(config.parent) is None:
        return ModelRef(name, name)
    folder = hub.find_files(name, ["*.json", "*.safetensors"])
    return (
        ModelRef(name, name) if folder is None else ModelRef(name, str(folder), _own_config(folder))
    )


def full_name(ref: ModelRef) -> str:
    """A name that finds the model from any working folder: that of a folder is absolute."""
    is_path = ref.place == ref.name and ref.folder.is_dir()
    return str(ref.folder.absolute()) if is_path else ref.name
