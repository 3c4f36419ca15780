"""The configuration of all models of this package, and how it is read."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, TypeVar

from transformers import AutoConfig, PretrainedConfig

import syntagma
from syntagma.encoders.default import CONFIG
from syntagma.encoders.qa_models import qa_settings
from syntagma.encoders.reference import ModelName, find_model
from syntagma.encoders.saved import as_config
from syntagma.encoders.saved_config import DIGEST, FORMAT
from syntagma.errors import InputError
from syntagma.settings import build, to_dict

Settings = TypeVar("Settings")


class SyntagmaConfig(PretrainedConfig):  # type: ignore[misc]
    """Configuration of any model of this package.

    In memory, the settings of guides and head are dataclasses.  The model builds them once, because
    it knows their classes; they become plain values only when the configuration is saved.

    Args:
        encoder: nested configuration of the encoder.
        base: name that the encoder was loaded from.
        task: name of the model's task; empty for an encoder without a head.
        guides: settings of each guide by its name.
        head: settings of the task's head.
        labels: label sets of the task, each in the order of its scores; ``labels["labels"]`` are
            the classes, which determine ``id2label``, ``label2id`` and ``num_labels``.
        parser: parse source that the model was trained with; empty if it reads no syntax.
        storage: how the weights are compacted; ``{}`` if they are stored in full.
        format_version: format version of the folder that the configuration was read from.
    """

    model_type = "syntagma"
    sub_configs = {"encoder": AutoConfig}  # noqa: RUF012 (declared so by Transformers)
    # Otherwise Transformers would compare with an instance built without arguments, and thus
    # without an encoder, to find the values that need saving.
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
        # It belongs to the file that this was read from; a saved model gets another one.
        kwargs.pop(DIGEST, None)
        if names := self.labels.get("labels"):
            kwargs.pop("num_labels", None)  # Transformers counts the names.
            kwargs["id2label"] = dict(enumerate(names))
            kwargs["label2id"] = {name: code for code, name in enumerate(names)}
        super().__init__(**kwargs)

    def read_head(self, kind: type[Settings]) -> Settings:
        """Return the settings of the head as a dataclass.

        Args:
            kind: the dataclass.

        Raises:
            InputError: a setting is unknown or invalid.
        """
        if not isinstance(self.head, kind):
            self.head = build(kind, self.head, where="head")
        head: Settings = self.head
        return head

    def read_guides(self, read: Callable[[Mapping[str, Any]], dict[str, Any]]) -> dict[str, Any]:
        """Return the settings of the guides as dataclasses.

        Args:
            read: builds the dataclasses; not called if they are built already.

        Raises:
            InputError: a setting is unknown or invalid.
        """
        if any(isinstance(settings, Mapping) for settings in self.guides.values()):
            self.guides = read(self.guides)
        return self.guides

    def to_dict(self) -> dict[str, Any]:
        """Return the configuration as plain values, as it is saved."""
        values: dict[str, Any] = super().to_dict()
        values |= {"guides": to_dict(self.guides), "head": to_dict(self.head)}
        return values


def class_names(config: SyntagmaConfig) -> list[str]:
    """Return the names of the classes of a model that has some.

    Args:
        config: configuration of the model.

    Raises:
        InputError: there are none.
    """
    if names := config.labels.get("labels"):
        return names
    raise InputError(
        'labels: expected the names of the classes, as in labels=["no", "yes"], or num_labels=2'
    )


def read_config(name: ModelName, *, task: str | tuple[str, ...] | None = None) -> SyntagmaConfig:
    """Read the configuration of a saved model.

    Args:
        name: name of a model saved by this package, or of a question-answering model that
            Transformers saved, which gets the task ``spans``.
        task: the task that the model must have, or several of which it must have one.

    Raises:
        InputError: the model does not exist, or has another task.
        DamagedFileError: Transformers cannot read the configuration.
    """
    ref = find_model(name)
    values = qa_settings(ref) if ref.kind == "qa_model" else ref.settings
    tasks = (task,) if isinstance(task, str) else task
    if tasks is not None and values.get("task") not in tasks:
        found = repr(values["task"]) if values.get("task") else "no task"
        expected = " or ".join(map(repr, tasks))
        raise InputError(f"{ref.name}: expected a model for {expected}, got one for {found}")
    return as_config(SyntagmaConfig, values, ref.folder / CONFIG)
