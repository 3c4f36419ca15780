"""Saved models by the Auto classes of Transformers, for those who ask for them."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path
from typing import Any

import torch
from transformers import AutoConfig, AutoModel

from syntagma.encoders.config import SyntagmaConfig, read_config, read_dtype
from syntagma.encoders.model import SyntagmaModel
from syntagma.encoders.saved import find_saved
from syntagma.errors import InputError
from syntagma.settings import nearest

__all__ = ["AutoSyntagma", "blank_model", "register"]

MODELS: dict[str, str] = {
    "": "syntagma.models.guided_encoder:GuidedEncoder",
    "choice": "syntagma.models.choice_model:ChoiceModel",
    "open_qa": "syntagma.models.open_model:OpenModel",
    "pairs": "syntagma.models.pair_model:PairModel",
    "parsing": "syntagma.parse.scorer:ParserModel",
    "pretraining": "syntagma.models.pretraining_model:PretrainingModel",
    "probing": "syntagma.models.probe_model:ProbeModel",
    "relations": "syntagma.models.mention_model:RelationModel",
    "spans": "syntagma.models.span_model:SpanModel",
    "structural": "syntagma.models.structural_model:StructuralModel",
    "translation": "syntagma.models.translation_model:TranslationModel",
    "typing": "syntagma.models.mention_model:TypingModel",
}
"""The model of each task; that of none is the encoder with its guides."""

IDLE = {"config", "_from_auto", "trust_remote_code", "adapter_kwargs", "revision", "token"}
"""What ``AutoModel`` passes on without being told."""


class AutoSyntagma(SyntagmaModel):
    """Stands for the model of whichever task a folder is for."""

    @classmethod
    def from_pretrained(cls, name: str | Path, **options: Any) -> Any:
        """The model in a folder, or of the hub.

        Args:
            name: of a model that this package wrote.
            options: ``dtype`` of the weights.

        Raises:
            InputError: there is no such model, or an option is unknown.
        """
        folder = find_saved(name)
        if folder is None:
            raise InputError(f"{name}: not a Syntagma model; train one with `syntagma train`")
        dtype = _read_options(str(name), options)
        model: SyntagmaModel = _class_of(read_config(folder).task).from_folder(folder)
        return model.to(dtype)

    @classmethod
    def _from_config(cls, config: SyntagmaConfig, **options: Any) -> Any:
        """A model with fresh weights, the encoder's too; ``AutoModel.from_config`` asks for it.

        Args:
            config: of the model.
            options: ``dtype`` of the weights.

        Raises:
            InputError: an option is unknown.
        """
        dtype = _read_options("AutoModel.from_config", options)
        return _class_of(config.task)(config).to(dtype)


def blank_model(config: SyntagmaConfig) -> SyntagmaModel:
    """The model of a configuration with shapes and no numbers, which takes no memory.

    Raises:
        InputError: it is for an unknown task.
    """
    with torch.device("meta"):
        model: SyntagmaModel = _class_of(config.task)(config)
    return model


def _read_options(where: str, options: dict[str, Any]) -> torch.dtype | None:
    dtype = options.pop("dtype", None)
    if unknown := {key for key, value in options.items() if value is not None} - IDLE:
        raise InputError(
            f"{where}: expected no option but dtype, got {', '.join(sorted(unknown))}; "
            f"place the model with .to(device)"
        )
    return read_dtype(None if dtype == "auto" else dtype)


def _class_of(task: str) -> Any:
    if task not in MODELS:
        raise InputError(f"a model for the task {task!r}; {nearest(task, [*MODELS])}")
    module, _, attribute = MODELS[task].partition(":")
    return getattr(import_module(module), attribute)


def register() -> None:
    """Let ``AutoConfig`` and ``AutoModel`` know the models of this package.

    >>> from transformers import AutoConfig
    >>> register()
    >>> type(AutoConfig.for_model("syntagma")).__name__
    'SyntagmaConfig'
    """
    AutoConfig.register(SyntagmaConfig.model_type, SyntagmaConfig, exist_ok=True)
    AutoModel.register(SyntagmaConfig, AutoSyntagma, exist_ok=True)
