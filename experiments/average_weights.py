"""Average the weights of models, as in stochastic weight averaging.

    python experiments/average_weights.py runs/first runs/second --out runs/mean
    python experiments/average_weights.py runs/first runs/second --weights 1 2 --out runs/mean

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


def mean_of(tasks: Sequence[Task[Any, Any]], weights: Sequence[float] = ()) -> Task[Any, Any]:
    """Return the last of the models with the mean of all weights.

    What is equal in all of them stays as it is, bit for bit: a small copy need not store it.

    Args:
        tasks: models of one task and architecture.
        weights: how much each of them counts; by default all the same.

    Raises:
        InputError: they are of different architectures, or there are not as many weights.
    """
    weights = weights or [1.0] * len(tasks)
    if len(weights) != len(tasks) or min(weights) < 0 or not sum(weights) > 0:
        raise InputError(
            f"--weights: expected a number for each of {len(tasks)} models, got {list(weights)}"
        )
    states = [task.model.state_dict() for task in tasks]
    shapes = [{name: value.shape for name, value in state.items()} for state in states]
    if any(other != shapes[-1] for other in shapes):
        raise InputError("expected models with the same weights by name and shape, got others")
    shares = torch.tensor(weights, dtype=torch.float64) / sum(weights)
    mean = {
        name: value
        if all(torch.equal(state[name], value) for state in states)
        else torch.tensordot(
            shares, torch.stack([state[name].double() for state in states]), dims=1
        ).to(value.dtype)
        for name, value in states[-1].items()
    }
    tasks[-1].model.load_state_dict(mean)
    return tasks[-1]


def main(arguments: Sequence[str] | None = None) -> None:
    """Read the arguments, and write the mean."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("models", nargs="+", help="folders of models of one task")
    parser.add_argument("--weights", nargs="+", type=float, default=[], help="of the models")
    parser.add_argument("--out", type=Path, required=True)
    given = parser.parse_args(arguments)
    tasks = [open_model(name, precision="float32") for name in given.models]
    mean_of(tasks, given.weights).save(given.out)
    print(f"mean of {len(tasks)} models → {given.out}")


if __name__ == "__main__":
    with in_one_line():
        main()
