"""Run folders as `train` writes them, without training."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import yaml

import syntagma
from syntagma.runs.folder import FORMAT


def written_run(
    folder: Path,
    scores: Sequence[float],
    *,
    task: str = "spans",
    preset: str = "none",
    seed: int = 1,
    dev: str = "dev.json",
    train: str = "",
    clusters: Mapping[str, Sequence[str]] | None = None,
    **settings: Any,
) -> Path:
    """A finished run.

    Args:
        scores: the score of each example of the dev file, from 0 to 1.
        dev: the name of the dev file, whose folder differs from machine to machine.
        train: the digest of the training examples; none is recorded if it is empty.
        clusters: the cluster of each example, by kind; an empty name for an unknown one.
        settings: additional settings, or replacements for the default ones.
    """
    folder.mkdir(parents=True)
    key = {"spans": "exact"}.get(task, "accuracy")
    complete = {
        "task": task,
        "preset": preset,
        "data": {"train": ["/data/train.json"], "dev": [f"/data/{dev}"]},
        "training": {"seed": seed, "num_train_epochs": 3},
    }
    (folder / "experiment.yaml").write_text(yaml.safe_dump(complete | settings))
    about = {"format_version": FORMAT, "syntagma_version": syntagma.__version__}
    data = {"data": {"data.train": train}} if train else {}
    (folder / "run.json").write_text(json.dumps(about | data))
    if clusters is not None:
        named = {
            kind: {str(number): name for number, name in enumerate(names) if name}
            for kind, names in clusters.items()
        }
        (folder / "clusters.json").write_text(json.dumps(named))
    rows = {str(number): {key: value} for number, value in enumerate(scores)}
    (folder / "examples.json").write_text(json.dumps(rows))
    score = 100 * sum(scores) / len(scores)
    (folder / "metrics.json").write_text(json.dumps({key: score, "f1": score + 1}))
    return folder


def change_settings(folder: Path, **settings: Any) -> None:
    """Change settings in the folder of a run."""
    path = folder / "experiment.yaml"
    path.write_text(yaml.safe_dump(yaml.safe_load(path.read_text()) | settings))
