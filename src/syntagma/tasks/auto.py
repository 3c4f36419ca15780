"""Saved models through the Auto classes of Transformers, once :func:`register` was called."""

from __future__ import annotations

from typing import Any

import torch
from transformers import AutoConfig, AutoModel

from syntagma.encoders.config import SyntagmaConfig, read_config, read_dtype
from syntagma.encoders.model import SyntagmaModel
from syntagma.encoders.reference import ModelName, find_model
from syntagma.errors import InputError
from syntagma.models.guided_encoder import GuidedEncoder
from syntagma.tasks import find_task

IDLE = {"config", "_from_auto", "trust_remote_code", "adapter_kwargs", "revision", "token"}
"""What ``AutoModel`` passes on by itself."""


class AutoSyntagma(SyntagmaModel):
    """The model of whichever task a folder is for."""

    @classmethod
    def from_pretrained(cls, name: ModelName, **options: Any) -> Any:
        """The model in a folder, or of the hub.

        Args:
            name: of a model that this package wrote.
            options: ``dtype`` of the weights.

        Raises:
            InputError: there is no such model, or an option is unknown.
        """
        ref = find_model(name)
        dtype = _read_options(ref.name, options)
        model: SyntagmaModel = _class_of(read_config(ref).task).load_saved(ref)
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
    """The model of a task; without a task, the encoder with its guides."""
    return find_task(task).model_class if task else GuidedEncoder


def register() -> None:
    """Make the models of this package known to ``AutoConfig`` and ``AutoModel``.

    >>> from transformers import AutoConfig
    >>> register()
    >>> type(AutoConfig.for_model("syntagma")).__name__
    'SyntagmaConfig'
    """
    AutoConfig.register(SyntagmaConfig.model_type, SyntagmaConfig, exist_ok=True)
    AutoModel.register(SyntagmaConfig, AutoSyntagma, exist_ok=True)
