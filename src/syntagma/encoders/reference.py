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
from syntagma.encoders.default import (
    CONFIG,
    ENCODERS,
    MODELS,
    TOKENIZER,
    WEIGHTS,
    resolve,
    sha256,
)
from syntagma.encoders.hub_options import NONE, HubOptions
from syntagma.encoders.named_models import NAMED_MODELS
from syntagma.encoders.saved_config import is_own, read_encoder_config, read_saved_config
from syntagma.errors import DamagedFileError, InputError
from syntagma.files import require_path

Kind = Literal["model", "qa_model", "encoder"]
QUESTION_ANSWERING = "ForQuestionAnswering"
"""Part of the names of Transformers' classes of question-answering models."""
FILES = ("*.json", "*.safetensors", "*.model", "*.spm", "*.txt", "*.bpe", "*.tiktoken")
"""Files of a saved model, and of the tokenizers beside it."""
MAX_BASES = 50
"""The longest chain of models, each trained from the one before."""


@dataclass(frozen=True)
class ModelRef:
    """A model that was looked up by its name.

    Args:
        name: the name as the user wrote it.
        place: the model's folder, or a hub name that Transformers loads.
        config: content of ``config.json`` of a model saved by this package; ``None`` for others.
        architecture: the class of Transformers that a model of others was saved with, such as
            ``BertForMaskedLM``; empty if it is unknown.
        options: how it is loaded from the hub.
    """

    name: str
    place: str
    config: Mapping[str, Any] | None = None
    architecture: str = ""
    options: HubOptions = NONE

    @property
    def kind(self) -> Kind:
        """What can be loaded.

        ``model``: a model saved by this package.  ``qa_model``: a question-answering model saved
        by Transformers (:mod:`syntagma.encoders.qa_models`), also usable as an encoder.
        ``encoder``: all others, also unknown names.
        """
        if self.config is not None:
            return "model"
        return "qa_model" if QUESTION_ANSWERING in self.architecture else "encoder"

    @property
    def settings(self) -> Mapping[str, Any]:
        """Content of ``config.json`` of a saved model.

        Raises:
            InputError: this is not a saved model.
        """
        if self.config is None:
            raise InputError(
                f"{self.name}: expected a folder that `syntagma train` wrote, or "
                f"{' or '.join(MODELS)}; {self.instead()}"
            )
        return self.config

    def instead(self) -> str:
        """Return a clause for messages: what was found in place of a saved model."""
        if self.name in ENCODERS and (Path(self.name) / CONFIG).is_file():
            return f"this name is that of an encoder; write ./{self.name} for the folder here"
        if self.kind == "qa_model":
            return (
                f"this is a {self.architecture} of Transformers; save it as a reader with "
                f"Reader.from_pretrained({self.name!r}).model.save_pretrained(FOLDER)"
            )
        if self.architecture:
            return (
                f"this is {self.architecture}, of which only the encoder can be used; train a "
                f"model on it, or for questions name a model whose {CONFIG} says "
                f"…{QUESTION_ANSWERING}"
            )
        if self.folder.exists():
            found = (self.folder / CONFIG).is_file()
            if found:
                read_encoder_config(self.folder / CONFIG)  # If it is damaged, that is the reason.
            return f"this is not one (it has no {'architecture in its ' if found else ''}{CONFIG})"
        if self.place.count("/") != 1:
            return "there is no such folder, and names on the Hugging Face hub are OWNER/NAME"
        why = hub.why_not_found(self.place, CONFIG, self.options)
        return f"there is no such folder{', and ' if why else ''}{why}"

    @property
    def folder(self) -> Path:
        """The folder with its files; does not exist for an encoder on the hub."""
        return Path(self.place)

    @property
    def hub_arguments(self) -> dict[str, Any]:
        """Arguments with which Transformers loads it from the hub; none for a folder."""
        # A folder's `place` includes the subfolder already.
        return {} if self.folder.is_dir() else self.options.arguments

    @property
    def saved_dtype(self) -> str | None:
        """The type in which the weights of a saved model are; ``None`` if it does not say."""
        return None if self.config is None else self.config.get("dtype")

    @functools.cached_property
    def base(self) -> ModelRef:
        """The encoder or saved model that a saved model was built on."""
        return find_model(self.settings["base"], self.options.elsewhere())

    @property
    def built_on(self) -> ModelRef:
        """The base, which a saved model needs that lacks something of its own.

        Raises:
            DamagedFileError: it names no base, or one that leads back to it.
        """
        if len(self.chain) == 1:
            raise DamagedFileError(
                f"{self.folder / CONFIG}: base: expected the encoder that the model was built on, "
                f"got {self.settings['base']!r}; download or save the complete model again"
            )
        return self.chain[1]

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
        # A model that was pushed to the hub does not name a base that only its author has.
        while chain[-1].config is not None and chain[-1].settings["base"]:
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


def find_model(name: ModelName, options: HubOptions = NONE) -> ModelRef:
    """Look up a model by its name.

    An unknown name raises no error here: it may be a hub name, and loading it reports the reason.

    Args:
        name: ``default`` or another named model, a folder, or a hub name; a :class:`ModelRef` is
            returned unchanged.
        options: how it is loaded from the hub.

    Raises:
        InputError: ``name`` is not a name, this installation lacks a shipped model, or there are
            options for a model that was looked up before.
        DamagedFileError: the folder's ``config.json`` cannot be read.
    """
    if isinstance(name, ModelRef):
        if options not in (NONE, name.options):
            raise InputError(f"{name.name}: was looked up before; give options to find_model")
        return name
    require_path(name, "the name of a model, or its folder")
    inner = options.subfolder
    if not inner and (known := _named.get(_key(str(name)))) is not None:
        return known
    place = resolve(str(name))
    if Path(place).is_dir():
        folder = Path(place, inner)
        if not folder.is_dir():
            raise InputError(f"{name}: expected a folder {inner} inside; there is none")
        own_name = str(Path(name, inner)) if inner else str(name)
        found = _described(own_name, str(folder) if inner else place, folder / CONFIG, options)
        if place != str(name) and not inner:
            _named[_key(str(name))] = found
        return found
    if place == str(name) and place.count("/") == 1 and not Path(place).exists():
        return _on_hub(place, options)
    return ModelRef(str(name), place, options=options)


def _described(name: str, place: str, path: Path, options: HubOptions) -> ModelRef:
    """Return a model as its ``config.json`` describes it."""
    if is_own(path):
        return ModelRef(name, place, read_saved_config(path), options=options)
    return ModelRef(name, place, architecture=_architecture(path), options=options)


def _architecture(path: Path) -> str:
    """Return the class that a model was saved with, one for question answering if it has several.

    It is empty for a file that cannot be read: the reason is given when the encoder is loaded.
    """
    try:
        names = read_encoder_config(path).get("architectures") if path.is_file() else None
    except InputError:
        return ""
    return next((name for name in names or () if QUESTION_ANSWERING in name), (names or [""])[0])


def _on_hub(name: str, options: HubOptions) -> ModelRef:
    """Fetch all files of a model saved by this package; Transformers fetches others itself."""
    unknown = ModelRef(name, name, options=options)
    config = hub.find_file(name, CONFIG, options)
    if config is None:
        return unknown
    if not is_own(config):
        return _described(name, name, config, options)
    folder = hub.find_files(name, FILES, options)
    return unknown if folder is None else _described(name, str(folder), folder / CONFIG, options)


def full_name(ref: ModelRef) -> str:
    """Return a name that is valid in any working directory: folders become absolute paths."""
    is_path = ref.place == ref.name and ref.folder.is_dir()
    return str(ref.folder.absolute()) if is_path else ref.name
