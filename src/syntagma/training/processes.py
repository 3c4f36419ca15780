"""Checks for a training in several processes, as started by ``torchrun``."""

from __future__ import annotations

import os

from syntagma.errors import InputError


def is_first_process() -> bool:
    """Whether this is the process of a training that writes files and logs."""
    return os.environ.get("RANK", "0") == "0"


def require_one_process() -> None:
    """Check that this process was not started together with others by ``torchrun``.

    Raises:
        InputError: it was; each process would take a different run, and gradients of different runs
            would be averaged.
    """
    if (n_processes := os.environ.get("WORLD_SIZE", "1")) != "1":
        raise InputError(
            f"expected independent processes, but torchrun started {n_processes} as one training; "
            f"start this command without torchrun, once per GPU, each with its own "
            f"CUDA_VISIBLE_DEVICES"
        )
