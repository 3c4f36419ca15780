"""Untrained task models on tiny encoders, and their exports."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import torch

from syntagma.tasks import find_task
from tests.builders import experiment

GUIDES: dict[str, dict[str, Any]] = {
    "none": {},
    "sg-net": {"ancestor_attention": {"initialise": "last_layer"}},
    "sg-net projection": {"ancestor_attention": {"pieces": "projection"}},
    "seprem": {"tree_distance": {}},
    "seprem undirected": {"tree_distance": {"direction": "undirected"}},
    "poi-net": {"pos_embedding": {}, "coattention": {}},
    "tree_bias": {"tree_bias": {"labels": True}},
    "ancestor_heads": {"ancestor_heads": {}},
    "all": {
        "pos_embedding": {},
        "tree_distance": {},
        "tree_bias": {},
        "ancestor_heads": {"attend_to": "ancestors"},
        "ancestor_attention": {},
        "coattention": {},
    },
}


def new_task(name: str, encoder: Path | str, folder: Path, guides: Any = "none", **changes: Any):
    """An untrained model all of whose weights matter; its guides read linear trees."""
    task_class = find_task(name)
    data = task_class.sample.write(folder, 1)
    chosen = GUIDES[guides] if isinstance(guides, str) else guides
    settings = experiment(name, data, str(encoder), guides=chosen, **changes)
    torch.manual_seed(5)
    task = task_class.new(settings, task_class.read(data))
    with torch.no_grad():
        # Guides start from zeros that would hide them.
        for parameter in task.model.parameters():
            parameter.add_(torch.randn_like(parameter) * 0.05)
    if name == "probing":
        task.model.set_head(chosen=0)
    task.model.eval()
    task.model.learns_trees = False  # as in a saved model
    return task, data


def save(task: Any, folder: Path) -> Path:
    """Save a model, with the source of trees that the export asks."""
    folder.mkdir(exist_ok=True)
    task.save(folder)
    return folder
