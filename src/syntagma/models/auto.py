"""Saved models by the Auto classes of Transformers, for those who ask for them."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path
from typing import Any

from transformers import AutoConfig, AutoModel

from syntagma.encoders.model import (
    SyntagmaConfig,
    SyntagmaModel,
    find_saved,
    read_config,
    read_dtype,
)
from syntagma.errors import InputError

__all__ = ["AutoSyntagma", "register"]

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
        dtype = options.pop("dtype", None)
        if unknown := {key for key, value in options.items() if value is not None} - IDLE:
            raise InputError(
                f"{name}: expected no option but dtype, got {', '.join(sorted(unknown))}; "
                f"place the model with .to(device)"
            )
        module, _, attribute = MODELS[read_config(folder).task].partition(":")
        model: SyntagmaModel = getattr(import_module(module), attribute).from_folder(folder)
        return model.to(read_dtype(None if dtype == "auto" else dtype))


def register() -> None:
    """Let ``AutoConfig`` and ``AutoModel`` know the models of this package.

    >>> from transformers import AutoConfig
    >>> register()
    >>> type(AutoConfig.for_model("syntagma")).__name__
    'SyntagmaConfig'
    """
    AutoConfig.register(SyntagmaConfig.model_type, SyntagmaConfig, exist_ok=True)
    AutoModel.register(SyntagmaConfig, AutoSyntagma, exist_ok=True)
