"""Load saved models through the Auto classes of Transformers, after a call of :func:`register`."""

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
"""Options that ``AutoModel`` passes on without being asked to; they change nothing here."""


class AutoSyntagma(SyntagmaModel):
    """Loads the model of whichever task a folder was saved for."""

    @classmethod
    def from_pretrained(cls, name: ModelName, **options: Any) -> Any:
        """Load a saved model.

        Args:
            name: a folder that this package wrote, or the hub name of one.
            options: only ``dtype``, the type of the weights.

        Raises:
            InputError: there is no such model, or an option is unknown.
        """
        ref = find_model(name)
        dtype = _read_options(ref.name, options)
        model: SyntagmaModel = _class_of(read_config(ref).task).load_saved(ref)
        return model.to(dtype)

    @classmethod
    def _from_config(cls, config: SyntagmaConfig, **options: Any) -> Any:
        """Create a model whose weights, including the encoder's, are randomly initialised."""
        # Private in Transformers, but the only hook that ``AutoModel.from_config`` calls.
        dtype = _read_options("AutoModel.from_config", options)
        return _class_of(config.task)(config).to(dtype)


def blank_model(config: SyntagmaConfig) -> SyntagmaModel:
    """Create a model on the meta device: it has shapes but no values, and takes no memory.

    Raises:
        InputError: the configuration names an unknown task.
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
    """Return the model class of a task; without a task, that of a guided encoder."""
    return find_task(task).model_class if task else GuidedEncoder


def register() -> None:
    """Register the models of this package with ``AutoConfig`` and ``AutoModel``.

    >>> from transformers import AutoConfig
    >>> register()
    >>> type(AutoConfig.for_model("syntagma")).__name__
    'SyntagmaConfig'
    """
    AutoConfig.register(SyntagmaConfig.model_type, SyntagmaConfig, exist_ok=True)
    AutoModel.register(SyntagmaConfig, AutoSyntagma, exist_ok=True)
