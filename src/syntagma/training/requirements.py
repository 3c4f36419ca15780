"""Check for the optional packages of training before any work is begun."""

from __future__ import annotations

from importlib.util import find_spec

from syntagma.errors import MissingExtraError


def require_accelerate() -> None:
    """Check that accelerate is installed, without which Transformers has no Trainer.

    Raises:
        MissingExtraError: it is not.
    """
    if find_spec("accelerate") is None:
        raise MissingExtraError("training", "train")
