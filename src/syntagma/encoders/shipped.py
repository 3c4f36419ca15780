"""The models that come with the package."""

from __future__ import annotations

from importlib import resources
from pathlib import Path

from syntagma.errors import InputError

__all__ = ["DEFAULT_PARSER", "DEFAULT_READER", "SHIPPED", "model_folder", "shipped"]

DEFAULT_PARSER = "default-parser"
DEFAULT_READER = "default-reader"
SHIPPED = (DEFAULT_PARSER, DEFAULT_READER)


def shipped(name: str) -> Path:
    """The folder of a model that comes with the package.

    Raises:
        InputError: no model of the package is called so, or this installation lacks it.
    """
    if name not in SHIPPED:
        raise InputError(f"{name}: no such model folder; give one, or {' or '.join(SHIPPED)}")
    folder = Path(str(resources.files("syntagma"))) / "weights" / name
    if not (folder / "config.json").is_file():
        raise InputError(f"{name}: this installation holds no such model; give a model folder")
    return folder


def model_folder(name: str | Path) -> Path:
    """The folder of a model: the user's, or one that comes with the package.

    Raises:
        InputError: there is none.
    """
    if str(name) in SHIPPED or not Path(name).is_dir():
        return shipped(str(name))
    return Path(name)
