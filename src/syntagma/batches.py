"""Group sequences of unequal length into batches that waste little on padding."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

__all__ = ["TokenBudgetSampler", "padded_length", "token_budget_batches"]

IntArray = NDArray[np.int64]


def padded_length(n_pieces: int) -> int:
    """The length to which a batch is padded whose longest sequence has so many pieces.

    Processors and GPUs multiply tiles: a training step at 160 pieces takes less time than one at
    161 does a piece, by a seventh, and fewer different shapes leave less compiled code behind
    (`benchmarks/padding.py`).  Short sequences are rounded less, because padding costs them more.

    >>> padded_length(30), padded_length(65), padded_length(384)
    (32, 80, 384)
    """
    step = 8 if n_pieces <= 64 else 16
    return -(-n_pieces // step) * step


def _cut(order: IntArray, lengths: NDArray[np.integer], budget: int) -> list[IntArray]:
    """Cut an order of rising lengths where the padded batch would exceed the budget."""
    batches = []
    begin = 0
    for end, index in enumerate(order):
        if end > begin and int(lengths[index]) * (end + 1 - begin) > budget:
            batches.append(order[begin:end])
            begin = end
    if begin < len(order):
        batches.append(order[begin:])
    return batches


def token_budget_batches(lengths: Sequence[int] | IntArray, budget: int) -> list[IntArray]:
    """Indices of sequences, shortest first, cut so that a padded batch stays within a budget.

    A single sequence longer than the budget makes a batch of its own.

    Args:
        lengths: ``[n]``, in pieces.
        budget: the most pieces in a batch, padding included.

    >>> [batch.tolist() for batch in token_budget_batches([5, 1, 9, 2, 2], budget=6)]
    [[1, 3, 4], [0], [2]]
    """
    lengths = np.asarray(lengths)
    return _cut(np.argsort(lengths, kind="stable"), lengths, budget)


class TokenBudgetSampler:
    """Yield batches of indices of similar length, in a new order each epoch.

    The order follows from seed and epoch alone, so that a resumed run sees the same batches.
    Sequences of equal length change places; the number of batches is the same every epoch.
    Of several processes each takes every so manieth batch, and all take equally many: the first
    batches are seen twice where the number does not divide.

    Args:
        lengths: ``[n]``, in pieces.
        budget: the most pieces in a batch, padding included.
        seed: of the shuffling.
        world: number of processes.
        rank: of this process.
    """

    def __init__(
        self,
        lengths: Sequence[int] | IntArray,
        *,
        budget: int,
        seed: int = 0,
        world: int = 1,
        rank: int = 0,
    ) -> None:
        self.lengths = np.asarray(lengths)
        self.budget = budget
        self.seed = seed
        self.world = world
        self.rank = rank
        self.epoch = 0
        self._n_batches = len(token_budget_batches(self.lengths, budget))

    def set_epoch(self, epoch: int) -> None:
        """Choose the order of the epoch to come."""
        self.epoch = epoch

    def __iter__(self) -> Iterator[list[int]]:
        random = np.random.default_rng((self.seed, self.epoch))
        order = np.lexsort((random.random(len(self.lengths)), self.lengths))
        batches = _cut(order, self.lengths, self.budget)
        turns = random.permutation(len(batches))
        turns = np.resize(turns, len(self) * self.world)
        for index in turns[self.rank :: self.world]:
            yield batches[index].tolist()

    def __len__(self) -> int:
        return -(-self._n_batches // self.world)
