"""The optional package that reads and writes Parquet files."""

from __future__ import annotations

from typing import Any

from syntagma.errors import MissingExtraError


def arrow() -> Any:
    """Import the optional package ``pyarrow`` with its ``parquet`` module.

    Raises:
        MissingExtraError: ``pyarrow`` is not installed.
    """
    try:
        import pyarrow.parquet
    except ImportError as error:
        raise MissingExtraError("reading or writing annotated corpora", "data") from error
    return pyarrow
