"""Look up the name of a model once, and pass the result on as a value.

Users refer to models by strings: ``default``, ``default-reader``, a folder, a name on the Hugging
Face hub.  :func:`find_model` turns such a name into a :class:`ModelRef`, so that the disk and the
network are asked only once.
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
from syntagma.encoders.saved_config import is_own, read_saved_config
from syntagma.errors import DamagedFileError, InputError
from syntagma.files import require_path

MAX_BASES = 50
"""The longest chain of models, each trained from the one before."""


@dataclass(frozen=True)
class ModelRef:
    """A model that was looked up by its name.

    Args:
        name: the name as the user wrote it.
        place: the model's folder, or a hub name that Transformers loads.
        config: content of ``config.json`` of a model saved by this package; ``None`` for an
            encoder.
    """

    name: str
    place: str
    config: Mapping[str, Any] | None = None

    @property
    def kind(self) -> Literal["model", "encoder"]:
        """``model`` if saved by this package; ``encoder`` for all others, also unknown names."""
        return "encoder" if self.config is None else "model"

    @property
    def settings(self) -> Mapping[str, Any]:
        """Content of ``config.json`` of a saved model.

        Raises:
            InputError: this is not a saved model.
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
        """The folder with its files; does not exist for an encoder on the hub."""
        return Path(self.place)

    @functools.cached_property
    def base(self) -> ModelRef:
        """The encoder or saved model that a saved model was built on."""
        return find_model(self.settings["base"])

    @property
    def published(self) -> ModelRef:
        """The published encoder at the start of a chain of saved models.

        Raises:
            DamagedFileError: the chain does not end, because a model names itself as its base.
        """
        return self.chain[-1]

    @functools.cached_property
    def chain(self) -> tuple[ModelRef, ...]:
        """The model, its base, the base of that, and so on, up to a published encoder.

        Raises:
            DamagedFileError: the chain does not end, because a model names itself as its base.
        """
        chain = [self]
        while chain[-1].config is not None:
            chain.append(chain[-1].base)
            if len(chain) > MAX_BASES:
                raise DamagedFileError(
                    f"{self.folder / CONFIG}: base: {self.settings['base']!r} leads back to the "
                    f"model itself; name the encoder that it was built on"
                )
        return tuple(chain)

    @property
    def has_tokenizer(self) -> bool:
        """Whether its folder contains the tokenizer."""
        return (self.folder / TOKENIZER).is_file()

    @functools.cached_property
    def digest(self) -> str:
        """SHA-256 of its weights; empty if they are not on this machine."""
        weights = self.folder / WEIGHTS
        return sha256(weights) if weights.is_file() else ""

    def identity(self) -> dict[str, str]:
        """Return name, version and digest, to record which model produced a result."""
        named = NAMED_MODELS.get(self.name)
        version = "" if named is None else named.version
        return {"name": self.name, "version": version, "digest": self.digest}


ModelName = str | Path | ModelRef
"""A name as users write it, or the result of its lookup."""

_named: dict[tuple[str | None, ...], ModelRef] = {}
"""Cache of named models on this machine: a parser and a reader look up the same encoder."""


def _key(name: str) -> tuple[str | None, ...]:
    # The variables decide where a name is found, and may change within a process (in tests).
    return name, *map(os.environ.get, ("SYNTAGMA_ENCODER", "SYNTAGMA_HOME"))


def find_model(name: ModelName) -> ModelRef:
    """Look up a model by its name.

    An unknown name raises no error here: it may be a hub name, and loading it reports the reason.

    Args:
        name: ``default`` or another named model, a folder, or a hub name; a :class:`ModelRef` is
            returned unchanged.

    Raises:
        InputError: ``name`` is not a name, or this installation lacks a shipped model.
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
    """Return ``config.json`` of a model saved by this package, ``None`` for other folders."""
    path = folder / CONFIG
    return read_saved_config(path) if is_own(path) else None


def _on_hub(name: str) -> ModelRef:
    """Fetch all files of a model saved by this package; Transformers fetches encoders itself."""
    config = hub.find_file(name, CONFIG)
    if config is None or _own_config(config.parent) is None:
        return ModelRef(name, name)
    folder = hub.find_files(name, ["*.json", "*.safetensors"])
    return (
        ModelRef(name, name) if folder is None else ModelRef(name, str(folder), _own_config(folder))
    )


def full_name(ref: ModelRef) -> str:
    """Return a name that is valid in any working directory: folders become absolute paths."""
    is_path = ref.place == ref.name and ref.folder.is_dir()
    return str(ref.folder.absolute()) if is_path else ref.name
