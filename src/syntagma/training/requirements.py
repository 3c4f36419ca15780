"""Check for the optional packages of training before any work is begun."""

from __future__ import annotations

from importlib.util import find_spec

from syntagma.errors import MissingExtraError
from syntagma.tasks.experiment import TrainingSettings


def require_accelerate() -> None:
    """Check that accelerate is installed, without which Transformers has no Trainer.

    Raises:
        MissingExtraError: it is not.
    """
    if find_spec("accelerate") is None:
        raise MissingExtraError("training", "train")


def require_peft(settings: TrainingSettings) -> None:
    """Check that PEFT is installed if a training needs it.

    Raises:
        MissingExtraError: it is not.
    """
    if settings.encoder == "lora" and find_spec("peft") is None:
        raise MissingExtraError("training.encoder: lora", "lora")
