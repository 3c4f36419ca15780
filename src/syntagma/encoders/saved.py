"""Read the configuration and the weights of a model saved by this package."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, TypeVar

import safetensors
import torch
from safetensors.torch import load_file
from torch import Tensor, nn
from transformers import AutoConfig, PretrainedConfig

from syntagma.encoders import compact
from syntagma.encoders.default import CONFIG, WEIGHTS, sha256
from syntagma.encoders.quiet import quiet
from syntagma.encoders.reference import ModelRef
from syntagma.encoders.saved_config import DIGEST, SAVE_AGAIN
from syntagma.encoders.sites import without_higher_layers
from syntagma.errors import DamagedFileError, InputError

T = TypeVar("T")

MAX_WEIGHT = 1e6
"""The largest weight of a trained model; a flipped bit of an exponent leads far beyond."""


def in_short(error: BaseException) -> str:
    """Return the beginning of an exception's message in one line, or its type if it has none."""
    return " ".join(str(error).split())[:200] or type(error).__name__


def as_config(kind: Callable[..., T], values: Mapping[str, Any], path: Path) -> T:
    """Build a configuration from plain values.

    Args:
        kind: a configuration class of Transformers, or a function that finds it.
        values: the settings.
        path: the file that they are from, for messages.

    Raises:
        InputError: a setting is invalid.
        DamagedFileError: Transformers cannot use a setting.
    """
    inner = values.get("encoder")
    for key in (*values, *(inner if isinstance(inner, Mapping) else ())):
        # Transformers sets an attribute for each key, even over its own methods.
        if key.startswith("__") or callable(getattr(PretrainedConfig, key, None)):
            raise DamagedFileError(
                f"{path}: {key!r} is not the name of a setting; remove it, or {SAVE_AGAIN}"
            )
    try:
        with quiet():
            return kind(**values)
    except InputError:
        raise
    except Exception as error:  # Each of Transformers' hundred classes has checks of its own.
        raise DamagedFileError(
            f"{path}: Transformers cannot read it ({in_short(error)}); {SAVE_AGAIN}"
        ) from error


def saved_encoder_config(ref: ModelRef) -> PretrainedConfig:
    """Return the configuration of the encoder in a saved model.

    Raises:
        DamagedFileError: Transformers cannot read it.
    """
    config: PretrainedConfig = as_config(
        AutoConfig.for_model, ref.settings["encoder"], ref.folder / CONFIG
    )
    return config


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
    weights = _load(ref)
    storage = ref.settings.get("storage")
    if storage:
        stored = f"{ref.name}: stored as differences from the encoder {ref.settings['base']!r}"
        try:
            published = encoder_weights(ref.built_on)
        except InputError as error:
            raise InputError(
                f"{stored}; {error} (if you moved it, write its new place as base in "
                f"{ref.folder / CONFIG})"
            ) from error
        base = {f"encoder.{name}": part for name, part in published.items()}
        if not compact.belongs(weights, base):
            raise DamagedFileError(
                f"{stored}, whose weights have changed; restore the encoder that the model was "
                f"built on"
            )
        base = without_higher_layers(saved_encoder_config(ref), base, prefix="encoder.")
        try:
            weights = compact.expand(
                weights, base, bits=storage["bits"], rank=storage.get("rank", 0)
            )
        except DamagedFileError as error:
            raise DamagedFileError(f"{ref.folder / WEIGHTS}: {error}; {SAVE_AGAIN}") from error
    require_finite(weights, ref.folder / WEIGHTS)
    return weights


def _load(ref: ModelRef) -> dict[str, Tensor]:
    path = ref.folder / WEIGHTS
    if not path.is_file():
        raise InputError(f"{path}: no such file; save or copy the complete model folder again")
    # Models that were saved before the digest was introduced have none.
    digest = ref.settings.get(DIGEST)
    if digest is not None and sha256(path) != digest:
        raise DamagedFileError(
            f"{path}: the weights have changed since the model was saved (their SHA-256 is not "
            f"that in {CONFIG}); copy or download the model again, or remove {DIGEST} from "
            f"{CONFIG} if you changed them on purpose"
        )
    try:
        weights: dict[str, Tensor] = load_file(path)
    except (safetensors.SafetensorError, ValueError, OSError) as error:
        raise DamagedFileError(
            f"{path}: damaged ({in_short(error)}); save or download the model again"
        ) from error
    return {
        name: weight.to(torch.float32) if weight.dtype == torch.bfloat16 else weight
        for name, weight in weights.items()
    }


def require_finite(weights: Mapping[str, Tensor], path: Path) -> None:
    """Check that all weights are numbers that training can lead to.

    Args:
        weights: by name.
        path: their file, for messages.

    Raises:
        DamagedFileError: a value is NaN or infinite, or beyond :data:`MAX_WEIGHT`.
    """
    for name, weight in weights.items():
        if not weight.is_floating_point() or not weight.numel():
            continue
        if weight.element_size() == 1:  # No sums or comparisons exist for eight bits.
            weight = weight.to(torch.float32)
        # One pass without a temporary tensor: both ends are NaN if any value is.
        largest = torch.stack(weight.aminmax()).abs().max().item()
        if not math.isfinite(largest):
            raise DamagedFileError(
                f"{path}: {name!r} has values that are not finite numbers; {SAVE_AGAIN}, or train "
                f"it again with a lower learning rate"
            )
        if largest > MAX_WEIGHT:
            raise DamagedFileError(
                f"{path}: {name!r} has the value {largest:.3g}, expected at most {MAX_WEIGHT:g}; "
                f"the file is damaged; {SAVE_AGAIN}"
            )


def on_meta(make: Callable[[], nn.Module], path: Path) -> nn.Module:
    """Build a model on the meta device: it has shapes but no values, and takes no memory.

    Args:
        make: builds the model.
        path: the file that its configuration is from, for messages.

    Raises:
        DamagedFileError: no model can be built with the configuration.
    """
    try:
        with torch.device("meta"):
            return make()
    except InputError as error:
        raise DamagedFileError(f"{path}: {error}") from error
    except Exception as error:  # Transformers' models do not check their settings.
        raise DamagedFileError(
            f"{path}: no model can be built with these settings "
            f"({type(error).__name__}: {in_short(error)}); {SAVE_AGAIN}"
        ) from error


def require_fit(blank: nn.Module, weights: Mapping[str, Tensor], folder: Path) -> None:
    """Compare names, shapes and kinds of weights with those of a model.

    Args:
        blank: the model on the meta device, where it takes no memory, whatever its sizes.
        weights: by name; of a tied weight, one name is enough.
        folder: the model's folder, for messages.

    Raises:
        DamagedFileError: they differ.
    """
    path = folder / WEIGHTS
    expected = blank.state_dict(keep_vars=True)
    for name, weight in weights.items():
        mine = expected.get(name)
        if mine is not None and mine.shape != weight.shape:
            raise DamagedFileError(
                f"{path}: {name!r} has the sizes {_sizes(weight)}, but {CONFIG} says "
                f"{_sizes(mine)}; {SAVE_AGAIN}"
            )
        if mine is not None and mine.is_floating_point() != weight.is_floating_point():
            raise DamagedFileError(
                f"{path}: {name!r} has values of type {weight.dtype}, expected {mine.dtype}; "
                f"{SAVE_AGAIN}"
            )
    there = {id(expected[name]) for name in weights if name in expected}
    missing = [name for name, mine in expected.items() if id(mine) not in there]
    unknown = [name for name in weights if name not in expected]
    if missing or unknown:
        raise DamagedFileError(
            f"{path}: weights do not fit {CONFIG} ({len(missing)} missing, {len(unknown)} unknown, "
            f"for example {[*missing, *unknown][0]!r}); {SAVE_AGAIN}"
        )


def _sizes(weight: Tensor) -> str:
    return "×".join(map(str, weight.shape)) or "of a single number"
