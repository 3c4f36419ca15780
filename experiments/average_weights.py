"""Average the weights of models, as in stochastic weight averaging.

    python experiments/average_weights.py runs/first runs/second --out runs/mean

The mean of two models of which the second continues the first is often better than either
(Izmailov et al. 2018). Settings, tokenizer and calibration are those of the last.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import torch

from syntagma.errors import InputError, in_one_line
from syntagma.evaluation import open_model
from syntagma.tasks.task import Task


def mean_of(tasks: Sequence[Task[Any, Any]]) -> Task[Any, Any]:
    """Return the last of the models with the mean of all weights.

    Args:
        tasks: models of one task and architecture.

    Raises:
        InputError: they are of different architectures.
    """
    states = [task.model.state_dict() for task in tasks]
    shapes = [{name: value.shape for name, value in state.items()} for state in states]
    if any(other != shapes[-1] for other in shapes):
        raise InputError("expected models with the same weights by name and shape, got others")
    mean = {
        name: torch.stack([state[name] for state in states]).mean(0)
        if value.is_floating_point()
        else value
        for name, value in states[-1].items()
    }
    tasks[-1].model.load_state_dict(mean)
    return tasks[-1]


def main(arguments: Sequence[str] | None = None) -> None:
    """Read the arguments, and write the mean."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("models", nargs="+", help="folders of models of one task")
    parser.add_argument("--out", type=Path, required=True)
    given = parser.parse_args(arguments)
    tasks = [open_model(name, precision="float32") for name in given.models]
    mean_of(tasks).save(given.out)
    print(f"mean of {len(tasks)} models → {given.out}")


if __name__ == "__main__":
    with in_one_line():
        main()
