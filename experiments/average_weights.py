"""Average the weights of readers, as in stochastic weight averaging.

    python experiments/average_weights.py runs/first runs/second --out runs/mean

The mean of two readers of which the second continues the first is often better than either
(Izmailov et al. 2018).  Settings, tokenizer and calibration are those of the last.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path

import torch

from syntagma.errors import InputError, in_one_line
from syntagma.tasks.spans.reader import Reader
from syntagma.tasks.spans.task import SpanTask


def mean_of(readers: Sequence[Reader]) -> Reader:
    """Return the last reader with the mean of all weights.

    Args:
        readers: of one architecture.

    Raises:
        InputError: they are of different architectures.
    """
    states = [reader.model.state_dict() for reader in readers]
    shapes = [{name: value.shape for name, value in state.items()} for state in states]
    if any(other != shapes[-1] for other in shapes):
        raise InputError("expected models with the same weights by name and shape, got others")
    mean = {
        name: torch.stack([state[name] for state in states]).mean(0)
        if value.is_floating_point()
        else value
        for name, value in states[-1].items()
    }
    readers[-1].model.load_state_dict(mean)
    return readers[-1]


def main() -> None:
    """Read the arguments, and write the mean."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("models", nargs="+", help="folders of readers")
    parser.add_argument("--out", type=Path, required=True)
    given = parser.parse_args()
    readers = [Reader.from_pretrained(name, precision="float32") for name in given.models]
    SpanTask(mean_of(readers)).save(given.out)
    print(f"mean of {len(readers)} models → {given.out}")


if __name__ == "__main__":
    with in_one_line():
        main()
