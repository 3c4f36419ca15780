"""One training in several processes, as ``torchrun`` starts them."""

from __future__ import annotations

import os

from syntagma.errors import InputError

__all__ = ["is_first_process", "require_one_process"]


def is_first_process() -> bool:
    """Whether this process speaks for all that ``torchrun`` has started for one training."""
    return os.environ.get("RANK", "0") == "0"


def require_one_process() -> None:
    """Check that this is no process of ``torchrun``.

    Raises:
        InputError: it is: each would take a run of its own, and all would mix their gradients.
    """
    if (n_processes := os.environ.get("WORLD_SIZE", "1")) != "1":
        raise InputError(
            f"several runs are shared out among processes that know nothing of one another, but "
            f"torchrun has started {n_processes} as one; start the command itself as often as "
            f"there are GPUs, each with its own CUDA_VISIBLE_DEVICES"
        )
