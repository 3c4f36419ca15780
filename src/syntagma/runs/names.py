"""The names of the files in a run's folder that are read again."""

from __future__ import annotations

from pathlib import Path

from syntagma.errors import InputError

__all__ = ["DATA", "EXAMPLES", "METRICS", "RECORDS", "SCORED", "SETTINGS", "require_finished"]

SETTINGS = "experiment.yaml"
METRICS = "metrics.json"
"""Of the kept model on all dev files together; what says that a run is finished."""
EXAMPLES = "examples.json"
"""The scores of each dev example by its id."""
DATA = "data.json"
"""Hashes of the examples."""
RECORDS = "metrics.jsonl"
"""A line each logging step and each evaluation."""
SCORED = "scored"
"""Within a run's folder: folders of what it scored on other files than its dev files."""


def require_finished(path: Path) -> None:
    """Check that a folder is that of a finished run.

    Raises:
        InputError: it is not there, or has no settings or no metrics.
    """
    if not path.is_dir():
        raise InputError(f"{path}: no such folder; give a run folder of `syntagma train`")
    for name in (SETTINGS, METRICS):
        if not (path / name).is_file():
            raise InputError(
                f"{path}: no finished run with scores (it has no {name}; train it to its end first)"
            )
