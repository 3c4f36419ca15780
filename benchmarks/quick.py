"""A quick run, which only shows that a benchmark works: its figures mean nothing."""

from __future__ import annotations

import os
from typing import TypeVar

T = TypeVar("T")
VARIABLE = "SYNTAGMA_BENCH_QUICK"
QUICK = VARIABLE in os.environ


def size(full: T, quick: T) -> T:
    """Return the first value, or the second in a quick run."""
    return quick if QUICK else full
