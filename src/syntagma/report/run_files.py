"""The names of the files in a run's folder that are read again."""

from __future__ import annotations

__all__ = ["DATA", "EXAMPLES", "METRICS", "RECORDS", "SETTINGS"]

SETTINGS = "experiment.yaml"
METRICS = "metrics.json"
"""Of the kept model on all dev files together; what says that a run is finished."""
EXAMPLES = "examples.json"
"""The scores of each dev example by its id."""
DATA = "data.json"
"""Hashes of the examples."""
RECORDS = "metrics.jsonl"
"""A line each logging step and each evaluation."""
