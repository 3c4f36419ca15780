"""Load saved models through the Auto classes of Transformers, after a call of :func:`register`."""

from __future__ import annotations

from typing import Any, ClassVar

import torch
from transformers import (
    AutoConfig,
    AutoModel,
    AutoModelForMultipleChoice,
    AutoModelForQuestionAnswering,
    AutoModelForSequenceClassification,
)

from syntagma.encoders.config import SyntagmaConfig, read_config
from syntagma.encoders.hub_options import take_hub_options
from syntagma.encoders.model import SyntagmaModel
from syntagma.encoders.placement import take_placement
from syntagma.encoders.reference import ModelName, find_model
from syntagma.errors import InputError
from syntagma.models.guided_encoder import GuidedEncoder
from syntagma.tasks import find_task

IDLE = {"config", "_from_auto", "trust_remote_code", "adapter_kwargs"}
"""Options that ``AutoModel`` passes on without being asked to; they change nothing here."""


class AutoSyntagma(SyntagmaModel):
    """Loads the model of whichever task a folder was saved for.

    Attributes:
        tasks: names of the tasks whose models are loaded; ``None`` for all.
    """

    tasks: ClassVar[tuple[str, ...] | None] = None

    @classmethod
    def from_pretrained(cls, name: ModelName, **options: Any) -> Any:
        """Load a saved model.

        Args:
            name: a folder that this package wrote, or the hub name of one.
            options: as for :meth:`SyntagmaModel.from_pretrained`.

        Raises:
            InputError: there is no such model, it has another task, or an option is unknown.
        """
        ref = find_model(name, take_hub_options(options))
        placement = take_placement(options)
        _require_none(ref.name, options)
        config = read_config(ref, task=cls.tasks)
        model = _class_of(config.task).load_saved(ref)
        return placement.apply(model, saved_dtype=ref.saved_dtype)

    @classmethod
    def _from_config(cls, config: SyntagmaConfig, **options: Any) -> Any:
        """Create a model whose weights, including the encoder's, are randomly initialised."""
        # Private in Transformers, but the only hook that ``AutoModel.from_config`` calls.
        placement = take_placement(options)
        _require_none("from_config", options)
        if cls.tasks is not None and config.task not in cls.tasks:
            raise InputError(
                f"expected a configuration for {' or '.join(map(repr, cls.tasks))}, got one for "
                f"{config.task or 'no task'!r}"
            )
        return placement.apply(_class_of(config.task)(config))


class AutoQuestionAnswering(AutoSyntagma):
    """Loads models that find answers in passages."""

    tasks = ("spans", "open_qa")


class AutoMultipleChoice(AutoSyntagma):
    """Loads models that choose among options."""

    tasks = ("choice",)


class AutoSequenceClassification(AutoSyntagma):
    """Loads models that classify a text, or two."""

    tasks = ("pairs",)


AUTO = (
    (AutoModel, AutoSyntagma),
    (AutoModelForQuestionAnswering, AutoQuestionAnswering),
    (AutoModelForMultipleChoice, AutoMultipleChoice),
    (AutoModelForSequenceClassification, AutoSequenceClassification),
)
"""For each Auto class of Transformers, what loads the models of this package."""


def blank_model(config: SyntagmaConfig) -> SyntagmaModel:
    """Create a model on the meta device: it has shapes but no values, and takes no memory.

    Raises:
        InputError: the configuration names an unknown task.
    """
    with torch.device("meta"):
        model: SyntagmaModel = _class_of(config.task)(config)
    return model


def _require_none(where: str, options: dict[str, Any]) -> None:
    if unknown := {key for key, value in options.items() if value is not None} - IDLE:
        raise InputError(
            f"{where}: a saved model has its settings in its config.json; omit "
            f"{', '.join(sorted(unknown))}"
        )


def _class_of(task: str) -> Any:
    """Return the model class of a task; without a task, that of a guided encoder."""
    return find_task(task).model_class if task else GuidedEncoder


def register() -> None:
    """Register the models of this package with the Auto classes of Transformers.

    ``AutoConfig`` and ``AutoModel`` then load all of them, and
    ``AutoModelForQuestionAnswering``, ``AutoModelForMultipleChoice`` and
    ``AutoModelForSequenceClassification`` those for spans, choice and pairs.

    >>> from transformers import AutoConfig
    >>> register()
    >>> type(AutoConfig.for_model("syntagma")).__name__
    'SyntagmaConfig'
    """
    AutoConfig.register(SyntagmaConfig.model_type, SyntagmaConfig, exist_ok=True)
    for auto, own in AUTO:
        auto.register(SyntagmaConfig, own, exist_ok=True)
