"""The names of the files in a run folder that are read again."""

from __future__ import annotations

from pathlib import Path

from syntagma.errors import InputError

SETTINGS = "experiment.yaml"
RUN = "run.json"
"""Format, versions, and the sources that it was made from: data, encoder, parser."""
METRICS = "metrics.json"
"""Of the best model on all dev files together; a run that has it is finished."""
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
