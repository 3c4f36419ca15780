"""Names of the files in a run folder that are read again."""

from __future__ import annotations

from pathlib import Path

from syntagma.errors import InputError

SETTINGS = "experiment.yaml"
RUN = "run.json"
"""Format, versions, and the sources of the run: data, encoder, parser."""
METRICS = "metrics.json"
"""Metrics of the best model on all dev files together; its presence marks a finished run."""
EXAMPLES = "examples.json"
"""Scores of each dev example, by id."""
DATA = "data.json"
"""Hashes of the dev examples."""
CLUSTERS = "clusters.json"
"""Which dev examples belong together, such as the questions about a paragraph."""
RECORDS = "metrics.jsonl"
"""Records: a line for each logging step and each evaluation."""
SCORED = "scored"
"""Folder with the results on other files than the dev files, a folder for each set of files."""


def require_finished(path: Path) -> None:
    """Check that a folder contains a finished run.

    Raises:
        InputError: the folder does not exist, or lacks settings or metrics.
    """
    if not path.is_dir():
        raise InputError(f"{path}: no such folder; give a run folder of `syntagma train`")
    for name in (SETTINGS, METRICS):
        if not (path / name).is_file():
            raise InputError(
                f"{path}: expected a finished run, but it has no {name}; finish it with "
                f"`syntagma train … --resume`, or give another folder"
            )
