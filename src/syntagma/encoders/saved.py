"""Read what is in a model folder of this package: which encoder, and all weights."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import safetensors
import torch
from safetensors.torch import load_file
from torch import Tensor
from transformers import AutoConfig, PretrainedConfig

from syntagma.encoders import compact, hub
from syntagma.encoders.default import resolve
from syntagma.errors import DamagedFileError, InputError
from syntagma.files import read_json

CONFIG = "config.json"
WEIGHTS = "model.safetensors"


def is_saved_model(name: str | Path) -> bool:
    """Whether a name is a folder that this package wrote, or a model that comes with it."""
    config = Path(resolve(str(name))) / CONFIG
    return config.is_file() and '"syntagma_version"' in config.read_text(encoding="utf-8")


def find_saved(name: str | Path) -> Path | None:
    """The folder of a model of this package, fetched from the hub where it lies there.

    Args:
        name: a folder or a hub name.

    Returns:
        ``None`` where the name is that of a plain encoder, or of nothing.
    """
    if is_saved_model(name):
        return Path(resolve(str(name)))
    if Path(name).exists() or str(name).count("/") != 1:
        return None
    config = hub.find_file(str(name), CONFIG)
    if config is None or not is_saved_model(config.parent):
        return None
    return hub.find_files(str(name), ["*.json", "*.safetensors"])


def saved_settings(folder: str | Path) -> dict[str, Any]:
    """The configuration in a model folder, as it is written."""
    values: dict[str, Any] = read_json(Path(resolve(str(folder))) / CONFIG)
    return values


def published_encoder(name: str) -> str:
    """The name of the encoder that a model began from, or of the encoder itself.

    That of a folder holds wherever one stands.
    """
    while is_saved_model(name):
        name = saved_settings(name)["base"]
    is_folder = resolve(name) == name and Path(name).is_dir()
    return str(Path(name).absolute()) if is_folder else name


def saved_encoder_config(folder: str | Path) -> PretrainedConfig:
    """The configuration of the encoder in a model folder."""
    return AutoConfig.for_model(**saved_settings(folder)["encoder"])


def saved_weights(
    folder: str | Path, *, encoder_weights: Callable[[str], dict[str, Tensor]]
) -> dict[str, Tensor]:
    """All weights in a model folder, in full.

    Args:
        folder: of the model.
        encoder_weights: gives the weights of the encoder that compact ones are differences to.

    Raises:
        InputError: there are none, or the encoder is not there.
        DamagedFileError: they are damaged, or the encoder is not the one that it was.
    """
    weights = _load(Path(resolve(str(folder))) / WEIGHTS)
    values = saved_settings(folder)
    storage = values.get("storage")
    if not storage:
        return weights
    stored = f"{folder}: is stored as differences to the encoder {values['base']!r}"
    try:
        published = encoder_weights(values["base"])
    except InputError as error:
        raise InputError(f"{stored}; {error}") from error
    base = {f"encoder.{name}": part for name, part in published.items()}
    if not compact.belongs(weights, base):
        raise DamagedFileError(
            f"{stored}, whose weights are others now; put back the one that the model began from"
        )
    return compact.expand(weights, base, bits=storage["bits"])


def _load(path: Path) -> dict[str, Tensor]:
    if not path.is_file():
        raise InputError(f"{path}: no such file; the model folder is not complete")
    try:
        weights: dict[str, Tensor] = load_file(path)
    except (safetensors.SafetensorError, ValueError) as error:
        raise DamagedFileError(
            f"{path}: damaged ({error}); save or fetch the model again"
        ) from error
    return {
        name: weight.to(torch.float32) if weight.dtype == torch.bfloat16 else weight
        for name, weight in weights.items()
    }
