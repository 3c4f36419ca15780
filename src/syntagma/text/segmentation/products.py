"""Products of small matrices in NumPy that leave no thread spinning.

After a product that OpenBLAS shares among threads, these spin for about a tenth of a second in case
another one follows.  Meanwhile they take the processor from the threads of torch, which read the
text next: with two cores a question about a new passage took twice as long (`benchmarks.reading`).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

SMALL_PRODUCT = 200_000
"""OpenBLAS computes a product of matrices with at most 262,144 multiplications in one thread."""
SMALL_MATRIX = 8_000
"""The same for the product of a vector and a matrix with at most 9,216 numbers."""


def multiply(rows: NDArray[np.float32], matrix: NDArray[np.float32]) -> NDArray[np.float32]:
    """Multiply matrices in blocks that one thread computes.

    Args:
        rows: ``[n, k]``.
        matrix: ``[k, m]``, or a vector ``[k]``.

    Returns:
        ``[n, m]``, or ``[n]``.

    >>> multiply(np.ones((2, 3), np.float32), np.ones((3, 1), np.float32)).tolist()
    [[3.0], [3.0]]
    """
    n, k = rows.shape
    width = matrix.shape[1] if matrix.ndim > 1 else 1
    block = SMALL_MATRIX // k if width == 1 else min(SMALL_PRODUCT // (k * width), n)
    block = max(1, block)
    whole = n - n % block
    # The blocks are a dimension of their own, over which NumPy loops.
    head = rows[:whole].reshape(n // block, block, k) @ matrix
    parts = [head.reshape(whole, *matrix.shape[1:])]
    if whole < n:
        parts.append(rows[whole:] @ matrix)
    return np.concatenate(parts) if len(parts) > 1 else parts[0]
