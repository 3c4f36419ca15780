"""The configuration that every model of this package has, and how it is read."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, TypeVar

import torch
from transformers import AutoConfig, PretrainedConfig

import syntagma
from syntagma.encoders.default import CONFIG
from syntagma.encoders.reference import ModelName, find_model
from syntagma.errors import InputError
from syntagma.formats import check_format
from syntagma.settings import build, to_dict

FORMAT = 1
"""Of a model folder. Raise it when an older version could not read what is written."""

Settings = TypeVar("Settings")


class SyntagmaConfig(PretrainedConfig):  # type: ignore[misc]
    """Configuration of any model of this package.

    In memory guides and head are the dataclasses of their settings: they are read once, by the
    model that knows their classes, and become plain values only when the configuration is saved.

    Args:
        encoder: configuration of the encoder, nested.
        base: the name that the encoder was loaded from.
        task: name of the task that the model is for; empty for a bare encoder.
        guides: the settings of each guide by its name.
        head: the settings of the task's head.
        labels: the label sets of the task, each in the order of its scores; ``labels`` are the
            classes, from which ``id2label``, ``label2id`` and ``num_labels`` follow.
        parser: the parse source that the model was trained with; empty if it reads no syntax.
        storage: ``{}`` where the weights are stored in full, else how they are compacted.
        format_version: of the folder that it was read from.
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
        head: Any = None,
        labels: Mapping[str, list[str]] | None = None,
        parser: str = "",
        storage: Mapping[str, Any] | None = None,
        format_version: int = FORMAT,
        **kwargs: Any,
    ) -> None:
        if isinstance(encoder, Mapping):
            encoder = AutoConfig.for_model(**encoder)
        self.encoder: Any = encoder
        self.base = base
        self.task = task
        self.guides: dict[str, Any] = dict(guides or {})
        self.head: Any = {} if head is None else head
        self.labels = {name: list(values) for name, values in (labels or {}).items()}
        self.parser = parser
        self.storage = dict(storage or {})
        self.format_version = format_version
        self.syntagma_version = kwargs.pop("syntagma_version", syntagma.__version__)
        if names := self.labels.get("labels"):
            kwargs["id2label"] = dict(enumerate(names))
            kwargs["label2id"] = {name: code for code, name in enumerate(names)}
        super().__init__(**kwargs)

    def read_head(self, kind: type[Settings]) -> Settings:
        """The settings of the head as a dataclass.

        Args:
            kind: the dataclass.

        Raises:
            InputError: a setting is unknown or impossible.
        """
        if not isinstance(self.head, kind):
            self.head = build(kind, self.head, where="head")
        head: Settings = self.head
        return head

    def read_guides(self, read: Callable[[Mapping[str, Any]], dict[str, Any]]) -> dict[str, Any]:
        """The settings of the guides as dataclasses.

        Args:
            read: makes them; it is not asked where they are dataclasses already.

        Raises:
            InputError: a setting is unknown or impossible.
        """
        if any(isinstance(settings, Mapping) for settings in self.guides.values()):
            self.guides = read(self.guides)
        return self.guides

    def to_dict(self) -> dict[str, Any]:
        """Plain values, as they are saved."""
        values: dict[str, Any] = super().to_dict()
        values |= {"guides": to_dict(self.guides), "head": to_dict(self.head)}
        return values


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


def read_config(name: ModelName, *, task: str | tuple[str, ...] | None = None) -> SyntagmaConfig:
    """The configuration of a saved model.

    Args:
        name: of a model that this package saved.
        task: the task that the model must be for, if any, or several of which it must be for one.

    Raises:
        InputError: there is no such model, or it is for another task or from a later version.
        DamagedFileError: its format is not stated.
    """
    ref = find_model(name)
    values = ref.settings
    check_format(values, ref.folder / CONFIG, FORMAT, remedy="save the model again")
    tasks = (task,) if isinstance(task, str) else task
    if tasks is not None and values.get("task") not in tasks:
        came = repr(values["task"]) if values.get("task") else "no task"
        expected = " or ".join(map(repr, tasks))
        raise InputError(f"{ref.name}: a model for {came}, expected one for {expected}")
    return SyntagmaConfig(**values)
