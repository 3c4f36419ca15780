"""The configuration that every model of this package has, and how it is read."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import torch
from transformers import AutoConfig, PretrainedConfig

import syntagma
from syntagma.encoders.saved import CONFIG
from syntagma.errors import DamagedFileError, InputError
from syntagma.files import read_json

__all__ = ["SyntagmaConfig", "read_config", "read_dtype"]


class SyntagmaConfig(PretrainedConfig):  # type: ignore[misc]
    """Configuration of any model of this package.

    Args:
        encoder: configuration of the encoder, nested.
        base: the name that the encoder was loaded from.
        task: name of the task that the model is for; empty for a bare encoder.
        guides: the settings of each guide by its name.
        head: the settings of the task's head.
        labels: the label sets of the task, each in the order of its scores.
        parser: the parse source that the model was trained with; empty if it reads no syntax.
        storage: ``{}`` where the weights are stored in full, else how they are compacted.
    """

    model_type = "syntagma"
    sub_configs = {"encoder": AutoConfig}  # noqa: RUF012 (declared so by Transformers)
    has_no_defaults_at_init = True

    def __init__(
        self,
        *,
        encoder: PretrainedConfig | Mapping[str, Any] | None = None,
        base: str = "",
        task: str = "",
        guides: Mapping[str, Any] | None = None,
        head: Mapping[str, Any] | None = None,
        labels: Mapping[str, list[str]] | None = None,
        parser: str = "",
        storage: Mapping[str, Any] | None = None,
        **kwargs: Any,
    ) -> None:
        if isinstance(encoder, Mapping):
            encoder = AutoConfig.for_model(**encoder)
        self.encoder: Any = encoder
        self.base = base
        self.task = task
        self.guides = dict(guides or {})
        self.head = dict(head or {})
        self.labels = {name: list(values) for name, values in (labels or {}).items()}
        self.parser = parser
        self.storage = dict(storage or {})
        self.syntagma_version = kwargs.pop("syntagma_version", syntagma.__version__)
        super().__init__(**kwargs)


def read_dtype(dtype: str | torch.dtype | None) -> torch.dtype | None:
    """A type of numbers by its name, as in ``bfloat16``.

    Raises:
        InputError: there is none of that name.
    """
    if dtype is None or isinstance(dtype, torch.dtype):
        return dtype
    found = getattr(torch, dtype.removeprefix("torch."), None)
    if not isinstance(found, torch.dtype):
        raise InputError(f"dtype: expected float32, bfloat16 or float16, got {dtype!r}")
    return found


def read_config(folder: str | Path, *, task: str | tuple[str, ...] | None = None) -> SyntagmaConfig:
    """The configuration in a model folder.

    Args:
        folder: a folder that this package wrote.
        task: the task that the model must be for, if any, or several of which it must be for one.

    Raises:
        InputError: there is no such folder, or it is of another task or a later version.
        DamagedFileError: it does not say which version it is of.
    """
    folder = Path(folder)
    if not (folder / CONFIG).is_file():
        raise InputError(f"{folder}: no model folder (it has no {CONFIG})")
    values = read_json(folder / CONFIG)
    if "syntagma_version" not in values:
        raise InputError(f"{folder}: not a Syntagma model; train one on it with `syntagma train`")
    saved, ours = str(values["syntagma_version"]), syntagma.__version__
    if not re.match(r"\d+\.\d+", saved):
        raise DamagedFileError(
            f"{folder / CONFIG}: expected a version such as {ours}, got {saved!r}; save the model "
            f"again"
        )
    if _release(saved) > _release(ours):
        raise InputError(
            f"{folder}: written by Syntagma {saved}, this is {ours}; "
            f"pip install 'syntagma>={saved}'"
        )
    tasks = (task,) if isinstance(task, str) else task
    if tasks is not None and values.get("task") not in tasks:
        came = repr(values["task"]) if values.get("task") else "no task"
        expected = " or ".join(map(repr, tasks))
        raise InputError(f"{folder}: a model for {came}, expected one for {expected}")
    return SyntagmaConfig(**values)


def _release(version: str) -> tuple[int, ...]:
    return tuple(int(part) for part in re.findall(r"\d+", version)[:2])
