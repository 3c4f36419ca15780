"""Read the weights of a model saved by this package."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import safetensors
import torch
from safetensors.torch import load_file
from torch import Tensor
from transformers import AutoConfig, PretrainedConfig

from syntagma.encoders import compact
from syntagma.encoders.default import WEIGHTS
from syntagma.encoders.reference import ModelRef
from syntagma.errors import DamagedFileError, InputError


def saved_encoder_config(ref: ModelRef) -> PretrainedConfig:
    """Return the configuration of the encoder in a saved model."""
    return AutoConfig.for_model(**ref.settings["encoder"])


def saved_weights(
    ref: ModelRef, *, encoder_weights: Callable[[ModelRef], dict[str, Tensor]]
) -> dict[str, Tensor]:
    """Return all weights of a saved model in full.

    Args:
        ref: the model.
        encoder_weights: loads the base encoder's weights, which compact weights are added to.

    Raises:
        InputError: the weights are missing, or the base encoder cannot be found.
        DamagedFileError: the weights are damaged, or the base encoder has changed since the model
            was saved.
    """
    weights = _load(ref.folder / WEIGHTS)
    storage = ref.settings.get("storage")
    if not storage:
        return weights
    stored = f"{ref.name}: stored as differences to the encoder {ref.settings['base']!r}"
    try:
        published = encoder_weights(ref.base)
    except InputError as error:
        raise InputError(f"{stored}; {error}") from error
    base = {f"encoder.{name}": part for name, part in published.items()}
    if not compact.belongs(weights, base):
        raise DamagedFileError(
            f"{stored}, whose weights have changed; restore the encoder that the model was built on"
        )
    return compact.expand(weights, base, bits=storage["bits"])


def _load(path: Path) -> dict[str, Tensor]:
    if not path.is_file():
        raise InputError(f"{path}: no such file; save or copy the complete model folder again")
    try:
        weights: dict[str, Tensor] = load_file(path)
    except (safetensors.SafetensorError, ValueError) as error:
        raise DamagedFileError(
            f"{path}: damaged ({error}); save or download the model again"
        ) from error
    return {
        name: weight.to(torch.float32) if weight.dtype == torch.bfloat16 else weight
        for name, weight in weights.items()
    }
